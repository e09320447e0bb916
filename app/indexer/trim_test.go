package indexer_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Changes that the index knows go, a bounded number at once; a feed that was cut short
// is a reason to begin anew.
func TestTheFeedIsTrimmedBehindTheIndex(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.indexes()
	first := func() (first, last uint64) {
		err := h.store.View(t.Context(), func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return first, last
	}
	put := func(n int) {
		h.put(func(tx *store.Tx) (err error) {
			for range n {
				id, e := tx.NewOrderID()
				err = errors.Join(err, e, tx.PutOrder(title.Order{ID: id, Number: "T-" + strconv.FormatUint(id, 10), Status: "active", CreatedAt: time.Unix(int64(id), 0).UTC()}))
			}
			return err
		})
	}
	put(5000)
	h.indexes()
	if from, to := first(); from != 4097 || to != 5000 {
		t.Errorf("changes %d to %d are kept", from, to)
	}
	put(10)
	h.put(func(tx *store.Tx) error { _, err := tx.TrimChanges(5005, 9999); return err })
	if s := h.indexes(); s.Documents != 5010 {
		t.Errorf("%+v", s)
	}
	h.finds("T-5003", "order 5003")
}
