package vault

import (
	"context"
	"errors"
	"iter"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// List returns a page of the instruments of all live abstracts. Besides the filters of the store, it
// supports model.ColumnStatus, the effective status; see StoreQuery. search.Service finds instruments by their parties.
func (ins *Instruments) List(ctx context.Context, q Query) (page Page[InstrumentView], err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		found, err := t.ListInstruments(ins.StoreQuery(ctx, q))
		if err == nil {
			page, err = ins.Views(ctx, t, found)
		}
		return err
	})
	return page, err
}

// StoreQuery returns a query of List as one of the store. With model.ColumnStatus, an instrument whose status is missing
// matches.
func (ins *Instruments) StoreQuery(ctx context.Context, q Query) Query {
	filters := q.Filters
	q.Filters = nil
	for _, f := range filters {
		switch f.Column {
		case model.ColumnStatus:
			q.Match = func(t *store.Tx, record any) (bool, error) {
				types, err := t.DocumentTypes()
				status := ins.withStatus(ctx, t, types, *record.(*model.Instrument), false, none).Status
				return status == "" || status == f.Value, err
			}
			continue
		case model.ColumnInstrumentNumber, model.ColumnBook, model.ColumnPage:
			f.Value = model.NormalizeRecordingNumber(f.Value)
		}
		q.Filters = append(q.Filters, f)
	}
	return q
}

// Views returns a page of instruments with their types, statuses, and positions.
func (ins *Instruments) Views(ctx context.Context, t *store.Tx, found store.Page[model.Instrument]) (Page[InstrumentView], error) {
	page := Page[InstrumentView]{Next: found.Next, Prev: found.Prev, Bytes: found.Bytes, Truncated: found.Truncated}
	types, err := t.DocumentTypes()
	if err != nil {
		return page, err
	}
	positions := map[uint64]map[uint64]int{} // by abstract, then by instrument
	for _, i := range found.Items {
		view := ins.withStatus(ctx, t, types, i, false, none)
		if positions[i.AbstractID] == nil {
			sequence, err := ins.runsheetSequence(t, i.AbstractID)
			if err != nil {
				return page, err
			}
			positions[i.AbstractID] = positionsOf(sequence)
		}
		view.Position = positions[i.AbstractID][i.ID]
		page.Items = append(page.Items, view)
	}
	return page, nil
}

// withStatus returns an instrument with its type and status. ended says whether one of the instruments
// for which known returns true ends it. The others are read; if that fails, the status is missing.
func (ins *Instruments) withStatus(ctx context.Context, t *store.Tx, types model.DocumentTypes, i model.Instrument, ended bool,
	known func(id uint64) bool) InstrumentView {
	view := InstrumentView{Instrument: i}
	view.Type, _ = types.ByID(i.TypeID)
	if view.Type.Encumbrance && i.Status == "" && !ended {
		missing := ins.v.Derive(ctx, PartStatus, func() (err error) {
			ended, err = t.IsInstrumentEnded(i.ID, known)
			return err
		})
		if missing {
			return view
		}
	}
	view.Status = i.EffectiveStatus(view.Type, ended, ins.today())
	return view
}

// Runsheet is the list of the instruments of an abstract in sequence.
type Runsheet struct {
	Instruments []InstrumentView
	AbstractID  uint64
	PriorID     uint64 // abstract that this one brings down; 0: none
	Version     uint64 // counts the changes of the runsheet
	Chosen      bool   // a person chose the sequence
	// SequenceChange identifies the last change of the sequence, for RestoreSequence.
	SequenceChange string
	Types          model.DocumentTypes
}

// Find returns an instrument of the runsheet.
func (r Runsheet) Find(id uint64) (i InstrumentView, found bool) {
	n := slices.IndexFunc(r.Instruments, func(i InstrumentView) bool { return i.ID == id })
	if n < 0 {
		return i, false
	}
	return r.Instruments[n], true
}

// AbstractWork is an abstract with its documents, its heading, and its runsheet.
type AbstractWork struct {
	AbstractWithFiles
	Heading string
	Sheet   Runsheet
}

// Work returns the work on an abstract as it is in one transaction, or NotFound.
func (ins *Instruments) Work(ctx context.Context, abstract uint64) (AbstractWork, error) {
	return store.Read(ctx, ins.v.Store, func(t *store.Tx) (AbstractWork, error) { return ins.work(ctx, t, abstract) })
}

