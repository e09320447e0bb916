// Package api serves the JSON API under /v1, and /metrics.
//
// It decodes requests and encodes responses. It makes no decisions about records:
// those rules are in app/model and app/vault. Errors become statuses in error.go only.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"deedkeep/app/httpx"
	"deedkeep/app/instance"
	"deedkeep/app/secret"
)

// Options configures New. Sizes are in bytes.
type Options struct {
	Vault          *instance.Instance
	PublicURL      string         // base URL of the server; "" takes it from each request
	TrustedProxies []netip.Prefix // proxies whose forwarding headers are trusted
	Origins        []string       // origins that browsers may call from; empty turns CORS off
	Limits         Limits
	Memory         *httpx.MemoryBudget                            // shared by the bodies of all requests; nil means no limit
	FailingKeys    int                                            // failed key checks per minute and client network; 0 means no limit
	Requests       int                                            // requests per minute and key; 0 means no limit
	LinkTTL        time.Duration                                  // lifetime of a signed download link
	Metrics        func(context.Context) (text []byte, err error) // returns the text of /metrics; nil turns the route off
	MetricsMedia   string                                         // media type of the text of Metrics
	// MetricsLocal lets clients on this machine read /metrics without a key. It has no
	// effect when PublicURL or TrustedProxies shows that there is a proxy.
	MetricsLocal bool
	Now          func() time.Time
	Log          *slog.Logger
}

// Limits bounds request bodies and list pages.
type Limits struct {
	JSON        int64         // bytes of a JSON or urlencoded body
	FormFields  int64         // total bytes of the parts of a multipart body that are not files
	Parts       int           // number of parts of a multipart body
	RequestBody int64         // total bytes of a multipart body
	Stall       time.Duration // maximum time without receiving a byte
	MinRate     int64         // minimum bytes per second, measured over Stall
	Page        int64         // bytes of the records on one page of a list; 0 means 4 MB

	StallInMemory time.Duration // Stall for a body that has memory of the budget reserved; 0 means Stall
}

// New returns the handler of all paths under /v1 and /api/v1, and of /metrics. It sets
// Pattern of the requests it handles to the pattern of the matched route.
func New(opts Options) (http.Handler, error) {
	v := opts.Vault
	s := &server{
		Options:   opts,
		addresses: httpx.AddressResolver{PublicURL: opts.PublicURL, TrustedProxies: opts.TrustedProxies},
		abstracts: v.Secrets.IDs("abstracts"),
		orders:    v.Secrets.IDs("orders"),
		links:     v.Secrets.Links(),
		cursors:   v.Secrets.Cursors(),
		etags:     etags{},
		memory:    opts.Memory,
		inFlight:  &inFlight{slots: map[keyHash]bool{}},
	}
	for _, recordType := range []string{abstractType, orderType, fileType, folderType} {
		s.etags[recordType] = etagCodec{v.Secrets.VersionTags(recordType)}
	}
	auth := &authenticator{server: s, keys: v.Keys, failing: newRateLimiter(opts.FailingKeys, opts.Now),
		requests: newRateLimiter(opts.Requests, opts.Now)}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash, router.RedirectFixedPath = false, false
	router.HandleMethodNotAllowed = true
	router.ContextWithFallback = true
	if err := router.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	router.Use(s.logRequest, s.recoverPanic, s.setCORSHeaders, s.setTusHeaders, auth.authenticate)
	router.NoRoute(s.handle(func(*request) (response, error) { return response{}, errNoRoute }))
	router.NoMethod(s.handle(func(*request) (response, error) { return response{}, errNoMethod }))
	mount(router, s)
	s.mountMetrics(router)
	return httpx.SlowClientGuard(normalizePath(router), opts.Limits.Stall), nil
}

// route maps a method and a path to its handler.
type route struct {
	method, path string
	handler      handler
}

