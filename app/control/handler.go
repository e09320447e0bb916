package control

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/instance"
	"deedkeep/app/memory"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// Build identifies this build. Date is the time of the commit in RFC 3339 format, or "" if it is unknown.
type Build struct{ Version, Commit, Date string }

// String returns the version and the commit in one line.
func (b Build) String() string {
	if b.Commit == "" {
		return b.Version
	}
	return b.Version + " (" + b.Commit + ")"
}

// HandlerOptions contains the options for NewHandler. If no server is running and a command has opened the vault
// itself, Listen is "", Certificate is nil, and StartedAt is zero.
type HandlerOptions struct {
	App         *instance.Instance
	Build       Build
	Listen      string
	Certificate func() *certificate.Info // returns the current certificate; nil if TLS is off
	Probes      Probes
	Forwarded   *httpx.ForwardingMonitor  // nil if no server runs
	Memory      func() []memory.Processes // of the server and its workers; nil if no server runs
	Origin      string                    // scheme and host of one-time links
	StartedAt   time.Time
	Log         *slog.Logger
	Rand        io.Reader // source of randomness for request IDs
}

// OperatorHeader contains the name of the operator who runs the command. The server trusts it because only users who
// can read the data directory can connect to the control socket.
const OperatorHeader = "X-Deedkeep-Operator"

type handler struct{ HandlerOptions }

// handlerFunc returns the JSON of a response.
type handlerFunc func(*http.Request) (any, error)

// NewHandler returns the handler for the control socket. It must never be served on a public address.
func NewHandler(opts HandlerOptions) http.Handler {
	c := handler{opts}
	mux := http.NewServeMux()
	for pattern, h := range map[string]handlerFunc{
		"GET /control/status":                       c.status,
		"GET /control/doctor":                       c.checkup,
		"POST /control/probe":                       c.openProbe,
		"GET /control/process":                      c.failed,
		"POST /control/process/retry":               withBody(maxBody, c.retry),
		"POST /control/backup/pruned":               withBody(maxBody, c.pruned),
		"GET /control/events":                       c.events,
		"GET /control/settings":                     c.settings,
		"GET /control/keys":                         c.keys,
		"POST /control/keys":                        withBody(maxBody, c.createKey),
		"POST /control/keys/{id}/revoke":            change("key", c.App.Keys.Revoke, keyShape),
		"POST /control/keys/{id}/rotate":            withBody(maxBody, c.rotateKey),
		"GET /control/users":                        c.users,
		"POST /control/users":                       withBody(maxBody, c.createUser),
		"POST /control/users/{id}/role":             withBody(maxBody, c.setUserRole),
		"POST /control/users/{id}/profile":          withBody(maxBody, c.setUserProfile),
		"POST /control/users/{id}/disable":          change("user", c.App.Users.Disable, userShape),
		"POST /control/users/{id}/enable":           change("user", c.App.Users.Enable, userShape),
		"POST /control/users/{id}/two-factor/reset": change("user", c.App.Users.ResetTwoFactor, userShape),
		"POST /control/users/{id}/reset":            c.resetUser,
		"GET /control/templates":                    c.templates,
		"POST /control/templates/import":            withBody(maxDefinitionsBody, c.importTemplates),
		"POST /control/templates/{id}/default":      change("template", c.App.Templates.SetDefault, encode.Template),
		"POST /control/templates/{id}/retire":       change("template", c.App.Templates.Retire, encode.Template),
		"GET /control/order-fields":                 c.orderFields,
		"POST /control/order-fields/import":         withBody(maxDefinitionsBody, c.importOrderFields),
		"GET /control/order-statuses":               c.orderStatuses,
		"POST /control/order-statuses/import":       withBody(maxDefinitionsBody, c.importOrderStatuses),
		"GET /control/document-types":               c.documentTypes,
		"POST /control/document-types/import":       withBody(maxDefinitionsBody, c.importDocumentTypes),
		"GET /control/trash":                        c.trash,
		"GET /control/trash/purgeable":              c.purgeable,
		"GET /control/trash/{record}":               c.trashed,
		"POST /control/trash/restore":               withBody(maxBody, c.restoreTrash),
		"POST /control/trash/purge":                 withBody(maxBody, c.purge),
		"POST /control/trash/empty":                 c.emptyTrash,
		"POST /control/import/folders":              withBody(maxBody, c.ensureFolder),
		"GET /control/import/file":                  c.lookForFile,
		"POST /control/import/file":                 c.importFile,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := h(r)
			c.respond(w, r, body, err)
		})
	}
	for pattern, h := range c.streams() {
		mux.HandleFunc(pattern, h)
	}
	return httpx.WithRequestID(mux, opts.Rand)
}

