package vault

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/filename"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/pagetext"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
)

// Evidence says where a field of a suggestion was read in the text of a document.
type Evidence struct {
	Page       int
	Line       string
	Confidence *int // how many of 100 such fields are right; nil if the text is not from OCR
	Doubtful   bool // see extract.Field
	Readings   []string
}

// SuggestFromDocument returns the instruments that the text and the name of a document describe. The text
// wins over the name. A document that belongs to no abstract isn't in the fields of its suggestions.
func (ins *Instruments) SuggestFromDocument(ctx context.Context, w DocumentWork) (list []Suggestion, err error) {
	if w.linkedErr != nil {
		return nil, w.linkedErr
	}
	instruments := make([]model.Instrument, len(w.Sheet.Instruments))
	for n, i := range w.Sheet.Instruments {
		instruments[n] = i.Instrument
	}
	d := ins.draftOf(w.Abstract, w.Sheet.Types, instruments)
	parts, err := ins.partsOf(ctx, w.File, w.Starts, d)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		parts = []extract.Instrument{{First: 1}} // what the name of the document says
	}
	owners := ownersOf(parts, w.File.ID, w.linked)
	for n, part := range parts {
		if g, ok := d.suggest(w.File, part, len(parts)); ok {
			g.Part, g.Parts, g.recorded = n+1, len(parts), owners[n]
			list = append(list, g)
		}
	}
	return list, nil
}

// SuggestionsFor returns the suggestions for the instrument with the given ID or, if that is 0, for new ones: those
// for which no instrument is recorded.
func SuggestionsFor(list []Suggestion, instrument uint64) (chosen []Suggestion) {
	for _, g := range list {
		if instrument == 0 && len(g.recorded) == 0 || instrument != 0 && slices.Equal(g.recorded, []uint64{instrument}) {
			chosen = append(chosen, g)
		}
	}
	return chosen
}

// ownersOf returns the IDs of the instruments that are recorded for each part of a document. The pages of
// their links tell, or else where they are recorded. One that tells neither is the first part without an
// instrument.
func ownersOf(parts []extract.Instrument, file uint64, linked []model.Instrument) [][]uint64 {
	owners := make([][]uint64, len(parts))
	var unclear []uint64
	for _, i := range linked {
		at := partsByPages(parts, file, i)
		if len(at) == 0 {
			at = partsByReference(parts, i)
		}
		for _, n := range at {
			owners[n] = append(owners[n], i.ID)
		}
		if len(at) == 0 {
			unclear = append(unclear, i.ID)
		}
	}
	for _, id := range unclear {
		n := max(slices.IndexFunc(owners, func(ids []uint64) bool { return len(ids) == 0 }), 0)
		owners[n] = append(owners[n], id)
	}
	return owners
}

// partsByPages returns the parts that an instrument covers, and else the one that it shares the most pages
// with. There are none if its links have no pages.
func partsByPages(parts []extract.Instrument, file uint64, i model.Instrument) (at []int) {
	best, largest := -1, 0
	for n, part := range parts {
		shared := 0
		for page := part.First; page <= part.Last; page++ {
			if slices.ContainsFunc(i.Documents, func(l model.DocumentLink) bool {
				return l.FileID == file && l.Pages != "" && model.ContainsPage(l.Pages, page)
			}) {
				shared++
			}
		}
		if shared > 0 && shared == part.Last-part.First+1 {
			at = append(at, n)
		}
		if shared > largest {
			best, largest = n, shared
		}
	}
	if best >= 0 && !slices.Contains(at, best) {
		at = append(at, best)
	}
	return at
}

// partsByReference returns the part with the recording reference of an instrument.
func partsByReference(parts []extract.Instrument, i model.Instrument) (at []int) {
	same := func(read extract.Field, stored string) bool {
		return stored != "" && model.NormalizeRecordingNumber(read.Value()) == model.NormalizeRecordingNumber(stored)
	}
	for n, part := range parts {
		if same(part.Fields[extract.InstrumentNumber], i.Number) ||
			same(part.Fields[extract.Book], i.Book) && same(part.Fields[extract.PageNumber], i.Page) {
			at = append(at, n)
		}
	}
	return at
}

// UnlinkedDocumentFields returns the fields that an abstract's documents state. It leaves out documents
// that are linked to an instrument, and reads no more than limit documents. With an error, such as that
// of ctx, it returns the fields of the documents read before. For documents that belong to no abstract, a
// has only their IDs.
func (ins *Instruments) UnlinkedDocumentFields(ctx context.Context, a model.Abstract, limit int) (list []extract.Fields, err error) {
	var files []model.File
	var d suggestionDraft
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		if a.ID == 0 {
			types, err := t.DocumentTypes()
			if err != nil {
				return err
			}
			d = ins.draftOf(a, types, nil)
		} else if d, err = ins.newDraft(t, a.ID); err != nil {
			return err
		}
		files, err = unlinkedFiles(t, a, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		parts, err := ins.partsOf(ctx, f, nil, d)
		if err != nil {
			return list, err
		}
		for _, part := range parts {
			if len(part.Fields) > 0 {
				list = append(list, part.Fields)
			}
		}
	}
	return list, nil
}

// unlinkedFiles returns the first documents of an abstract, up to limit, that aren't linked to an
// instrument.
func unlinkedFiles(t *store.Tx, a model.Abstract, limit int) (files []model.File, err error) {
	for _, id := range a.Files {
		instruments, err := t.InstrumentsOfFile(id)
		if err != nil {
			return nil, err
		}
		if hasInstrument(instruments) {
			continue
		}
		f, err := t.File(id)
		if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) { // an integrity check reports damage
			continue
		}
		if err != nil {
			return nil, err
		}
		if files = append(files, f); len(files) == limit {
			break
		}
	}
	return files, nil
}

// hasInstrument reports whether one of the instruments that a document is linked to isn't in the trash.
func hasInstrument(instruments []model.Instrument) bool {
	return slices.ContainsFunc(instruments, func(i model.Instrument) bool { return i.Trashed == nil })
}

var errEnoughPages = errors.New("enough pages were read")

// partsOf returns the instruments that the text of a document states. They start on the given pages, or else where the
// text says so. There are none if it has no text yet, or if it is a list of instruments such as a runsheet, which
// doesn't describe one of them.
func (ins *Instruments) partsOf(ctx context.Context, f model.File, starts []int, d suggestionDraft) ([]extract.Instrument, error) {
	pages, err := ins.linesOf(ctx, f.Digest, 1, extract.MaxDocumentPages)
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 || isRunsheet(f, pages) {
		return nil, nil
	}
	for f.Pages != nil && len(pages) < min(*f.Pages, extract.MaxDocumentPages) { // not read yet
		pages = append(pages, extract.Page{})
	}
	rules := ins.v.Settings.ExtractRules().For(d.abstract.County, d.abstract.State)
	if starts = startsWithin(starts, len(pages)); len(starts) > 0 {
		return extract.ReadParts(pages, starts, rules, d.types, d.now), nil
	}
	return extract.ReadAll(pages, rules, d.types, d.now), nil
}

// startsWithin returns the first pages that a document has, sorted and with page 1.
func startsWithin(starts []int, pages int) []int {
	if len(starts) == 0 {
		return nil
	}
	starts = slices.DeleteFunc(append([]int{1}, starts...), func(p int) bool { return p < 1 || p > pages })
	slices.Sort(starts)
	return slices.Compact(starts)
}

