package documents

import (
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// printView is the template data of the print page.
type printView struct {
	Plain           bool // see viewerData.Plain
	Lacks           string
	File            model.File
	Pages           []pageImage
	From, To, Total int
	Text            []textPage
	Cut             bool // the text is truncated
}

// maxPrintedPages is the maximum number of pages on one print page. The browser holds all their
// images in memory.
const maxPrintedPages = 100

// printPage serves the print view of a document. PDFs are sent unchanged; other documents are shown
// as page images or text.
func (p *Pages) printPage(r *page.Request) error {
	file, err := p.App.Files.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if file.MIME == model.MIMEPDF { // browsers print PDFs directly
		return p.originalDocument(r)
	}
	s := viewerData{DocumentWork: vault.DocumentWork{File: file}, As: viewPages}
	if err := p.loadContent(r, &s); err != nil {
		return err
	}
	what := printView{File: file, Text: s.Text, Cut: s.Cut, Plain: s.Plain(), Lacks: s.Lacks(), Total: s.Pages}
	if s.As == viewPages {
		what.From = min(max(queryInt(r, "from", 1), 1), s.Pages)
		what.To = min(max(queryInt(r, "to", s.Pages), what.From), s.Pages, what.From+maxPrintedPages-1)
		for n := what.From; n <= what.To; n++ {
			what.Pages = append(what.Pages, pageImage{Source: pageImagePath(r.PathID, n, 2550)})
		}
	}
	p.recordView(r)
	return p.RenderPage(r, http.StatusOK, "document-print.html", page.Page{
		Heading: file.Filename, Section: "vault", Data: what, Scripts: []string{"print.js"}, Styles: []string{"viewer.css"},
	})
}
