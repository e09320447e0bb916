package documents

import (
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/ui/page"
)

// findReturnAddress is the page of /find that a document was opened from, as its address says;
// "" where it says none.
func findReturnAddress(r *http.Request) string {
	from, err := url.Parse(r.URL.Query().Get("from"))
	if err != nil || from.Scheme != "" || from.Host != "" || from.Path != "/find" {
		return ""
	}
	return page.WithQuery("/find", from.Query())
}

// BackName is what Back leads to.
func (s viewerData) BackName() string {
	if s.From != "" {
		return "what was found"
	}
	return s.Place.Name
}

// Back is where the document was found, or else where it lies, on the page of the list
// that has it, with its row in sight and focused.
func (s viewerData) Back() string {
	row := "#read-" + strconv.FormatUint(s.File.ID, 10)
	query := url.Values{}
	switch {
	case s.From != "":
		return s.From + row
	case s.Position == 0:
		return s.Place.Path
	case s.Place.Section == "abstracts":
		if page := (s.Position-1)/page.DocumentsPerPage + 1; page > 1 {
			query.Set("page", strconv.Itoa(page))
		}
	default:
		return s.Place.Path + row // its pages are in whatever order they were asked for
	}
	return page.WithQuery(s.Place.Path, query) + row
}
