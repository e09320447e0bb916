package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
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
	Confidence *int // 0 to 100; nil if the text is not from OCR
}

// SuggestFromDocument returns the instrument that the text and the name of a document describe, if
// any. The text wins over the name. It is for the instrument with the given ID, or, if that is 0, for
// a new one: there is none if the document is already linked to another instrument, because the text
// may describe that one. A document that belongs to no abstract isn't in the fields of its suggestion.
func (s *Instruments) SuggestFromDocument(ctx context.Context, file, instrument uint64) (list []Suggestion, err error) {
	var f model.File
	var d suggestionDraft
	linked := false
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if f, err = t.File(file); err != nil {
			return err
		}
		instruments, err := t.InstrumentsOfFile(f.ID)
		if err != nil {
			return err
		}
		linked = hasInstrument(slices.DeleteFunc(instruments, func(i model.Instrument) bool { return i.ID == instrument }))
		d, err = s.newDraft(t, f.AbstractID)
		return err
	})
	if err != nil || linked {
		return nil, err
	}
	fields, err := s.fieldsOf(ctx, f, d)
	if err != nil {
		return nil, err
	}
	g, ok := d.suggest(f, fields)
	if !ok {
		return nil, nil
	}
	return []Suggestion{g}, nil
}

// UnlinkedDocumentFields returns the fields that an abstract's documents state. It leaves out documents
// that are linked to an instrument, and reads no more than limit documents. With an error, such as that
// of ctx, it returns the fields of the documents read before.
func (s *Instruments) UnlinkedDocumentFields(ctx context.Context, a model.Abstract, limit int) (list []extract.Fields, err error) {
	var files []model.File
	var d suggestionDraft
	err = s.v.Store.View(ctx, func(t *store.Tx) error {
		if d, err = s.newDraft(t, a.ID); err != nil {
			return err
		}
		files, err = unlinkedFiles(t, a, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		fields, err := s.fieldsOf(ctx, f, d)
		if err != nil {
			return list, err
		}
		if len(fields) > 0 {
			list = append(list, fields)
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

// fieldsOf returns the fields that the text of a document states. There are none if it has no text yet, or
// if it is a list of instruments such as a runsheet, which doesn't describe one of them.
func (s *Instruments) fieldsOf(ctx context.Context, f model.File, d suggestionDraft) (extract.Fields, error) {
	var pages []extract.Page
	err := s.v.Texts.ReadAvailable(f.Digest, func(page pagetext.Page) error {
		if page.Number > extract.MaxPages {
			return errEnoughPages
		}
		for len(pages) < page.Number-1 {
			pages = append(pages, extract.Page{})
		}
		pages = append(pages, pageLines(page))
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, errEnoughPages) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if isRunsheet(f, pages) {
		return nil, nil
	}
	rules := s.v.Settings.ExtractRules
	if rules == nil {
		rules = extract.DefaultRules()
	}
	return extract.Read(pages, rules.For(d.blank.County, d.blank.State), d.types), nil
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

// instrumentFields are the fields that an instrument has under the same name. The value is true for a list.
var instrumentFields = map[string]bool{
	extract.Type: false, extract.InstrumentNumber: false, extract.BookType: false, extract.Book: false, extract.PageNumber: false,
	extract.PageTo: false, extract.CaseNumber: false, extract.Recorded: false, extract.RecordedTime: false, extract.Dated: false,
	extract.Grantors: true, extract.Grantees: true, extract.Consideration: false, extract.Parcels: true,
}

// placeFields are fields that come either from the text or from the name, but never from both.
var placeFields = []string{extract.BookType, extract.Book, extract.PageNumber, extract.PageTo}

// suggest returns the instrument that the fields read in a document and its name describe.
func (d suggestionDraft) suggest(f model.File, read extract.Fields) (g Suggestion, ok bool) {
	fields, named := model.SuggestFromFilename(f.Filename, d.types)
	if !named {
		fields = model.InstrumentInput{}
	}
	g = Suggestion{Row: 1, Fields: fields, Evidence: map[string]Evidence{}, Files: []model.File{f}}
	if _, found := read[extract.Book]; found {
		maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return slices.Contains(placeFields, name) })
	}
	for name, field := range read {
		if isList, known := instrumentFields[name]; known && isList {
			g.set(name, field, field.Values)
		} else if known {
			g.set(name, field, field.Value())
		}
	}
	g.setOtherParties(read)
	g.setLegal(read)
	if len(g.Evidence) == 0 && !named {
		return g, false
	}
	if f.AbstractID != 0 {
		fields["documents"] = json.RawMessage(fmt.Sprintf(`[{"file_id":%d}]`, f.ID))
	} else {
		delete(fields, "position")
	}
	return d.validate(g, f)
}

// validate sets the instrument of a suggestion. Fields that aren't valid are left out.
func (d suggestionDraft) validate(g Suggestion, f model.File) (Suggestion, bool) {
	about := model.InstrumentContext{Types: d.types, File: func(uint64) (*int, bool) { return f.Pages, true }}
	var invalid errs.Fields
	if g.Instrument, invalid = g.Fields.Check(d.blank, about); len(invalid) > 0 {
		for _, problem := range invalid {
			name, _, _ := strings.Cut(problem.Field, ".")
			delete(g.Fields, name)
			delete(g.Evidence, name)
		}
		if g.Instrument, invalid = g.Fields.Check(d.blank, about); len(invalid) > 0 {
			return g, false
		}
	}
	d.finish(&g)
	return g, true
}

// set sets a field to what the text states.
func (g *Suggestion) set(name string, field extract.Field, value any) {
	raw, err := json.Marshal(value)
	if err != nil { // strings can always be encoded
		return
	}
	g.Fields[name] = raw
	g.Evidence[name] = Evidence{field.Page, field.Line, field.Confidence}
}

// setOtherParties sets the trustees and nominees.
func (g *Suggestion) setOtherParties(fields extract.Fields) {
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
		g.set("other_parties", first, parties)
	}
}

// setLegal sets the short legal description to the lot and the subdivision.
func (g *Suggestion) setLegal(fields extract.Fields) {
	if l, ok := fields.LotReference(); ok {
		g.set("legal", fields[extract.Lot], l.String())
	}
}
