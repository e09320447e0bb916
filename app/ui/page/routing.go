package page

import (
	"errors"
	"net/http"
	"path"
	"strings"
)

// Route is an http.ServeMux pattern with the access level that it requires. For POST requests, the
// form is read before Handle is called, unless Raw is set.
type Route struct {
	Pattern string
	Access  access
	Handle  HandlerFunc
	Raw     bool
	// Background means that scripts send the requests while the user may be away, so they don't extend the session.
	Background bool
}

// Mount registers the routes of all pages.
func (si *Site) Mount(table []Route) {
	si.mux = http.NewServeMux()
	for _, r := range table {
		si.mux.Handle(r.Pattern, si.wrap(r))
	}
}

// ServePage serves the requested page. It doesn't use the redirects of http.ServeMux: if a path
// isn't clean, the response is an error page.
func (si *Site) ServePage(w http.ResponseWriter, r *http.Request) {
	unknown := http.NotFoundHandler()
	if strings.HasPrefix(r.URL.Path, "/") && path.Clean(r.URL.Path) == r.URL.Path {
		var pattern string
		if unknown, pattern = si.mux.Handler(r); pattern != "" {
			si.mux.ServeHTTP(w, r)
			return
		}
	}
	si.serveUnknown(&Request{Request: r, W: w}, unknown)
}

// serveUnknown responds to a request that matches no route. It runs h only to find out whether the
// path or the method is unknown.
func (si *Site) serveUnknown(r *Request, h http.Handler) {
	recorder := &statusRecorder{header: http.Header{}}
	h.ServeHTTP(recorder, r.Request)
	SkipForm(r)
	var err error
	switch r.Visitor, err = si.authenticate(r); {
	case err != nil:
	case recorder.status == http.StatusMethodNotAllowed:
		r.W.Header()["Allow"] = recorder.header["Allow"]
		err = NewHTTPError(http.StatusMethodNotAllowed, "Action not available", "This URL doesn't support that type of request.")
	default:
		err = NotFound(r)
	}
	si.showError(r, err)
}

// statusRecorder records the status and header of a response and discards its body.
type statusRecorder struct {
	header http.Header
	status int
}

func (s *statusRecorder) Header() http.Header { return s.header }

func (s *statusRecorder) Write(b []byte) (int, error) { return len(b), nil }

func (s *statusRecorder) WriteHeader(status int) { s.status = status }

// wrap returns a handler that authorizes the request, checks its origin, reads its form, and decodes
// the ID in its path before it calls the route's handler.
func (si *Site) wrap(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r := &Request{Request: req, W: w}
		err := si.authorize(route, r)
		if back, ok := errors.AsType[*expiredFormError](err); ok {
			defer back.done()
		}
		if err == nil && route.hasForm(r) {
			var done func()
			if done, err = si.readRouteForm(r, route.Access); err == nil {
				defer done()
			}
		}
		if err == nil {
			err = si.decodeID(r, route.Pattern)
		}
		if err == nil && route.hasForm(r) {
			err = si.readUndo(r)
		}
		if err == nil && r.Method == http.MethodGet && !r.IsPart() && r.Known() {
			r.lastEvent, err = si.App.Events.LastSeq(r.Context())
		}
		if err == nil {
			err = si.showNotUndone(r, route.Handle(r))
		}
		if err != nil {
			si.showError(r, err)
		}
	})
}

// hasForm reports whether the form must be read before the handler runs.
func (route Route) hasForm(r *Request) bool {
	return !route.Raw && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// readsDocuments reports whether the route serves document content. Such requests are recorded in
// the audit log.
func (route Route) readsDocuments() bool {
	_, address, _ := strings.Cut(route.Pattern, " ")
	return strings.HasPrefix(route.Pattern, "GET ") && (strings.HasPrefix(address, "/documents/") ||
		strings.HasSuffix(address, "/zip") || strings.HasSuffix(address, "/to-abstracts"))
}

// NewRoute returns a route. Any form in the request is read before handle is called.
func NewRoute(pattern string, access access, handle HandlerFunc) Route {
	return Route{Pattern: pattern, Access: access, Handle: handle}
}

// NewRawRoute returns a route whose handler reads the request body itself.
func NewRawRoute(pattern string, access access, handle HandlerFunc) Route {
	return Route{Pattern: pattern, Access: access, Handle: handle, Raw: true}
}
