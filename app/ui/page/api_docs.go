package page

import "net/http"

// docsPolicy is pagePolicy for the viewer of /docs: its style sheet has pictures inside,
// it shows a picture that was downloaded, and nothing on it is sent as a form.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// APIDocs is the page that shows openapi.json and lets one try it (API.md). It is the same
// for everybody, and what it tries is let in by its key alone.
func (p *Site) APIDocs(w http.ResponseWriter, _ *http.Request, _ Visitor) error {
	return p.renderWithPolicy(docsPolicy, w, http.StatusOK, "docs.html", "main", pageData{Page: Page{Heading: "The interface"}})
}
