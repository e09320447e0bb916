package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/filename"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
)

// Suggestion is an instrument that a row of a runsheet, the text of a document, or its name describes.
// Nothing is stored until someone accepts it.
type Suggestion struct {
	Row        int                 // row of the runsheet, or number of the document, starting with 1
	Fields     model.Inputs        // valid input for the instrument, with its position if there is one
	Relations  []RowRelation       // to other suggestions
	Instrument model.Instrument    // what Fields results in
	Type       model.DocumentType  // zero if the instrument has no type
	Evidence   map[string]Evidence // by field: where it was read in the text of the document
	Files      []model.File        // documents whose name this is, such as the PDF and the TIFF of a deed
	Reading    bool                // text of one of the documents is still being read
	Part       int                 // counts the instruments of the document, from 1
	Parts      int                 // instruments of the document
	Pages      string              // of the document, if it has several instruments: "3-7"
	Boundary   int                 // how many of 100 such starts are right; 0 if the document has one instrument
	recorded   []uint64            // instruments that are recorded for this part of the document
	Repeat
}

// Repeat says which instrument a suggestion repeats: one of the runsheet, or that of an earlier row.
type Repeat struct {
	Existing   uint64 // instrument of the runsheet; 0: none
	Possible   bool   // they agree in one respect but differ in another; see runsheet.Duplicate
	Position   int    // place of Existing in the runsheet
	Title      string // of Existing; see model.Instrument.Title
	EarlierRow int    // the earlier row, if there is no Existing; 0: none
}

// IsNew reports whether the suggestion is certainly or probably a new instrument.
func (r Repeat) IsNew() bool { return r.Existing == 0 && r.EarlierRow == 0 || r.Possible }

// RejectedRow is a row of a runsheet that isn't valid.
type RejectedRow struct {
	Row    int
	Fields errs.Fields
}

// Input returns the suggestion as input for CreateMany.
func (s Suggestion) Input() NewInstrument {
	position, err := strconv.Atoi(s.Fields["position"].Value)
	if err != nil || position < 0 {
		position = 0
	}
	return NewInstrument{InstrumentPatch: InstrumentPatch{Input: s.Fields, Position: position}, Row: s.Row, Relations: s.Relations,
		Reviewed: &s.Repeat}
}

// The codes of runsheet files.
const (
	notRunsheet   errs.Code = "The {field} field must be a CSV file or an Excel workbook (.xlsx)."
	noTitles      errs.Code = "The {field} field must have a row with column headings, such as Type, Recorded, Grantors, and Grantees."
	tooMuchPacked errs.Code = "The {field} field must not be larger than %d MB when it is unpacked."
)

// ReadRunsheet reads the cells of a CSV file or an Excel workbook. It returns Invalid if the file can't be
// read.
func (ins *Instruments) ReadRunsheet(ctx context.Context, actor model.Actor, raw []byte) (runsheet.Table, error) {
	limits := ins.v.Settings.Runsheet
	table, err := ins.v.Reader.Runsheet(sandbox.WithOwner(ctx, actor.Record()), bytes.NewReader(raw), int64(len(raw)), limits)
	const field = "file"
	switch {
	case errors.Is(err, runsheet.ErrNoHeader):
		err = errs.InvalidField(field, noTitles)
	case errors.Is(err, runsheet.ErrTooManyRows):
		err = errs.InvalidField(field, TooManyRows, limits.Rows)
	case errors.Is(err, runsheet.ErrTooLarge):
		err = errs.InvalidField(field, tooMuchPacked, limits.Bytes>>20)
	case errors.Is(err, runsheet.ErrInvalid), sandbox.IsDocumentError(err):
		err = errs.InvalidField(field, notRunsheet)
	}
	table.Excel = runsheet.IsExcel(raw)
	return table, err
}

// CheckedRunsheet is what the cells of a runsheet mean. Each row is either valid or rejected.
type CheckedRunsheet struct {
	runsheet.Sheet
	Valid    []Suggestion
	Rejected []RejectedRow
}

