// Package ui is the voice for people: pages, and the signed links under which
// documents are seen and saved. Like app/api it decides nothing.
//
// Every page is one line of the table in routes.go, which says who may have it; what
// is asked before a handler runs (who is it, was it sent from here, may they) is
// asked there and nowhere else. Failures become pages in failure.go.
//
// It never wraps the writer of a download: the kernel sends the file itself.
package ui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
	"deedkeep/web"
)

// Options of New. Sizes are bytes.
type Options struct {
	Vault        *vault.Vault
	Links        *secret.Links                                  // of downloads
	Address      func(*http.Request) string                     // of the client
	Origin       func(*http.Request) (string, error)            // the service's own address, as the request has it
	Event        func(model.Event) apitypes.Event               // an entry of the log as programs see it
	Settings     []config.Setting                               // in force, secrets masked
	SettingsFile string                                         // the one that was read, or the one to create
	Version      string                                         // of this program
	Doctor       func(context.Context) (apitypes.Doctor, error) // looks at the installation; nil: there is none
	FormBytes    int64                                          // the largest form; 0: 8 MB
	Room         Room                                           // memory for large forms; nil: without a limit
	BodyBytes    int64                                          // the largest request with documents; 0: 10 GB
	Parts        int                                            // of a request with documents; 0: 1,000
	Stall        time.Duration                                  // without a byte of one; 0: 30 seconds
	MinRate      int64                                          // bytes a second that a client must send or take at least
	Now          func() time.Time
	Zone         *time.Location // of days and times on pages; nil: that of this machine
	Log          *slog.Logger
}

// Room counts the memory of a body, of at most that length, for its owner as it is read;
// where there is none, reading it ends with title.Closing. granted is called when it got
// memory, with how long it waited for that.
type Room = func(ctx context.Context, owner string, body io.ReadCloser, length int64, granted func(waited time.Duration)) (counted io.ReadCloser, release func())

// documents opens the bytes of a file; NotFound when there is none.
type documents interface {
	Open(ctx context.Context, id uint64) (model.File, io.ReadSeekCloser, error)
	KnownDamage(list ...model.File) error
}

// views takes down who opened what; it never waits.
type views interface {
	Note(actor model.Actor, kind, record string, detail map[string]string)
	GoesOn(actor model.Actor, kind, record string)
	Fast(actor model.Actor) bool
}

type pages struct {
	Options
	Files     documents
	Events    views
	Search    searches
	assets    *web.Assets
	icons     map[string]string
	templates *templates
	abstracts *secret.IDs
	orders    *secret.IDs
	mux       *http.ServeMux
	health    health
	examining sync.Mutex
	sending   sync.Map // slot → chan struct{}: forms that are being done once; see shownonce.go
	origins   *http.CrossOriginProtection
}

// New gives the handler of everything outside /v1. The pattern of the route is in
// http.Request.Pattern of the request that it was handed.
func New(opts Options) (http.Handler, error) {
	p, err := open(opts)
	if err != nil {
		return nil, err
	}
	p.mount(p.routes())
	return http.HandlerFunc(p.route), nil
}

// open reads assets and templates; no page is mounted yet.
func open(opts Options) (*pages, error) {
	opts.FormBytes, opts.BodyBytes = cmp.Or(opts.FormBytes, 8<<20), cmp.Or(opts.BodyBytes, 10<<30)
	if opts.Room == nil {
		opts.Room = func(_ context.Context, _ string, body io.ReadCloser, _ int64, _ func(time.Duration)) (io.ReadCloser, func()) {
			return body, func() {}
		}
	}
	opts.Stall = cmp.Or(opts.Stall, 30*time.Second)
	assets, err := web.OpenAssets()
	if err != nil {
		return nil, err
	}
	icons, err := web.Icons()
	if err != nil {
		return nil, err
	}
	opts.Zone = cmp.Or(opts.Zone, time.Local)
	v := opts.Vault
	p := &pages{
		Options: opts, Files: v.Files, Events: v.Events, Search: v, assets: assets, icons: icons,
		abstracts: v.Secrets.IDs("abstracts"), orders: v.Secrets.IDs("orders"), origins: http.NewCrossOriginProtection(),
	}
	if p.templates, err = parse(web.Pages(), p.functions()); err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return p, nil
}

func (p *pages) route(w http.ResponseWriter, r *http.Request) {
	// The request line itself is compared: a link has one spelling.
	switch path := r.URL.EscapedPath(); {
	case isLink(path):
		r.Pattern = "/dl/{file}/{expiry}/{signature}/{filename}"
		p.only(w, r, p.download)
	case isAsset(path):
		r.Pattern = web.AssetPath + "{version}/{name}"
		p.only(w, r, p.assets.ServeHTTP)
	default:
		p.serve(w, r)
	}
}

// only answers GET and HEAD.
func (p *pages) only(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.say(w, r, http.StatusMethodNotAllowed, "This cannot be done here", "This address can only be looked at.")
		return
	}
	next(w, r)
}

func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }
