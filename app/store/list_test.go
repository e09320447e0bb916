package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// After thousands of random steps, the lists match the oracle for each filter, sort order,
// direction, page size, and type of source.
func TestListsMatchOracle(t *testing.T) {
	for name, hash := range map[string]func(string) uint64{
		"real hash":           nil,
		"frequent collisions": func(text string) uint64 { return fnv1a(text) & 1 },
		"constant hash":       func(string) uint64 { return 0 },
		"hash32 is constant":  func(text string) uint64 { return fnv1a(text)<<32 | fnv1a(text)&(1<<32-1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			withoutSync(s)
			s.hash = hash
			// The first audit log entry was indexed before the hash function was replaced.
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("%+v", f) }); err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			o := newOracle(t, s)
			rounds := 40
			if hash != nil {
				rounds = 15
			}
			for range rounds {
				update(t, s, func(tx *Tx) (err error) {
					for range 50 {
						err = errors.Join(err, o.step(tx))
					}
					return err
				})
				o.checkLists(t, 120)
				o.checkCounts(t)
			}
			if hash == nil {
				o.checkLists(t, 1)
			} else {
				o.checkLists(t, 8)
			}
			for _, q := range sampleQueries(o, orderQueries, 12) {
				q.MaxScanned = 0
				if orderModel.checkBackward(t, o, q); t.Failed() {
					return
				}
			}
		})
	}
}

// Between two pages, a hundred orders are added and a hundred others are removed. The remaining
// orders are each returned exactly once, and no order is returned twice.
func TestPagesWhileRecordsChange(t *testing.T) {
	for _, q := range []Query{
		{Limit: 20},
		{Limit: 20, Descending: true, Sort: model.SortDue},
		{Limit: 7, Sort: model.SortOrderNumber, Filters: []Filter{{model.ColumnStatus, "active"}}},
		{Limit: 7, Sort: model.SortOrderNumber, Filters: []Filter{{model.ColumnStatus, "active"}}, sortLimit: -1, MaxScanned: 30},
		{Limit: 20, Backward: true, Filters: []Filter{{model.ColumnState, "NY"}}},
	} {
		t.Run(fmt.Sprintf("%+v", q), func(t *testing.T) {
			s := openNew(t)
			withoutSync(s)
			o := newOracle(t, s)
			order := func(tx *Tx, id uint64) error {
				return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(o.rng.IntN(90)), Status: "active",
					DueDate:  fmt.Sprintf("2026-06-%02d", 1+o.rng.IntN(28)),
					Property: model.Property{State: "NY"}, CreatedAt: o.randomTime()})
			}
			const stable = 300
			update(t, s, func(tx *Tx) (err error) {
				err = tx.bucket(bucketOrders).SetSequence(100_000)
				for id := uint64(1); id <= stable; id++ {
					err = errors.Join(err, order(tx, id))
				}
				return err
			})
			returned := map[uint64]int{}
			last, temporary := uint64(stable), []uint64(nil)
			for first := true; first || q.Position != nil; first = false {
				var page Page[model.Order]
				view(t, s, func(tx *Tx) (err error) { page, err = tx.ListOrders(q); return err })
				for _, o := range page.Items {
					returned[o.ID]++
				}
				if q.Position = page.Next; q.Backward {
					q.Position = page.Prev
				}
				update(t, s, func(tx *Tx) (err error) {
					for _, id := range temporary {
						err = errors.Join(err, tx.RemoveOrder(id))
					}
					temporary = nil
					for range 100 {
						last++
						temporary = append(temporary, last)
						err = errors.Join(err, order(tx, last))
					}
					return err
				})
				if len(returned) > 100_000 {
					t.Fatalf("read %d entries of the list, want its end", len(returned))
				}
			}
			for id := range uint64(stable) {
				if returned[id+1] != 1 {
					t.Errorf("got order %d %d times, want once", id+1, returned[id+1])
				}
			}
			for id, n := range returned {
				if n > 1 {
					t.Errorf("got order %d %d times, want at most once", id, n)
				}
			}
		})
	}
}