func (ins *Instruments) work(ctx context.Context, t *store.Tx, abstract uint64) (w AbstractWork, err error) {
	if w.AbstractWithFiles, w.Heading, err = ins.v.Abstracts.withHeading(t, abstract); err == nil {
		w.Sheet, err = ins.runsheet(ctx, t, abstract)
	}
	return w, err
}

// DocumentWork is a document with the work on its abstract.
type DocumentWork struct {
	File model.File
	AbstractWork
	Starts    []int              // pages on which a person says that instruments start; nil: as the text says
	linked    []model.Instrument // live instruments that are linked to the document
	linkedErr error              // why these aren't known
}

// WorkOnDocument returns a document and the work on its abstract as they are in one transaction, or NotFound. If the
// document is in no abstract, only the document types are set.
func (ins *Instruments) WorkOnDocument(ctx context.Context, file uint64) (w DocumentWork, err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		if w.File, err = t.File(file); err != nil {
			return err
		}
		w.linkedErr = store.RecoverPanic(func() (err error) { w.linked, err = t.InstrumentsOfFile(file); return err })
		w.linked = slices.DeleteFunc(w.linked, func(i model.Instrument) bool { return i.Trashed != nil })
		if w.File.AbstractID == 0 {
			w.Sheet.Types, err = t.DocumentTypes()
			return err
		}
		w.AbstractWork, err = ins.work(ctx, t, w.File.AbstractID)
		return err
	})
	return w, err
}

// Names of parts that can be missing in a response; see txn.DB.Derive.
const (
	PartDuplicate   = "duplicate"
	PartGaps        = "gaps"
	PartStatus      = "status"
	PartSuggestions = "suggestions"
)

// Gaps returns the gaps in the chain of title of a runsheet. missing is true if they can't be found.
func (ins *Instruments) Gaps(ctx context.Context, sheet Runsheet) (gaps []model.Gap, missing bool) {
	missing = ins.v.Derive(ctx, PartGaps, func() error {
		list := make([]model.Instrument, 0, len(sheet.Instruments))
		for _, i := range sheet.Instruments {
			list = append(list, i.Instrument)
		}
		gaps = model.Gaps(list, sheet.Types)
		return nil
	})
	return gaps, missing
}

// Runsheet returns the runsheet of an abstract, or NotFound.
func (ins *Instruments) Runsheet(ctx context.Context, abstract uint64) (sheet Runsheet, err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		if _, err := t.Abstract(abstract); err != nil {
			return err
		}
		sheet, err = ins.runsheet(ctx, t, abstract)
		return err
	})
	return sheet, err
}

// runsheet reads the runsheet of an abstract.
func (ins *Instruments) runsheet(ctx context.Context, t *store.Tx, abstract uint64) (sheet Runsheet, err error) {
	types, err := t.DocumentTypes()
	if err != nil {
		return sheet, err
	}
	work, err := t.TitleWork(abstract)
	if err != nil {
		return sheet, err
	}
	list, err := t.LiveInstruments(abstract)
	if err != nil {
		return sheet, err
	}
	list, unplaced := model.ArrangeRunsheet(list, work.Sequence)
	sheet = Runsheet{AbstractID: abstract, PriorID: work.PriorID, Types: types, Version: work.RunsheetVersion, Chosen: len(work.Sequence) > 0,
		SequenceChange: sequenceChange(work),
		Instruments:    make([]InstrumentView, 0, len(list))}
	listed, ended := map[uint64]bool{}, map[uint64]bool{}
	for _, i := range list {
		listed[i.ID] = true
		for _, r := range i.Relations {
			ended[r.InstrumentID] = ended[r.InstrumentID] || r.Ends()
		}
	}
	inList := func(id uint64) bool { return listed[id] }
	for n, i := range list {
		view := ins.withStatus(ctx, t, types, i, ended[i.ID], inList)
		view.Position, view.Unplaced = n+1, unplaced[i.ID]
		sheet.Instruments = append(sheet.Instruments, view)
	}
	return sheet, nil
}

// none says that no instrument was read.
func none(uint64) bool { return false }

// rowBatch is the number of instruments that Rows reads at a time.
const rowBatch = 500

