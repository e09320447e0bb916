package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// What of a record is looked at for its snippet, and shown.
const (
	maxFieldBytes    = 64 << 10 // bytes of its fields
	maxSnippetFields = 3        // fields
)

// fieldCollector is what the fields of a record say, each with the name people know it by.
type fieldCollector struct {
	fields []fieldText
	left   int // bytes that may still be added
}

// SnippetSeparator parts the values of a record in a Hit.Snippet.
const SnippetSeparator = " · "

// fieldText is one field; name is "" where the value needs none.
type fieldText struct{ name, value string }

func (w *fieldCollector) add(name, value string) {
	if value = strings.TrimSpace(value); value == "" || w.left <= 0 {
		return
	}
	value = strings.ToValidUTF8(value[:min(len(value), w.left)], "")
	w.left -= len(value)
	w.fields = append(w.fields, fieldText{name, value})
}

func (w *fieldCollector) addProperty(p model.Property) {
	w.add("Address", p.Address)
	w.add("City", p.City)
	w.add("County", p.County)
	w.add("State", p.State)
}

// addCustom adds the fields of a definition set in its order, and behind them values that
// it does not know any more, under their keys.
func (w *fieldCollector) addCustom(values model.Values, defs []model.Field) {
	rest := maps.Clone(values)
	for _, def := range defs {
		w.addCustomValue(cmp.Or(def.Label, def.Key), values[def.Key])
		delete(rest, def.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		w.addCustomValue(strings.ReplaceAll(key, "_", " "), rest[key])
	}
}

// addCustomValue adds a value of a custom field: a text, a number or texts that were chosen.
func (w *fieldCollector) addCustomValue(name string, raw json.RawMessage) {
	var text string
	var number json.Number
	var chosen []string
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0:
	case json.Unmarshal(raw, &text) == nil:
		w.add(name, text)
	case json.Unmarshal(raw, &number) == nil:
		w.add(name, number.String())
	case json.Unmarshal(raw, &chosen) == nil:
		w.add(name, strings.Join(chosen, ", "))
	}
}

func abstractFields(a *model.Abstract, template model.Template) []fieldText {
	w := fieldCollector{left: maxFieldBytes}
	w.add("Tax Map", a.TaxMap)
	w.addProperty(a.Property)
	w.add("Status", a.Status)
	w.addCustom(a.Custom, template.Fields)
	return w.fields
}

func orderFields(o *model.Order, fields []model.Field) []fieldText {
	w := fieldCollector{left: maxFieldBytes}
	w.add("Order #", o.Number)
	w.addProperty(o.Property)
	w.add("Due Date", o.DueDate)
	w.add("Status", o.Status)
	w.addCustom(o.Custom, fields)
	return w.fields
}

// definitionCache reads the names of fields for the hits of one page, each definition set once.
// A damaged one names none: a verification tells of it.
type definitionCache struct {
	t          *store.Tx
	templates  map[uint64]model.Template
	orders     []model.Field
	ordersRead bool // orders was read
}

func (n *definitionCache) template(id uint64) model.Template {
	template, known := n.templates[id]
	if !known {
		var err error
		if template, err = n.t.Template(id); err != nil {
			template = model.Template{}
		}
		n.templates[id] = template
	}
	return template
}

func (n *definitionCache) orderFields() []model.Field {
	if !n.ordersRead {
		n.ordersRead = true
		var err error
		if n.orders, err = n.t.OrderFields(); err != nil {
			n.orders = nil
		}
	}
	return n.orders
}

// fieldMatch is a field that has some of what a query looks for.
type fieldMatch struct {
	position, score int
	words           query.WordSet // the words of the query that it has
	pieces          []SnippetPiece
}

// snippetOfFields shows the fields that match, "Current Owner: Carl Johnson": those with
// most words of the query first, in the order of the record, and none that has only some
// of the words of another. Of more than maxSnippetFields the best are taken. worth is that of
// the best; nil and 0 where none matches.
func snippetOfFields(ctx context.Context, mark *query.Highlighter, list []fieldText) (shown []SnippetPiece, worth int) {
	var all, found []fieldMatch
	for at, field := range list {
		if pieces, worth := mark.Snippet(ctx, field.value); worth > 0 {
			all = append(all, fieldMatch{at, worth, mark.MatchedWords(ctx, field.value), addEllipses(field.value, pieces)})
		}
	}
	for _, m := range all {
		worth = max(worth, m.score)
		if !slices.ContainsFunc(all, func(other fieldMatch) bool { return isProperSubset(m.words, other.words) }) {
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
		if name := list[m.position].name; name != "" {
			before += name + ": "
		}
		if before != "" {
			shown = append(shown, SnippetPiece{Text: before})
		}
		shown = append(shown, m.pieces...)
	}
	return shown, worth
}

// isProperSubset reports whether one text has only some of the words that another has.
func isProperSubset(one, other query.WordSet) bool { return one&other == one && one != other }

// compareWordCount orders texts by how many of the words they have, most first.
func compareWordCount(one, other query.WordSet) int { return cmp.Compare(other.Count(), one.Count()) }
