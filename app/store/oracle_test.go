package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// oracle records what was written to a store and determines what the lists of the store should
// contain.
type oracle struct {
	store     *Store
	rng       *rand.Rand
	abstracts map[uint64]model.Abstract
	orders    map[uint64]model.Order
	files     map[uint64]model.File
	hasTask   map[uint64]bool // by file ID; files with a task are Processing
	events    []model.Event
	digests   int
}

// newOracle returns an oracle for a new store.
func newOracle(t *testing.T, s *Store) *oracle {
	t.Helper()
	o := &oracle{store: s, rng: rand.New(rand.NewPCG(1, 2)), abstracts: map[uint64]model.Abstract{}, orders: map[uint64]model.Order{},
		files: map[uint64]model.File{}, hasTask: map[uint64]bool{}}
	view(t, s, func(tx *Tx) error {
		e, err := events.get(tx, 1) // written when the store was created
		o.events = append(o.events, e)
		return err
	})
	return o
}

// pick returns a random element of list.
func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// randomTime returns one of a small number of times, so that many are equal and their order differs
// from the order of the IDs.
func (o *oracle) randomTime() time.Time {
	return testTime.Add(time.Duration(o.rng.IntN(40)-20) * time.Hour).Add(time.Duration(o.rng.IntN(2)) * time.Microsecond)
}

func (o *oracle) randomProperty() model.Property {
	return model.Property{Address: pick(o.rng, "", "1 Elm St", "1 Elm St.", "12 Elm St, Apt 4", "12 ELM  ST", "Ñandú Rd"),
		City: pick(o.rng, "", "Troy"), County: pick(o.rng, "", "Rensselaer", "RENSSELAER", "Albany", "St. Lawrence", "Doña Ana",
			"DOÑA ANA"), State: pick(o.rng, "NY", "ny", "NM", "")}
}

// randomFields returns custom field values. Some of them differ only after the part of a text that
// is stored in a key.
func (o *oracle) randomFields(keys ...string) model.CustomValues {
	v := model.CustomValues{}
	for _, key := range keys {
		if text := pick(o.rng, "", "12-3", "123", "12.34", "A 7", strings.Repeat("x", 64), strings.Repeat("x", 64)+"y"); text != "" {
			v[key], _ = json.Marshal(text)
		}
	}
	return v
}

func (o *oracle) randomTrashed(with string) *model.Trashed {
	if o.rng.IntN(4) > 0 {
		return nil
	}
	return &model.Trashed{At: o.randomTime(), By: model.SystemActor(), With: with}
}

// randomID returns the ID of a random record in m, or 0 if m is empty.
func randomID[T any](o *oracle, m map[uint64]T) uint64 {
	ids := make([]uint64, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return 0
	}
	return ids[o.rng.IntN(len(ids))]
}

// step creates, updates, or removes one random record in the store and in the oracle.
func (o *oracle) step(tx *Tx) error {
	remove := o.rng.IntN(8) == 0
	isNew := o.rng.IntN(3) == 0
	switch o.rng.IntN(4) {
	case 0:
		return o.stepAbstract(tx, isNew, remove)
	case 1:
		return o.stepOrder(tx, isNew, remove)
	case 2:
		return o.stepFile(tx, isNew, remove)
	}
	e := model.Event{At: o.randomTime(), Actor: model.Actor{Kind: pick(o.rng, "key", "system"), ID: o.rng.Uint64N(3)},
		Kind: pick(o.rng, "order.created", "file.filed"), Record: pick(o.rng, "", "order:7", "order:8", "file:7")}
	err := tx.AddEvent(e)
	o.events = append(o.events, *tx.lastEntry)
	return err
}

func (o *oracle) stepAbstract(tx *Tx, isNew, remove bool) (err error) {
	a := o.abstracts[randomID(o, o.abstracts)]
	switch {
	case isNew || a.ID == 0:
		a = model.Abstract{CreatedAt: o.randomTime()}
		if a.ID, err = tx.NewAbstractID(); err != nil {
			return err
		}
	case remove:
		delete(o.abstracts, a.ID)
		return tx.RemoveAbstract(a.ID)
	}
	a.Property, a.TemplateID, a.Status, a.Trashed = o.randomProperty(), o.rng.Uint64N(4), pick(o.rng, "", "New", "In Search",
		"new"), o.randomTrashed("")
	a.TaxMap, a.Custom = pick(o.rng, "", "12.-3", "9"), o.randomFields("file_number", "parcel_id")
	a.UpdatedAt = o.randomTime()
	o.abstracts[a.ID] = a
	return tx.PutAbstract(a)
}

func (o *oracle) stepOrder(tx *Tx, isNew, remove bool) (err error) {
	order := o.orders[randomID(o, o.orders)]
	switch {
	case isNew || order.ID == 0:
		order = model.Order{CreatedAt: o.randomTime()}
		if order.ID, err = tx.NewOrderID(); err != nil {
			return err
		}
	case remove:
		delete(o.orders, order.ID)
		return tx.RemoveOrder(order.ID)
	}
	order.Property = o.randomProperty()
	order.Status = pick(o.rng, "active", "on_hold", "completed", "Cancelled (by client)", "")
	order.Trashed = o.randomTrashed("")
	order.Number = pick(o.rng, "A-1", "a-1", "A-10", "É 7", "é 7", "12", "12:3", fmt.Sprint("N-", o.rng.IntN(50)))
	order.DueDate = pick(o.rng, "", "2026-06-15", "2026-06-14", "1969-12-31", "2031-01-01")
	order.AssigneeID = pick(o.rng, uint64(0), 0, 4, 44)
	order.Custom = o.randomFields("parcel_id")
	order.UpdatedAt = o.randomTime()
	o.orders[order.ID] = order
	return tx.PutOrder(order)
}

func (o *oracle) stepFile(tx *Tx, isNew, remove bool) (err error) {
	f := o.files[randomID(o, o.files)]
	switch {
	case isNew || f.ID == 0:
		o.digests++
		f = model.File{CreatedAt: o.randomTime(), Digest: digest(o.digests), Size: int64(o.rng.IntN(9))}
		if f.ID, err = tx.NewFileID(); err != nil {
			return err
		}
	case remove:
		delete(o.files, f.ID)
		return tx.RemoveFile(f.ID)
	}
	if o.rng.IntN(5) == 0 {
		err = tx.AddTask(model.ProcessingTask{FileID: f.ID, DueAt: testTime})
		o.hasTask[f.ID] = true
	}
	f.FolderID, f.Processing, f.Failure = o.rng.Uint64N(4), o.rng.IntN(2) == 0 || o.hasTask[f.ID], pick(o.rng, "", "", "no")
	f.Trashed = o.randomTrashed("")
	o.files[f.ID] = f
	return errors.Join(err, tx.PutFile(f))
}
