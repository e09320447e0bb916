package ui

import (
	"mime"
	"net/http"
	"time"

	"deedkeep/app/secret"
	"deedkeep/app/title"
)

// mimePDF is the one kind that browsers print by themselves.
const mimePDF = "application/pdf"

// defaultLinkTTL is how long a link lives where the settings do not say.
const defaultLinkTTL = 5 * time.Minute

// original sends the browser to the document itself, which it shows if it can. The
// link that does so lives for minutes and is of no use to anybody later.
func (p *pages) original(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	p.toOriginal(w, r, who, file)
	return nil
}

func (p *pages) toOriginal(w http.ResponseWriter, r *http.Request, who visitor, file title.File) {
	ttl := p.LinkTTL
	if ttl <= 0 {
		ttl = defaultLinkTTL
	}
	p.Events.Note(who.Actor, fileDownloaded, fileRecord(file.ID), nil)
	link := p.Links.Sign(secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: p.Now().Add(ttl)}) // #nosec G115 -- numbers of files count from 1
	redirect(w, r, link)
}

// saved sends the document itself to be saved under its name, whatever its kind.
func (p *pages) saved(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, content, err := p.Files.Open(r.Context(), id)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // it was only read
	h := w.Header()
	describe(h, file, file.Filename)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Filename}))
	h.Set("Content-Security-Policy", elsePolicy)
	h.Del("ETag") // it would tell the digest
	p.pace(w, file.Size)
	if r.Method == http.MethodGet {
		p.Events.Note(who.Actor, fileDownloaded, fileRecord(id), nil)
	}
	http.ServeContent(w, r, "", file.CreatedAt, content)
	return nil
}

// zipAbstract sends all documents of an abstract in their order.
func (p *pages) zipAbstract(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := p.abstractID(r)
	if err != nil {
		return err
	}
	filed, err := p.Vault.Abstracts.Get(r.Context(), id)
	if err != nil {
		return err
	}
	headings, err := p.Vault.Abstracts.Headings(r.Context(), filed.Abstract)
	if err != nil {
		return err
	}
	list := make([]zipped, 0, len(filed.Files))
	for _, file := range filed.Files {
		list = append(list, zipped{File: file})
	}
	return p.zip(w, r, who, headings[0], list)
}

// printSheet is what the page for printing works with.
type printSheet struct {
	File            title.File
	Pages           []picture
	From, To, Total int
	Text            []textPage
	Cut             bool // of the text this is the beginning
}

// mostPrinted is how many pages are printed at once: their pictures are all held by
// the browser.
const mostPrinted = 100

// printed shows a document to be printed: a PDF as it is, pictures of the pages or
// the text of what has none.
func (p *pages) printed(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if file.MIME == mimePDF {
		p.toOriginal(w, r, who, file)
		return nil
	}
	s := documentSheet{File: file, As: asPages}
	if err := p.content(r, who, &s); err != nil {
		return err
	}
	what := printSheet{File: file, Text: s.Text, Cut: s.Cut, Total: s.Pages}
	if s.As == asPages {
		what.From = min(max(asked(r, "from", 1), 1), s.Pages)
		what.To = min(max(asked(r, "to", s.Pages), what.From), s.Pages, what.From+mostPrinted-1)
		for n := what.From; n <= what.To; n++ {
			what.Pages = append(what.Pages, picture{Source: picturePath(id, n, 2550)})
		}
	}
	p.Events.Note(who.Actor, fileOpened, fileRecord(id), nil)
	return p.show(w, r, who, http.StatusOK, "document_print.html", page{
		Heading: file.Filename, Section: "vault", Data: what, Scripts: []string{"print.js"}, Styles: []string{"viewer.css"},
	})
}
