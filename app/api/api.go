// Package api serves the JSON API under /v1 and the metrics at /metrics.
//
// It decodes requests and encodes responses. The rules about records are in app/model and
// app/vault. httpx.StatusByKind maps kinds of errors to HTTP statuses.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"deedkeep/app/fairqueue"
	"deedkeep/app/httpx"
	"deedkeep/app/instance"
	"deedkeep/app/secret"
	"deedkeep/app/stats"
)

// Options configures New. Sizes are in bytes.
type Options struct {
	App            *instance.Instance
	PublicURL      string         // base URL of the server; if "", it is taken from each request
	TrustedProxies []netip.Prefix // proxies whose forwarding headers are trusted
	Origins        []string       // origins that browsers may call the API from; if empty, CORS is disabled
	Limits         Limits
	Memory         *httpx.MemoryBudget                            // budget shared by the bodies of all requests; nil means no limit
	FailingKeys    int                                            // max failed key checks per minute from one client network; 0 means no limit
	Requests       int                                            // max requests per minute with one key; 0 means no limit
	LinkTTL        time.Duration                                  // lifetime of a signed download link
	Metrics        func(context.Context) (text []byte, err error) // returns the text of /metrics; if nil, /metrics is disabled
	MetricsMedia   string                                         // media type of the text that Metrics returns
	// MetricsLocal lets clients on this machine read /metrics without a key. It has no
	// effect if PublicURL or TrustedProxies is set, because either one implies a proxy.
	MetricsLocal bool
	Now          func() time.Time
	Log          *slog.Logger
}

// Limits contains the limits for request bodies and list pages.
type Limits struct {
	JSON        int64         // max bytes of a JSON or urlencoded body
	FormFields  int64         // max total bytes of the parts of a multipart body that are not files
	Parts       int           // max number of parts of a multipart body
	RequestBody int64         // max total bytes of a multipart body
	Stall       time.Duration // max time without receiving a byte
	MinRate     int64         // min bytes per second, measured over Stall
	Page        int64         // max bytes of the records on one page of a list; 0 means 4 MB

	StallInMemory time.Duration // replaces Stall while the body has memory reserved; 0 means Stall
}

// New returns the handler for /metrics and all paths under /v1 and /api/v1. The handler
// sets the Pattern of each request to the pattern of the matched route.
func New(opts Options) (http.Handler, error) {
	v := opts.App
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
		turns:     fairqueue.NewTurns(turnsPerCore*runtime.GOMAXPROCS(0), httpx.ErrBusy),
	}
	for _, recordType := range []string{abstractType, orderType, fileType, folderType, instrumentType, noteType, orderLinkType,
		assignmentType, namesRunType, requirementsType, runsheetType, checksType, phrasesType, viewType} {
		s.etags[recordType] = etagCodec{v.Secrets.VersionTags(recordType)}
	}
	auth := &authenticator{server: s, keys: v.Keys, failing: stats.NewRateLimiter(opts.FailingKeys, opts.Now),
		requests: stats.NewRateLimiter(opts.Requests, opts.Now)}
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
	return normalizePath(router), nil
}

// route assigns a handler to a method and a path.
type route struct {
	method, path string
	handler      handler
}

// routes returns all routes under /v1.
func routes(s *server) []route {
	v := s.App
	abstracts, orders, folders, files := newAbstractHandler(s), newOrderHandler(s), newFolderHandler(s), newFileHandler(s)
	templates := templateHandler{v.Templates}
	trash := trashHandler{s, v.Trash}
	events := eventHandler{s, v.Events}
	search := searchHandler{s, v.Search}
	uploads := uploadHandler{s, v.Uploads}
	return slices.Concat([]route{
		{"GET", "/abstract-templates", templates.list},
		{"GET", "/abstract-templates/:n", templates.get},
		{"GET", "/abstracts", abstracts.list},
		{"POST", "/abstracts", abstracts.create},
		{"POST", "/abstracts/bulk", abstracts.bulk},
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
		{"POST", "/orders/bulk", orders.bulk},
		{"GET", "/orders/:id", orders.get},
		{"PATCH", "/orders/:id", orders.patch},
		{"DELETE", "/orders/:id", orders.trash},
		{"POST", "/orders/:id/restore", orders.restore},
		{"GET", "/orders/:id/assignment", orders.assignment},
		{"PUT", "/orders/:id/assignment", orders.setAssignment},
		{"GET", "/file-vault/folders", folders.list},
		{"POST", "/file-vault/folders", folders.create},
		{"GET", "/file-vault/folders/:n", folders.get},
		{"PATCH", "/file-vault/folders/:n", folders.patch},
		{"DELETE", "/file-vault/folders/:n", folders.trash},
		{"POST", "/file-vault/upload", files.upload},
		{"GET", "/file-vault/files", files.list},
		{"POST", "/file-vault/files/bulk", files.bulk},
		{"GET", "/file-vault/files/:n", files.get},
		{"PATCH", "/file-vault/files/:n", files.patch},
		{"DELETE", "/file-vault/files/:n", files.trash},
		{"POST", "/file-vault/files/:n/restore", files.restore},
		{"GET", "/file-vault/files/:n/download", files.download},
		{"GET", "/file-vault/files/:n/searchable.pdf", files.searchable},
		{"GET", "/file-vault/files/:n/text", files.text},
		{"POST", uploadsPath, uploads.begin},
		{"GET", uploadsPath + "/:id", uploads.show},
		{"PATCH", uploadsPath + "/:id", uploads.write},
		{"DELETE", uploadsPath + "/:id", uploads.cancel},
		{"GET", "/search", search.search},
		{"GET", "/trash", trash.list},
		{"GET", eventsPath, events.list},
		{"GET", streamPath, events.stream},
	}, titleWorkRoutes(s), viewRoutes(s), abstracts.files(), orders.files(), files.pages(), newInstrumentHandler(s).files())
}