// isRunsheet reports whether a document is a spreadsheet with the column headings of a runsheet.
func isRunsheet(f model.File, pages []extract.Page) bool {
	if !f.IsSpreadsheet() {
		return false
	}
	return slices.ContainsFunc(pages, func(page extract.Page) bool {
		return slices.ContainsFunc(page.Lines[:min(len(page.Lines), runsheet.MaxHeaderRow)], func(line extract.Line) bool {
			return runsheet.IsHeader(strings.Split(line.Text, "\t"))
		})
	})
}

// pageLines returns the lines of a page.
func pageLines(page pagetext.Page) extract.Page {
	if page.Source != pagetext.SourceOCR {
		return extract.PlainText(page.Text)
	}
	var lines []extract.Line
	var before ocr.Word
	for _, word := range page.Words {
		if len(lines) == 0 || word.Line != before.Line || word.Paragraph != before.Paragraph {
			lines = append(lines, extract.Line{})
		}
		line := &lines[len(lines)-1]
		for text := range strings.FieldsSeq(word.Text) {
			if line.Text != "" {
				line.Text += " "
			}
			line.Text += text
			line.Confidence = append(line.Confidence, word.Confidence)
		}
		before = word
	}
	return extract.Page{Lines: lines}
}

// NamedInstrument returns what the name of a document says about its instrument. It returns the zero value if the name
// describes none.
func (ins *Instruments) NamedInstrument(f model.File, types model.DocumentTypes) model.Instrument {
	fields, named := filename.Instrument(f.Filename, types, ins.v.Now())
	i, invalid := model.CheckInstrument(fields, model.Instrument{}, model.InstrumentContext{Types: types})
	if !named || len(invalid) > 0 {
		return model.Instrument{}
	}
	return i
}

// placeFields are fields that come either from the text or from the name, but never from both.
var placeFields = []string{extract.BookType, extract.Book, extract.PageNumber, extract.PageTo}

// suggest returns the instrument that the fields read in one of the parts of a document describe. The name of
// a document with one part describes it, too.
func (d suggestionDraft) suggest(f model.File, part extract.Instrument, parts int) (g Suggestion, ok bool) {
	read := part.Fields
	read.CompareKnown(d.parcels, d.abstract.County)
	fields, named := filename.Instrument(f.Filename, d.types, d.now)
	if !named || parts > 1 {
		fields, named = model.Inputs{}, false
	}
	g = Suggestion{Row: 1, Fields: fields, Evidence: map[string]Evidence{}, Files: []model.File{f}}
	if _, found := read[extract.Book]; found {
		maps.DeleteFunc(fields, func(name string, _ model.Input) bool { return slices.Contains(placeFields, name) })
	}
	for name, field := range read {
		switch def, _ := model.InstrumentFieldByName(name); {
		case def.List != nil:
			g.set(name, field, model.StringsInput(field.Values))
		case def.Text != nil, name == extract.Type:
			g.set(name, field, model.StringInput(field.Value()))
		}
	}
	g.setOtherParties(read)
	g.setLegal(read)
	if len(g.Evidence) == 0 && !named {
		return g, false
	}
	if parts > 1 {
		g.Pages, g.Boundary = model.PageRange(part.First, part.Last), part.Confidence
	}
	if f.AbstractID != 0 {
		fields["documents"] = model.RowsInput([]model.DocumentLink{{FileID: f.ID, Pages: g.Pages}})
	} else {
		delete(fields, "position")
	}
	return d.validate(g, f)
}

// validate sets the instrument of a suggestion. Fields that aren't valid are left out.
func (d suggestionDraft) validate(g Suggestion, f model.File) (Suggestion, bool) {
	about := model.InstrumentContext{Types: d.types, File: func(uint64) (*int, bool) { return f.Pages, true }}
	var invalid errs.Fields
	if g.Instrument, invalid = model.CheckInstrument(g.Fields, newInstrument(d.abstract, g.Fields), about); len(invalid) > 0 {
		for _, problem := range invalid {
			name, _, _ := strings.Cut(problem.Field, ".")
			delete(g.Fields, name)
			delete(g.Evidence, name)
		}
		if g.Instrument, invalid = model.CheckInstrument(g.Fields, newInstrument(d.abstract, g.Fields), about); len(invalid) > 0 {
			return g, false
		}
	}
	d.finish(&g)
	return g, true
}

