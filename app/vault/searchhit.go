package vault

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/title"
)

// seen is a hit with the words that its snippet is made of.
type seen struct {
	SearchHit
	words string // of its fields
}

// see reads the live records of the hits. What is gone, in the trash, or not what was
// asked for any more is left out.
func (v *Vault) see(t *store.Tx, f searched) (list []seen, err error) {
	for _, hit := range f.answer.Hits {
		var s seen
		var fits bool
		switch hit.Kind {
		case search.Abstract:
			s, fits, err = v.seeAbstract(t, hit.ID, &f.query)
		case search.Order:
			s, fits, err = seeOrder(t, hit.ID, &f.query)
		case search.File:
			s, fits, err = v.seeFile(t, hit.ID, &f.query)
		}
		switch {
		case title.KindOf(err) == title.NotFound, errors.Is(err, store.ErrDamaged): // Check reports it
			continue
		case err != nil:
			return nil, err
		}
		if s.Score = hit.Score; fits {
			list = append(list, s)
		}
	}
	return list, nil
}

func (v *Vault) seeAbstract(t *store.Tx, id uint64, q *SearchQuery) (s seen, fits bool, err error) {
	a, err := t.Abstract(id)
	if err != nil {
		return s, false, err
	}
	s.SearchHit = v.abstractHit(&a, "").shown(abstractNoun.name)
	s.Heading = v.heading(t, a)
	s.words = words(a.Custom, a.FileNumber(), a.Line(), a.TaxMap, a.Status)
	return s, q.fits(a.TemplateID, a.Property, a.Status, a.CreatedAt), nil
}

func seeOrder(t *store.Tx, id uint64, q *SearchQuery) (s seen, fits bool, err error) {
	o, err := t.Order(id)
	if err != nil {
		return s, false, err
	}
	s.SearchHit = orderHit(&o, "").shown(orderNoun.name)
	s.words = words(o.Custom, o.Number, o.Line(), o.Status)
	return s, q.fits(0, o.Property, o.Status, o.CreatedAt), nil
}

// seeFile takes a document for one of its abstract's template, place and status.
func (v *Vault) seeFile(t *store.Tx, id uint64, q *SearchQuery) (s seen, fits bool, err error) {
	file, err := t.File(id)
	if err != nil {
		return s, false, err
	}
	var of title.Abstract
	var place string
	if file.AbstractID == 0 {
		place, err = v.place(t, file)
	} else if of, err = t.Abstract(file.AbstractID); err == nil {
		place = v.heading(t, of)
	}
	if err != nil {
		return s, false, err
	}
	s.SearchHit = SearchHit{Kind: fileNoun.name, ID: id, Heading: file.Filename, Under: place, CreatedAt: file.CreatedAt,
		AbstractID: file.AbstractID, FolderID: file.FolderID, File: &file}
	s.words = file.Filename
	return s, q.fits(of.TemplateID, of.Property, of.Status, file.CreatedAt), nil
}

// shown is a hit by a number as one of a search.
func (h Hit) shown(noun string) SearchHit {
	return SearchHit{Kind: noun, ID: h.ID, Heading: h.Heading, Under: h.Under, Status: h.Status, DueDate: h.DueDate, Documents: h.Documents, CreatedAt: h.CreatedAt}
}

// words are the values of a record as one text, each once.
func words(custom title.Values, own ...string) string {
	var list []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, s := range own {
		add(s)
	}
	for _, key := range slices.Sorted(maps.Keys(custom)) {
		add(valueWords(custom[key]))
	}
	return strings.Join(list, " · ")
}

// valueWords is a custom value as people read it; "" of a box that is ticked or not.
func valueWords(raw json.RawMessage) string {
	var text string
	var several []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &several) == nil:
		return strings.Join(several, ", ")
	}
	if s := string(raw); s != "true" && s != "false" && s != "null" {
		return s
	}
	return ""
}
