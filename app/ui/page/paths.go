package page

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"deedkeep/app/vault"
)

func (p *Site) AbstractPath(id uint64) string { return "/abstracts/" + p.AbstractIDs.Encode(id) }

func (p *Site) OrderPath(id uint64) string { return "/orders/" + p.OrderIDs.Encode(id) }

func DocumentPath(id uint64) string { return "/documents/" + strconv.FormatUint(id, 10) }

func FolderPath(id uint64) string { return path.Join("/vault", strconv.FormatUint(id, 10)) }

func TemplatePath(id uint64) string { return "/admin/templates/" + strconv.FormatUint(id, 10) }

func KeyPath(id uint64) string { return "/admin/keys/" + strconv.FormatUint(id, 10) }

func UserPath(id uint64) string { return "/admin/users/" + strconv.FormatUint(id, 10) }

func FolderOrVaultPath(id uint64) string {
	if id == 0 {
		return "/vault"
	}
	return FolderPath(id)
}

// AbstractID reads the opaque id of the path; NotFound when it is none.
func (p *Site) AbstractID(r *http.Request) (uint64, error) {
	if id, ok := p.AbstractIDs.Decode(r.PathValue("id")); ok {
		return id, nil
	}
	return 0, NotFound(r)
}

// OrderID is abstractID for orders.
func (p *Site) OrderID(r *http.Request) (uint64, error) {
	if id, ok := p.OrderIDs.Decode(r.PathValue("id")); ok {
		return id, nil
	}
	return 0, NotFound(r)
}

// PathNumber reads the {n} of the path; NotFound for anything else.
func PathNumber(r *http.Request) (uint64, error) {
	text := r.PathValue("n")
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return 0, NotFound(r)
	}
	return n, nil
}

// ReturnAddress gives the page that a form names in its field `back`, or another.
func ReturnAddress(r *http.Request, otherwise string) string {
	if to := r.PostForm.Get("back"); to != "" {
		return LocalAddress(to)
	}
	return otherwise
}

// LocalAddress gives an address of this service as it is, and the desk for any other:
// nobody is sent elsewhere by a link to the page of signing in.
func LocalAddress(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// IsUnderPath reports whether a page's address is that of a place or of something in it.
func IsUnderPath(address, place string) bool {
	return address == place || strings.HasPrefix(address, strings.TrimSuffix(place, "/")+"/")
}

// WithQuery is a path with parameters.
func WithQuery(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// WithQueryValue is an address with one value of its query set, or without it where it is "".
func WithQueryValue(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	query.Del(name)
	if value != "" {
		query.Set(name, value)
	}
	u.RawQuery, u.Fragment = query.Encode(), ""
	return u.String()
}

// SignInPath is the page of signing in, which leads on to another.
func SignInPath(to string) string { return WithReturnTo("/sign-in", to) }

func WithReturnTo(path, to string) string {
	if to == "/" {
		return path
	}
	return path + "?to=" + url.QueryEscape(to)
}

// CurrentAddress gives the page that somebody sees who sends a request: itself when it is one,
// else the one that it was sent from.
func (p *Site) CurrentAddress(r *http.Request) string {
	from := r.Header.Get("Referer")
	switch {
	case IsPartRequest(r):
		from = r.Header.Get("HX-Current-URL")
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return LocalAddress(r.URL.RequestURI())
	}
	u, err := url.Parse(from)
	if err != nil || u.Host != r.Host {
		return "/"
	}
	return LocalAddress(u.RequestURI())
}

// filterAddress is the address of a list as its form was sent while somebody typed: the browser
// has that of the text before.
func filterAddress(r *http.Request) string {
	values := url.Values{}
	for name, v := range r.URL.Query() {
		if name != "go" && v[0] != "" {
			values.Set(name, v[0])
		}
	}
	return LocalAddress(WithQuery(r.URL.Path, values))
}

// HitPath is where a hit's record is shown.
func (p *Site) HitPath(h vault.Hit) string {
	if h.Noun == "order" {
		return p.OrderPath(h.ID)
	}
	return p.AbstractPath(h.ID)
}
