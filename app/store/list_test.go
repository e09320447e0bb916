package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// The model against the store: thousands of steps, and after them every filter in
// every order, direction and size of page, by every way to answer it.
func TestListsAgainstAModel(t *testing.T) {
	for name, hash := range map[string]func(string) uint64{
		"as it is":        nil,
		"words collide":   func(text string) uint64 { return fnv1a(text) & 1 },
		"all are one":     func(string) uint64 { return 0 },
		"columns are one": func(text string) uint64 { return fnv1a(text)<<32 | fnv1a(text)&(1<<32-1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			s.db.NoSync = true // no power cut is meant
			s.hash = hash
			// The first event was written without the hash of this test.
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, s)
			rounds := 40
			if hash != nil {
				rounds = 15
			}
			for range rounds {
				update(t, s, func(tx *Tx) (err error) {
					for range 50 {
						err = errors.Join(err, w.step(tx))
					}
					return err
				})
				w.holds(t, 120)
				w.counted(t)
			}
			if hash == nil {
				w.holds(t, 1)
			} else {
				w.holds(t, 8)
			}
			for _, q := range some(w, orderQueries, 12) {
				q.MaxScanned = 0
				if orderLister.opposite(t, w, q); t.Failed() {
					return
				}
			}
		})
	}
}

// Between two pages a hundred orders come and another hundred go: those that stay are each seen
// once, and nothing twice.
func TestPagesWhileRecordsComeAndGo(t *testing.T) {
	for _, q := range []Query{
		{Limit: 20},
		{Limit: 20, Descending: true, Sort: SortDue},
		{Limit: 7, Sort: SortOrderNumber, Filters: []Filter{{ColumnStatus, "active"}}},
		{Limit: 7, Sort: SortOrderNumber, Filters: []Filter{{ColumnStatus, "active"}}, sortLimit: -1, MaxScanned: 30},
		{Limit: 20, Backward: true, Filters: []Filter{{ColumnState, "NY"}}},
	} {
		t.Run(fmt.Sprintf("%+v", q), func(t *testing.T) {
			s := openNew(t)
			s.db.NoSync = true // no power cut is meant
			w := newWorld(t, s)
			order := func(tx *Tx, id uint64) error {
				return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(w.rng.IntN(90)), Status: "active", DueDate: fmt.Sprintf("2026-06-%02d", 1+w.rng.IntN(28)),
					Property: model.Property{State: "NY"}, CreatedAt: w.at()})
			}
			const staying = 300
			update(t, s, func(tx *Tx) (err error) {
				err = tx.bucket(bucketOrders).SetSequence(100_000)
				for id := uint64(1); id <= staying; id++ {
					err = errors.Join(err, order(tx, id))
				}
				return err
			})
			seen := map[uint64]int{}
			last, passing := uint64(staying), []uint64(nil)
			for first := true; first || q.Position != nil; first = false {
				var page Page[model.Order]
				view(t, s, func(tx *Tx) (err error) { page, err = tx.ListOrders(q); return err })
				for _, o := range page.Items {
					seen[o.ID]++
				}
				if q.Position = page.Next; q.Backward {
					q.Position = page.Prev
				}
				update(t, s, func(tx *Tx) (err error) {
					for _, id := range passing {
						err = errors.Join(err, tx.RemoveOrder(id))
					}
					passing = nil
					for range 100 {
						last++
						passing = append(passing, last)
						err = errors.Join(err, order(tx, last))
					}
					return err
				})
				if len(seen) > 100_000 {
					t.Fatal("it does not end")
				}
			}
			for id := range uint64(staying) {
				if seen[id+1] != 1 {
					t.Errorf("order %d was seen %d times", id+1, seen[id+1])
				}
			}
			for id, n := range seen {
				if n > 1 {
					t.Errorf("order %d was seen %d times", id, n)
				}
			}
		})
	}
}