// CheckRunsheet returns an instrument for each row of a table that is valid. It stores nothing. Relations
// refer to other rows by their No. or, if no row has one, to positions in the runsheet of the abstract. It
// returns NotFound if there is no such abstract.
func (ins *Instruments) CheckRunsheet(ctx context.Context, actor model.Actor, abstract uint64, table runsheet.Table,
	options runsheet.Options) (c CheckedRunsheet, err error) {
	options.Now = ins.v.localNow()
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		if options.Types, err = t.DocumentTypes(); err != nil {
			return err
		}
		c = CheckedRunsheet{Sheet: table.Read(options)}
		c.Valid, c.Rejected, err = ins.checkEntries(t, actor, abstract, c.Entries)
		return err
	})
	return c, err
}

// checkEntries validates the rows of a runsheet.
func (ins *Instruments) checkEntries(t *store.Tx, actor model.Actor, abstract uint64, entries []runsheet.Entry) (list []Suggestion,
	rejected []RejectedRow, err error) {
	d, err := ins.newDraft(t, abstract)
	if err != nil {
		return nil, nil, err
	}
	rows := map[int]int{} // accepted rows by their No.
	ended := map[int]bool{}
	for _, e := range entries {
		for _, r := range e.Relations {
			ended[r.Position] = ended[r.Position] || model.Relation{Kind: r.Kind}.Ends()
		}
	}
	for _, e := range entries {
		about := model.InstrumentContext{Types: d.types, Actor: actor,
			File:       func(uint64) (*int, bool) { return nil, false },
			Instrument: func(uint64) (model.Instrument, bool) { return model.Instrument{}, false }}
		i, invalid := model.CheckInstrument(e.Fields, newInstrument(d.abstract, e.Fields), about)
		if kind, _ := d.types.ByID(i.TypeID); i.Status != "" && i.Status == derivedStatus(i, kind, ended[e.Position], ins.v.localNow()) {
			delete(e.Fields, "status") // so that it follows later changes
			i, invalid = model.CheckInstrument(e.Fields, newInstrument(d.abstract, e.Fields), about)
		}
		if len(i.Relations)+len(e.Relations) > model.MaxListItems {
			invalid.Add("relations", errs.TooMany, model.MaxListItems)
		}
		if len(invalid) > 0 {
			rejected = append(rejected, RejectedRow{e.Row, invalid})
			continue
		}
		g := Suggestion{Row: e.Row, Fields: e.Fields, Instrument: i}
		for _, r := range e.Relations {
			g.Relations = append(g.Relations, RowRelation{r.Kind, r.Position}) // the No., until all rows are known
		}
		if _, twice := rows[e.Position]; e.Position > 0 && !twice {
			rows[e.Position] = e.Row
			g.Fields["position"] = model.NumberInput(e.Position)
		}
		list = append(list, g)
	}
	var recorded []uint64
	if len(rows) == 0 {
		recorded = d.sequence
	}
	for n := range list {
		list[n].resolveRelations(rows, recorded)
		d.finish(&list[n])
	}
	d.findTwice(list)
	return withoutCycles(list, rejected)
}

// derivedStatus returns the status of an instrument without the one that was set.
func derivedStatus(i model.Instrument, t model.DocumentType, ended bool, now time.Time) string {
	i.Status = ""
	return i.EffectiveStatus(t, ended, now.Format(time.DateOnly))
}

// resolveRelations replaces the numbers of related instruments with their rows, or with the recorded
// instruments in these places. Other numbers become text.
func (s *Suggestion) resolveRelations(rows map[int]int, recorded []uint64) {
	var known []RowRelation
	for _, r := range s.Relations {
		if row, ok := rows[r.Row]; ok {
			known = append(known, RowRelation{r.Kind, row})
			continue
		}
		relation := model.Relation{Kind: r.Kind, Text: fmt.Sprintf("No. %d", r.Row)}
		if r.Row > 0 && r.Row <= len(recorded) {
			relation = model.Relation{Kind: r.Kind, InstrumentID: recorded[r.Row-1]}
		}
		s.Instrument.Relations = append(s.Instrument.Relations, relation)
		s.Fields["relations"] = model.ListInput() // Normalize sets its items
	}
	s.Relations = known
}

