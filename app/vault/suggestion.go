package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Suggestion is an instrument that a row of a runsheet, the text of a document, or its name describes.
// Nothing is stored until someone accepts it.
type Suggestion struct {
	Row        int                   // row of the runsheet; 0: from the name of a document
	Fields     model.InstrumentInput // valid input for the instrument, with its position if there is one
	Relations  []RowRelation         // to other suggestions
	Instrument model.Instrument      // what Fields results in
	Type       model.DocumentType    // zero if the instrument has no type
	Evidence   map[string]Evidence   // by field: where it was read in the text of the document
	Files      []model.File          // documents whose name this is, such as the PDF and the TIFF of a deed
	Existing   uint64                // instrument of the abstract that is recorded in the same place; 0: none
}

// RejectedRow is a row of a runsheet that isn't valid.
type RejectedRow struct {
	Row    int
	Fields errs.Fields
}

// Input returns the suggestion as input for CreateMany.
func (g Suggestion) Input() NewInstrument {
	return NewInstrument{InstrumentPatch: InstrumentPatch{Input: g.Fields, Position: positionOf(g.Fields)}, Row: g.Row, Relations: g.Relations}
}

// The codes of runsheet files.
const (
	notRunsheet   errs.Code = "The {field} field must be a CSV file or an Excel workbook (.xlsx)."
	noTitles      errs.Code = "The {field} field must have a row with column titles, such as Type, Recorded, Grantors, and Grantees."
	tooMuchPacked errs.Code = "The {field} field must not be larger than %d MB when it is unpacked."
)

// ReadRunsheet reads a runsheet from a CSV file or an Excel workbook and returns an instrument for
// each row that is valid. It stores nothing. Relations refer to other rows by their No. or, if no row
// has one, to positions in the runsheet of the abstract. It returns NotFound if there is no such
// abstract, and Invalid if the file can't be read.
func (s *Instruments) ReadRunsheet(ctx context.Context, actor model.Actor, abstract uint64, raw []byte) (list []Suggestion,
	rejected []RejectedRow, err error) {
	limits := s.v.Settings.Runsheet
	entries, err := s.v.Reader.Runsheet(sandbox.WithOwner(ctx, actor.Record()), bytes.NewReader(raw), int64(len(raw)), limits)
	const field = "file"
	switch {
	case errors.Is(err, runsheet.ErrNoHeader):
		return nil, nil, errs.InvalidField(field, noTitles)
	case errors.Is(err, runsheet.ErrTooManyRows):
		return nil, nil, errs.InvalidField(field, TooManyRows, limits.Rows)
	case errors.Is(err, runsheet.ErrTooLarge):
		return nil, nil, errs.InvalidField(field, tooMuchPacked, limits.Bytes>>20)
	case errors.Is(err, runsheet.ErrInvalid), sandbox.IsDocumentError(err):
		return nil, nil, errs.InvalidField(field, notRunsheet)
	case err != nil:
		return nil, nil, err
	}
	return s.CheckRunsheet(ctx, actor, abstract, entries)
}

// CheckRunsheet is like ReadRunsheet but for rows that were read already.
func (s *Instruments) CheckRunsheet(ctx context.Context, actor model.Actor, abstract uint64, entries []runsheet.Entry) (list []Suggestion,
	rejected []RejectedRow, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		list, rejected, err = s.checkEntries(t, actor, abstract, entries)
		return err
	})
	return list, rejected, err
}

