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
	mostKey          = 255 // characters
)

var (
	errRunning = &httpx.Error{Status: http.StatusConflict, Message: "A request with this idempotency key is still running.",
		Header: map[string]string{"Retry-After": "1", apitypes.ErrorCode: httpx.CodeRunning}}
	errOtherRequest = errs.InvalidField(idempotencyField, "The idempotency key was used with another request.")
)

// slot names a request that is to happen once: who, what and the key.
type slot = [32]byte

// running are the slots that are being worked on, known to this process alone.
type running struct {
	mu    sync.Mutex
	slots map[slot]bool
}

func (r *running) begin(s slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots[s] {
		return false
	}
	r.slots[s] = true
	return true
}

func (r *running) end(s slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.slots, s)
}

// once looks at the key before a handler does anything: the handler runs, or its
// answer of another time is given again.
func (e *edge) once(h handler) handler {
	return func(c *call) (answer, error) {
		key, err := onceKey(c.Header)
		if err != nil {
			return answer{}, err
		}
		if key == "" {
			return h(c)
		}
		c.slot = slotOf(c.actor, c.Method, c.URL.Path, key)
		if !e.running.begin(c.slot) {
			return answer{}, errRunning
		}
		defer e.running.end(c.slot)
		replay, found, err := e.Vault.Replay(c.Context(), c.slot)
		if err != nil {
			return answer{}, err
		}
		c.content = newContent()
		if found {
			if err := e.digest(c); err != nil {
				return answer{}, err
			}
			return again(c, replay)
		}
		a, err := h(c)
		if errors.Is(err, vault.ErrKept) {
			// The commit of an earlier one, which its client did not wait for.
			if replay, _, err = e.Vault.Replay(c.Context(), c.slot); err == nil {
				return again(c, replay)
			}
		}
		return a, err
	}
}

// again answers with what was kept, if the request, which was read, is the same.
func again(c *call, replay model.StoredResponse) (answer, error) {
	if c.content.sum() != replay.RequestHash {
		return answer{}, errOtherRequest
	}
	header := map[string]string{replayedHeader: "true"}
	for name, value := range replay.Header {
		header[name] = value
	}
	return answer{status: replay.Status, raw: replay.Body, header: header}, nil
}

// onceKey reads the header: "" when there is none.
func onceKey(h http.Header) (string, error) {
	values := h.Values(idempotencyKey)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	switch {
	case key == "":
		return "", errs.InvalidField(idempotencyField, model.MsgRequired(idempotencyField))
	case len(key) > mostKey:
		return "", errs.InvalidField(idempotencyField, model.MsgTooLong(idempotencyField, mostKey))
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

// slotOf is the SHA-256 of actor, method, straightened path and key; only the key,
// which comes last, is of any length without a mark.
func slotOf(actor model.Actor, method, path, key string) slot {
	return sha256.Sum256([]byte(actor.Record() + "\n" + method + "\n" + path + "\n" + key))
}

// keep is what the vault keeps of an answer, if the request carries a key.
func keep[T any](c *call, render func(T) answer) vault.Keep[T] {
	if c.content == nil {
		return vault.Keep[T]{}
	}
	return vault.Keep[T]{Slot: c.slot, Request: c.content.sum(), Render: func(made T) (int, map[string]string, []byte, error) {
		a := render(made)
		raw, err := apitypes.Marshal(a.body)
		return a.status, c.ignored.withIgnored(a.header), raw, err
	}}
}
