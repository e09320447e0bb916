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

// world is a model of a store: what was put there, in maps.
type world struct {
	s         *Store
	rng       *rand.Rand
	abstracts map[uint64]model.Abstract
	orders    map[uint64]model.Order
	files     map[uint64]model.File
	queued    map[uint64]bool // files that have a task, and so are Processing
	events    []model.Event
	digests   int
}

func newWorld(t *testing.T, s *Store) *world {
	t.Helper()
	w := &world{s: s, rng: rand.New(rand.NewPCG(1, 2)), abstracts: map[uint64]model.Abstract{}, orders: map[uint64]model.Order{}, files: map[uint64]model.File{}, queued: map[uint64]bool{}}
	view(t, s, func(tx *Tx) error {
		e, err := events.get(tx, 1) // the store itself wrote it
		w.events = append(w.events, e)
		return err
	})
	return w
}

func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// at is a time among few, so that many are equal and none follows the ids.
func (w *world) at() time.Time {
	return testTime.Add(time.Duration(w.rng.IntN(40)-20) * time.Hour).Add(time.Duration(w.rng.IntN(2)) * time.Microsecond)
}

func (w *world) property() model.Property {
	return model.Property{Address: pick(w.rng, "", "1 Elm St", "1 Elm St.", "12 Elm St, Apt 4", "12 ELM  ST", "Ñandú Rd"), City: pick(w.rng, "", "Troy"), County: pick(w.rng, "", "Rensselaer", "RENSSELAER", "Albany", "St. Lawrence", "Doña Ana", "DOÑA ANA"), State: pick(w.rng, "NY", "ny", "NM", "")}
}

// custom has numbers that are told apart behind what a key has of them, too.
func (w *world) custom(keys ...string) model.Values {
	v := model.Values{}
	for _, key := range keys {
		if text := pick(w.rng, "", "12-3", "123", "12.34", "A 7", strings.Repeat("x", 64), strings.Repeat("x", 64)+"y"); text != "" {
			v[key], _ = json.Marshal(text)
		}
	}
	return v
}

func (w *world) trashed(with string) *model.Trashed {
	if w.rng.IntN(4) > 0 {
		return nil
	}
	return &model.Trashed{At: w.at(), By: model.SystemActor(), With: with}
}

// key gives a number that is there, or 0.
func key[T any](w *world, m map[uint64]T) uint64 {
	ids := make([]uint64, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return 0
	}
	return ids[w.rng.IntN(len(ids))]
}

// step does one thing to one record, in the store and in the model.
func (w *world) step(tx *Tx) error {
	remove := w.rng.IntN(8) == 0
	isNew := w.rng.IntN(3) == 0
	switch w.rng.IntN(4) {
	case 0:
		return w.stepAbstract(tx, isNew, remove)
	case 1:
		return w.stepOrder(tx, isNew, remove)
	case 2:
		return w.stepFile(tx, isNew, remove)
	}
	e := model.Event{At: w.at(), Actor: model.Actor{Kind: pick(w.rng, "key", "system"), ID: w.rng.Uint64N(3)}, Kind: pick(w.rng, "order.created", "file.filed"), Record: pick(w.rng, "", "order:7", "order:8", "file:7")}
	err := tx.AddEvent(e)
	w.events = append(w.events, *tx.lastEntry)
	return err
}

func (w *world) stepAbstract(tx *Tx, isNew, remove bool) (err error) {
	a := w.abstracts[key(w, w.abstracts)]
	switch {
	case isNew || a.ID == 0:
		a = model.Abstract{CreatedAt: w.at()}
		if a.ID, err = tx.NewAbstractID(); err != nil {
			return err
		}
	case remove:
		delete(w.abstracts, a.ID)
		return tx.RemoveAbstract(a.ID)
	}
	a.Property, a.TemplateID, a.Status, a.Trashed = w.property(), w.rng.Uint64N(4), pick(w.rng, "", "New", "In Search", "new"), w.trashed("")
	a.TaxMap, a.Custom = pick(w.rng, "", "12.-3", "9"), w.custom("file_number", "parcel_id")
	a.UpdatedAt = w.at()
	w.abstracts[a.ID] = a
	return tx.PutAbstract(a)
}

func (w *world) stepOrder(tx *Tx, isNew, remove bool) (err error) {
	o := w.orders[key(w, w.orders)]
	switch {
	case isNew || o.ID == 0:
		o = model.Order{CreatedAt: w.at()}
		if o.ID, err = tx.NewOrderID(); err != nil {
			return err
		}
	case remove:
		delete(w.orders, o.ID)
		return tx.RemoveOrder(o.ID)
	}
	o.Property, o.Status, o.Trashed = w.property(), pick(w.rng, "active", "on_hold", "completed", "Cancelled (by client)", ""), w.trashed("")
	o.Number = pick(w.rng, "A-1", "a-1", "A-10", "É 7", "é 7", "12", "12:3", fmt.Sprint("N-", w.rng.IntN(50)))
	o.DueDate = pick(w.rng, "", "2026-06-15", "2026-06-14", "1969-12-31", "2031-01-01")
	o.Custom = w.custom("parcel_id")
	o.UpdatedAt = w.at()
	w.orders[o.ID] = o
	return tx.PutOrder(o)
}

func (w *world) stepFile(tx *Tx, isNew, remove bool) (err error) {
	f := w.files[key(w, w.files)]
	switch {
	case isNew || f.ID == 0:
		w.digests++
		f = model.File{CreatedAt: w.at(), Digest: digest(w.digests), Size: int64(w.rng.IntN(9))}
		if f.ID, err = tx.NewFileID(); err != nil {
			return err
		}
	case remove:
		delete(w.files, f.ID)
		return tx.RemoveFile(f.ID)
	}
	if w.rng.IntN(5) == 0 {
		err = tx.AddTask(model.ProcessingTask{FileID: f.ID, DueAt: testTime})
		w.queued[f.ID] = true
	}
	f.FolderID, f.Processing, f.Failure = w.rng.Uint64N(4), w.rng.IntN(2) == 0 || w.queued[f.ID], pick(w.rng, "", "", "no")
	f.Trashed = w.trashed("")
	w.files[f.ID] = f
	return errors.Join(err, tx.PutFile(f))
}