// checkEntries validates the rows of a runsheet.
func (s *Instruments) checkEntries(t *store.Tx, actor model.Actor, abstract uint64, entries []runsheet.Entry) (list []Suggestion,
	rejected []RejectedRow, err error) {
	d, err := s.newDraft(t, abstract)
	if err != nil {
		return nil, nil, err
	}
	rows := map[int]int{} // accepted rows by their No.
	for _, e := range entries {
		i, invalid := e.Fields.Check(d.blank, model.InstrumentContext{Types: d.types, Actor: actor,
			File:       func(uint64) (*int, bool) { return nil, false },
			Instrument: func(uint64) (model.Instrument, bool) { return model.Instrument{}, false }})
		if len(i.Relations)+len(e.Relations) > model.MaxListItems {
			invalid.Add("relations", model.TooManyItems, model.MaxListItems)
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
			g.Fields["position"] = json.RawMessage(fmt.Sprint(e.Position))
		}
		list = append(list, g)
	}
	var recorded []uint64
	if len(rows) == 0 {
		if recorded, err = s.runsheetSequence(t, abstract); err != nil {
			return nil, nil, err
		}
	}
	for n := range list {
		list[n].resolveRelations(rows, recorded)
		d.finish(&list[n])
	}
	return withoutCycles(list, rejected)
}

// resolveRelations replaces the numbers of related instruments with their rows, or with the recorded
// instruments in these places. Other numbers become text.
func (g *Suggestion) resolveRelations(rows map[int]int, recorded []uint64) {
	var known []RowRelation
	for _, r := range g.Relations {
		if row, ok := rows[r.Row]; ok {
			known = append(known, RowRelation{r.Kind, row})
			continue
		}
		relation := model.Relation{Kind: r.Kind, Text: fmt.Sprintf("No. %d", r.Row)}
		if r.Row > 0 && r.Row <= len(recorded) {
			relation = model.Relation{Kind: r.Kind, InstrumentID: recorded[r.Row-1]}
		}
		g.Instrument.Relations = append(g.Instrument.Relations, relation)
		g.Fields["relations"] = json.RawMessage(`[]`) // set by Normalize
	}
	g.Relations = known
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
	blank    model.Instrument // with the county and state of the abstract
	types    model.DocumentTypes
	existing map[string]uint64 // instruments of the abstract by recordedIn
}

// newDraft returns the draft for an abstract. If abstract is 0, it is for a document that belongs to
// none.
func (s *Instruments) newDraft(t *store.Tx, abstract uint64) (d suggestionDraft, err error) {
	if d.types, err = t.DocumentTypes(); err != nil || abstract == 0 {
		return d, err
	}
	a, err := t.Abstract(abstract)
	if err != nil {
		return d, err
	}
	list, err := t.LiveInstruments(abstract)
	d.blank = model.Instrument{AbstractID: abstract, County: a.County, State: a.State}
	d.existing = map[string]uint64{}
	for _, i := range list {
		if place := recordedIn(i); place != "" && d.existing[place] == 0 {
			d.existing[place] = i.ID
		}
	}
	return d, err
}

// finish sets what follows from the fields of a suggestion.
func (d suggestionDraft) finish(g *Suggestion) {
	g.Fields = g.Fields.Normalize(g.Instrument, d.types)
	g.Type, _ = d.types.ByID(g.Instrument.TypeID)
	g.Existing = d.existing[recordedIn(g.Instrument)]
}

// recordedIn returns a text that is equal for instruments that are recorded in the same place, or
// "" if the place isn't known.
func recordedIn(i model.Instrument) string {
	county := model.Fold(i.County) + "\n" + model.Fold(i.State) + "\n"
	switch {
	case i.Number != "":
		return county + model.NormalizeRecordingNumber(i.Number)
	case i.Book != "" && i.Page != "":
		return county + fmt.Sprintf("%s\n%s\n%d", model.NormalizeRecordingNumber(i.Book), model.NormalizeRecordingNumber(i.Page), i.TypeID)
	}
	return ""
}

// SuggestFromFilenames returns the instruments that the names of the documents of an abstract
// describe. Documents that are already linked to an instrument are left out.
func (s *Instruments) SuggestFromFilenames(ctx context.Context, abstract uint64) (list []Suggestion, err error) {
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		a, err := AbstractOps.get(t, abstract)
		if err == nil {
			list, err = s.suggestFromFilenames(t, abstract, a.Files)
		}
		return err
	})
	return list, err
}

