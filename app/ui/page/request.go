package page

import (
	"net/http"
	"strconv"
	"strings"
)

// Request is a request for a page together with its response.
type Request struct {
	*http.Request
	Visitor
	W      http.ResponseWriter
	PathID uint64 // ID of the record in the path, decoded; 0 if the path has none

	background bool   // the route is one for requests in the background
	undone     string // address of the record whose change the request undoes, or ""
	lastEvent  uint64 // newest audit log entry before a page was read; 0 if that isn't known
}

// IsPart reports whether a script requests a part of a page. It reports false if the browser
// restores a page from its history, because that requires the complete page.
func (r *Request) IsPart() bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-Boosted") == "" && r.Header.Get("HX-History-Restore-Request") == ""
}

// backgroundHeader is set in requests with which a script gets a page again because something changed.
const backgroundHeader = "Deedkeep-Background"

// isBackground reports whether a script sends the request without the user. It must neither extend the session nor use up what is
// shown once.
func (r *Request) isBackground() bool {
	return r.background || r.Method == http.MethodGet && (r.IsPart() || r.Header.Get(backgroundHeader) != "")
}

// fetchDest is the header with which browsers say what they request a page for (Fetch Metadata Request Headers).
const fetchDest = "Sec-Fetch-Dest"

// isFramed reports whether the browser shows the page in a frame of another page of this server.
func (r *Request) isFramed() bool {
	return r.Header.Get(fetchDest) == "iframe" && r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// RequestID returns the ID that the log and the audit log have for the request.
func (r *Request) RequestID() string { return r.Header.Get("X-Request-Id") }

// Redirect redirects to another page. The browser requests that page with GET, regardless of the
// current method.
func (r *Request) Redirect(to string) error {
	h := r.W.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")     // the same as on the target page
	http.Redirect(r.W, r.Request, to, http.StatusSeeOther) // #nosec G710 -- what a request named went through local
	return nil
}

// decodeID sets PathID according to the pattern of the request's route: {n} is a number, and the {id}
// of an abstract or order is opaque. It returns NotFound if the ID is invalid.
func (si *Site) decodeID(r *Request, pattern string) error {
	_, path, _ := strings.Cut(pattern, " /")
	segment, _, _ := strings.Cut(path, "/")
	ids, ok := si.IDs.ForType(recordTypeByPath(segment)), true
	switch {
	case strings.Contains(path, "{n}"):
		n, err := strconv.ParseUint(r.PathValue("n"), 10, 63)
		r.PathID, ok = n, err == nil && n != 0 && r.PathValue("n") == strconv.FormatUint(n, 10)
	case ids != nil && strings.Contains(path, "{id}"):
		r.PathID, ok = ids.Decode(r.PathValue("id"))
	}
	if !ok {
		return NotFound(r)
	}
	return nil
}
