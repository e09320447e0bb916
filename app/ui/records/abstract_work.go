package records

import (
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Main views of an abstract's page.
const (
	runsheetView  = "runsheet"
	documentsView = "documents"
)

// addViews reads the runsheet and the documents of an abstract and selects which of them the page
// shows. Without a choice, it is the runsheet if there is one.
func (p *Pages) addViews(r *page.Request, view *abstractView, filed vault.AbstractWithFiles) (err error) {
	if view.Runsheet, view.RunsheetRows, err = p.readSheet(r, filed); err != nil {
		return err
	}
	query := r.URL.Query()
	switch {
	case query.Get("view") == runsheetView, query.Get("view") == documentsView:
		view.View = query.Get("view")
	case query.Has("page"), query.Has("rename"), view.RunsheetRows == 0:
		view.View = documentsView
	default:
		view.View = runsheetView
	}
	view.Documents, err = p.listDocuments(r, filed)
	return err
}

// scripts returns the scripts of the page, and the libraries that they need.
func (a abstractView) scripts(mayWrite bool) (libraries, scripts []string) {
	scripts = []string{"views.js"}
	switch {
	case a.View == runsheetView && mayWrite:
		return []string{"sortable.min.js"}, append(scripts, "record.js", "runsheet-edit.js")
	case a.View == runsheetView && a.RunsheetRows > 0:
		scripts = append(scripts, "runsheet.js")
	case mayWrite:
		return []string{"sortable.min.js", "tus.min.js"}, append(scripts, "record.js", "abstract.js", "upload.js")
	}
	return nil, scripts
}
