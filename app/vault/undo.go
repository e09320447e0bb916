package vault

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Edit is a change that a user made to a record, or to one part of the title work of an abstract. UndoEdit undoes it.
type Edit struct {
	Type    string // of the record, such as "instrument"
	ID      uint64
	Part    string // such as "names_run"; "" if it isn't about the title work
	Version uint64 // of the record or the part after the change
}

// slot returns where the stored responses have what was there before the last change.
func (e Edit) slot() [32]byte { return store.UndoSlot(model.RecordRef(e.Type, e.ID), e.Part) }

// maxUndo is the maximum size, in bytes, of what was there before a change that can be undone.
const maxUndo = 256 << 10

// keptEdit is what was there before a change to a version.
type keptEdit struct {
	Version uint64          `json:"version"`
	Before  json.RawMessage `json:"before"`
}

// keep stores what was there before a change, until the next one, and for as long as responses are stored. Only users
// undo changes.
func (e Edit) keep(t *store.Tx, actor model.Actor, at time.Time, before any) error {
	raw, err := json.Marshal(before)
	if err != nil {
		return err
	}
	if actor.Kind != model.ActorUser || len(raw) > maxUndo {
		return t.RemoveStoredResponse(e.slot())
	}
	body, err := json.Marshal(keptEdit{e.Version, raw})
	return errors.Join(err, t.PutStoredResponse(e.slot(), model.StoredResponse{Body: body, At: at}))
}

// errNotUndone is for a change that a later one hides, that is too old, or whose values were too long to be kept.
var errNotUndone = &errs.Error{Kind: errs.Conflict, Message: "This change can no longer be undone."}

// read reads what was there before a change. It returns Conflict if that isn't stored any longer.
func (e Edit) read(t *store.Tx, v *Vault, before any) error {
	stored, found, err := v.storedResponse(t, e.slot())
	var kept keptEdit
	if err == nil && found {
		err = json.Unmarshal(stored.Body, &kept)
	}
	if err != nil {
		return err
	}
	if !found || kept.Version != e.Version {
		return errNotUndone
	}
	return json.Unmarshal(kept.Before, before)
}

// UndoEdit restores the values that a record had before a change. That is a change, too: it is logged, and can be
// undone. version is that of the record after it. UndoEdit returns PreconditionFailed if the record was changed in the
// meantime, and Conflict if the values aren't stored any longer.
func (v *Vault) UndoEdit(ctx context.Context, actor model.Actor, e Edit) (version uint64, err error) {
	switch {
	case e.Type == AbstractOps.Name && e.Part != "":
		return v.TitleWork.undo(ctx, actor, e)
	case e.Type == AbstractOps.Name:
		return undo(ctx, v, AbstractOps, actor, e, v.Abstracts.restoreFields)
	case e.Type == OrderOps.Name:
		return undo(ctx, v, OrderOps, actor, e, v.Orders.restoreFields)
	case e.Type == noteOps.Name:
		return undo(ctx, v, noteOps, actor, e, v.Notes.restoreFields(actor))
	case e.Type == InstrumentType:
		return undo(ctx, v, v.Instruments.ops(ctx), actor, e, v.Instruments.restoreFields(actor))
	}
	return 0, errs.RecordNotFound(e.Type, e.ID)
}

// undo undoes a change of a record. restore returns the record with the fields that it had before.
func undo[T, R any](ctx context.Context, v *Vault, ops recordOps[T], actor model.Actor, e Edit,
	restore func(t *store.Tx, now T, before R) (T, error)) (version uint64, err error) {
	now, err := patch(ctx, v, ops, actor, e.ID, MatchVersion(e.Version), func(t *store.Tx, now T) (T, error) {
		var before R
		if err := e.read(t, v, &before); err != nil {
			return now, err
		}
		return restore(t, now, before)
	})
	return ops.version(now), err
}

// Undo is what Instruments.Undo needs to reverse what CreateMany stored.
type Undo struct {
	Abstract uint64             `json:"abstract"`
	Created  []StoredInstrument `json:"created,omitempty"`
	Filled   []StoredInstrument `json:"filled,omitempty"` // existing instruments that changed
}

