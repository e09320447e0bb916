package page

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/settings"
)

// AbstractPath returns the address of an abstract's page.
func (si *Site) AbstractPath(id uint64) string { return si.RecordPath("abstract", id) }

// OrderPath returns the address of an order's page.
func (si *Site) OrderPath(id uint64) string { return si.RecordPath("order", id) }

// DocumentPath returns the address of a document's page.
func DocumentPath(id uint64) string { return recordPath(model.RecordRef("file", id)) }

// InstrumentPath returns the address of an instrument, which redirects to its runsheet.
func InstrumentPath(id uint64) string { return recordPath(model.RecordRef("instrument", id)) }

// FolderPath returns the address of a folder's page.
func FolderPath(id uint64) string { return recordPath(model.RecordRef("folder", id)) }

// LogoPath returns the address of the firm's logo, or "" if there is none.
func LogoPath(logo settings.Logo) string {
	if logo.Version == "" {
		return ""
	}
	return "/logo/" + logo.Version
}

// NotePath returns the address of the viewer with a note about a page of a document.
func NotePath(document uint64, n model.Note) string {
	return fmt.Sprintf("%s?page=%d&note=%d", DocumentPath(document), n.Page, n.ID)
}

// FolderOrVaultPath returns the address of a folder's page. If id is 0, it returns the address of
// the vault's top level.
func FolderOrVaultPath(id uint64) string {
	if id == 0 {
		return "/vault"
	}
	return FolderPath(id)
}

// ReturnAddress returns the address in the form field "back", or otherwise if the field is empty.
func ReturnAddress(r *Request, otherwise string) string {
	if to := r.PostForm.Get("back"); to != "" {
		return LocalAddress(to)
	}
	return otherwise
}

// StartParam is the query parameter of the desk that redirects to the user's start page.
const StartParam = "start"

// LocalAddress returns to if it is an address on this server, and "/" otherwise. This keeps links
// to the sign-in page from redirecting to another site.
func LocalAddress(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// IsUnderPath reports whether an address is equal to the path or below it.
func IsUnderPath(address, place string) bool {
	return address == place || strings.HasPrefix(address, strings.TrimSuffix(place, "/")+"/")
}

// WithQuery returns the address with the query parameters appended.
func WithQuery(address string, values url.Values) string {
	if len(values) == 0 {
		return address
	}
	return address + "?" + values.Encode()
}

// WithQueryValue returns the address with one query parameter replaced. If value is "", the
// parameter is removed.
func WithQueryValue(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	values := u.Query()
	values.Del(name)
	if value != "" {
		values.Set(name, value)
	}
	u.RawQuery, u.Fragment = values.Encode(), ""
	return u.String()
}

// SignInPath returns the address of the sign-in page, which then redirects to the given address.
func SignInPath(to string) string { return WithReturnTo("/sign-in", to) }

// WithReturnTo returns the address of a page that later redirects to the address to.
func WithReturnTo(address, to string) string {
	if to == "/" {
		return address
	}
	return address + "?to=" + url.QueryEscape(to)
}

// CurrentAddress returns the address of the page that the user sees. For a page request it is the
// request's own address. For forms and scripts it is the page that sent the request.
func (si *Site) CurrentAddress(r *Request) string {
	from := r.Header.Get("Referer")
	switch {
	case r.IsPart():
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

// filterAddress returns the address of the list for the submitted filter form. It is used while the
// user types, when the browser's address bar still has the previous filters.
func filterAddress(r *Request) string {
	values := url.Values{}
	for name, v := range r.URL.Query() {
		if name != "go" && v[0] != "" {
			values.Set(name, v[0])
		}
	}
	return LocalAddress(WithQuery(r.URL.Path, values))
}

// HitPath returns the address of the record that a hit refers to. For an instrument, it is its place
// on the page of its abstract.
func (si *Site) HitPath(h search.Hit) string {
	if h.Kind == query.Instrument {
		return si.AbstractPath(h.AbstractID) + "#instrument-" + strconv.FormatUint(h.ID, 10)
	}
	return si.RecordPath(h.Kind, h.ID)
}

// Place is where documents are: in an abstract, in a folder, or neither. Uploads and the parameter
// "in" of a document's address spell it:
//
//	abstract:ID · folder:N · none
type Place struct{ Abstract, Folder uint64 }

// DocumentPlace returns where a document is.
func DocumentPlace(f model.File) Place { return Place{f.AbstractID, f.FolderID} }

// ParsePlace parses a place; "" is the same as none.
func (si *Site) ParsePlace(text string) (at Place, ok bool) {
	kind, id, _ := strings.Cut(text, ":")
	switch {
	case text == "" || text == "none":
		return at, true
	case kind == "abstract":
		at.Abstract, ok = si.IDs.Abstracts.Decode(id)
	case kind == "folder":
		n, err := strconv.ParseUint(id, 10, 63)
		at.Folder, ok = n, err == nil && n != 0
	}
	return at, ok
}

// FormatPlace spells a place for ParsePlace.
func (si *Site) FormatPlace(at Place) string {
	switch {
	case at.Abstract != 0:
		return "abstract:" + si.IDs.Abstracts.Encode(at.Abstract)
	case at.Folder != 0:
		return "folder:" + strconv.FormatUint(at.Folder, 10)
	}
	return "none"
}

// PlacePath returns the address of the list of a place's documents.
func (si *Site) PlacePath(at Place) string {
	if at.Abstract != 0 {
		return si.AbstractPath(at.Abstract)
	}
	return FolderOrVaultPath(at.Folder)
}

// ViewerPath returns the address of a document in the viewer, among the documents of its place.
func (si *Site) ViewerPath(f model.File) string {
	return DocumentPath(f.ID) + "?in=" + si.FormatPlace(DocumentPlace(f))
}
