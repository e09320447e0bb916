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

// The model against what is found: every text there is, cut anywhere, by every way.
func TestFindAgainstAModel(t *testing.T) {
	s := openNew(t)
	s.db.NoSync = true // no power cut is meant
	w := newWorld(t, s)
	for range 8 {
		update(t, s, func(tx *Tx) (err error) {
			for range 60 {
				err = errors.Join(err, w.step(tx))
			}
			return err
		})
	}
	texts := []string{"", " - ", "1", "12", "12.3", "a-1", "A-10", "é", "1 elm st", "12 Elm St.", "12 elm st apt 4 troy", "1 elm st troy ny", "ñandú", "x", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("X", 64) + "-y", "none"}
	for _, text := range texts {
		var orders, abstracts []string
		view(t, s, func(tx *Tx) error {
			list, more, err := tx.FindOrders(text, 1000)
			if err != nil || more {
				t.Errorf("orders by %q: more %v, %v", text, more, err)
			}
			for _, k := range list {
				orders = append(orders, fmt.Sprint(k.Record.ID, " ", k.Exact))
			}
			found, more, err := tx.FindAbstracts(text, 1000)
			if err != nil || more {
				t.Errorf("abstracts by %q: more %v, %v", text, more, err)
			}
			for _, k := range found {
				abstracts = append(abstracts, fmt.Sprint(k.Record.ID, " ", k.Exact))
			}
			return nil
		})
		var wantOrders, wantAbstracts []string
		for _, o := range orderLister.records(w) {
			number, want := model.Fold(o.Number), model.Fold(text)
			begins, exact := calledBy(text, []string{o.ParcelID()}, o.Property)
			begins, exact = begins || want != "" && strings.HasPrefix(number, want), exact || want != "" && number == want
			if begins {
				wantOrders = append(wantOrders, fmt.Sprint(o.ID, " ", exact))
			}
		}
		for _, a := range abstractLister.records(w) {
			if begins, exact := calledBy(text, []string{a.ParcelID(), a.FileNumber()}, a.Property); begins {
				wantAbstracts = append(wantAbstracts, fmt.Sprint(a.ID, " ", exact))
			}
		}
		for _, list := range []struct{ got, want []string }{{orders, wantOrders}, {abstracts, wantAbstracts}} {
			if !slices.IsSortedFunc(list.got, func(a, b string) int {
				return strings.Compare(b[strings.IndexByte(b, ' '):], a[strings.IndexByte(a, ' '):])
			}) {
				t.Errorf("%q: those that are it are not first: %v", text, list.got)
			}
			slices.Sort(list.got)
			slices.Sort(list.want)
			if !slices.Equal(list.got, list.want) {
				t.Errorf("%q: found %v\nwant %v", text, list.got, list.want)
			}
		}
	}
}

// calledBy is whether a text is one of the numbers or the place, or begins one.
func calledBy(text string, numbers []string, p model.Property) (begins, exact bool) {
	squeezed, plain := model.NormalizeNumber(text), model.NormalizeText(text)
	if squeezed == "" {
		return false, false
	}
	for _, n := range numbers {
		n = model.NormalizeNumber(n)
		begins, exact = begins || strings.HasPrefix(n, squeezed), exact || n == squeezed
	}
	begins = begins || strings.HasPrefix(model.NormalizeText(p.LookupAddress()), plain)
	if p.Address != "" {
		for _, whole := range p.LookupAddresses() {
			exact = exact || model.NormalizeText(whole) == plain
		}
	}
	return begins, exact
}

// However many begin with a text, a bounded number is read, and the one that is it is
// first.
func TestFindIsBounded(t *testing.T) {
	s := openNew(t)
	s.db.NoSync = true // no power cut is meant
	update(t, s, func(tx *Tx) (err error) {
		for i := range 3 * maxFindScan {
			id, e := tx.NewOrderID()
			err = errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint("7", i), Property: model.Property{Address: fmt.Sprint("7 Elm St Apt ", i)},
				Custom: model.Values{"parcel_id": json.RawMessage(fmt.Sprintf(`"7-%d"`, i))}, CreatedAt: testTime}))
		}
		id, e := tx.NewOrderID()
		return errors.Join(err, e, tx.PutOrder(model.Order{ID: id, Number: "last", Custom: model.Values{"parcel_id": json.RawMessage(`"7"`)}, CreatedAt: testTime}))
	})
	view(t, s, func(tx *Tx) error {
		for text, first := range map[string]string{"7": "last", "7 elm st": "70", "71": "71"} {
			list, more, err := tx.FindOrders(text, 20)
			if err != nil || len(list) != 20 || !more || list[0].Record.Number != first {
				t.Errorf("%q: %d found, more %v, %v, first %+v", text, len(list), more, err, list[:min(len(list), 1)])
			}
		}
		return nil
	})
}

func TestTallies(t *testing.T) {
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
		if got := fmt.Sprint(tx.ValueCounts("order", ColumnStatus)); got != "[{ 1} {active 2} {late 1}]" {
			t.Errorf("within the commit: %s", got)
		}
		return err
	})
	view(t, s, func(tx *Tx) error {
		if got := fmt.Sprint(tx.ValueCounts("order", ColumnStatus)); got != "[{ 1} {active 2} {late 1}]" {
			t.Errorf("after it: %s", got)
		}
		if list := tx.ValueCounts("abstract", ColumnStatus); len(list) > 0 {
			t.Errorf("abstracts: %v", list)
		}
		return nil
	})
}