func TestPageNextToRemovedRecords(t *testing.T) {
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
	for _, descending := range []bool{false, true} {
		q := Query{Limit: 3, Descending: descending}
		_, first := list(q)
		q.Position = first.Next
		_, second := list(q)
		want := map[bool]string{false: "456", true: "654"}[descending]
		update(t, s, func(tx *Tx) (err error) {
			for _, o := range []uint64{1, 2, 3, 7, 8, 9} {
				err = errors.Join(err, tx.RemoveOrder(o))
			}
			return err
		})
		q.Position = second.Next
		ids, afterEnd := list(q)
		if ids != "" || afterEnd.Next != nil || afterEnd.Prev == nil {
			t.Errorf("descending %v: after the end: got %q, %+v; want an empty page with a previous one", descending, ids, afterEnd)
		}
		q.Position, q.Backward = afterEnd.Prev, true
		if ids, page := list(q); ids != want || page.Prev != nil {
			t.Errorf("descending %v: back from the end: got %q, %+v; want %q", descending, ids, page, want)
		}
		q.Position = second.Prev
		ids, beforeStart := list(q)
		if ids != "" || beforeStart.Prev != nil || beforeStart.Next == nil {
			t.Errorf("descending %v: before the start: got %q, %+v; want an empty page with a next one", descending, ids, beforeStart)
		}
		q.Position, q.Backward = beforeStart.Next, false
		if ids, _ := list(q); ids != want {
			t.Errorf("descending %v: forward from before the start: got %q, want %q", descending, ids, want)
		}
		update(t, s, func(tx *Tx) (err error) {
			for _, id := range []uint64{1, 2, 3, 7, 8, 9} {
				err = errors.Join(err, put(tx, id))
			}
			return err
		})
	}
}

func TestListsRejectUnsupportedQueries(t *testing.T) {
	s := openNew(t)
	for name, list := range map[string]func(*Tx) error{
		"a column of another list": func(tx *Tx) error {
			_, err := tx.ListAbstracts(Query{Filters: []Filter{{model.ColumnOrderNumber, "1"}}})
			return err
		},
		"a sort of another list":       func(tx *Tx) error { _, err := tx.ListFiles(Query{Sort: model.SortDue}); return err },
		"an order number in the trash": func(tx *Tx) error { _, err := tx.ListTrash(Query{Sort: model.SortOrderNumber}); return err },
		"an unknown sort":              func(tx *Tx) error { _, err := tx.ListOrders(Query{Sort: "county"}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.View(context.Background(), list); err == nil || !strings.Contains(err.Error(), " list: ") {
				t.Errorf("got %v, want an error about the list", err)
			}
		})
	}
}

// A list that contains a damaged record still returns the other records.
func TestListSkipsDamagedRecords(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db")) // not openNew, because the store remains damaged
	fill(t, s, 3)
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.bucket(bucketOrders).Put(encodeUint64(1), []byte("x")), tx.bucket(bucketOrders).Delete(encodeUint64(3)),
			tx.bucket(bucketOrderIndex).Put([]byte("cx"), nil))
	})
	view(t, s, func(tx *Tx) error {
		for _, sort := range []model.Sort{model.SortCreated, model.SortOrderNumber, model.SortDue} {
			for _, filters := range [][]Filter{nil, {{model.ColumnStatus, "active"}}} {
				page, err := tx.ListOrders(Query{Limit: 9, Sort: sort, Filters: filters})
				if err != nil || len(page.Items) != 1 || page.Items[0].ID != 2 {
					t.Errorf("%s: got %+v, %v; want order 2", sort, page, err)
				}
			}
		}
		return nil
	})
}

