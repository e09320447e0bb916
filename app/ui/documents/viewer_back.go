package documents

import (
	"net/url"
	"strconv"

	"deedkeep/app/ui/page"
)

// findReturnAddress returns the address of the search results that linked to the document, or "" if
// there is none.
func findReturnAddress(r *page.Request) string {
	from, err := url.Parse(r.URL.Query().Get("from"))
	if err != nil || from.Scheme != "" || from.Host != "" || from.Path != "/find" {
		return ""
	}
	return page.WithQuery("/find", from.Query())
}

// BackName returns the name of the page that the Back link leads to.
func (v viewerData) BackName() string {
	if v.From != "" {
		return "search results"
	}
	return v.Place.Name
}

// Back returns the address of the search results or list that the user came from, with the
// document's row as the fragment.
func (v viewerData) Back() string {
	row := "#read-" + strconv.FormatUint(v.File.ID, 10)
	query := url.Values{}
	switch {
	case v.From != "":
		return v.From + row
	case v.Position == 0:
		return v.Place.Path
	case v.Place.Section == "abstracts":
		if n := (v.Position-1)/page.DocumentsPerPage + 1; n > 1 {
			query.Set("page", strconv.Itoa(n))
		}
	default:
		return v.Place.Path + row // which page of the folder it is on depends on the sort order
	}
	return page.WithQuery(v.Place.Path, query) + row
}
