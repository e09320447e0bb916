// Package api is the voice for programs: /v1 as SPEC.md and API.md have it, and the
// control door for the commands of the administrator.
//
// It reads bodies and writes answers and decides nothing: rules are in app/model
// and app/vault. A failure becomes a status in failure.go and nowhere else.
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

// Options of New. Sizes are bytes.
type Options struct {
	Vault          *instance.Instance
	PublicURL      string         // own address; "" takes it from each request
	TrustedProxies []netip.Prefix // whose forwarding headers are believed
	Origins        []string       // that browsers may call from; none: CORS is off
	Limits         Limits
	Memory         *httpx.MemoryBudget // for the bodies of all requests together; nil: not limited
	FailingKeys    int                 // failing keys a minute and address; 0: not limited
	Requests       int                 // requests a minute and key; 0: not limited
	LinkTTL        time.Duration
	Metrics        func(context.Context) (text []byte, err error) // what /metrics tells; nil: there is none
	MetricsMedia   string                                         // its media type
	MetricsLocal   bool                                           // programs of this machine need no key for it, where neither PublicURL nor TrustedProxies tells of a proxy
	Now            func() time.Time
	Log            *slog.Logger
}

// Limits of request bodies.
type Limits struct {
	JSON        int64 // a JSON or urlencoded body
	FormFields  int64 // the parts of a multipart body that are no files, together
	Parts       int
	RequestBody int64         // a multipart body as a whole
	Stall       time.Duration // without a byte
	MinRate     int64         // bytes a second, over any Stall
	Page        int64         // of the records on a page of a list, in bytes; 0: 4 MB

	StallInMemory time.Duration // Stall of a body that holds memory of the budget; 0: the same
}

// New gives the handler of everything under /v1 and /api/v1, and of /metrics. The
// pattern of the route is in http.Request.Pattern of the request that it was handed.
func New(opts Options) (http.Handler, error) {
	v := opts.Vault
	edge := &server{
		Options:   opts,
		addresses: httpx.AddressResolver{PublicURL: opts.PublicURL, TrustedProxies: opts.TrustedProxies},
		abstracts: v.Secrets.IDs("abstracts"),
		orders:    v.Secrets.IDs("orders"),
		links:     v.Secrets.Links(),
		cursors:   v.Secrets.Cursors(),
		etags:     etags{},
		memory:    opts.Memory,
		running:   &running{slots: map[keyHash]bool{}},
	}
	for _, noun := range []string{abstractType, orderType, fileType, folderType} {
		edge.etags[noun] = tags{v.Secrets.VersionTags(noun)}
	}
	gate := &authenticator{server: edge, keys: v.Keys, failing: newRateLimiter(opts.FailingKeys, opts.Now), requests: newRateLimiter(opts.Requests, opts.Now)}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash, engine.RedirectFixedPath = false, false
	engine.HandleMethodNotAllowed = true
	engine.ContextWithFallback = true
	if err := engine.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	engine.Use(edge.log, edge.recover, edge.cors, edge.tus, gate.authenticate)
	engine.NoRoute(edge.handle(func(*request) (response, error) { return response{}, errNoRoute }))
	engine.NoMethod(edge.handle(func(*request) (response, error) { return response{}, errNoMethod }))
	mount(engine, edge)
	edge.mountMetrics(engine)
	return httpx.SlowClientGuard(normalizePath(engine), opts.Limits.Stall), nil
}

// route is one line of the table.
type route struct {
	method, path string
	handler      handler
}

// routes is all of /v1 (SPEC.md, and "Ours" in API.md).
func routes(e *server) []route {
	v := e.Vault
	abstracts := abstractHandler{e, v.Abstracts, v.Files, v.Search}
	orders := orderHandler{e, v.Orders, v.Search}
	folders := folderHandler{e, v.Folders}
	files := fileHandler{e, v.Files, v.Search}
	templates := templateHandler{v.Templates}
	trash := trashHandler{e, v.Trash}
	events := eventHandler{e, v.Events}
	search := searchHandler{e, v.Search}
	uploads := uploadHandler{e, v.Uploads}
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

// mount registers the table, HEAD wherever GET, and OPTIONS everywhere.
func mount(engine *gin.Engine, e *server) {
	allowed := map[string][]string{}
	for _, r := range routes(e) {
		path, h := "/v1"+r.path, r.handler
		if r.method == http.MethodPost && r.path != uploadsPath { // an upload that is begun twice stores nothing twice
			h = e.idempotent(h)
		}
		engine.Handle(r.method, path, e.handle(h))
		allowed[path] = append(allowed[path], r.method)
		if r.method == http.MethodGet {
			engine.HEAD(path, e.handle(r.handler))
			allowed[path] = append(allowed[path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		allow := strings.Join(append(methods, http.MethodOptions), ", ")
		engine.OPTIONS(path, func(c *gin.Context) {
			c.Header("Allow", allow)
			c.Status(http.StatusNoContent)
		})
	}
}

var (
	errNoRoute  = &httpx.Error{Status: http.StatusNotFound, Message: "Not found."}
	errNoMethod = &httpx.Error{Status: http.StatusMethodNotAllowed, Message: "This method is not allowed here."}
)

// normalizePath brings a path to its one spelling before it is routed: /api/v1 is
// /v1, repeated slashes and one at the end count as absent. A path that could be
// read in two ways (encoded slashes, backslashes, dot segments) is none of ours.
func normalizePath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := "/v1/\x00"
		if !ambiguous(r.URL.EscapedPath()) && !ambiguous(r.URL.Path) {
			path = cleanPath(r.URL.Path)
		}
		own := *r.URL
		own.Path, own.RawPath = path, ""
		r2 := *r
		r2.URL, r2.Method = &own, meant(r, path)
		defer func() { r.Pattern = r2.Pattern }() // for whoever counts routes
		next.ServeHTTP(w, &r2)
	})
}

func ambiguous(path string) bool {
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

// The nouns as records are named after them.
const (
	abstractType = "abstract"
	orderType    = "order"
	fileType     = "file"
	folderType   = "folder"
)

// server is what every handler needs to turn numbers into what callers see.
type server struct {
	Options
	addresses         httpx.AddressResolver
	abstracts, orders *secret.IDs
	links             *secret.Links
	cursors           *secret.Cursors
	etags             etags
	memory            *httpx.MemoryBudget
	running           *running
}
