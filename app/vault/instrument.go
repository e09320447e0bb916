package vault

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Instruments records the instruments of abstracts and their runsheets.
type Instruments struct {
	v         *Vault
	logDamage sync.Once // see runsheetKeys
}

// InstrumentView is an instrument with values computed from other records.
type InstrumentView struct {
	model.Instrument
	Type     model.DocumentType // zero if the instrument has no type
	Status   string             // effective status, see model.Instrument.EffectiveStatus; "" if it is missing
	Position int                // place in the runsheet, starting with 1
	// Unplaced is true if the instrument is at the end because its date fits in no single place of the chosen
	// sequence. Only a Runsheet has it.
	Unplaced bool
	// Duplicate is the instrument that this one repeats. Only Create and Patch set it.
	Duplicate runsheet.Duplicate
}

// InstrumentType is the type of instruments in record references.
const InstrumentType = "instrument"

// ops reads and writes instruments for the shared operations.
func (ins *Instruments) ops(ctx context.Context) recordOps[InstrumentView] {
	return ins.opsAt(ctx, model.Actor{}, 0)
}

// opsAt is like ops, but a change by actor moves the instrument to a place in the runsheet. At position 0, the
// instrument has the place of its date, unless a person chose another one.
func (ins *Instruments) opsAt(ctx context.Context, actor model.Actor, position int) recordOps[InstrumentView] {
	return recordOps[InstrumentView]{
		Name: InstrumentType,
		get: func(t *store.Tx, id uint64) (InstrumentView, error) {
			i, err := t.Instrument(id)
			if err != nil {
				return InstrumentView{}, err
			}
			return ins.view(ctx, t, i)
		},
		getIncludingTrash: func(t *store.Tx, id uint64) (InstrumentView, error) {
			i, err := t.InstrumentIncludingTrash(id)
			if err != nil || i.Trashed != nil {
				return InstrumentView{Instrument: i}, err
			}
			return ins.view(ctx, t, i)
		},
		version: func(i InstrumentView) uint64 { return i.Version },
		trashed: func(i InstrumentView) *model.Trashed { return i.Trashed },
		retainedUntil: func(v *Vault, t *store.Tx, i InstrumentView) (time.Time, error) {
			return v.instrumentRetainedUntil(t, i.Instrument)
		},
		changes: func(old, now InstrumentView) []model.Change {
			changes := old.Instrument.Changes(now.Instrument)
			if old.Position != now.Position {
				changes = append(changes, model.NumberChange("position", old.Position, now.Position))
			}
			return changes
		},
		keep: keepPart(instrumentOf),
		save: func(_ *Vault, t *store.Tx, now InstrumentView, at time.Time) (InstrumentView, error) {
			i := now.Instrument
			NextVersion(&i.Version, &i.UpdatedAt, at)
			if err := PutInstrument(t, i); err != nil {
				return now, err
			}
			return ins.place(ctx, t, actor, i, position)
		},
	}
}

// PutInstrument writes an instrument and counts the change of the runsheet.
func PutInstrument(t *store.Tx, i model.Instrument) error {
	return errors.Join(t.PutInstrument(i), bumpRunsheet(t, i.AbstractID))
}

// bumpRunsheet counts a change of the runsheet of an abstract.
func bumpRunsheet(t *store.Tx, abstract uint64) error {
	work, err := t.TitleWork(abstract)
	if err != nil {
		return err
	}
	work.RunsheetVersion++
	return t.PutTitleWork(work)
}

// Types returns the document types in display order, including the retired ones.
func (ins *Instruments) Types(ctx context.Context) (types model.DocumentTypes, err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) (err error) {
		types, err = t.DocumentTypes()
		return err
	})
	return types, err
}

// SetTypes replaces the document types. Types that are missing in the list are retired. It returns
// Invalid, listing every invalid type. If dryRun is true, it only returns the result.
func (ins *Instruments) SetTypes(ctx context.Context, actor model.Actor, types model.DocumentTypes, dryRun bool) (now model.DocumentTypes,
	err error) {
	var changes []model.Change
	check := func(t *store.Tx) error {
		current, err := t.DocumentTypes()
		if err != nil {
			return err
		}
		var rejected errs.Fields
		if now, rejected = types.Check(current); len(rejected) > 0 {
			return rejected.Err()
		}
		if slices.Equal(now, current) {
			return txn.ErrNoChange
		}
		changes = current.Changes(now)
		return nil
	}
	if dryRun {
		err = ins.v.Store.View(ctx, check)
	} else {
		err = ins.v.WriteAsAdmin(ctx, actor, check, func(t *store.Tx) error {
			return errors.Join(t.PutDocumentTypes(now),
				ins.v.AddEntry(t, model.Event{At: ins.v.Now(), Actor: actor, Kind: "document_types.changed", Changes: changes}))
		})
	}
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return now, err
}