// streams returns the handlers that stream their response, by pattern.
func (h handler) streams() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"POST /control/verify":        h.verify,
		"POST /control/repair":        h.repair,
		"POST /control/reindex":       h.reindex,
		"POST /control/demo":          h.demo,
		"POST /control/backup":        h.backup,
		"GET /control/events/export":  h.exportEvents,
		"POST /control/events/verify": h.verifyEvents,
	}
}

// respond sends body, or the error if there is one.
func (h handler) respond(w http.ResponseWriter, r *http.Request, body any, err error) {
	status := http.StatusOK
	if err != nil {
		var failure apitypes.Failure
		var header map[string]string
		if status, failure, header = httpx.TranslateError(err); status == http.StatusInternalServerError {
			h.Log.ErrorContext(r.Context(), "control request failed", "error", err, "request_id", r.Header.Get(httpx.RequestIDHeader))
		}
		body = failure
		for name, value := range header {
			w.Header().Set(name, value)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Writing fails if the command has disconnected.
	_ = apitypes.Write(w, body)
}

func operator(r *http.Request) model.Actor {
	return model.Actor{Kind: "operator", Name: r.Header.Get(OperatorHeader), RequestID: r.Header.Get(httpx.RequestIDHeader)}
}

// maxBody is the maximum size of a request body in bytes.
const maxBody = 1 << 20

// withBody passes the decoded body of a request to h.
func withBody[T any](maxSize int64, h func(r *http.Request, asked T) (any, error)) handlerFunc {
	return func(r *http.Request) (any, error) {
		var asked T
		if err := readBody(r, &asked, maxSize); err != nil {
			return nil, err
		}
		return h(r, asked)
	}
}

func readBody(r *http.Request, v any, maxSize int64) error {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxSize))
	if err != nil {
		return err
	}
	if _, err := decode.Object(raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &httpx.Error{Status: http.StatusBadRequest, Message: "The request body has a field of the wrong type: " + err.Error()}
	}
	return nil
}

// change handles a request without a body that changes the record with the ID in the path.
func change[T, S any](kind string, do func(context.Context, model.Actor, uint64) (T, error), shape func(T) S) handlerFunc {
	return func(r *http.Request) (any, error) {
		id, err := recordID(r, kind)
		if err != nil {
			return nil, err
		}
		record, err := do(r.Context(), operator(r), id)
		return dataOf(shape(record)), err
	}
}

func recordID(r *http.Request, kind string) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 63)
	if err != nil {
		return 0, errs.RecordNotFound(kind, r.PathValue("id"))
	}
	return id, nil
}

func dataOf[T any](v T) apitypes.Data[T] { return apitypes.Data[T]{Data: v} }

// list returns the shapes of all items.
func list[T, S any](items []T, shape func(T) S) apitypes.Data[apitypes.List[S]] {
	shapes := make(apitypes.List[S], 0, len(items))
	for _, item := range items {
		shapes = append(shapes, shape(item))
	}
	return dataOf(shapes)
}

// maxListed is the maximum number of records in a list of the trash or of the audit log.
const maxListed = 10_000

// firstRecords returns the first records that match query, up to the limit of the request.
func firstRecords[T, S any](r *http.Request, query vault.Query, read func(context.Context, vault.Query) (vault.Page[T], error), shape func(T) S) (any, error) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > maxListed {
		return nil, errs.InvalidField("limit", errs.NotBetween, 1, maxListed)
	}
	out := apitypes.List[S]{}
	for len(out) < limit {
		query.Limit = min(limit-len(out), 500)
		page, err := read(r.Context(), query)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			out = append(out, shape(item))
		}
		if query.Position = page.Next; page.Next == nil {
			break
		}
	}
	return dataOf(out), nil
}

func timeOrNil(t *apitypes.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}

func optionalTime(t *time.Time) *apitypes.Time {
	if t == nil {
		return nil
	}
	return new(apitypes.At(*t))
}
