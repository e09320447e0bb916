package page

import "net/http"

// docsPolicy is the Content-Security-Policy of /docs. Unlike pagePolicy, it also allows data: and
// blob: images, which Swagger UI needs, and doesn't allow forms.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// APIDocs serves the page where users can browse openapi.json and try the API. The page is the same
// for all visitors: the requests that it sends are authenticated with an API key, not with the
// session.
func (si *Site) APIDocs(r *Request) error {
	return si.renderBlock(r, docsPolicy, http.StatusOK, "docs.html", "main", pageData{Page: Page{Heading: "API reference"}})
}