// titleWorkRoutes returns the routes for what an abstractor produces: instruments, runsheets, and the
// other parts of an abstract.
func titleWorkRoutes(s *server) []route {
	instruments, work, notes := newInstrumentHandler(s), titleWorkHandler{s, s.App.TitleWork}, noteHandler{s, s.App.Notes}
	phrases := phraseHandler{s, s.App.Phrases}
	return append(instruments.runsheetFiles(), []route{
		{"GET", "/abstracts/:id/instruments", instruments.listOfAbstract},
		{"POST", "/abstracts/:id/instruments", instruments.create},
		{"PUT", "/abstracts/:id/instruments/sequence", instruments.setSequence},
		{"GET", "/abstracts/:id/runsheet", instruments.runsheet},
		{"POST", readRunsheetPath, instruments.readRunsheetFile},
		{"GET", "/abstracts/:id/order", work.show(work.orderResponse)},
		{"PUT", "/abstracts/:id/order", work.setOrder},
		{"DELETE", "/abstracts/:id/order", work.removeOrder},
		{"GET", "/abstracts/:id/assignment", work.show(work.assignmentResponse)},
		{"PUT", "/abstracts/:id/assignment", work.setAssignment},
		{"GET", "/abstracts/:id/names-run", work.show(work.namesRunResponse)},
		{"PUT", "/abstracts/:id/names-run", work.setNamesRun},
		{"GET", "/abstracts/:id/requirements", work.requirements},
		{"PUT", "/abstracts/:id/requirements", work.setRequirements},
		{"GET", "/abstracts/:id/checks", work.checks},
		{"GET", "/abstracts/:id/certificate", work.certificates},
		{"POST", "/abstracts/:id/certificate", work.certify},
		{"POST", "/abstracts/:id/certificate/:n/void", work.void},
		{"POST", "/abstracts/:id/bring-down", work.bringDown},
		{"GET", "/abstracts/:id/notes", notes.list(abstractType)},
		{"POST", "/abstracts/:id/notes", notes.create(abstractType)},
		{"GET", "/orders/:id/abstracts", work.abstractsOfOrder},
		{"GET", "/orders/:id/notes", notes.list(orderType)},
		{"POST", "/orders/:id/notes", notes.create(orderType)},
		{"GET", "/file-vault/files/:n/notes", notes.list(fileType)},
		{"POST", "/file-vault/files/:n/notes", notes.create(fileType)},
		{"GET", "/file-vault/files/:n/suggestions", instruments.suggestions},
		{"PATCH", "/notes/:n", notes.patch},
		{"DELETE", "/notes/:n", notes.delete},
		{"POST", "/notes/:n/restore", notes.restore},
		{"GET", "/document-types", instruments.types},
		{"GET", "/phrases", phrases.get},
		{"PUT", "/phrases", phrases.set},
		{"GET", "/instruments", instruments.list},
		{"POST", "/instruments/bulk", instruments.bulk},
		{"GET", "/instruments/:n", instruments.get},
		{"PATCH", "/instruments/:n", instruments.patch},
		{"DELETE", "/instruments/:n", instruments.trash},
		{"POST", "/instruments/:n/restore", instruments.restore},
	}...)
}

// mount registers all routes. It adds a HEAD route for each GET route and an OPTIONS route
// for each path.
func mount(router *gin.Engine, s *server) {
	allowed := map[string][]string{}
	for _, r := range routes(s) {
		path, h := "/v1"+r.path, r.handler
		if r.method == http.MethodPost && r.path != uploadsPath && r.path != readRunsheetPath { // these two store no record
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

// normalizePath rewrites paths to their canonical form before routing: it replaces /api/v1
// with /v1 and removes repeated and trailing slashes. Ambiguous paths (with encoded
// slashes, backslashes, or dot segments) get a 404 response.
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
		defer func() { r.Pattern = r2.Pattern }() // outer middleware counts requests by pattern
		next.ServeHTTP(w, &r2)
	})
}

// isAmbiguous reports whether servers and proxies may interpret path differently.
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

// cleanPath removes empty segments and replaces the prefix /api/v1 with /v1.
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

// Names of the record types in IDs and entity tags.
const (
	abstractType = "abstract"
	orderType    = "order"
	fileType     = "file"
	folderType   = "folder"

	instrumentType = "instrument"
	noteType       = "note"
	viewType       = "view"
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
	turns             *fairqueue.Turns // limits how many lists are created at the same time
}

const (
	turnsPerCore = 4
	maxTurnWait  = 10 * time.Second
)