// StoredInstrument is a version of an instrument, and which fields and documents it got.
type StoredInstrument struct {
	ID        uint64               `json:"id"`
	Version   uint64               `json:"version"`
	Fields    []string             `json:"fields,omitempty"`
	Documents []model.DocumentLink `json:"documents,omitempty"`
}

// addFilled adds an existing instrument that changed. Several rows can fill the same one.
func (u *Undo) addFilled(stored StoredInstrument) {
	at := slices.IndexFunc(u.Filled, func(other StoredInstrument) bool { return other.ID == stored.ID })
	if at >= 0 {
		stored.Fields = append(u.Filled[at].Fields, stored.Fields...)
		stored.Documents = append(u.Filled[at].Documents, stored.Documents...)
		u.Filled = slices.Delete(u.Filled, at, at+1)
	}
	u.Filled = append(u.Filled, stored)
}

// StoreUndo makes an idempotency store what is needed to undo what CreateMany adds, as the body of the response; see
// StoredUndo.
func StoreUndo(once Idempotency[Added]) Idempotency[Added] {
	if render := once.Render; render != nil {
		once.Render = func(added Added) (status int, header map[string]string, body []byte, err error) {
			if status, header, _, err = render(added); err == nil {
				body, err = json.Marshal(added.Undo)
			}
			return status, header, body, err
		}
	}
	return once
}

// StoredUndo returns what is needed to undo what CreateMany added to an abstract. It returns Conflict if that isn't
// stored any longer, and NotFound if it is of another abstract.
func (ins *Instruments) StoredUndo(ctx context.Context, abstract uint64, key [32]byte) (undo Undo, err error) {
	stored, found, err := ins.v.StoredResponse(ctx, key)
	switch {
	case err != nil:
		return undo, err
	case !found:
		return undo, errNotUndone
	case json.Unmarshal(stored.Body, &undo) != nil || undo.Abstract != abstract:
		return undo, errs.RecordNotFound(AbstractOps.Name, abstract)
	}
	return undo, nil
}

// Undo reverses what CreateMany stored, in one transaction: it moves new instruments to the trash, clears
// the fields that were filled, and removes the links to documents. An instrument that was changed in the
// meantime keeps its fields, and a new one stays, also if it was undone and restored. kept is their number.
func (ins *Instruments) Undo(ctx context.Context, actor model.Actor, undo Undo) (undone, kept int, err error) {
	err = ins.v.UpdateFromReserve(ctx, actor, nil, func(t *store.Tx) error {
		undone, kept = 0, 0
		at := ins.v.Now()
		for n, stored := range slices.Concat(undo.Created, undo.Filled) {
			i, err := t.Instrument(stored.ID)
			if errs.KindOf(err) == errs.NotFound || err == nil && i.AbstractID != undo.Abstract {
				continue // in the trash already, or moved
			}
			if err != nil {
				return err
			}
			unchanged := i.Version == stored.Version
			switch isNew := n < len(undo.Created); {
			case isNew && unchanged:
				NextVersion(&i.Version, &i.UpdatedAt, at) // after a restore, it isn't undone again
				err = ins.putTrashed(t, actor, at, i)
			case !isNew && !stored.isIn(i):
				continue // undone already
			case !isNew && len(i.Changes(stored.removeFrom(i))) > 0:
				err = ins.put(t, actor, at, i, stored.removeFrom(i))
			}
			if err != nil {
				return err
			}
			if unchanged {
				undone++
			} else {
				kept++
			}
		}
		return nil
	})
	return undone, kept, err
}

// isIn reports whether an instrument still has one of the fields or documents that it got.
func (s StoredInstrument) isIn(i model.Instrument) bool {
	s.Version = i.Version
	return len(i.Changes(s.removeFrom(i))) > 0
}

// removeFrom returns an instrument without the documents that it got and, if it didn't change in the
// meantime, without the fields.
func (s StoredInstrument) removeFrom(i model.Instrument) model.Instrument {
	blank := model.Inputs{}
	for _, field := range s.Fields {
		if i.Version == s.Version {
			blank[field] = model.Input{}
		}
	}
	i, _ = model.CheckInstrument(blank, i, model.InstrumentContext{})
	i.Documents = slices.DeleteFunc(slices.Clone(i.Documents), func(link model.DocumentLink) bool {
		return slices.Contains(s.Documents, link)
	})
	return i
}