func (s *Instruments) suggestFromFilenames(t *store.Tx, abstract uint64, files []model.File) (list []Suggestion, err error) {
	d, err := s.newDraft(t, abstract)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{} // suggestions by recordedIn
	for n, f := range files {
		fields, ok := model.SuggestFromFilename(f.Filename, d.types)
		if !ok {
			continue
		}
		linked, err := t.InstrumentsOfFile(f.ID)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(linked, func(i model.Instrument) bool { return i.Trashed == nil }) {
			continue
		}
		fields["documents"] = json.RawMessage(fmt.Sprintf(`[{"file_id":%d}]`, f.ID))
		i, invalid := fields.Check(d.blank, model.InstrumentContext{Types: d.types, File: func(uint64) (*int, bool) { return f.Pages, true }})
		if len(invalid) > 0 {
			continue
		}
		if place := recordedIn(i); place != "" {
			if at, again := seen[place]; again { // another document of the same instrument
				list[at].addFile(f)
				continue
			}
			seen[place] = len(list)
		}
		g := Suggestion{Row: n + 1, Fields: fields, Instrument: i, Files: []model.File{f}}
		d.finish(&g)
		list = append(list, g)
	}
	return list, nil
}

// addFile adds a document to a suggestion.
func (g *Suggestion) addFile(f model.File) {
	if len(g.Files) >= model.MaxListItems {
		return
	}
	g.Files = append(g.Files, f)
	links := bytes.TrimSuffix(g.Fields["documents"], []byte("]"))
	g.Fields["documents"] = fmt.Appendf(bytes.Clone(links), `,{"file_id":%d}]`, f.ID)
}

// AcceptFilenames records the instruments that the names of the documents of an abstract describe
// (SuggestFromFilenames) and that wanted accepts. A document of an instrument that is recorded already
// is linked to it.
func (s *Instruments) AcceptFilenames(ctx context.Context, actor model.Actor, abstract uint64,
	wanted func(Suggestion) bool) (created, linked int, err error) {
	var list []Suggestion
	var inputs []NewInstrument
	var checked []model.Instrument
	err = s.v.Write(ctx, actor, func(t *store.Tx) error {
		a, err := AbstractOps.get(t, abstract)
		if err != nil {
			return err
		}
		if list, err = s.suggestFromFilenames(t, abstract, a.Files); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(g Suggestion) bool { return !wanted(g) })
		if len(list) == 0 {
			return txn.ErrNoChange
		}
		inputs = nil
		for _, g := range list {
			if g.Existing == 0 {
				inputs = append(inputs, g.Input())
			}
		}
		checked, err = s.checkMany(t, actor, abstract, inputs)
		return err
	}, func(t *store.Tx) error {
		at := s.v.Now()
		created, linked = len(inputs), len(list)-len(inputs)
		for _, g := range list {
			if g.Existing == 0 {
				continue
			}
			if err := s.linkDocuments(t, actor, g.Existing, g.Files); err != nil {
				return err
			}
		}
		_, err := s.addMany(ctx, t, actor, at, abstract, inputs, checked)
		return err
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return created, linked, err
}

// linkDocuments links documents to an instrument and adds an audit entry.
func (s *Instruments) linkDocuments(t *store.Tx, actor model.Actor, instrument uint64, files []model.File) error {
	old, err := t.Instrument(instrument)
	if err != nil || len(old.Documents)+len(files) > model.MaxListItems {
		return err
	}
	now, at := old, s.v.Now()
	now.Documents = slices.Clone(old.Documents)
	for _, f := range files {
		now.Documents = append(now.Documents, model.DocumentLink{FileID: f.ID})
	}
	now.Version, now.UpdatedAt = old.Version+1, nextUpdateTime(at, old.UpdatedAt)
	return errors.Join(putInstrument(t, now), t.AddEvent(model.Event{At: at, Actor: actor, Kind: "instrument.changed",
		Record: txn.RecordRef(instrumentType, instrument), Changes: old.Changes(now)}))
}
