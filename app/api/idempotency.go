package api

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"sync"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// A POST request with an Idempotency-Key header takes effect only once. Its response is
// stored in the same transaction as its record. If the client retries after a lost
// connection or a server restart, it gets the same response.
const (
	idempotencyKey   = "Idempotency-Key"
	idempotencyField = "idempotency_key"
	replayedHeader   = "Idempotent-Replayed"
	maxKeyLength     = 255 // characters
)

var (
	errRunning = &httpx.Error{Status: http.StatusConflict, Message: "A request with this idempotency key is still running.",
		Header: map[string]string{"Retry-After": "1", apitypes.ErrorCode: httpx.CodeRunning}}
	errKeyReused = errs.InvalidField(idempotencyField, "The idempotency key was already used with a different request.")
)

// keyHash identifies an idempotent request by actor, method, path, and key.
type keyHash = [32]byte

// inFlight is the set of idempotent requests that this process is currently handling.
type inFlight struct {
	mu    sync.Mutex
	slots map[keyHash]bool
}

// begin adds a request to the set. It returns false if the request is already running.
func (f *inFlight) begin(s keyHash) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slots[s] {
		return false
	}
	f.slots[s] = true
	return true
}

func (f *inFlight) end(s keyHash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.slots, s)
}

// idempotent wraps h. If the server has stored the response to an earlier request with the
// same key, it replays that response instead of calling h.
func (s *server) idempotent(h handler) handler {
	return func(r *request) (response, error) {
		key, err := readIdempotencyKey(r.Header)
		if err != nil {
			return response{}, err
		}
		if key == "" {
			return h(r)
		}
		r.keyHash = hashKey(r.actor, r.Method, r.URL.Path, key)
		if !s.inFlight.begin(r.keyHash) {
			return response{}, errRunning
		}
		defer s.inFlight.end(r.keyHash)
		replay, found, err := s.App.StoredResponse(r.Context(), r.keyHash)
		if err != nil {
			return response{}, err
		}
		r.digest = newContentDigest()
		if found {
			if err := s.hashBody(r); err != nil {
				return response{}, err
			}
			return replayResponse(r, replay)
		}
		resp, err := h(r)
		if errors.Is(err, vault.ErrAlreadyProcessed) {
			// The client of an earlier request disconnected, but the request was committed
			// after the check above.
			if replay, _, err = s.App.StoredResponse(r.Context(), r.keyHash); err == nil {
				return replayResponse(r, replay)
			}
		}
		return resp, err
	}
}

// replayResponse returns the stored response if the content of this request equals the
// content of the original request. The body of this request must already have been read.
func replayResponse(r *request, replay model.StoredResponse) (response, error) {
	if r.digest.sum() != replay.RequestHash {
		return response{}, errKeyReused
	}
	header := map[string]string{replayedHeader: "true"}
	for name, value := range replay.Header {
		header[name] = value
	}
	return response{status: replay.Status, raw: replay.Body, header: header}, nil
}

// readIdempotencyKey returns the Idempotency-Key header, or "" if there isn't one. It
// returns a validation error if the key is empty, too long, repeated, or has invalid
// characters.
func readIdempotencyKey(h http.Header) (string, error) {
	values := h.Values(idempotencyKey)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	switch {
	case key == "":
		return "", errs.InvalidField(idempotencyField, errs.Required)
	case len(key) > maxKeyLength:
		return "", errs.InvalidField(idempotencyField, errs.TooLong, maxKeyLength)
	case len(values) > 1 || !isVisibleASCII(key):
		return "", errs.InvalidField(idempotencyField, errs.InvalidCharacters)
	}
	return key, nil
}

// isVisibleASCII reports whether s contains only visible ASCII characters (VCHAR in RFC
// 5234).
func isVisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hashKey returns the SHA-256 hash of the actor, method, normalized path, and key. The key
// comes last because only the key can contain arbitrary characters.
func hashKey(actor model.Actor, method, path, key string) keyHash {
	return sha256.Sum256([]byte(actor.Record() + "\n" + method + "\n" + path + "\n" + key))
}

// perform calls an operation that can be repeated with an idempotency key, and renders its
// result. If the request has a key, the response is rendered and stored in the transaction of
// the operation, and the stored bytes are sent.
func perform[T any](r *request, render func(T) response, operation func(vault.Idempotency[T]) (T, error)) (response, error) {
	var stored response
	var keep vault.Idempotency[T]
	if r.digest != nil {
		keep.KeyHash, keep.RequestHash = r.keyHash, r.digest.sum()
		keep.Render = func(record T) (_ int, _ map[string]string, _ []byte, err error) {
			stored = render(record)
			stored.raw, err = apitypes.Marshal(stored.body)
			return stored.status, r.ignored.addTo(stored.header), stored.raw, err
		}
	}
	record, err := operation(keep)
	switch {
	case err != nil:
		return response{}, err
	case stored.raw != nil:
		return stored, nil
	}
	return render(record), nil
}

// contentDigest hashes the content of a request body. The hash does not depend on the
// encoding of the body, such as the multipart boundary. It covers the bytes of a JSON body,
// or the fields of a form in order. It is the SHA-256 of
//
//	J length bytes                                      JSON
//	P length name length value                          each pair
//	M length name, N | F length filename, SHA-256       each part: N without, F with a filename; then the hash of its content
//
// All lengths are 8 bytes, big-endian. The methods of a nil contentDigest do nothing.
type contentDigest struct{ hash hash.Hash }

func newContentDigest() *contentDigest { return &contentDigest{sha256.New()} }

// sum returns the digest of the content added so far, in lowercase hex.
func (d *contentDigest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

func (d *contentDigest) json(raw []byte) {
	if d != nil {
		frame(d.hash, 'J', raw)
	}
}

func (d *contentDigest) pairs(pairs []decode.Pair) {
	if d == nil {
		return
	}
	for _, p := range pairs {
		frame(d.hash, 'P', p.Name)
		frame(d.hash, 0, p.Value)
	}
}

// frame writes mark (unless it is 0), the length of text, and text to h.
func frame[T string | []byte](h hash.Hash, mark byte, text T) {
	head := make([]byte, 0, 9)
	if mark != 0 {
		head = append(head, mark)
	}
	h.Write(binary.BigEndian.AppendUint64(head, uint64(len(text))))
	h.Write([]byte(text))
}

// part adds the header of a part and hashes its content as it is read. The returned function reads the rest of the
// part and adds the hash.
func (d *contentDigest) part(p *decode.Part) (end func() error) {
	if d == nil {
		return func() error { return nil }
	}
	frame(d.hash, 'M', p.Name)
	if p.HasFilename {
		frame(d.hash, 'F', p.Filename)
	} else {
		d.hash.Write([]byte{'N'})
	}
	sum := sha256.New()
	p.Copy = sum
	return func() error {
		_, err := p.WriteTo(io.Discard)
		d.hash.Write(sum.Sum(nil))
		return err
	}
}
