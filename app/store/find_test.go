package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// FindAbstracts and FindOrders return the same records as the oracle for complete and truncated
// texts of every type.
func TestFindMatchesOracle(t *testing.T) {
	s := openNew(t)
	withoutSync(s)
	o := newOracle(t, s)
	for range 8 {
		update(t, s, func(tx *Tx) (err error) {
			for range 60 {
				err = errors.Join(err, o.step(tx))
			}
			return err
		})
	}
	texts := []string{"", " - ", "1", "12", "12.3", "a-1", "A-10", "é", "1 elm st", "12 Elm St.", "12 elm st apt 4 troy", "1 elm st troy ny",
		"ñandú", "x", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("X", 64) + "-y", "none"}
	for _, text := range texts {
		var orders, abstracts []string
		view(t, s, func(tx *Tx) error {
			list, more, err := tx.FindOrders(text, Query{Limit: 1000})
			if err != nil || more {
				t.Errorf("FindOrders(%q): got more %v, %v, want all", text, more, err)
			}
			for _, k := range list {
				orders = append(orders, fmt.Sprint(k.Record.ID, " ", k.Exact))
			}
			found, more, err := tx.FindAbstracts(text, Query{Limit: 1000})
			if err != nil || more {
				t.Errorf("FindAbstracts(%q): got more %v, %v, want all", text, more, err)
			}
			for _, k := range found {
				abstracts = append(abstracts, fmt.Sprint(k.Record.ID, " ", k.Exact))
			}
			return nil
		})
		var wantOrders, wantAbstracts []string
		for _, order := range orderModel.records(o) {
			number, want := model.Fold(order.Number), model.Fold(text)
			hasPrefix, exact := matchesText(text, []string{order.ParcelID()}, order.Property)
			hasPrefix, exact = hasPrefix || want != "" && strings.HasPrefix(number, want), exact || want != "" && number == want
			if hasPrefix {
				wantOrders = append(wantOrders, fmt.Sprint(order.ID, " ", exact))
			}
		}
		for _, a := range abstractModel.records(o) {
			if hasPrefix, exact := matchesText(text, []string{a.ParcelID(), a.FileNumber()}, a.Property); hasPrefix {
				wantAbstracts = append(wantAbstracts, fmt.Sprint(a.ID, " ", exact))
			}
		}
		for _, list := range []struct{ got, want []string }{{orders, wantOrders}, {abstracts, wantAbstracts}} {
			if !slices.IsSortedFunc(list.got, func(a, b string) int {
				return strings.Compare(b[strings.IndexByte(b, ' '):], a[strings.IndexByte(a, ' '):])
			}) {
				t.Errorf("%q: got %v, want exact matches first", text, list.got)
			}
			slices.Sort(list.got)
			slices.Sort(list.want)
			if !slices.Equal(list.got, list.want) {
				t.Errorf("%q: got %v\nwant %v", text, list.got, list.want)
			}
		}
	}
}

// matchesText reports whether text is a prefix of one of the numbers or the address, and whether it
// equals one of them.
func matchesText(text string, numbers []string, p model.Property) (prefix, exact bool) {
	wantNumber, normalized := model.NormalizeNumber(text), model.NormalizeText(text)
	if wantNumber == "" {
		return false, false
	}
	for _, n := range numbers {
		n = model.NormalizeNumber(n)
		prefix, exact = prefix || strings.HasPrefix(n, wantNumber), exact || n == wantNumber
	}
	prefix = prefix || strings.HasPrefix(model.NormalizeText(p.LookupAddress()), normalized)
	if p.Address != "" {
		for _, address := range p.LookupAddresses() {
			exact = exact || model.NormalizeText(address) == normalized
		}
	}
	return prefix, exact
}

// The number of records read is limited, even if more records match. An exact match still comes
// first.
func TestFindIsBounded(t *testing.T) {
	s := openNew(t)
	withoutSync(s)
	update(t, s, func(tx *Tx) (err error) {
		for i := range 3 * maxFindScan {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint("7", i),
				Property: model.Property{Address: fmt.Sprint("7 Elm St Apt ", i)},
				Custom:   model.CustomValues{"parcel_id": json.RawMessage(fmt.Sprintf(`"7-%d"`, i))}, CreatedAt: testTime}))
		}
		id, e := tx.NewOrderID()
		return errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: "last", Custom: model.CustomValues{"parcel_id": json.RawMessage(`"7"`)},
			CreatedAt: testTime}))
	})
	view(t, s, func(tx *Tx) error {
		for text, first := range map[string]string{"7": "last", "7 elm st": "70", "71": "71"} {
			list, more, err := tx.FindOrders(text, Query{Limit: 20})
			if err != nil || len(list) != 20 || !more || list[0].Record.Number != first {
				t.Errorf("%q: got %d, more %v, %v, first %+v; want 20 and more, first %s", text, len(list), more, err, list[:min(len(list), 1)], first)
			}
		}
		return nil
	})
}

func TestValueCounts(t *testing.T) {
	s := openNew(t)
	put := func(tx *Tx, status string) error {
		id, err := tx.NewOrderID()
		return errors.Join(err, tx.PutOrder(model.Order{ID: id, Number: "1", Status: status, CreatedAt: testTime}))
	}
	update(t, s, func(tx *Tx) error {
		return errors.Join(put(tx, "Active"), put(tx, "active"), put(tx, "12"), put(tx, ""))
	})
	update(t, s, func(tx *Tx) error {
		err := errors.Join(put(tx, "late"), tx.RemoveOrder(3))
		if got := fmt.Sprint(tx.ValueCounts("order", model.ColumnStatus)); got != "[{ 1} {active 2} {late 1}]" {
			t.Errorf("counts within the transaction = %s, want one of the new status", got)
		}
		return err
	})
	view(t, s, func(tx *Tx) error {
		if got := fmt.Sprint(tx.ValueCounts("order", model.ColumnStatus)); got != "[{ 1} {active 2} {late 1}]" {
			t.Errorf("counts after the commit = %s, want one of the new status", got)
		}
		if list := tx.ValueCounts("abstract", model.ColumnStatus); len(list) > 0 {
			t.Errorf("abstracts: got %v, want none", list)
		}
		return nil
	})
}
