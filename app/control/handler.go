package control

import (
	"encoding/json"
	"errors"
	"fmt"
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
	"deedkeep/app/model"
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
	Vault       *instance.Instance
	Build       Build
	Listen      string
	Certificate func() *certificate.Info // returns the current certificate; nil if TLS is off
	Probes      Probes
	Forwarded   *httpx.ForwardingMonitor // nil if no server runs
	Origin      string                   // scheme and host of one-time links
	StartedAt   time.Time
	Log         *slog.Logger
	Rand        io.Reader // source of randomness for request IDs
}

// OperatorHeader contains the name of the operator who runs the command. The server trusts it because only users who
// can read the data directory can connect to the control socket.
const OperatorHeader = "X-Deedkeep-Operator"

type handler struct{ HandlerOptions }

// NewHandler returns the handler for the control socket. It must never be served on a public address.
func NewHandler(opts HandlerOptions) http.Handler {
	c := handler{opts}
	mux := http.NewServeMux()
	for _, routes := range []map[string]func(*http.Request) (any, error){c.definitionRoutes(), c.importRoutes()} {
		for pattern, h := range routes {
			mux.HandleFunc(pattern, c.respond(h))
		}
	}
	for pattern, h := range map[string]func(*http.Request) (any, error){
		"GET /control/status":            c.status,
		"GET /control/doctor":            c.checkup,
		"POST /control/probe":            c.openProbe,
		"GET /control/keys":              c.keys,
		"POST /control/keys":             c.createKey,
		"POST /control/keys/{id}/revoke": c.revokeKey,
		"POST /control/keys/{id}/rotate": c.rotateKey,
		"POST /control/backup/pruned":    c.pruned,
		"GET /control/process":           c.failed,
		"POST /control/process/retry":    c.retry,
	} {
		mux.HandleFunc(pattern, c.respond(h))
	}
	for _, routes := range []map[string]func(*http.Request) (any, error){c.userRoutes(), c.trashRoutes()} {
		for pattern, h := range routes {
			mux.HandleFunc(pattern, c.respond(h))
		}
	}
	mux.HandleFunc("POST /control/verify", c.verify)
	mux.HandleFunc("POST /control/repair", c.repair)
	mux.HandleFunc("POST /control/reindex", c.reindex)
	mux.HandleFunc("POST /control/backup", c.backup)
	c.mountEvents(mux)
	return httpx.WithRequestID(mux, opts.Rand)
}