// withoutCycles rejects the rows whose relations to each other aren't valid.
func withoutCycles(list []Suggestion, rejected []RejectedRow) ([]Suggestion, []RejectedRow, error) {
	inputs, checked := make([]NewInstrument, len(list)), make([]model.Instrument, len(list))
	for n, g := range list {
		inputs[n], checked[n] = g.Input(), g.Instrument
	}
	problems := checkRowRelations(inputs, checked)
	list = slices.DeleteFunc(list, func(g Suggestion) bool {
		if len(problems[g.Row]) > 0 {
			rejected = append(rejected, RejectedRow{g.Row, problems[g.Row]})
		}
		return len(problems[g.Row]) > 0
	})
	for n := range list { // relations to rows that were just rejected
		list[n].Relations = slices.DeleteFunc(list[n].Relations, func(r RowRelation) bool { return len(problems[r.Row]) > 0 })
	}
	slices.SortFunc(rejected, func(a, b RejectedRow) int { return a.Row - b.Row })
	return list, rejected, nil
}

// suggestionDraft is what suggestions for an abstract start from.
type suggestionDraft struct {
	abstract  model.Abstract // zero for a document that belongs to none
	parcels   []string       // of the abstract
	types     model.DocumentTypes
	now       time.Time
	recorded  map[uint64]model.Instrument // live instruments of the abstract
	sequence  []uint64                    // of the runsheet
	positions map[uint64]int              // in sequence
	existing  *runsheet.Duplicates        // of recorded
}

// newDraft returns the draft for an abstract.
func (ins *Instruments) newDraft(t *store.Tx, abstract uint64) (d suggestionDraft, err error) {
	a, err := t.Abstract(abstract)
	if err != nil {
		return d, err
	}
	work, err := t.TitleWork(abstract)
	if err != nil {
		return d, err
	}
	list, err := t.LiveInstruments(abstract)
	if err != nil {
		return d, err
	}
	types, err := t.DocumentTypes()
	return ins.draftOf(a, types, model.SortRunsheet(list, work.Sequence)), err
}

// draftOf returns the draft for an abstract with its instruments in sequence.
func (ins *Instruments) draftOf(a model.Abstract, types model.DocumentTypes, list []model.Instrument) suggestionDraft {
	d := suggestionDraft{abstract: a, parcels: a.ParcelIDs(), types: types, now: ins.v.Now(),
		recorded: make(map[uint64]model.Instrument, len(list))}
	d.existing = runsheet.NewDuplicates(types, func(id uint64) (model.Instrument, bool) { return d.recorded[id], true })
	for _, i := range list {
		d.sequence = append(d.sequence, i.ID)
		d.recorded[i.ID] = i
		d.existing.Add(i.RunsheetKey())
	}
	d.positions = positionsOf(d.sequence)
	return d
}

// finish computes the type and the existing instrument of a suggestion from its fields.
func (d suggestionDraft) finish(g *Suggestion) {
	g.Fields = g.Instrument.Normalize(g.Fields, d.types)
	g.Type, _ = d.types.ByID(g.Instrument.TypeID)
	d.findRepeat(g)
}

// findRepeat sets which instrument of the runsheet a suggestion repeats, if any.
func (d suggestionDraft) findRepeat(g *Suggestion) {
	if found := d.existing.Of(g.Instrument); found.ID != 0 {
		kind, _ := d.types.ByID(d.recorded[found.ID].TypeID)
		g.Repeat = Repeat{Existing: found.ID, Possible: found.Possible, Position: d.positions[found.ID],
			Title: d.recorded[found.ID].Title(kind)}
	}
}

// RenewRepeats sets which instruments of the runsheet suggestions that were made earlier repeat now.
func (ins *Instruments) RenewRepeats(ctx context.Context, abstract uint64, list []Suggestion) error {
	var d suggestionDraft
	err := ins.v.Store.View(ctx, func(t *store.Tx) (err error) { d, err = ins.newDraft(t, abstract); return err })
	if err != nil {
		return err
	}
	for n := range list {
		list[n].Repeat = Repeat{}
		d.findRepeat(&list[n])
	}
	d.findTwice(list)
	return nil
}