// Rows returns the rows of the runsheet of an abstract for export. It reads the instruments in
// batches, so it needs little memory for a long runsheet. An instrument that is deleted in the
// meantime is left out. It returns NotFound if there is no such abstract.
func (ins *Instruments) Rows(ctx context.Context, abstract uint64) (iter.Seq2[*runsheet.Row, error], error) {
	var sequence []uint64
	var types model.DocumentTypes
	err := ins.v.Store.View(ctx, func(t *store.Tx) (err error) {
		if _, err := t.Abstract(abstract); err != nil {
			return err
		}
		if sequence, err = ins.runsheetSequence(t, abstract); err != nil {
			return err
		}
		types, err = t.DocumentTypes()
		return err
	})
	if err != nil {
		return nil, err
	}
	positions := positionsOf(sequence)
	return func(yield func(*runsheet.Row, error) bool) {
		for batch := range slices.Chunk(sequence, rowBatch) {
			rows, err := ins.readRows(ctx, batch, types, positions)
			if err != nil {
				yield(nil, err)
				return
			}
			for n := range rows {
				if !yield(&rows[n], nil) {
					return
				}
			}
		}
	}, nil
}

// runsheetSequence returns the IDs of the instruments of an abstract in the sequence of the runsheet.
func (ins *Instruments) runsheetSequence(t *store.Tx, abstract uint64) ([]uint64, error) {
	work, err := t.TitleWork(abstract)
	if err != nil {
		return nil, err
	}
	keys, err := ins.runsheetKeys(t, abstract)
	return model.SortKeys(keys, work.Sequence), err
}

// runsheetKeys returns the sort keys of the live instruments of an abstract. It logs only the first
// damaged one, because every read of the runsheet finds it again.
func (ins *Instruments) runsheetKeys(t *store.Tx, abstract uint64) ([]model.RunsheetKey, error) {
	keys, damage, err := t.RunsheetKeys(abstract)
	if damage != nil {
		ins.logDamage.Do(func() {
			ins.v.Log.Warn(`damaged entry in a database index; run "deedkeep verify --repair"`, "abstract", abstract, "error", damage)
		})
	}
	return keys, err
}

// view returns an instrument with its type, status, and position.
func (ins *Instruments) view(ctx context.Context, t *store.Tx, i model.Instrument) (InstrumentView, error) {
	return ins.place(ctx, t, model.Actor{}, i, 0)
}

// place moves an instrument to a place in the runsheet and returns it with its position. A place
// after the end is the end. At place 0 or its current place, the instrument stays.
func (ins *Instruments) place(ctx context.Context, t *store.Tx, actor model.Actor, i model.Instrument, position int,
) (InstrumentView, error) {
	work, err := t.TitleWork(i.AbstractID)
	if err != nil {
		return InstrumentView{}, err
	}
	keys, err := ins.runsheetKeys(t, i.AbstractID)
	if err != nil {
		return InstrumentView{}, err
	}
	sequence := model.SortKeys(keys, work.Sequence)
	at := slices.Index(sequence, i.ID)
	if at < 0 {
		return InstrumentView{}, errs.RecordNotFound(InstrumentType, i.ID)
	}
	if position = min(position, len(sequence)); position > 0 && position != at+1 {
		sequence = slices.Insert(slices.Delete(sequence, at, at+1), position-1, i.ID)
		if err := setSequence(t, work, actor, model.ChosenSequence(keys, sequence, i.ID)); err != nil {
			return InstrumentView{}, err
		}
		at = position - 1
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return InstrumentView{}, err
	}
	view := ins.withStatus(ctx, t, types, i, false, none)
	view.Position = at + 1
	return view, nil
}

// positionsOf returns the positions of instruments, from 1, by their IDs.
func positionsOf(sequence []uint64) map[uint64]int {
	positions := make(map[uint64]int, len(sequence))
	for n, id := range sequence {
		positions[id] = n + 1
	}
	return positions
}

// readRows returns the rows of the instruments that still exist.
func (ins *Instruments) readRows(ctx context.Context, ids []uint64, types model.DocumentTypes,
	positions map[uint64]int) (rows []runsheet.Row, err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		for _, id := range ids {
			i, err := t.Instrument(id)
			if errs.KindOf(err) == errs.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			view := ins.withStatus(ctx, t, types, i, false, none)
			rows = append(rows, runsheet.Row{Instrument: i, Position: positions[i.ID], Type: view.Type, Status: view.Status,
				Number: positions})
		}
		return nil
	})
	return rows, err
}

