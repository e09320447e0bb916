package page

import (
	"errors"
	"net/http"
	"path"
	"strings"
)

// Route is one line of the table. The pattern is that of http.ServeMux. A handler
// whose body is raw reads it by itself; of any other POST the form was read.
type Route struct {
	Pattern string
	Access  access
	Handle  HandlerFunc
	Raw     bool
}

// Mount registers a table of pages.
func (p *Site) Mount(table []Route) {
	p.mux = http.NewServeMux()
	for _, r := range table {
		p.mux.Handle(r.Pattern, p.wrap(r))
	}
}

// ServePage finds the page of an address as it was sent: http.ServeMux would lead other
// spellings to it. What is not in the table is a page that says so.
func (p *Site) ServePage(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/") && path.Clean(r.URL.Path) == r.URL.Path {
		h, pattern := p.mux.Handler(r)
		if pattern != "" {
			p.mux.ServeHTTP(w, r)
			return
		}
		p.serveUnknown(w, r, h)
		return
	}
	p.serveUnknown(w, r, http.NotFoundHandler())
}

// serveUnknown answers what no page answers; h knows whether it is the address or the
// method that there is none of.
func (p *Site) serveUnknown(w http.ResponseWriter, r *http.Request, h http.Handler) {
	said := &statusRecorder{header: http.Header{}}
	h.ServeHTTP(said, r)
	SkipForm(w, r)
	who, err := p.authenticate(r)
	switch {
	case err != nil:
	case said.status == http.StatusMethodNotAllowed:
		w.Header()["Allow"] = said.header["Allow"]
		err = NewHTTPError(http.StatusMethodNotAllowed, "This cannot be done here", "This address is not used that way.")
	default:
		err = NotFound(r)
	}
	p.showError(w, r, who, err)
}

// statusRecorder takes down what a handler says, without its words.
type statusRecorder struct {
	header http.Header
	status int
}

func (v *statusRecorder) Header() http.Header { return v.header }

func (v *statusRecorder) Write(b []byte) (int, error) { return len(b), nil }

func (v *statusRecorder) WriteHeader(status int) { v.status = status }

// wrap asks in order: is anybody at home, who is it, was it sent from here, may they;
// and reads the form.
func (p *Site) wrap(to Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := p.authorize(to, w, r)
		if back, ok := errors.AsType[*expiredForm](err); ok {
			defer back.done()
		}
		if err == nil && to.hasForm(r) {
			var done func()
			if done, err = p.readRouteForm(w, r, who, to.Access); err == nil {
				defer done()
			}
		}
		if err == nil {
			err = to.Handle(w, r, who)
		}
		if err != nil {
			p.showError(w, r, who, err)
		}
	})
}

// hasForm reports whether a request brings a form that is read for its handler.
func (to Route) hasForm(r *http.Request) bool {
	return !to.Raw && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// readsDocuments reports whether a page gives something of documents away, which is taken down.
func (to Route) readsDocuments() bool {
	_, path, _ := strings.Cut(to.Pattern, " ")
	return strings.HasPrefix(to.Pattern, "GET ") && (strings.HasPrefix(path, "/documents/") || strings.HasSuffix(path, "/zip"))
}

// NewRoute returns a route whose form, if it has one, is read before handle is called.
func NewRoute(pattern string, access access, handle HandlerFunc) Route {
	return Route{Pattern: pattern, Access: access, Handle: handle}
}

// NewRawRoute returns a route whose handler reads the request body.
func NewRawRoute(pattern string, access access, handle HandlerFunc) Route {
	return Route{Pattern: pattern, Access: access, Handle: handle, Raw: true}
}
