package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Lists are sorted by keys that no index has: in both directions, on all pages, with filters, and while records change.
func TestListByKeys(t *testing.T) {
	s := openNew(t)
	withoutSync(s)
	const count = 510 // more than a batch
	city := func(id uint64) string { return fmt.Sprintf("C%02d", id*7%31) }
	put := func(n int) {
		update(t, s, func(tx *Tx) (err error) {
			for range n {
				var id uint64
				if id, err = tx.NewOrderID(); err == nil {
					err = tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint(id), Status: []string{"active", "on_hold"}[id%2],
						Property: model.Property{City: city(id)}})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	put(count)
	keys := func(_ *Tx, records any) (list [][]byte, err error) {
		for _, o := range records.([]model.Order) {
			list = append(list, []byte(o.City))
		}
		return list, nil
	}
	read := func(q Query) Page[model.Order] {
		t.Helper()
		q.Keys = keys
		page, err := Read(t.Context(), s, func(tx *Tx) (Page[model.Order], error) { return tx.ListOrders(q) })
		if err != nil {
			t.Fatalf("ListOrders(%+v): %v", q, err)
		}
		return page
	}
	walk := func(q Query, between func()) (list []string) {
		t.Helper()
		for {
			page := read(q)
			if q.Backward {
				slices.Reverse(page.Items)
				page.Next = page.Prev
			}
			for _, o := range page.Items {
				list = append(list, fmt.Sprintf("%s %04d", o.City, o.ID))
			}
			if q.Position = page.Next; page.Next == nil {
				return list
			}
			between()
		}
	}
	var all, odd []string
	for id := range uint64(count) {
		row := fmt.Sprintf("%s %04d", city(id+1), id+1)
		if all = append(all, row); (id+1)%2 == 1 {
			odd = append(odd, row)
		}
	}
	onHold := []Filter{{model.ColumnStatus, "on_hold"}}
	matchOdd := func(_ *Tx, record any) (bool, error) { return record.(*model.Order).ID%2 == 1, nil }
	for _, row := range []struct {
		q    Query
		want []string
	}{{Query{Limit: 60}, all}, {Query{Limit: count}, all}, {Query{Limit: 50, Filters: onHold}, odd},
		{Query{Limit: 90, Match: matchOdd}, odd}, {Query{Limit: 70, OpenOnly: true, Filters: onHold}, odd}} {
		slices.Sort(row.want)
		if got := walk(row.q, func() {}); !slices.Equal(got, row.want) {
			t.Errorf("%d per page, filters %v: got %d records, %.60q, want %d sorted by city", row.q.Limit, row.q.Filters,
				len(got), got, len(row.want))
		}
		backward := slices.Clone(row.want)
		slices.Reverse(backward)
		down, back := row.q, row.q
		down.Descending, back.Backward = true, true
		for name, q := range map[string]Query{"descending": down, "from the end": back} {
			if got := walk(q, func() {}); !slices.Equal(got, backward) {
				t.Errorf("%d per page, %s: got %d records, %.60q, want %d", row.q.Limit, name, len(got), got, len(row.want))
			}
		}
	}
	// A match without keys is a filter, too.
	if page, err := Read(t.Context(), s, func(tx *Tx) (Page[model.Order], error) {
		return tx.ListOrders(Query{Limit: 3, Match: matchOdd})
	}); err != nil || len(page.Items) != 3 || page.Items[2].ID != 5 {
		t.Errorf("list that matches = %+v, %v, want the orders 1, 3, and 5", page.Items, err)
	}
	got := walk(Query{Limit: 60}, func() { put(1) })
	for _, row := range all {
		if n := len(slices.DeleteFunc(slices.Clone(got), func(g string) bool { return g != row })); n != 1 {
			t.Fatalf("%s was read %d times while records were added, want 1", row, n)
		}
	}
	if !slices.IsSorted(got) {
		t.Error("the pages aren't sorted while records are added")
	}
}

// A list that is too long to sort is invalid, unless a filter makes it shorter.
func TestTooManyKeys(t *testing.T) {
	s := openNew(t)
	withoutSync(s)
	update(t, s, func(tx *Tx) error {
		for n := range 9 {
			id, err := tx.NewOrderID()
			if err == nil {
				err = tx.PutOrder(model.Order{ID: id, Number: "N", Status: strings.Repeat("s", n%2+1), DueDate: "2026-01-01"})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	keys := func(_ *Tx, records any) ([][]byte, error) {
		return slices.Repeat([][]byte{bytes.Repeat([]byte{0}, 3)}, len(records.([]model.Order))), nil
	}
	for _, row := range []struct {
		limit   int
		filters []Filter
		due     string
		want    errs.Kind
	}{{9, nil, "", errs.Internal}, {8, nil, "", errs.Invalid}, {4, []Filter{{model.ColumnStatus, "ss"}}, "", errs.Internal},
		{4, []Filter{{model.ColumnStatus, "s"}}, "", errs.Invalid}, {1, nil, "2026-01-02", errs.Internal}} {
		q := Query{Limit: 1, Keys: keys, sortLimit: row.limit, Filters: row.filters, DueFrom: row.due}
		_, err := Read(t.Context(), s, func(tx *Tx) (Page[model.Order], error) { return tx.ListOrders(q) })
		if got := errs.KindOf(err); (err == nil) != (row.want == errs.Internal) || err != nil && got != row.want {
			t.Errorf("at most %d, filters %v, due %q: %v, want an error: %t", row.limit, row.filters, row.due, err, row.want == errs.Invalid)
		}
	}
}
