package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Edit is a change that a user made to a record, or to one part of the title work of an abstract. UndoEdit undoes it.
type Edit struct {
	Type    string // of the record, such as "instrument"
	ID      uint64
	Part    string // such as "names_run", or turnsPart; "" if it isn't about a part
	Version uint64 // of the record or the part after the change
}

// turnsPart is the rotation of a document's pages. The rotation has no version, so Edit.Version is a number that increases
// with each change.
const turnsPart = "rotation"

// slot returns where the stored responses have what was there before the last changes.
func (e Edit) slot() [32]byte {
	if e.Part == turnsPart {
		e.Part = ""
	}
	return store.UndoSlot(model.RecordRef(e.Type, e.ID), e.Part)
}

// Limits of what is kept of the changes of a record, to undo them: their number, and their size in bytes.
const (
	maxKeptEdits = 20
	maxUndo      = 256 << 10
)

// keptEdit is what was there before and after a change to a version.
type keptEdit[R any] struct {
	Version uint64 `json:"version"`
	By      uint64 `json:"by"` // user
	Before  R      `json:"before"`
	After   R      `json:"after"`
}

// keep stores what was there before and after a change, for as long as responses are stored. Only users undo changes.
func keep[R any](t *store.Tx, v *Vault, e Edit, actor model.Actor, at time.Time, before, after R) error {
	if actor.Kind != model.ActorUser {
		return nil
	}
	list, err := kept[R](t, v, e)
	if err != nil {
		return err
	}
	list = append(list[max(len(list)-maxKeptEdits+1, 0):], keptEdit[R]{e.Version, actor.ID, before, after})
	for ; len(list) > 0; list = list[1:] {
		body, err := json.Marshal(list)
		if err != nil {
			return err
		}
		if len(body) <= maxUndo {
			return t.PutStoredResponse(e.slot(), model.StoredResponse{Body: body, At: at})
		}
	}
	return nil
}

// keepPart returns recordOps.keep for records of which one part is kept.
func keepPart[T, R any](part func(T) R) func(t *store.Tx, v *Vault, e Edit, actor model.Actor, at time.Time, before, after T) error {
	return func(t *store.Tx, v *Vault, e Edit, actor model.Actor, at time.Time, before, after T) error {
		return keep(t, v, e, actor, at, part(before), part(after))
	}
}

// kept returns what is stored of the changes of a record, oldest first.
func kept[R any](t *store.Tx, v *Vault, e Edit) (list []keptEdit[R], err error) {
	stored, found, err := v.storedResponse(t, e.slot())
	if err != nil || !found {
		return nil, err
	}
	if json.Unmarshal(stored.Body, &list) != nil {
		list = nil // of an older version, which kept only the last change
	}
	return list, nil
}

// Errors of an undo: for a change that is too old or whose values were too long to be kept, for one of another user, for
// values that have changed since, and for a record that another user has deleted since.
var (
	errNotUndone    = &errs.Error{Kind: errs.Conflict, Message: "This change can no longer be undone."}
	errNotYours     = &errs.Error{Kind: errs.Forbidden, Message: "Only the user who made a change can undo it."}
	errChangedSince = &errs.Error{Kind: errs.PreconditionFailed, Message: "This was changed again in the meantime."}
	errTrashedSince = &errs.Error{Kind: errs.Conflict, Message: "Someone else moved this to the trash since."}
)

// revertible is a record that can get the values back that a change replaced. Values that the change left alone stay.
type revertible[R any] interface {
	Reverted(before, after R) (now R, ok bool) // false if one of the changed values isn't the one that the change set
}

// revert returns a record with the values that it had before the change. It returns Conflict if these aren't stored any
// longer, Forbidden if another user made the change, and PreconditionFailed if one of the changed values isn't the one that
// the change set.
func revert[R revertible[R]](t *store.Tx, v *Vault, e Edit, actor model.Actor, now R) (R, error) {
	list, err := kept[R](t, v, e)
	if err != nil {
		return now, err
	}
	at := slices.IndexFunc(list, func(k keptEdit[R]) bool { return k.Version == e.Version })
	switch {
	case at < 0:
		return now, errNotUndone
	case list[at].By != actor.ID:
		return now, errNotYours
	}
	reverted, ok := now.Reverted(list[at].Before, list[at].After)
	if !ok {
		return now, errChangedSince
	}
	return reverted, nil
}

