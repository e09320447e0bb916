package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// A page ends where the records would be more bytes than were asked for; whoever goes
// on, forth or back, sees each once.
func TestPageOfBytes(t *testing.T) {
	s := openNew(t)
	at := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	const most = 9
	update(t, s, func(tx *Tx) (err error) {
		err = errors.Join(tx.bucket(bucketFiles).SetSequence(100), tx.bucket(bucketAbstracts).SetSequence(most))
		for id := uint64(1); id <= most; id++ {
			a := model.Abstract{ID: id, CreatedAt: at.Add(time.Duration(id) * time.Minute)}
			if id%2 == 0 { // its weight is its own, or its files'
				a.Address = strings.Repeat("x", 4000)
			} else {
				for n := range uint64(4) {
					a.Files = append(a.Files, id*10+n)
					err = errors.Join(err, tx.PutFile(model.File{ID: id*10 + n, AbstractID: id, Filename: strings.Repeat("y", 1000), Size: 1, Digest: digest(0), CreatedAt: at}))
				}
			}
			err = errors.Join(err, tx.PutAbstract(a))
		}
		return err
	})
	for _, row := range []struct{ limit, bytes, items int }{
		{100, 0, most}, {100, 1, 1}, {100, 6000, 1}, {100, 11_000, 2}, {100, 15_500, 3}, {2, 1 << 20, 2},
	} {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v back %v", row, back), func(t *testing.T) {
				q := Query{Limit: row.limit, MaxBytes: row.bytes, Backward: back}
				var seen []uint64
				for first := true; first || q.Position != nil; first = false {
					var page Page[model.Abstract]
					view(t, s, func(tx *Tx) (err error) { page, err = tx.ListAbstracts(q); return err })
					if len(page.Items) > row.items || first && len(page.Items) != row.items {
						t.Fatalf("%d items on a page", len(page.Items))
					}
					if row.bytes > 10_000 && page.Bytes > row.bytes || page.Bytes < 4000*len(page.Items) {
						t.Errorf("%d bytes of %d items", page.Bytes, len(page.Items))
					}
					var ids []uint64
					for _, a := range page.Items {
						ids = append(ids, a.ID)
					}
					if q.Position = page.Next; back {
						q.Position, seen = page.Prev, append(ids, seen...)
					} else {
						seen = append(seen, ids...)
					}
					if page.Truncated != (row.bytes > 0 && row.limit == 100 && q.Position != nil) {
						t.Errorf("cut %v, position %x", page.Truncated, q.Position)
					}
				}
				if want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(seen, want) {
					t.Errorf("seen %v", seen)
				}
			})
		}
	}
}

// Whoever has gone is read nothing more for.
func TestListEndsWithItsContext(t *testing.T) {
	s := openNew(t)
	update(t, s, func(tx *Tx) (err error) {
		err = tx.bucket(bucketOrders).SetSequence(5)
		for id := uint64(1); id <= 5; id++ {
			err = errors.Join(err, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: time.Unix(int64(id), 0)}))
		}
		return err
	})
	ctx, leave := context.WithCancel(t.Context())
	err := s.View(ctx, func(tx *Tx) error {
		if page, err := tx.ListOrders(Query{Limit: 5}); err != nil || len(page.Items) != 5 {
			t.Errorf("%d items, %v", len(page.Items), err)
		}
		leave()
		page, err := tx.ListOrders(Query{Limit: 5})
		if len(page.Items) != 0 {
			t.Errorf("%d items for nobody", len(page.Items))
		}
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