func TestAPageAroundWhatIsGone(t *testing.T) {
	s := openNew(t)
	put := func(tx *Tx, id uint64) error {
		return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: testTime.Add(time.Duration(id) * time.Second)})
	}
	update(t, s, func(tx *Tx) (err error) {
		err = tx.bucket(bucketOrders).SetSequence(9)
		for id := uint64(1); id <= 9; id++ {
			err = errors.Join(err, put(tx, id))
		}
		return err
	})
	list := func(q Query) (ids string, page Page[model.Order]) {
		view(t, s, func(tx *Tx) (err error) { page, err = tx.ListOrders(q); return err })
		for _, o := range page.Items {
			ids += fmt.Sprint(o.ID)
		}
		return ids, page
	}
	for _, down := range []bool{false, true} {
		q := Query{Limit: 3, Descending: down}
		_, one := list(q)
		q.Position = one.Next
		_, two := list(q)
		ends := map[bool]string{false: "456", true: "654"}[down]
		update(t, s, func(tx *Tx) (err error) {
			for _, o := range []uint64{1, 2, 3, 7, 8, 9} {
				err = errors.Join(err, tx.RemoveOrder(o))
			}
			return err
		})
		q.Position = two.Next
		ids, three := list(q)
		if ids != "" || three.Next != nil || three.Prev == nil {
			t.Errorf("down %v: after the end: %q, %+v", down, ids, three)
		}
		q.Position, q.Backward = three.Prev, true
		if ids, page := list(q); ids != ends || page.Prev != nil {
			t.Errorf("down %v: back from the end: %q, %+v", down, ids, page)
		}
		q.Position = two.Prev
		ids, zero := list(q)
		if ids != "" || zero.Prev != nil || zero.Next == nil {
			t.Errorf("down %v: before the beginning: %q, %+v", down, ids, zero)
		}
		q.Position, q.Backward = zero.Next, false
		if ids, _ := list(q); ids != ends {
			t.Errorf("down %v: on from before the beginning: %q", down, ids)
		}
		update(t, s, func(tx *Tx) (err error) {
			for _, id := range []uint64{1, 2, 3, 7, 8, 9} {
				err = errors.Join(err, put(tx, id))
			}
			return err
		})
	}
}

func TestListsRefuse(t *testing.T) {
	s := openNew(t)
	for name, list := range map[string]func(*Tx) error{
		"a column of another list": func(tx *Tx) error {
			_, err := tx.ListAbstracts(Query{Filters: []Filter{{ColumnOrderNumber, "1"}}})
			return err
		},
		"a sort of another list": func(tx *Tx) error { _, err := tx.ListFiles(Query{Sort: SortDue}); return err },
		"a number in the trash":  func(tx *Tx) error { _, err := tx.ListTrash(Query{Sort: SortOrderNumber}); return err },
		"no sort":                func(tx *Tx) error { _, err := tx.ListOrders(Query{Sort: "county"}); return err },
	} {
		if err := s.View(context.Background(), list); err == nil || !strings.Contains(err.Error(), "list of") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A damaged record does not stop the list that it is in.
func TestAListPassesOverDamage(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // damaged at its end, as meant
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.bucket(bucketOrders).Put(encodeUint64(1), []byte("x")), tx.bucket(bucketOrders).Delete(encodeUint64(3)),
			tx.bucket(bucketOrderIndex).Put([]byte("cx"), nil))
	})
	view(t, s, func(tx *Tx) error {
		for _, sort := range []Sort{SortCreated, SortOrderNumber, SortDue} {
			for _, where := range [][]Filter{nil, {{ColumnStatus, "active"}}} {
				page, err := tx.ListOrders(Query{Limit: 9, Sort: sort, Filters: where})
				if err != nil || len(page.Items) != 1 || page.Items[0].ID != 2 {
					t.Errorf("%s: %+v, %v", sort, page, err)
				}
			}
		}
		return nil
	})
}

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