// UndoEdit restores the values that a record had before a change of the same user. Values that the change left alone stay.
// That is a change, too: it is logged, and can be undone. version is that of the record after it. UndoEdit returns
// PreconditionFailed if one of these values was changed in the meantime, and Conflict if they aren't stored any longer.
func (v *Vault) UndoEdit(ctx context.Context, actor model.Actor, e Edit) (version uint64, err error) {
	switch {
	case e.Type == AbstractOps.Name && e.Part != "":
		return v.TitleWork.undo(ctx, actor, e)
	case e.Type == AbstractOps.Name:
		return undo(ctx, v, AbstractOps, actor, e, abstractOf, v.Abstracts.restoreFields)
	case e.Type == OrderOps.Name:
		return undo(ctx, v, OrderOps, actor, e, same[model.Order], v.Orders.restoreFields)
	case e.Type == FileOps.Name && e.Part == turnsPart:
		_, now, err := v.Files.turn(ctx, actor, e.ID, func(t *store.Tx, f model.File) (model.PageTurns, error) {
			before, err := revert(t, v, e, actor, restorableOf(f))
			return before.Turns, err
		})
		return now.Version, err
	case e.Type == FileOps.Name:
		return undo(ctx, v, FileOps, actor, e, restorableOf, func(_ *store.Tx, now model.File, before restorable) (model.File, error) {
			now.Filename = before.Filename
			return now, nil
		})
	case e.Type == noteOps.Name:
		return undo(ctx, v, noteOps, actor, e, same[model.Note], v.Notes.restoreFields(actor))
	case e.Type == InstrumentType:
		return undo(ctx, v, v.Instruments.ops(ctx), actor, e, instrumentOf, v.Instruments.restoreFields(actor))
	}
	return 0, errs.RecordNotFound(e.Type, e.ID)
}

// The parts of records that are kept.
func abstractOf(a AbstractWithFiles) model.Abstract  { return a.Abstract }
func instrumentOf(i InstrumentView) model.Instrument { return i.Instrument }
func same[R model.Order | model.Note](record R) R    { return record }

// restorable has the fields of a document that UndoEdit can restore.
type restorable struct {
	Filename string          `json:"filename"`
	Turns    model.PageTurns `json:"turns,omitempty"`
}

func restorableOf(f model.File) restorable { return restorable{f.Filename, f.Turns} }

// keepRenaming is keep for a renamed document. To undo a move, the document is moved back.
func keepRenaming(t *store.Tx, v *Vault, e Edit, actor model.Actor, at time.Time, before, after model.File) error {
	if before.Filename == after.Filename {
		return nil
	}
	return keep(t, v, e, actor, at, restorableOf(before), restorableOf(after))
}

// Reverted restores the name and the rotation of the pages that a change replaced.
func (r restorable) Reverted(before, after restorable) (reverted restorable, ok bool) {
	reverted, ok = r, true
	if before.Filename != after.Filename {
		reverted.Filename, ok = before.Filename, r.Filename == after.Filename
	}
	reverted.Turns = ""
	for page := 1; page <= max(len(r.Turns), len(before.Turns), len(after.Turns)); page++ {
		was, set, is := turnsOf(before.Turns, page), turnsOf(after.Turns, page), turnsOf(r.Turns, page)
		switch {
		case was == set:
			was = is
		case set != is:
			ok = false
		}
		reverted.Turns += was
	}
	reverted.Turns = model.PageTurns(strings.TrimRight(string(reverted.Turns), "-"))
	return reverted, ok
}

// turnsOf returns the digit of a page, or "-" if its rotation isn't known.
func turnsOf(turns model.PageTurns, page int) model.PageTurns {
	if page > len(turns) {
		return "-"
	}
	return turns[page-1 : page]
}

// undo undoes a change of a record. restore returns the record with the fields that it had before.
func undo[T any, R revertible[R]](ctx context.Context, v *Vault, ops recordOps[T], actor model.Actor, e Edit, part func(T) R,
	restore func(t *store.Tx, now T, before R) (T, error)) (version uint64, err error) {
	now, err := patch(ctx, v, ops, actor, e.ID, Match{}, func(t *store.Tx, now T) (T, error) {
		before, err := revert(t, v, e, actor, part(now))
		if err != nil {
			return now, err
		}
		return restore(t, now, before)
	})
	return ops.version(now), err
}

// Undo is what Instruments.Undo needs to reverse what CreateMany stored.
type Undo struct {
	Abstract uint64             `json:"abstract"`
	Created  []storedInstrument `json:"created,omitempty"`
	Filled   []storedInstrument `json:"filled,omitempty"` // existing instruments that changed
}

// storedInstrument is a version of an instrument, and which fields and documents it got.
type storedInstrument struct {
	ID        uint64               `json:"id"`
	Version   uint64               `json:"version"`
	Fields    []string             `json:"fields,omitempty"`
	Documents []model.DocumentLink `json:"documents,omitempty"`
}

// addFilled adds an existing instrument that changed. Several rows can fill the same one.
func (u *Undo) addFilled(stored storedInstrument) {
	at := slices.IndexFunc(u.Filled, func(other storedInstrument) bool { return other.ID == stored.ID })
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
func (s storedInstrument) isIn(i model.Instrument) bool {
	s.Version = i.Version
	return len(i.Changes(s.removeFrom(i))) > 0
}

// removeFrom returns an instrument without the documents that it got and, if it didn't change in the
// meantime, without the fields.
func (s storedInstrument) removeFrom(i model.Instrument) model.Instrument {
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

// sequenceChange identifies the last change of a sequence by what it changed.
func sequenceChange(work model.TitleWork) string {
	sum := sha256.Sum256(fmt.Append(nil, work.SequenceBefore, work.Sequence))
	return hex.EncodeToString(sum[:8])
}
