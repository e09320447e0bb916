package ui_test

import (
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/title"
)

// Nobody fills the memory with forms: those of whom nobody knows whether they may do
// anything send short ones, all others take theirs from the room of all requests.
func TestFormsTakeMemoryFromARoom(t *testing.T) {
	t.Parallel()
	h := open(t)
	var held, asked atomic.Int64
	full := &title.Error{Kind: title.Closing, Message: "Too many."}
	h.room = func(bytes int64) (func(), error) {
		if asked.Store(bytes); held.Add(bytes) > 1<<20 {
			held.Add(-bytes)
			return nil, full
		}
		return func() { held.Add(-bytes) }, nil
	}
	form := func(bytes int) url.Values { return url.Values{"notes": {strings.Repeat("x", bytes-len("notes="))}} }
	h.post(t, 413, "/sign-in", form(16<<10+1))
	h.post(t, 422, "/sign-in", form(16<<10))
	h.post(t, 413, "/sign-in/code", form(16<<10+1))
	owner := h.as(t, "Owner")
	h.post(t, 413, "/me/password", form(16<<10+1), owner)
	if asked.Load() != 0 {
		t.Errorf("they took %d bytes", asked.Load())
	}
	h.post(t, 422, "/abstracts", form(1<<20), owner) // nothing that it knows is filled in
	if asked.Load() != 1<<20 {
		t.Errorf("it took %d bytes", asked.Load())
	}
	givesBack(t, &held)
	h.post(t, 503, "/abstracts", form(1<<20+1), owner)
	givesBack(t, &held)
}

// givesBack waits until nothing is held: an answer may be read before its handler has returned.
func givesBack(t *testing.T, held *atomic.Int64) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); held.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are kept", held.Load())
		}
	}
}
