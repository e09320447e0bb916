package ui

import (
	"mime"
	"net/http"

	"deedkeep/app/model"
)

// original sends the document itself, which the browser shows if it can. It is no
// signed link: what somebody reads ends with the session.
func (p *pages) original(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.send(w, r, who, describe)
}

// saved sends the document itself to be saved under its name, whatever its kind.
func (p *pages) saved(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.send(w, r, who, func(h http.Header, file model.File, name string) {
		describe(h, file, name)
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		h.Set("Content-Security-Policy", elsePolicy)
	})
}

// send sends the document of an address as told says what it is.
func (p *pages) send(w http.ResponseWriter, r *http.Request, who visitor, told func(http.Header, model.File, string)) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, content, err := p.Files.Open(r.Context(), id)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // it was only read
	told(w.Header(), file, file.Filename)
	w.Header().Del("ETag") // it would tell the digest
	p.pace(w, file.Size)
	p.transmit(p.noted(w, r, who.Actor, fileDownloaded, file), r, file, content)
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
	Plain           bool // as documentSheet has them
	Lacks           string
	File            model.File
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
	if file.MIME == model.MIMEPDF { // the one kind that browsers print by themselves
		return p.original(w, r, who)
	}
	s := documentSheet{File: file, As: asPages}
	if err := p.content(r, who, &s); err != nil {
		return err
	}
	what := printSheet{File: file, Text: s.Text, Cut: s.Cut, Plain: s.Plain(), Lacks: s.Lacks(), Total: s.Pages}
	if s.As == asPages {
		what.From = min(max(asked(r, "from", 1), 1), s.Pages)
		what.To = min(max(asked(r, "to", s.Pages), what.From), s.Pages, what.From+mostPrinted-1)
		for n := what.From; n <= what.To; n++ {
			what.Pages = append(what.Pages, picture{Source: picturePath(id, n, 2550)})
		}
	}
	p.opened(r, who, id)
	return p.show(w, r, who, http.StatusOK, "document_print.html", page{
		Heading: file.Filename, Section: "vault", Data: what, Scripts: []string{"print.js"}, Styles: []string{"viewer.css"},
	})
}