// SetSequence sets the sequence of the runsheet. ids must contain each instrument of the abstract
// exactly once; otherwise, it returns Invalid. If ids is empty, it sorts the runsheet by recording date. RestoreSequence
// undoes that. It returns PreconditionFailed if match doesn't accept the version of the runsheet.
func (ins *Instruments) SetSequence(ctx context.Context, actor model.Actor, abstract uint64, ids []uint64, match Match) error {
	return ins.changeSequence(ctx, actor, abstract, func(t *store.Tx, work model.TitleWork) (now []uint64, err error) {
		if err := match.check(work.RunsheetVersion); err != nil {
			return nil, err
		}
		if len(ids) == 0 && len(work.Sequence) == 0 {
			return nil, txn.ErrNoChange
		}
		if len(ids) == 0 {
			return nil, nil
		}
		keys, err := ins.runsheetKeys(t, abstract)
		if err != nil {
			return nil, err
		}
		var live []uint64
		for _, key := range keys {
			live = append(live, key.ID)
		}
		if sorted := slices.Sorted(slices.Values(ids)); !slices.Equal(sorted, live) {
			return nil, errs.InvalidField("instruments", "The {field} field must list each instrument of the abstract once.")
		}
		return model.ChosenSequence(keys, ids, 0), nil
	})
}

// RestoreSequence restores the sequence before the actor sorted the runsheet or moved a row. change is
// Runsheet.SequenceChange after that. It returns Conflict if the sequence was changed since.
func (ins *Instruments) RestoreSequence(ctx context.Context, actor model.Actor, abstract uint64, change string) error {
	return ins.changeSequence(ctx, actor, abstract, func(_ *store.Tx, work model.TitleWork) (now []uint64, err error) {
		if sequenceChange(work) != change || work.SequenceBy != actor.Record() {
			err = &errs.Error{Kind: errs.Conflict, Message: "The sequence of the runsheet was changed in the meantime."}
		}
		return work.SequenceBefore, err
	})
}

// changeSequence changes the sequence that a person chose. change returns the new one.
func (ins *Instruments) changeSequence(ctx context.Context, actor model.Actor, abstract uint64,
	change func(t *store.Tx, work model.TitleWork) (now []uint64, err error)) error {
	var work model.TitleWork
	var now []uint64
	var changes []model.Change
	err := ins.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if _, err = t.Abstract(abstract); err != nil {
			return err
		}
		if work, err = t.TitleWork(abstract); err != nil {
			return err
		}
		if now, err = change(t, work); err != nil {
			return err
		}
		keys, err := ins.runsheetKeys(t, abstract)
		changes = model.SequenceChanges(model.SortKeys(keys, work.Sequence), model.SortKeys(keys, now))
		return err
	}, func(t *store.Tx) error {
		return errors.Join(setSequence(t, work, actor, now), ins.v.AddEntry(t, model.Event{At: ins.v.Now(), Actor: actor,
			Kind: "runsheet.reordered", Record: model.RecordRef(AbstractOps.Name, abstract), Changes: changes}))
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return err
}

// setSequence stores the sequence that a person chose, and the previous one to undo that.
func setSequence(t *store.Tx, work model.TitleWork, actor model.Actor, sequence []uint64) error {
	work.Sequence, work.SequenceBefore, work.SequenceBy = sequence, work.Sequence, actor.Record()
	work.RunsheetVersion++
	return t.PutTitleWork(work)
}

// restoreFields returns a function that restores the fields that an instrument had before a change. Its place in the
// runsheet stays if a person chose it. It returns Invalid if it was linked to a document or an instrument that can't be
// linked any longer.
func (ins *Instruments) restoreFields(actor model.Actor,
) func(t *store.Tx, now InstrumentView, before model.Instrument) (InstrumentView, error) {
	return func(t *store.Tx, now InstrumentView, before model.Instrument) (InstrumentView, error) {
		if _, err := ins.check(t, actor, now.Instrument, InstrumentPatch{Input: before.Input("relations", "documents")}); err != nil {
			return now, err
		}
		before.AbstractID, before.Version, before.UpdatedAt = now.AbstractID, now.Version, now.UpdatedAt
		before.Trashed, before.RetainedUntil = now.Trashed, now.RetainedUntil
		now.Instrument = before
		return now, nil
	}
}