// If a page has several records, their total size doesn't exceed MaxBytes. Following the positions
// forward or backward returns each record once.
func TestMaxBytes(t *testing.T) {
	s := openNew(t)
	at := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	const count = 9
	update(t, s, func(tx *Tx) (err error) {
		err = errors.Join(tx.bucket(bucketFiles).SetSequence(100), tx.bucket(bucketAbstracts).SetSequence(count))
		for id := uint64(1); id <= count; id++ {
			a := model.Abstract{ID: id, CreatedAt: at.Add(time.Duration(id) * time.Minute)}
			if id%2 == 0 { // the abstract itself is large; the others have large files
				a.Address = strings.Repeat("x", 4000)
			} else {
				for n := range uint64(4) {
					a.Files = append(a.Files, id*10+n)
					err = errors.Join(err, tx.PutFile(model.File{ID: id*10 + n, AbstractID: id, Filename: strings.Repeat("y", 1000), Size: 1,
						Digest: digest(0), CreatedAt: at}))
				}
			}
			err = errors.Join(err, tx.PutAbstract(a))
		}
		return err
	})
	for _, row := range []struct{ limit, bytes, items int }{
		{100, 0, count}, {100, 1, 1}, {100, 6000, 1}, {100, 11_000, 2}, {100, 15_500, 3}, {2, 1 << 20, 2},
	} {
		for _, backward := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v back %v", row, backward), func(t *testing.T) {
				q := Query{Limit: row.limit, MaxBytes: row.bytes, Backward: backward}
				var returned []uint64
				for first := true; first || q.Position != nil; first = false {
					var page Page[model.Abstract]
					view(t, s, func(tx *Tx) (err error) { page, err = tx.ListAbstracts(q); return err })
					if len(page.Items) > row.items || first && len(page.Items) != row.items {
						t.Fatalf("got %d items on a page, want %d", len(page.Items), row.items)
					}
					if row.bytes > 10_000 && page.Bytes > row.bytes || page.Bytes < 4000*len(page.Items) {
						t.Errorf("got %d bytes for %d items, want up to %d", page.Bytes, len(page.Items), row.bytes)
					}
					var ids []uint64
					for _, a := range page.Items {
						ids = append(ids, a.ID)
					}
					if q.Position = page.Next; backward {
						q.Position, returned = page.Prev, append(ids, returned...)
					} else {
						returned = append(returned, ids...)
					}
					if page.Truncated != (row.bytes > 0 && row.limit == 100 && q.Position != nil) {
						t.Errorf("Truncated = %v at position %x, want it only at a byte limit", page.Truncated, q.Position)
					}
				}
				if want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(returned, want) {
					t.Errorf("got %v, want %v", returned, want)
				}
			})
		}
	}
}

// After its context is canceled, a list doesn't read any more records.
func TestListStopsWhenContextIsCanceled(t *testing.T) {
	s := openNew(t)
	update(t, s, func(tx *Tx) (err error) {
		err = tx.bucket(bucketOrders).SetSequence(5)
		for id := uint64(1); id <= 5; id++ {
			err = errors.Join(err, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), CreatedAt: time.Unix(int64(id), 0)}))
		}
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	err := s.View(ctx, func(tx *Tx) error {
		if page, err := tx.ListOrders(Query{Limit: 5}); err != nil || len(page.Items) != 5 {
			t.Errorf("got %d items, %v; want 5", len(page.Items), err)
		}
		cancel()
		page, err := tx.ListOrders(Query{Limit: 5})
		if len(page.Items) != 0 {
			t.Errorf("got %d items after cancel, want 0", len(page.Items))
		}
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestListAfterChange verifies that lists return the current state of records that they cached, and that the cache is
// bounded.
func TestListAfterChange(t *testing.T) {
	s := openNew(t)
	update(t, s, func(tx *Tx) (err error) {
		for n := range maxCachedRecords + 10 {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(n), Status: "active", Version: 1, CreatedAt: testTime}))
		}
		return err
	})
	list := func() (items []model.Order) {
		view(t, s, func(tx *Tx) error {
			page, err := tx.ListOrders(Query{Limit: maxCachedRecords + 10})
			items = page.Items
			return err
		})
		return items
	}
	order := list()[7]
	order.Status, order.Version = "on_hold", 2
	update(t, s, func(tx *Tx) error { return tx.PutOrder(order) })
	if got := list()[7]; !reflect.DeepEqual(got, order) {
		t.Errorf("listed order after its change: got %+v, want %+v", got, order)
	}
	if n := len(s.caches.orders.records); n > maxCachedRecords {
		t.Errorf("cached orders: got %d, want at most %d", n, maxCachedRecords)
	}
}
