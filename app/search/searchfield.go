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
	mostWording = 64 << 10 // bytes of its fields
	mostShown   = 3        // fields
)

// wording is what the fields of a record say, each with the name people know it by.
type wording struct {
	list []worded
	left int // bytes that may still be added
}

// SnippetBetween parts the values of a record in a SearchHit.Snippet.
const SnippetBetween = " · "

// worded is one field; name is "" where the value needs none.
type worded struct{ name, value string }

func (w *wording) add(name, value string) {
	if value = strings.TrimSpace(value); value == "" || w.left <= 0 {
		return
	}
	value = strings.ToValidUTF8(value[:min(len(value), w.left)], "")
	w.left -= len(value)
	w.list = append(w.list, worded{name, value})
}

func (w *wording) property(p model.Property) {
	w.add("Address", p.Address)
	w.add("City", p.City)
	w.add("County", p.County)
	w.add("State", p.State)
}

// custom adds the fields of a definition set in its order, and behind them values that
// it does not know any more, under their keys.
func (w *wording) custom(values model.Values, defs []model.Field) {
	rest := maps.Clone(values)
	for _, def := range defs {
		w.value(cmp.Or(def.Label, def.Key), values[def.Key])
		delete(rest, def.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		w.value(strings.ReplaceAll(key, "_", " "), rest[key])
	}
}

// value adds a value of a custom field: a text, a number or texts that were chosen.
func (w *wording) value(name string, raw json.RawMessage) {
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

func wordingOf(a *model.Abstract, template model.Template) []worded {
	w := wording{left: mostWording}
	w.add("Tax Map", a.TaxMap)
	w.property(a.Property)
	w.add("Status", a.Status)
	w.custom(a.Custom, template.Fields)
	return w.list
}

func wordingOfOrder(o *model.Order, fields []model.Field) []worded {
	w := wording{left: mostWording}
	w.add("Order #", o.Number)
	w.property(o.Property)
	w.add("Due Date", o.DueDate)
	w.add("Status", o.Status)
	w.custom(o.Custom, fields)
	return w.list
}

// names reads the names of fields for the hits of one page, each definition set once.
// A damaged one names none: a verification tells of it.
type names struct {
	t         *store.Tx
	templates map[uint64]model.Template
	orders    []model.Field
	known     bool // orders was read
}

func (n *names) template(id uint64) model.Template {
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

func (n *names) orderFields() []model.Field {
	if !n.known {
		n.known = true
		var err error
		if n.orders, err = n.t.OrderFields(); err != nil {
			n.orders = nil
		}
	}
	return n.orders
}

// match is a field that has some of what a query looks for.
type match struct {
	at, worth int
	holds     query.WordSet // the words of the query that it has
	pieces    []SnippetPiece
}

// snippetOfFields shows the fields that match, "Current Owner: Carl Johnson": those with
// most words of the query first, in the order of the record, and none that has only some
// of the words of another. Of more than mostShown the best are taken. worth is that of
// the best; nil and 0 where none matches.
func snippetOfFields(ctx context.Context, mark *query.Highlighter, list []worded) (shown []SnippetPiece, worth int) {
	var all, found []match
	for at, field := range list {
		if pieces, worth := mark.Snippet(ctx, field.value); worth > 0 {
			all = append(all, match{at, worth, mark.MatchedWords(ctx, field.value), cutOut(field.value, pieces)})
		}
	}
	for _, m := range all {
		worth = max(worth, m.worth)
		if !slices.ContainsFunc(all, func(other match) bool { return less(m.holds, other.holds) }) {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Or(more(a.holds, b.holds), cmp.Compare(b.worth, a.worth)) })
	found = found[:min(len(found), mostShown)]
	slices.SortFunc(found, func(a, b match) int { return cmp.Or(more(a.holds, b.holds), cmp.Compare(a.at, b.at)) })
	for _, m := range found {
		before := ""
		if shown != nil {
			before = SnippetBetween
		}
		if name := list[m.at].name; name != "" {
			before += name + ": "
		}
		if before != "" {
			shown = append(shown, SnippetPiece{Text: before})
		}
		shown = append(shown, m.pieces...)
	}
	return shown, worth
}

// less reports whether one text has only some of the words that another has.
func less(one, other query.WordSet) bool { return one&other == one && one != other }

// more orders texts by how many of the words they have, most first.
func more(one, other query.WordSet) int { return cmp.Compare(other.Count(), one.Count()) }
