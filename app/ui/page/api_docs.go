package page

import "net/http"

// docsPolicy is the Content-Security-Policy of /docs. In contrast to pagePolicy, it allows images
// inside Swagger UI's style sheet and downloaded images, and no forms.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// APIDocs shows the page on which users read openapi.json and try the API. It is the same for all
// visitors; requests that it sends authenticate with an API key only.
func (p *Site) APIDocs(w http.ResponseWriter, _ *http.Request, _ Visitor) error {
	return p.renderWithPolicy(docsPolicy, w, http.StatusOK, "docs.html", "main", pageData{Page: Page{Heading: "The interface"}})
}