// newInstrument returns a blank instrument of an abstract, in its county and state. If the input names another county,
// the state isn't known, because that county can be in another state.
func newInstrument(a model.Abstract, in model.Inputs) model.Instrument {
	i := model.Instrument{AbstractID: a.ID, County: a.County, State: a.State}
	if (model.Instrument{County: in["county"].Value}).IsInOtherCounty(a) {
		i.State = ""
	}
	return i
}

// Create records an instrument of an abstract. The county and state are those of the abstract
// unless the input has them; the state only if the county isn't another one. At position 0, it is
// placed by its recording date. It returns Invalid, listing every invalid field.
func (ins *Instruments) Create(ctx context.Context, actor model.Actor, abstract uint64, p InstrumentPatch,
	idempotency Idempotency[InstrumentView]) (InstrumentView, error) {
	var created model.Instrument
	var view InstrumentView
	var duplicate runsheet.Duplicate
	err := ins.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, ins.v); err != nil {
			return err
		}
		a, err := t.Abstract(abstract)
		if err != nil {
			return err
		}
		if err := ins.checkRoom(t, abstract, 1); err != nil {
			return err
		}
		if created, err = ins.check(t, actor, newInstrument(a, p.Input), p); err != nil {
			return err
		}
		if duplicate = ins.duplicateOf(ctx, t, created); p.AskRepeat && duplicate.ID != 0 {
			err = ins.repeatError(ctx, t, duplicate, created, p)
		}
		return err
	}, func(t *store.Tx) (err error) {
		at := ins.v.Now()
		if created, err = ins.add(t, actor, at, created); err != nil {
			return err
		}
		if err := bumpRunsheet(t, abstract); err != nil {
			return err
		}
		if view, err = ins.place(ctx, t, actor, created, p.Position); err != nil {
			return err
		}
		view.Duplicate = duplicate
		return idempotency.SaveResponse(t, at, view)
	})
	return view, err
}

// add stores a validated instrument, which gets an ID unless it has one, and adds an audit entry. The
// caller counts the change of the runsheet.
func (ins *Instruments) add(t *store.Tx, actor model.Actor, at time.Time, i model.Instrument) (_ model.Instrument, err error) {
	if i.ID == 0 {
		if i.ID, err = t.NewInstrumentID(); err != nil {
			return i, err
		}
	}
	i.Version, i.CreatedAt, i.UpdatedAt = 1, at, at
	if err := t.PutInstrument(i); err != nil {
		return i, err
	}
	return i, ins.v.AddEvent(t, at, actor, "instrument.created", model.RecordRef(InstrumentType, i.ID),
		map[string]string{"abstract": model.RecordRef(AbstractOps.Name, i.AbstractID)})
}

// instrumentRules are what the input for an instrument of an abstract is validated against.
type instrumentRules struct {
	types model.DocumentTypes
	work  model.TitleWork
}

func readInstrumentRules(t *store.Tx, abstract uint64) (r instrumentRules, err error) {
	if r.types, err = t.DocumentTypes(); err == nil {
		r.work, err = t.TitleWork(abstract)
	}
	return r, err
}

// check validates the input for an instrument against the vault.
func (r instrumentRules) check(t *store.Tx, actor model.Actor, old model.Instrument, p InstrumentPatch) (model.Instrument, error) {
	belongs := func(abstract uint64) bool {
		return abstract == old.AbstractID || abstract == r.work.PriorID && abstract != 0
	}
	now, rejected := model.CheckInstrument(p.Input, old, model.InstrumentContext{
		Types: r.types,
		File: func(id uint64) (*int, bool) {
			f, err := t.File(id)
			return f.Pages, err == nil && belongs(f.AbstractID)
		},
		Instrument: func(id uint64) (model.Instrument, bool) {
			related := func(r model.Relation) bool { return r.InstrumentID == id } // it may have moved to another abstract
			i, err := t.Instrument(id)
			return i, err == nil && (belongs(i.AbstractID) || slices.ContainsFunc(old.Relations, related))
		},
		Actor: actor,
	})
	return now, append(rejected, p.Rejected...).Err()
}

// check validates the input for one instrument against the vault.
func (ins *Instruments) check(t *store.Tx, actor model.Actor, old model.Instrument, p InstrumentPatch) (model.Instrument, error) {
	rules, err := readInstrumentRules(t, old.AbstractID)
	if err != nil {
		return old, err
	}
	return rules.check(t, actor, old, p)
}

// Get returns an instrument, or NotFound.
func (ins *Instruments) Get(ctx context.Context, id uint64) (view InstrumentView, err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) (err error) {
		view, err = ins.ops(ctx).get(t, id)
		return err
	})
	return view, err
}

