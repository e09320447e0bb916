package httpx_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
)

// The bodies of pages take from the same room, for their own owner.
func TestRoomIsTakenByOthers(t *testing.T) {
	t.Parallel()
	room := httpx.NewMemoryBudget(2<<20, 10*time.Millisecond)
	read := func(owner string, bytes int) (func(), error) {
		granted := 0
		body, release := room.LimitBody(t.Context(), owner, io.NopCloser(strings.NewReader(strings.Repeat("x", bytes))), int64(bytes), func(time.Duration) { granted++ })
		text, err := io.ReadAll(body)
		if err == nil && (len(text) != bytes || granted == 0) {
			t.Errorf("%d bytes were read, and %d times memory was got", len(text), granted)
		}
		return release, err
	}
	done, err := read("user:1", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	refused, err := read("user:1", 1<<20)
	if errs.KindOf(err) != errs.Unavailable {
		t.Errorf("with its half taken: %v", err)
	}
	refused()
	other, err := read("user:2", 1<<19)
	if err != nil {
		t.Errorf("another: %v", err)
	}
	other()
	done()
	if done, err = read("user:1", 1<<20); err != nil {
		t.Fatalf("with the room released: %v", err)
	}
	done()
	if small, large := room.InUse(); small != 0 || large != 0 {
		t.Errorf("%d and %d bytes are kept", small, large)
	}
	var unlimited *httpx.MemoryBudget
	_, done = unlimited.LimitBody(t.Context(), "user:1", nil, 1<<40, nil)
	done()
}
