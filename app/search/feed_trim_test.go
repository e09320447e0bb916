package search_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/store"
)

// Indexed changes are trimmed in bounded commits. If the feed is too short for an index, the index is
// rebuilt.
func TestFeedIsTrimmedAfterIndexing(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.catchUp()
	h.orders(5000)
	h.catchUp()
	if from, to := h.feed(); from != 4097 || to != 5000 {
		t.Errorf("feed = changes %d to %d, want 4097 to 5000", from, to)
	}
	h.orders(10)
	h.put(func(tx *store.Tx) error { _, err := tx.TrimChanges(5005, 9999); return err })
	if s := h.catchUp(); s.Documents != 5010 {
		t.Errorf("State() = %+v, want 5010 documents", s)
	}
	h.wantHits("T-5003", "order 5003")
}

// feed returns the numbers of the first and the last change in the feed.
func (h *harness) feed() (first, last uint64) {
	h.t.Helper()
	err := h.store.View(h.t.Context(), func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		h.t.Fatalf("view store: %v", err)
	}
	return first, last
}

// orders adds n orders in one commit.
func (h *harness) orders(n int) {
	h.t.Helper()
	h.put(func(tx *store.Tx) (err error) {
		for range n {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: "T-" + strconv.FormatUint(id, 10), Status: "active",
				CreatedAt: time.Unix(int64(id), 0).UTC()}))
		}
		return err
	})
}

// If indexing fails, each pass trims the feed to its limit, regardless of how many changes were made
// since the last pass.
func TestFeedOfFailingIndexIsBounded(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.wrapIndexes(func(n int64, in search.Index) search.Index {
		return wrappedIndex{Index: in, apply: func() error {
			if n == 1 && len(in.Checkpoint()) > 0 {
				return errDisk
			}
			return nil
		}}
	})
	h.catchUp()
	const limit = 100
	h.SetMaxFeed(limit)
	h.orders(9_000)
	if _, err := h.RunPass(t.Context()); !errors.Is(err, errDisk) {
		t.Fatalf("RunPass: got %v, want %v", err, errDisk)
	}
	if from, to := h.feed(); to != 9_000 || to-from >= limit+4096 {
		t.Errorf("feed = changes %d to %d, want fewer than %d up to 9000", from, to, limit+4096)
	}
	if s := h.catchUp(); s.Documents != 9_000 { // the index was rebuilt because the feed was too short
		t.Errorf("State() = %+v, want 9000 documents", s)
	}
}
