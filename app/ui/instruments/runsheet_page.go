package instruments

import (
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// runsheetView is the template data of the page of a runsheet.
type runsheetView struct {
	Path, Abstract string // address and heading of the abstract
	Sheet          any
}

// runsheetPage shows a runsheet without the other parts of its abstract, such as beside a document.
func (p *Pages) runsheetPage(r *page.Request) error {
	record, heading, err := p.App.Abstracts.WithHeading(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	sheet, stored, err := p.Sheet(r, record)
	if err != nil {
		return err
	}
	var libraries, scripts []string
	switch {
	case r.MayWrite():
		libraries, scripts = []string{"sortable.min.js"}, []string{"runsheet-edit.js"}
	case len(stored.Instruments) > 0:
		scripts = []string{"runsheet.js"}
	}
	return p.RenderPage(r, http.StatusOK, "runsheet.html", page.Page{
		Heading: "Runsheet of " + heading, Section: "abstracts", Data: runsheetView{p.AbstractPath(r.PathID), heading, sheet},
		Libraries: libraries, Scripts: scripts, Styles: []string{"record.css", "runsheet.css"}, Side: true,
		Follows: []string{p.IDs.Encode(model.RecordRef(vault.AbstractOps.Name, r.PathID))},
	})
}