// findTwice marks the suggestions that repeat an earlier one.
func (d suggestionDraft) findTwice(list []Suggestion) {
	rows := map[uint64]model.Instrument{}
	seen := runsheet.NewDuplicates(d.types, func(row uint64) (model.Instrument, bool) { return rows[row], true })
	for n := range list {
		g := &list[n]
		if earlier := seen.Of(g.Instrument); earlier.ID != 0 && g.Existing == 0 {
			g.Repeat = Repeat{EarlierRow: int(earlier.ID), Possible: earlier.Possible} // the number of a row
		}
		i := g.Instrument
		i.ID = uint64(g.Row) // the number of a row
		rows[i.ID] = i
		seen.Add(i.RunsheetKey())
	}
}

// SuggestFromFilenames returns the instruments that the names of the documents of an abstract
// describe. Documents that are already linked to an instrument are left out.
func (ins *Instruments) SuggestFromFilenames(ctx context.Context, abstract uint64) (list []Suggestion, err error) {
	list, _, err = ins.SuggestFromDocuments(ctx, abstract, 0)
	return list, err
}

// SuggestFromDocuments is like SuggestFromFilenames but also reads the text of the documents, which wins
// over their names. It is limited to the first documents; more reports whether there are others. If limit is
// 0, it takes all documents but reads none.
func (ins *Instruments) SuggestFromDocuments(ctx context.Context, abstract uint64, limit int) (list []Suggestion, more bool, err error) {
	var d suggestionDraft
	var files []model.File
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		a, err := AbstractOps.get(t, abstract)
		if err != nil {
			return err
		}
		if d, err = ins.newDraft(t, abstract); err == nil {
			files, err = d.namedFiles(t, a.Files)
		}
		return err
	})
	if more = limit > 0 && len(files) > limit; more {
		files = files[:limit]
	}
	same := map[uint64]model.Instrument{} // the suggested instruments, by their number in list
	seen := runsheet.NewDuplicates(d.types, func(id uint64) (model.Instrument, bool) { return same[id], true })
	for n, f := range files {
		var parts []extract.Instrument
		reading := false
		if limit > 0 && err == nil {
			if parts, err = ins.partsOf(ctx, f, nil, d); err == nil {
				reading, err = ins.isReading(f)
			}
		}
		if err != nil {
			return nil, false, err
		}
		if len(parts) == 0 {
			parts = []extract.Instrument{{First: 1}} // what the name of the document says
		}
		g, ok := d.suggest(f, parts[0], len(parts)) // beside the document, the other instruments are suggested
		if !ok {
			continue
		}
		g.Row, g.Reading = n+1, reading
		if first := seen.Of(g.Instrument); first.ID != 0 && !first.Possible { // another document of the same instrument
			list[first.ID-1].addFile(f, reading)
			continue
		}
		list = append(list, g)
		i := g.Instrument
		i.ID = uint64(len(list))
		same[i.ID] = i
		seen.Add(i.RunsheetKey())
	}
	d.findTwice(list)
	return list, more, err
}

// isReading reports whether more text of a document may still be found.
func (ins *Instruments) isReading(f model.File) (bool, error) {
	if f.Processing {
		return true, nil
	}
	state, err := ins.v.Texts.State(f)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return len(state.Missing) > 0, err
}

// namedFiles returns the documents whose names describe an instrument and that aren't linked to one.
func (d suggestionDraft) namedFiles(t *store.Tx, files []model.File) (named []model.File, err error) {
	for _, f := range files {
		if _, ok := filename.Instrument(f.Filename, d.types, d.now); !ok {
			continue
		}
		linked, err := t.InstrumentsOfFile(f.ID)
		if err != nil {
			return nil, err
		}
		if !hasInstrument(linked) {
			named = append(named, f)
		}
	}
	return named, nil
}

// addFile adds a document to a suggestion.
func (s *Suggestion) addFile(f model.File, reading bool) {
	if len(s.Files) >= model.MaxListItems {
		return
	}
	s.Files, s.Reading = append(s.Files, f), s.Reading || reading
	links := s.Fields["documents"].Items
	s.Fields["documents"] = model.ListInput(append(slices.Clone(links), model.DocumentLink{FileID: f.ID}.Input())...)
}
