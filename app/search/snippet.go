package search

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// Limits on how much text is read for one snippet, in bytes.
const (
	snippetBytes = 4 << 20  // from the start of a document
	snippetAfter = 64 << 10 // after the first page with a match
)

// addSnippets sets the snippets of hits until the deadline of ctx.
func (s *Service) addSnippets(ctx context.Context, highlighter *query.Highlighter, hits []Hit) {
	for i := range hits {
		if ctx.Err() != nil {
			return
		}
		var score int
		hits[i].Snippet, score = snippetOfFields(ctx, highlighter, hits[i].fields)
		if hits[i].File != nil {
			s.snippetOfText(ctx, highlighter, score, &hits[i])
		}
	}
}

// snippetOfText sets the snippet to the page of the document text with the highest score. On a tie, the
// first page wins. If a match in the document name scores higher than every page, the snippet is not
// changed.
func (s *Service) snippetOfText(ctx context.Context, highlighter *query.Highlighter, nameScore int, hit *Hit) {
	left, best := snippetBytes, max(nameScore-1, 0)
	err := s.readText(hit.File.Digest, func(page int, text string) error {
		pieces, score, _ := highlighter.Snippet(ctx, strings.ToValidUTF8(text[:min(len(text), left)], ""))
		left -= len(text)
		if score > best {
			hit.Snippet, hit.Page, best = addEllipses(text, pieces), page, score
			left = min(left, snippetAfter)
		}
		if left <= 0 || ctx.Err() != nil {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) { // the text is missing or has to be regenerated
		s.Log.DebugContext(ctx, "document text for a search snippet not read", "file", hit.ID, "error", err)
	}
}

// addEllipses adds an ellipsis where a snippet starts or ends in the middle of its text.
func addEllipses(text string, window []SnippetPiece) []SnippetPiece {
	const before, behind = "… ", " …"
	var b strings.Builder
	for _, piece := range window {
		b.WriteString(piece.Text)
	}
	text, shown := strings.TrimSpace(text), strings.TrimSpace(b.String())
	if !strings.HasPrefix(text, shown) {
		window = slices.Insert(window, 0, SnippetPiece{Text: before})
	}
	if !strings.HasSuffix(text, shown) {
		window = append(window, SnippetPiece{Text: behind})
	}
	return window
}

// Limits on the fields of a record that are searched for a snippet and shown in it.
const (
	maxFieldBytes    = 64 << 10 // maximum total bytes that are searched
	maxSnippetFields = 3        // maximum number of fields shown
)

// fieldCollector collects the fields of a record with their labels, up to a size limit.
type fieldCollector struct {
	fields []fieldText
	left   int // remaining bytes
}

// SnippetSeparator separates the fields in Hit.Snippet.
const SnippetSeparator = " · "

// fieldText is a field with its label. name is "" if the value needs no label.
type fieldText struct{ name, value string }

func (fc *fieldCollector) add(name, value string) {
	if value = strings.TrimSpace(value); value == "" || fc.left <= 0 {
		return
	}
	value = strings.ToValidUTF8(value[:min(len(value), fc.left)], "")
	fc.left -= len(value)
	fc.fields = append(fc.fields, fieldText{name, value})
}

// addRecord adds the fields that every record of its type has, the status, and the custom fields.
func (fc *fieldCollector) addRecord(fields []model.FieldValue, status string, values model.CustomValues, defs []model.Field) {
	for _, f := range fields {
		fc.add(f.APILabel, f.Value)
	}
	fc.add("Status", status)
	fc.addCustom(values, defs)
}

// addCustom adds custom fields in the order of their definitions. Values without a definition follow,
// with their keys as labels.
func (fc *fieldCollector) addCustom(values model.CustomValues, defs []model.Field) {
	add := func(name, key string) {
		fc.add(name, cmp.Or(values.Text(key), strings.Join(values.Choices(key), ", ")))
	}
	rest := maps.Clone(values)
	for _, def := range defs {
		add(cmp.Or(def.Label, def.Key), def.Key)
		delete(rest, def.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		add(strings.ReplaceAll(key, "_", " "), key)
	}
}

func abstractFields(a *model.Abstract, fields []model.Field) []fieldText {
	w := fieldCollector{left: maxFieldBytes}
	w.addRecord(a.FieldValues(), a.Status, a.Custom, fields)
	return w.fields
}

func orderFields(o *model.Order, fields []model.Field) []fieldText {
	w := fieldCollector{left: maxFieldBytes}
	w.addRecord(o.FieldValues(), o.Status, o.Custom, fields)
	return w.fields
}

func instrumentFields(i *model.Instrument, documentType model.DocumentType) []fieldText {
	w := fieldCollector{left: maxFieldBytes}
	w.add("", i.RecordingReference())
	for _, p := range i.OtherParties {
		w.add(cmp.Or(p.Role, "Party"), p.Name)
	}
	w.add("Type", documentType.Name)
	for _, field := range model.InstrumentFields() {
		if field.IsSearched() && !slices.Contains([]string{"instrument_number", "case_number"}, field.Name) { // in the reference
			label, _, _ := strings.Cut(documentType.LabelOf(field.FieldLabel).Label, " (")
			w.add(label, strings.Join(field.Values(i), "; "))
		}
	}
	for _, r := range i.Relations {
		w.add(strings.ReplaceAll(r.Kind, "_", " "), r.Text)
	}
	return w.fields
}

// definitionCache reads the field definitions for the hits of a page. It reads each set only once. A
// damaged set is treated as empty. An integrity check reports the damage.
type definitionCache struct {
	t           *store.Tx
	templates   map[uint64][]model.Field
	orderFields func() []model.Field
}

func newDefinitionCache(t *store.Tx) *definitionCache {
	return &definitionCache{t, map[uint64][]model.Field{}, sync.OnceValue(func() []model.Field {
		if fields, err := t.OrderFields(); err == nil {
			return fields
		}
		return nil
	})}
}

func (d *definitionCache) templateFields(id uint64) []model.Field {
	fields, known := d.templates[id]
	if !known {
		if template, err := d.t.Template(id); err == nil {
			fields = template.Fields
		}
		d.templates[id] = fields
	}
	return fields
}

// fieldMatch is a field that matches some of the words of a query.
type fieldMatch struct {
	position, score int
	words           query.WordSet // the words that it matches
	pieces          []SnippetPiece
}

// snippetOfFields returns a snippet of the best matching fields, such as "Current Owner: Carl Johnson",
// and the highest score. Fields that match the most words of the query come first, then fields in the
// order of the record. A field is omitted if another field matches all of its words and more. If no
// field matches, it returns nil and 0.
func snippetOfFields(ctx context.Context, highlighter *query.Highlighter, fields []fieldText) (shown []SnippetPiece, score int) {
	var all, found []fieldMatch
	for at, field := range fields {
		if pieces, score, words := highlighter.Snippet(ctx, field.value); score > 0 {
			all = append(all, fieldMatch{at, score, words, addEllipses(field.value, pieces)})
		}
	}
	for _, m := range all {
		score = max(score, m.score)
		if !slices.ContainsFunc(all, func(b fieldMatch) bool { return isProperSubset(m.words, b.words) }) {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b fieldMatch) int {
		return cmp.Or(compareWordCount(a.words, b.words), cmp.Compare(b.score, a.score))
	})
	found = found[:min(len(found), maxSnippetFields)]
	slices.SortFunc(found, func(a, b fieldMatch) int {
		return cmp.Or(compareWordCount(a.words, b.words), cmp.Compare(a.position, b.position))
	})
	for _, m := range found {
		before := ""
		if shown != nil {
			before = SnippetSeparator
		}
		if name := fields[m.position].name; name != "" {
			before += name + ": "
		}
		if before != "" {
			shown = append(shown, SnippetPiece{Text: before})
		}
		shown = append(shown, m.pieces...)
	}
	return shown, score
}

// isProperSubset reports whether b contains all words of a and more.
func isProperSubset(a, b query.WordSet) bool { return a&b == a && a != b }

// compareWordCount orders sets with more words first.
func compareWordCount(a, b query.WordSet) int { return cmp.Compare(b.Count(), a.Count()) }
