package ui_test

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Forms can't use up the server's memory. Visitors without a session may send only small forms. The
// memory of all other forms is limited and charged to the user who sends them. Forms of expired
// sessions share one owner.
func TestFormMemoryIsLimited(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	var inUse, reserved atomic.Int64
	var owners sync.Map
	full := &errs.Error{Kind: errs.Unavailable, Message: "Too many."}
	h.limitBody = func(_ context.Context, owner string, body io.ReadCloser, length int64,
		granted func(time.Duration)) (io.ReadCloser, func()) {
		owners.Store(owner, true)
		reserved.Store(length)
		granted(time.Millisecond)
		if inUse.Add(length) > 1<<20 {
			body = io.NopCloser(iotest.ErrReader(full))
		}
		return body, func() { inUse.Add(-length) }
	}
	form := func(bytes int) url.Values { return url.Values{"notes": {strings.Repeat("x", bytes-len("notes="))}} }
	h.post(t, 413, "/sign-in", form(16<<10+1))
	h.post(t, 422, "/sign-in", form(16<<10))
	h.post(t, 413, "/sign-in/code", form(16<<10+1))
	owner := h.cookieFor(t, "Owner")
	h.post(t, 413, "/me/password", form(16<<10+1), owner)
	if reserved.Load() != 0 {
		t.Errorf("small forms reserved %d bytes, want 0", reserved.Load())
	}
	h.post(t, 422, "/abstracts", form(1<<20), owner) // the form contains no known field
	if reserved.Load() != 1<<20 {
		t.Errorf("form reserved %d bytes, want %d", reserved.Load(), 1<<20)
	}
	waitForRelease(t, &inUse)
	h.post(t, 503, "/abstracts", form(1<<20+1), owner)
	waitForRelease(t, &inUse)

	kim := h.openBrowser(t, model.RoleStaff)
	if err := h.vault.Sessions.SignOut(t.Context(), kim.token, "192.0.2.1"); err != nil {
		t.Fatalf("Sessions.SignOut: %v", err)
	}
	kim.post(t, 401, "/abstracts", form(1<<20), "From", "7")
	waitForRelease(t, &inUse)
	kim.post(t, 401, "/abstracts", form(1<<20), "From", "8")
	waitForRelease(t, &inUse)
	kim.post(t, 303, "/abstracts", url.Values{}, "From", "7")
	waitForRelease(t, &inUse)
	inUse.Add(1)
	kim.post(t, 503, "/abstracts", form(1<<20), "From", "7")
	inUse.Add(-1)
	waitForRelease(t, &inUse)
	var list []string
	owners.Range(func(owner, _ any) bool {
		list = append(list, owner.(string))
		return true
	})
	slices.Sort(list)
	if want := []string{"signed out", "user:1"}; !slices.Equal(list, want) {
		t.Errorf("owners = %q, want %q", list, want)
	}
}

// waitForRelease waits until all memory has been released. This is necessary because the client may
// have read the response before the handler returns.
func waitForRelease(t *testing.T, inUse *atomic.Int64) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); inUse.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are in use, want 0", inUse.Load())
		}
	}
}