// set sets a field to what the text states.
func (s *Suggestion) set(name string, field extract.Field, value model.Input) {
	s.Fields[name] = value
	s.Evidence[name] = Evidence{field.Page, field.Line, field.Confidence, field.Doubtful, field.Readings}
}

// setOtherParties sets the trustees and nominees.
func (s *Suggestion) setOtherParties(fields extract.Fields) {
	var parties []model.Party
	var first extract.Field
	for _, role := range []struct{ field, name string }{{extract.Trustee, "Trustee"}, {extract.Nominee, "Nominee"}} {
		for _, name := range fields[role.field].Values {
			if len(parties) == 0 {
				first = fields[role.field]
			}
			parties = append(parties, model.Party{Role: role.name, Name: name})
		}
	}
	if len(parties) > 0 {
		s.set("other_parties", first, model.RowsInput(parties))
	}
}

// setLegal sets the short legal description to the lot and the subdivision.
func (s *Suggestion) setLegal(fields extract.Fields) {
	if l, ok := fields.LotReference(); ok {
		s.set("legal", fields[extract.Lot], model.StringInput(l.String()))
	}
}

// maxRecordedPages is the maximum number of pages of an instrument that RecordedPages reads. Its stamp is on the first ones.
const maxRecordedPages = 3

// RecordedPages returns up to limit instruments of a county, the newest first, with the first pages that they were
// recorded from. It leaves out those without the text of a document. state may be "".
func (ins *Instruments) RecordedPages(ctx context.Context, county, state string, limit int) (list []extract.RecordedInstrument, err error) {
	type source struct {
		digest      string
		first, last int
		model.Instrument
	}
	var sources []source
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		found, err := t.ListInstruments(store.Query{Descending: true, Limit: 2 * limit, Match: func(_ *store.Tx, record any) (bool, error) {
			i, _ := record.(*model.Instrument)
			return i != nil && len(i.Documents) > 0 && model.FoldCounty(i.County) == model.FoldCounty(county) &&
				(state == "" || model.FoldState(i.State) == model.FoldState(state)), nil
		}})
		for _, i := range found.Items {
			f, err := t.File(i.Documents[0].FileID)
			if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) { // an integrity check reports damage
				continue
			}
			if err != nil {
				return err
			}
			first := model.FirstPage(i.Documents[0].Pages)
			last := first + maxRecordedPages - 1
			if _, end, ok := model.ParsePages(i.Documents[0].Pages); ok {
				last = min(last, end)
			}
			sources = append(sources, source{f.Digest, first, last, i})
		}
		return err
	})
	for _, s := range sources {
		if err != nil || len(list) == limit {
			break
		}
		recorded := extract.RecordedInstrument{Fields: map[string]string{extract.InstrumentNumber: s.Number, extract.Book: s.Book,
			extract.PageNumber: s.Page}}
		if recorded.Pages, err = ins.linesOf(ctx, s.digest, s.first, s.last); len(recorded.Pages) > 0 {
			list = append(list, recorded)
		}
	}
	return list, err
}

// linesOf returns the pages of a document from first to last. There are none if it has no text yet.
func (ins *Instruments) linesOf(ctx context.Context, digest string, first, last int) (pages []extract.Page, err error) {
	err = ins.v.Texts.ReadAvailable(digest, func(page pagetext.Page) error {
		if page.Number > last {
			return errEnoughPages
		}
		for len(pages) < page.Number-first {
			pages = append(pages, extract.Page{})
		}
		if page.Number >= first {
			pages = append(pages, pageLines(page))
		}
		return ctx.Err()
	})
	if errors.Is(err, errEnoughPages) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return pages, err
}
