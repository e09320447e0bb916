package httpx_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/httpx"
)

// The request bodies of all owners share one budget, but one owner can't use all of it.
func TestMemoryBudgetIsSharedByOwners(t *testing.T) {
	t.Parallel()
	budget := httpx.NewMemoryBudget(2<<20, 10*time.Millisecond)
	read := func(owner string, bytes int) (func(), error) {
		granted := 0
		body, release := budget.LimitBody(t.Context(), owner, io.NopCloser(strings.NewReader(strings.Repeat("x", bytes))), int64(bytes),
			func(time.Duration) { granted++ })
		text, err := io.ReadAll(body)
		if err == nil && (len(text) != bytes || granted == 0) {
			t.Errorf("read %d bytes with %d grants, want %d bytes and at least 1 grant", len(text), granted, bytes)
		}
		return release, err
	}
	done, err := read("user:1", 1<<20)
	if err != nil {
		t.Fatalf("read half of the budget: %v", err)
	}
	releaseDenied, err := read("user:1", 1<<20)
	if errs.KindOf(err) != errs.Unavailable {
		t.Errorf("read with half of the budget in use: got %v, want Unavailable", err)
	}
	releaseDenied()
	other, err := read("user:2", 1<<19)
	if err != nil {
		t.Errorf("read by another owner: %v", err)
	}
	other()
	done()
	if done, err = read("user:1", 1<<20); err != nil {
		t.Fatalf("read after release: %v", err)
	}
	done()
	if small, large := budget.InUse(); small != 0 || large != 0 {
		t.Errorf("InUse() = %d, %d after release, want 0, 0", small, large)
	}
	var unlimited *httpx.MemoryBudget
	_, done = unlimited.LimitBody(t.Context(), "user:1", nil, 1<<40, nil)
	done()
}
