package documents

import (
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// printView is what the page for printing works with.
type printView struct {
	Plain           bool // as viewerData has them
	Lacks           string
	File            model.File
	Pages           []pageImage
	From, To, Total int
	Text            []textPage
	Cut             bool // of the text this is the beginning
}

// maxPrintedPages is how many pages are printed at once: their pictures are all held by
// the browser.
const maxPrintedPages = 100

// printPage shows a document to be printed: a PDF as it is, pictures of the pages or
// the text of what has none.
func (p *Pages) printPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if file.MIME == model.MIMEPDF { // the one kind that browsers print by themselves
		return p.originalDocument(w, r, who)
	}
	s := viewerData{File: file, As: viewPages}
	if err := p.loadContent(r, who, &s); err != nil {
		return err
	}
	what := printView{File: file, Text: s.Text, Cut: s.Cut, Plain: s.Plain(), Lacks: s.Lacks(), Total: s.Pages}
	if s.As == viewPages {
		what.From = min(max(queryInt(r, "from", 1), 1), s.Pages)
		what.To = min(max(queryInt(r, "to", s.Pages), what.From), s.Pages, what.From+maxPrintedPages-1)
		for n := what.From; n <= what.To; n++ {
			what.Pages = append(what.Pages, pageImage{Source: pageImagePath(id, n, 2550)})
		}
	}
	p.recordView(r, who, id)
	return p.RenderPage(w, r, who, http.StatusOK, "document_print.html", page.Page{
		Heading: file.Filename, Section: "vault", Data: what, Scripts: []string{"print.js"}, Styles: []string{"viewer.css"},
	})
}