// InstrumentPatch is the input for changing an instrument. Position is its new place in the
// runsheet, starting with 1; 0 leaves it where it is.
type InstrumentPatch struct {
	Input    model.Inputs
	Position int
	Rejected errs.Fields // problems of the input that were found while reading it, such as an invalid Position
	// AskRepeat is true if nothing is stored and a RepeatError is returned in case the instrument repeats another one.
	// For a change, one that it repeats already doesn't count.
	AskRepeat bool
}

// Patch changes the fields in the input. It returns Invalid, listing every invalid field, or
// PreconditionFailed if match doesn't accept the current version. It looks for a duplicate only if the input has a
// field that duplicates are found by.
func (ins *Instruments) Patch(ctx context.Context, actor model.Actor, id uint64, p InstrumentPatch, match Match) (InstrumentView, error) {
	var duplicate runsheet.Duplicate
	ops := ins.opsAt(ctx, actor, p.Position)
	view, err := patch(ctx, ins.v, ops, actor, id, match, func(t *store.Tx, old InstrumentView) (now InstrumentView, err error) {
		now = old
		if p.Position > 0 {
			now.Position = p.Position
		}
		if now.Instrument, err = ins.check(t, actor, old.Instrument, p); err != nil || !runsheet.Identifies(p.Input) {
			return now, err
		}
		duplicate = ins.duplicateOf(ctx, t, now.Instrument)
		if p.AskRepeat && duplicate.ID != 0 && ins.duplicateOf(ctx, t, old.Instrument).ID != duplicate.ID {
			err = ins.repeatError(ctx, t, duplicate, now.Instrument, p)
		}
		return now, err
	})
	view.Duplicate = duplicate
	return view, err
}

// Edit changes the fields in the input and returns the change for UndoEdit, if there is one. Otherwise, it is like Patch.
func (ins *Instruments) Edit(ctx context.Context, actor model.Actor, id uint64, in model.Inputs) ([]Edit, error) {
	var now InstrumentView
	change := func(t *store.Tx, old InstrumentView) (changed InstrumentView, err error) {
		changed = old
		changed.Instrument, err = ins.check(t, actor, old.Instrument, InstrumentPatch{Input: in})
		return changed, err
	}
	return ins.v.run(ctx, actor, patching(ins.v, ins.ops(ctx), actor, id, Match{}, change, &now))
}

// Trash moves an instrument to the trash.
func (ins *Instruments) Trash(ctx context.Context, actor model.Actor, id uint64, match Match) error {
	return trash(ctx, ins.v, ins.ops(ctx), actor, id, match, "trashed",
		func(t *store.Tx, live InstrumentView, in model.Trashed) (map[string]string, error) {
			live.Trashed = &in
			return map[string]string{"abstract": model.RecordRef(AbstractOps.Name, live.AbstractID)}, PutInstrument(t, live.Instrument)
		})
}

// Restore restores an instrument from the trash. It returns Conflict if its abstract is in the
// trash. If the instrument is not in the trash, it changes nothing.
func (ins *Instruments) Restore(ctx context.Context, actor model.Actor, id uint64, idempotency Idempotency[InstrumentView],
) (InstrumentView, error) {
	return restore(ctx, ins.v, ins.ops(ctx), actor, id, idempotency, func(t *store.Tx, in InstrumentView) error {
		_, err := t.Abstract(in.AbstractID)
		if errs.KindOf(err) == errs.NotFound {
			return &errs.Error{Kind: errs.Conflict, Message: "The abstract of this instrument is in the trash. Restore the abstract first."}
		}
		return err
	}, func(t *store.Tx, in InstrumentView, _ time.Time) (InstrumentView, map[string]string, error) {
		in.Trashed = nil
		if err := PutInstrument(t, in.Instrument); err != nil {
			return in, nil, err
		}
		out, err := ins.view(ctx, t, in.Instrument)
		return out, map[string]string{"abstract": model.RecordRef(AbstractOps.Name, in.AbstractID)}, err
	})
}

// today returns the current date at the server's location, because staff work there.
func (ins *Instruments) today() string { return ins.v.localNow().Format(time.DateOnly) }

// trashInstruments moves the live instruments of an abstract to the trash with it.
func trashInstruments(t *store.Tx, abstract uint64, in model.Trashed) error {
	list, err := t.LiveInstruments(abstract)
	if err != nil {
		return err
	}
	in.With = model.RecordRef(AbstractOps.Name, abstract)
	for _, i := range list {
		i.Trashed = &in
		if err := t.PutInstrument(i); err != nil {
			return err
		}
	}
	return nil
}

// restoreInstruments restores the instruments that were trashed with their abstract.
func restoreInstruments(t *store.Tx, abstract uint64) error {
	list, err := t.InstrumentsOfAbstract(abstract, func(i *model.Instrument) bool { return i.Trashed != nil && i.Trashed.With != "" })
	if err != nil {
		return err
	}
	for _, i := range list {
		i.Trashed = nil
		if err := t.PutInstrument(i); err != nil {
			return err
		}
	}
	return nil
}