// routes returns all routes of /v1.
func routes(s *server) []route {
	v := s.Vault
	abstracts := abstractHandler{s, v.Abstracts, v.Files, v.Search}
	orders := orderHandler{s, v.Orders, v.Search}
	folders := folderHandler{s, v.Folders}
	files := fileHandler{s, v.Files, v.Search}
	templates := templateHandler{v.Templates}
	trash := trashHandler{s, v.Trash}
	events := eventHandler{s, v.Events}
	search := searchHandler{s, v.Search}
	uploads := uploadHandler{s, v.Uploads}
	return []route{
		{"GET", "/abstract-templates", templates.list},
		{"GET", "/abstract-templates/:n", templates.get},
		{"GET", "/abstracts", abstracts.list},
		{"POST", "/abstracts", abstracts.create},
		{"GET", "/abstracts/:id", abstracts.get},
		{"PATCH", "/abstracts/:id", abstracts.patch},
		{"DELETE", "/abstracts/:id", abstracts.trash},
		{"POST", "/abstracts/:id/restore", abstracts.restore},
		{"POST", "/abstracts/:id/files", abstracts.attach},
		{"DELETE", "/abstracts/:id/files/:n", abstracts.detach},
		{"GET", "/order-fields", orders.fields},
		{"GET", "/order-statuses", orders.statuses},
		{"GET", "/orders", orders.list},
		{"POST", "/orders", orders.create},
		{"GET", "/orders/:id", orders.get},
		{"PATCH", "/orders/:id", orders.patch},
		{"DELETE", "/orders/:id", orders.trash},
		{"POST", "/orders/:id/restore", orders.restore},
		{"GET", "/file-vault/folders", folders.list},
		{"POST", "/file-vault/folders", folders.create},
		{"GET", "/file-vault/folders/:n", folders.get},
		{"PATCH", "/file-vault/folders/:n", folders.patch},
		{"DELETE", "/file-vault/folders/:n", folders.remove},
		{"POST", "/file-vault/upload", files.upload},
		{"GET", "/file-vault/files", files.list},
		{"GET", "/file-vault/files/:n", files.get},
		{"PATCH", "/file-vault/files/:n", files.patch},
		{"DELETE", "/file-vault/files/:n", files.trash},
		{"POST", "/file-vault/files/:n/restore", files.restore},
		{"GET", "/file-vault/files/:n/download", files.download},
		{"POST", uploadsPath, uploads.begin},
		{"GET", uploadsPath + "/:id", uploads.show},
		{"PATCH", uploadsPath + "/:id", uploads.write},
		{"DELETE", uploadsPath + "/:id", uploads.cancel},
		{"GET", "/search", search.search},
		{"GET", "/trash", trash.list},
		{"GET", eventsPath, events.list},
	}
}

// mount registers all routes, adds HEAD for each GET, and OPTIONS for each path.
func mount(router *gin.Engine, s *server) {
	allowed := map[string][]string{}
	for _, r := range routes(s) {
		path, h := "/v1"+r.path, r.handler
		if r.method == http.MethodPost && r.path != uploadsPath { // starting an upload twice stores nothing twice
			h = s.idempotent(h)
		}
		router.Handle(r.method, path, s.handle(h))
		allowed[path] = append(allowed[path], r.method)
		if r.method == http.MethodGet {
			router.HEAD(path, s.handle(r.handler))
			allowed[path] = append(allowed[path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		allow := strings.Join(append(methods, http.MethodOptions), ", ")
		router.OPTIONS(path, func(c *gin.Context) {
			c.Header("Allow", allow)
			c.Status(http.StatusNoContent)
		})
	}
}

var (
	errNoRoute  = &httpx.Error{Status: http.StatusNotFound, Message: "Not found."}
	errNoMethod = &httpx.Error{Status: http.StatusMethodNotAllowed, Message: "This method is not allowed here."}
)

// normalizePath rewrites paths to their canonical form before routing: /api/v1 becomes
// /v1, and repeated and trailing slashes are dropped. An ambiguous path (encoded
// slashes, backslashes, dot segments) is not found.
func normalizePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := "/v1/\x00"
		if !isAmbiguous(r.URL.EscapedPath()) && !isAmbiguous(r.URL.Path) {
			path = cleanPath(r.URL.Path)
		}
		u := *r.URL
		u.Path, u.RawPath = path, ""
		r2 := *r
		r2.URL, r2.Method = &u, effectiveMethod(r, path)
		defer func() { r.Pattern = r2.Pattern }() // middleware outside counts requests by pattern
		next.ServeHTTP(w, &r2)
	})
}

// isAmbiguous reports whether servers and proxies may disagree about what path means.
func isAmbiguous(path string) bool {
	lower := strings.ToLower(path)
	if strings.ContainsAny(path, "\\\x00") || strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// cleanPath removes empty segments and maps /api/v1 to /v1.
func cleanPath(path string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "" {
			b.WriteByte('/')
			b.WriteString(segment)
		}
	}
	if rest, ok := strings.CutPrefix(b.String(), "/api/v1"); ok && (rest == "" || rest[0] == '/') {
		return "/v1" + rest
	}
	return b.String()
}

// The record types, as IDs and entity tags name them.
const (
	abstractType = "abstract"
	orderType    = "order"
	fileType     = "file"
	folderType   = "folder"
)

// server holds what all handlers share: options, ID codecs, and limits.
type server struct {
	Options
	addresses         httpx.AddressResolver
	abstracts, orders *secret.IDs
	links             *secret.Links
	cursors           *secret.Cursors
	etags             etags
	memory            *httpx.MemoryBudget
	inFlight          *inFlight
}
