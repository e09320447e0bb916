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
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
	"deedkeep/web"
)

// Options of New. Sizes are bytes.
type Options struct {
	Vault        *vault.Instance
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

// documentStore opens the bytes of a file; NotFound when there is none.
type documentStore interface {
	Open(ctx context.Context, id uint64) (model.File, io.ReadSeekCloser, error)
	KnownDamage(list ...model.File) error
}

// viewLog takes down who opened what; it never waits.
type viewLog interface {
	Note(actor model.Actor, kind, record string, detail map[string]string)
	GoesOn(actor model.Actor, kind, record string)
	Fast(actor model.Actor) bool
}

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
	inFlight     sync.Map // slot → chan struct{}: forms that are being done once; see shownonce.go
	origins      *http.CrossOriginProtection
}

// open reads assets and templates; no page is mounted yet.
func New(opts Options) (*Site, error) {
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
	p := &Site{
		Options: opts, Files: v.Files, Events: v.Events, Search: v.Search, Assets: assets, icons: icons,
		AbstractIDs: v.Secrets.IDs("abstracts"), OrderIDs: v.Secrets.IDs("orders"), origins: http.NewCrossOriginProtection(),
	}
	if p.templates, err = newTemplates(web.Pages(), p.templateFuncs()); err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return p, nil
}

func RequestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

// GetOnly answers GET and HEAD.
func (p *Site) GetOnly(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.ShowMessage(w, r, http.StatusMethodNotAllowed, "This cannot be done here", "This address can only be looked at.")
		return
	}
	next(w, r)
}