func (c handler) respond(h func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		body, err := h(r)
		if err != nil {
			var failure apitypes.Failure
			var header map[string]string
			if status, failure, header = httpx.TranslateError(err); status == http.StatusInternalServerError {
				c.Log.ErrorContext(r.Context(), "control door", "error", err, "request_id", r.Header.Get(httpx.RequestIDHeader))
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
}

func operator(r *http.Request) model.Actor {
	return model.Actor{Kind: "operator", Name: r.Header.Get(OperatorHeader), RequestID: r.Header.Get(httpx.RequestIDHeader)}
}

func (c handler) status(r *http.Request) (any, error) { return c.currentStatus(r) }

func (c handler) currentStatus(r *http.Request) (apitypes.Status, error) {
	s, err := c.Vault.Status(r.Context())
	if err != nil {
		return apitypes.Status{}, err
	}
	out := apitypes.Status{
		Running: c.Listen != "", Version: c.Build.Version, Commit: c.Build.Commit, Data: c.Vault.Dir, Listen: encode.OptionalString(c.Listen),
		Abstracts: int64(s.Abstracts), Orders: int64(s.Orders), Files: int64(s.Files), Folders: int64(s.Folders),
		Trashed: int64(s.Trashed), Bytes: int64(s.Bytes),
		Queue: int64(s.Queue), Failed: int64(s.Failed), DiskFree: int64(s.DiskFree), DiskReserve: int64(s.DiskReserve), ReadOnly: s.ReadOnly,
	}
	if c.Certificate != nil {
		out.Certificate = certificateShape(c.Certificate())
	}
	if !c.StartedAt.IsZero() {
		out.StartedAt = new(apitypes.At(c.StartedAt))
	}
	if s.Denied != nil {
		out.WritesDenied = new(writesDenied(s))
	}
	index, err := c.Vault.Search.State(r.Context())
	if err != nil {
		return out, err
	}
	out.Search = searchIndex(index)
	c.damageStatus(&out, s)
	err = c.backupStatus(&out)
	return out, err
}

// writesDenied returns one sentence with the reason why writes are denied. If the disk is full, the sentence contains
// the disk figures.
func writesDenied(s instance.Status) string {
	named, ok := errors.AsType[*errs.Error](s.Denied)
	switch {
	case ok && named.Kind == errs.InsufficientStorage:
		return fmt.Sprintf("The disk has %s free, less than the reserve of %s (disk.reserve). Free disk space to upload and add records again.",
			apitypes.HumanSize(int64(s.DiskFree)), apitypes.HumanSize(int64(s.DiskReserve)))
	case ok:
		return named.Message
	}
	return s.Denied.Error()
}

func (c handler) keys(r *http.Request) (any, error) {
	keys, err := c.Vault.Keys.List(r.Context())
	list := make([]apitypes.Key, 0, len(keys))
	for _, k := range keys {
		list = append(list, keyShape(k))
	}
	return apitypes.Keys{Data: list}, err
}

func (c handler) createKey(r *http.Request) (any, error) {
	var asked apitypes.KeyCreate
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	text, key, err := c.Vault.Keys.Create(r.Context(), operator(r), model.KeyDraft{
		Name: asked.Name, Abilities: asked.Abilities, ExpiresAt: timeOrNil(asked.ExpiresAt),
	})
	return apitypes.KeyCreated{Key: text, Data: keyShape(key)}, err
}

func (c handler) revokeKey(r *http.Request) (any, error) {
	id, err := keyID(r)
	if err != nil {
		return nil, err
	}
	key, err := c.Vault.Keys.Revoke(r.Context(), operator(r), id)
	return apitypes.KeyBody{Data: keyShape(key)}, err
}

func (c handler) rotateKey(r *http.Request) (any, error) {
	id, err := keyID(r)
	if err != nil {
		return nil, err
	}
	var asked apitypes.KeyRotate
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	if asked.OverlapSeconds < 0 || asked.OverlapSeconds > maxOverlap {
		return nil, errs.InvalidField("overlap_seconds", "The overlap must be between 0 seconds and 10 years.")
	}
	text, key, err := c.Vault.Keys.Rotate(r.Context(), operator(r), id, time.Duration(asked.OverlapSeconds)*time.Second)
	return apitypes.KeyCreated{Key: text, Data: keyShape(key)}, err
}

// maxOverlap is the maximum overlap of a rotated key: ten years, in seconds.
const maxOverlap = 10 * 365 * 24 * 60 * 60

func keyID(r *http.Request) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errs.RecordNotFound("key", r.PathValue("id"))
	}
	return id, nil
}

// maxBody is the maximum size of a request body in bytes.
const maxBody = 1 << 20

func readBody(r *http.Request, v any) error { return readBodyUpTo(r, v, maxBody) }

func readBodyUpTo(r *http.Request, v any, maxSize int64) error {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxSize))
	if err != nil {
		return err
	}
	if _, err := decode.Object(raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &httpx.Error{Status: http.StatusBadRequest, Message: "The request body has a field of another kind: " + err.Error()}
	}
	return nil
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

func keyShape(k model.Key) apitypes.Key {
	return apitypes.Key{
		ID: int64(k.ID), Name: k.Name, Prefix: k.Prefix, Abilities: k.Abilities, CreatedAt: apitypes.At(k.CreatedAt),
		LastUsedAt: optionalTime(k.LastUsedAt), UseCount: int64(k.UseCount), ExpiresAt: optionalTime(k.ExpiresAt),
		RevokedAt: optionalTime(k.RevokedAt),
	}
}

// maxFailed is the maximum number of failures in a response.
const maxFailed = 1000

func (c handler) failed(r *http.Request) (any, error) {
	files, err := c.Vault.Processing.Failed(r.Context(), 1, maxFailed)
	list := make([]apitypes.ProcessFailure, 0, len(files))
	for _, f := range files {
		list = append(list, apitypes.ProcessFailure{ID: int64(f.ID), Filename: f.Filename, Reason: f.Failure})
	}
	return apitypes.ProcessFailures{Data: list}, err
}

func (c handler) retry(r *http.Request) (any, error) {
	var asked apitypes.ProcessRetry
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	if asked.File < 0 {
		return nil, errs.RecordNotFound("file", asked.File)
	}
	n, err := c.Vault.Processing.Retry(r.Context(), operator(r), uint64(asked.File))
	return apitypes.ProcessRetried{Retried: n}, err
}
