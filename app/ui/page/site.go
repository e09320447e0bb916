// Package page contains what all pages share: the layout, templates, forms, sessions, paths, and
// error pages.
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
	"deedkeep/app/encode"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/web"
)

// Options are the options of New. Sizes are in bytes.
type Options struct {
	App          *instance.Instance
	Links        *secret.Links                                  // signs download links
	Address      func(*http.Request) string                     // returns the client's IP address
	Origin       func(*http.Request) (string, error)            // returns this server's address as the request specifies it
	Event        func(model.Event) apitypes.Event               // converts an audit entry to its API representation
	SettingsFile string                                         // path of the settings file, even if it doesn't exist
	Version      string                                         // version of this binary
	Doctor       func(context.Context) (apitypes.Doctor, error) // runs the diagnostics; nil if unavailable
	Restart      func()                                         // restarts the server with what is stored; nil if unavailable
	RestartError string                                         // why the last restart didn't apply what was stored, or ""
	Run          string                                         // identifies this run of the server
	FormBytes    int64                                          // maximum size of a form; default: 8 MB
	LimitBody    BodyLimiter                                    // limits the memory of large forms; nil means no limit
	BodyBytes    int64                                          // maximum size of an upload request; default: 10 GB
	Parts        int                                            // maximum number of parts in an upload request; default: 1,000
	Stall        time.Duration                                  // how long a client may send no data; default: 30 seconds
	MinRate      int64                                          // minimum client transfer rate, in bytes per second
	Now          func() time.Time
	Zone         func() *time.Location // time zone shown on pages
	Log          *slog.Logger
}

// BodyLimiter charges the memory of a request body to its owner while the body is read. The body
// has at most length bytes. If no memory is available, reading fails with errs.Unavailable. granted
// is called with the time spent waiting for memory.
type BodyLimiter = func(ctx context.Context, owner string, body io.ReadCloser, length int64,
	granted func(waited time.Duration)) (counted io.ReadCloser, release func())

// Site contains what all pages share: the vault, the templates, and the routes. Each group of pages
// embeds it.
type Site struct {
	Options
	Assets       *web.Assets
	icons        map[string]string
	templates    *templates
	IDs          encode.IDCodec
	mux          *http.ServeMux
	warningCache warningCache
	recent       recentRecords
	inFlight     sync.Map // token hash → chan struct{}: forms being processed by SubmitOnce
	origins      *http.CrossOriginProtection
}

// New loads the assets and the shared templates. Mount adds the pages.
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
	if opts.Zone == nil {
		opts.Zone = opts.App.Stored.Location
	}
	v := opts.App
	p := &Site{
		Options: opts, Assets: assets, icons: icons,
		IDs: encode.NewIDCodec(v.Secrets), origins: http.NewCrossOriginProtection(),
	}
	if p.templates, err = newTemplates(web.Pages(), p.templateFuncs()); err != nil {
		return nil, fmt.Errorf("load pages: %w", err)
	}
	return p, nil
}

// GetOnly calls next for GET and HEAD requests and rejects other methods.
func (si *Site) GetOnly(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		si.ShowMessage(&Request{Request: r, W: w}, http.StatusMethodNotAllowed, "Action not available",
			"This URL doesn't support that type of request.")
		return
	}
	next(w, r)
}
