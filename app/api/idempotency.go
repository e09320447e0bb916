package api

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// Idempotency: a POST that carries a key happens once (API.md, "Ours"). The answer
// is kept in the transaction of its record, so that a retry after a cut connection,
// or a restart, gets it again.
const (
	idempotencyKey   = "Idempotency-Key"
	idempotencyField = "idempotency_key"
	replayedHeader   = "Idempotent-Replayed"
	maxKey           = 255 // characters
)

var (
	errRunning = &httpx.Error{Status: http.StatusConflict, Message: "A request with this idempotency key is still running.",
		Header: map[string]string{"Retry-After": "1", apitypes.ErrorCode: httpx.CodeRunning}}
	errKeyReused = errs.InvalidField(idempotencyField, "The idempotency key was used with another request.")
)

// keyHash names a request that is to happen once: who, what and the key.
type keyHash = [32]byte

// running are the slots that are being worked on, known to this process alone.
type running struct {
	mu    sync.Mutex
	slots map[keyHash]bool
}

func (r *running) begin(s keyHash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots[s] {
		return false
	}
	r.slots[s] = true
	return true
}

func (r *running) end(s keyHash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.slots, s)
}

// idempotent looks at the key before a handler does anything: the handler runs, or its
// answer of another time is given again.
func (e *server) idempotent(h handler) handler {
	return func(c *request) (response, error) {
		key, err := readIdempotencyKey(c.Header)
		if err != nil {
			return response{}, err
		}
		if key == "" {
			return h(c)
		}
		c.keyHash = hashKey(c.actor, c.Method, c.URL.Path, key)
		if !e.running.begin(c.keyHash) {
			return response{}, errRunning
		}
		defer e.running.end(c.keyHash)
		replay, found, err := e.Vault.StoredResponse(c.Context(), c.keyHash)
		if err != nil {
			return response{}, err
		}
		c.content = newContent()
		if found {
			if err := e.hashBody(c); err != nil {
				return response{}, err
			}
			return replayResponse(c, replay)
		}
		a, err := h(c)
		if errors.Is(err, vault.ErrAlreadyProcessed) {
			// The commit of an earlier one, which its client did not wait for.
			if replay, _, err = e.Vault.StoredResponse(c.Context(), c.keyHash); err == nil {
				return replayResponse(c, replay)
			}
		}
		return a, err
	}
}

// replayResponse answers with what was kept, if the request, which was read, is the same.
func replayResponse(c *request, replay model.StoredResponse) (response, error) {
	if c.content.sum() != replay.RequestHash {
		return response{}, errKeyReused
	}
	header := map[string]string{replayedHeader: "true"}
	for name, value := range replay.Header {
		header[name] = value
	}
	return response{status: replay.Status, raw: replay.Body, header: header}, nil
}

// readIdempotencyKey reads the header: "" when there is none.
func readIdempotencyKey(h http.Header) (string, error) {
	values := h.Values(idempotencyKey)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	switch {
	case key == "":
		return "", errs.InvalidField(idempotencyField, model.MsgRequired(idempotencyField))
	case len(key) > maxKey:
		return "", errs.InvalidField(idempotencyField, model.MsgTooLong(idempotencyField, maxKey))
	case len(values) > 1 || !visible(key):
		return "", errs.InvalidField(idempotencyField, model.MsgInvalidCharacters(idempotencyField))
	}
	return key, nil
}

// visible says whether a text is visible ASCII (RFC 5234, VCHAR).
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hashKey is the SHA-256 of actor, method, straightened path and key; only the key,
// which comes last, is of any length without a mark.
func hashKey(actor model.Actor, method, path, key string) keyHash {
	return sha256.Sum256([]byte(actor.Record() + "\n" + method + "\n" + path + "\n" + key))
}

// storeResponse is what the vault keeps of an answer, if the request carries a key.
func storeResponse[T any](c *request, render func(T) response) vault.Idempotency[T] {
	if c.content == nil {
		return vault.Idempotency[T]{}
	}
	return vault.Idempotency[T]{KeyHash: c.keyHash, RequestHash: c.content.sum(), Render: func(made T) (int, map[string]string, []byte, error) {
		a := render(made)
		raw, err := apitypes.Marshal(a.body)
		return a.status, c.ignored.withIgnored(a.header), raw, err
	}}
}
