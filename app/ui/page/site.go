// Package page holds what all pages share: layout, templates, forms, sessions, paths, and error
// pages.
package page

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
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/web"
)

// Options configure New. Sizes are in bytes.
type Options struct {
	Vault        *instance.Instance
	Links        *secret.Links                                  // signs the links of downloads
	Address      func(*http.Request) string                     // of the client
	Origin       func(*http.Request) (string, error)            // the address of this server as the request names it
	Event        func(model.Event) apitypes.Event               // an audit entry as the API returns it
	Settings     []config.Setting                               // current settings, secrets masked
	SettingsFile string                                         // the settings file, also if it doesn't exist
	Version      string                                         // of this program
	Doctor       func(context.Context) (apitypes.Doctor, error) // runs the diagnostics; nil: unavailable
	FormBytes    int64                                          // maximum size of a form; 0: 8 MB
	LimitBody    BodyLimiter                                    // limits the memory of large forms; nil: no limit
	BodyBytes    int64                                          // maximum size of a request with documents; 0: 10 GB
	Parts        int                                            // maximum number of parts of such a request; 0: 1,000
	Stall        time.Duration                                  // timeout without receiving a byte; 0: 30 seconds
	MinRate      int64                                          // minimum transfer rate of clients, in bytes per second
	Now          func() time.Time
	Zone         *time.Location // time zone of pages; nil: that of this machine
	Log          *slog.Logger
}

// BodyLimiter charges the memory of a body of at most length bytes to its owner while the body is
// read. If there is no memory, reading fails with errs.Unavailable. It calls granted with the time
// that it had to wait for memory.
type BodyLimiter = func(ctx context.Context, owner string, body io.ReadCloser, length int64,
	granted func(waited time.Duration)) (counted io.ReadCloser, release func())

// documentStore opens the content of documents, or returns NotFound.
type documentStore interface {
	Open(ctx context.Context, id uint64) (model.File, io.ReadSeekCloser, error)
	KnownDamage(list ...model.File) error
}

// viewLog records who opened which document. It never blocks.
type viewLog interface {
	RecordAccess(actor model.Actor, kind, record string, detail map[string]string)
	ContinueView(actor model.Actor, kind, record string)
	RateLimited(actor model.Actor) bool
}

// Site is what all pages share: the vault, the templates, and the routes. Each group of pages embeds it.
type Site struct {
	Options
	Files        documentStore
	Events       viewLog
	Search       searcher
	Assets       *web.Assets
	icons        map[string]string
	templates    *templates
	AbstractIDs  *secret.IDs
	OrderIDs     *secret.IDs
	mux          *http.ServeMux
	warningCache warningCache
	inFlight     sync.Map // token hash → chan struct{}: forms that SubmitOnce is processing
	origins      *http.CrossOriginProtection
}

// New reads the assets and the shared templates. Mount adds the pages.
func New(opts Options) (*Site, error) {
	opts.FormBytes, opts.BodyBytes = cmp.Or(opts.FormBytes, 8<<20), cmp.Or(opts.BodyBytes, 10<<30)
	if opts.LimitBody == nil {
		opts.LimitBody = func(_ context.Context, _ string, body io.ReadCloser, _ int64, _ func(time.Duration)) (io.ReadCloser, func()) {
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
	p := &Site{
		Options: opts, Files: v.Files, Events: v.Events, Search: v.Search, Assets: assets, icons: icons,
		AbstractIDs: v.Secrets.IDs("abstracts"), OrderIDs: v.Secrets.IDs("orders"), origins: http.NewCrossOriginProtection(),
	}
	if p.templates, err = newTemplates(web.Pages(), p.templateFuncs()); err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return p, nil
}

// RequestID returns the ID of the request that w responds to.
func RequestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

// GetOnly calls next for GET and HEAD and rejects other methods.
func (p *Site) GetOnly(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.ShowMessage(w, r, http.StatusMethodNotAllowed, "This cannot be done here", "This address can only be looked at.")
		return
	}
	next(w, r)
}
