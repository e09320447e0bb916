package search

import (
	"errors"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// matchType returns how the record matches a text.
func (h *Hit) matchType(found query.Hit, text string) MatchType {
	switch {
	case found.MayMatchNumber && query.MatchesNumber(text, h.terms().Numbers):
		return MatchExact
	case found.Approximate:
		return MatchSimilar
	}
	return MatchWords
}

// readHits reads the live records of the hits. It skips records that have been deleted or no longer
// match the filters.
func (s *Service) readHits(t *store.Tx, f indexResult) (hits []Hit, err error) {
	cache := newDefinitionCache(t)
	for _, found := range f.result.Hits {
		var hit Hit
		var fits bool
		switch found.Kind {
		case query.Abstract:
			hit, fits, err = s.readAbstract(cache, found.ID, &f.query)
		case query.Order:
			hit, fits, err = readOrder(cache, found.ID, &f.query)
		case query.File:
			hit, fits, err = s.readFile(t, found.ID, &f.query)
		case query.Instrument:
			hit, fits, err = s.readInstrument(t, found.ID, &f.query)
		}
		switch {
		case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged): // an integrity check reports it
			continue
		case err != nil:
			return nil, err
		}
		if fits {
			hit.Score, hit.Match = found.Score, hit.matchType(found, f.query.Text)
			hits = append(hits, hit)
		}
	}
	return hits, nil
}

func (s *Service) readAbstract(cache *definitionCache, id uint64, q *Query) (h Hit, fits bool, err error) {
	a, err := cache.t.Abstract(id)
	if err != nil {
		return h, false, err
	}
	h = s.abstractHit(cache.t, &a)
	h.fields, h.terms = abstractFields(&a, cache.templateFields(a.TemplateID)), a.SearchTerms
	return h, q.Matches(filterValues(a.TemplateID, a.Property, a.Status), a.CreatedAt), nil
}

func (s *Service) abstractHit(t *store.Tx, a *model.Abstract) Hit {
	return Hit{Kind: vault.AbstractOps.Name, ID: a.ID, Heading: s.vault.HeadingIn(t, *a), Subheading: a.Subheading(), Status: a.Status,
		Documents: len(a.Files), CreatedAt: a.CreatedAt, property: a.Property}
}

func readOrder(cache *definitionCache, id uint64, q *Query) (h Hit, fits bool, err error) {
	o, err := cache.t.Order(id)
	if err != nil {
		return h, false, err
	}
	h = orderHit(&o)
	h.fields, h.terms = orderFields(&o, cache.orderFields()), o.SearchTerms
	return h, q.Matches(filterValues(0, o.Property, o.Status), o.CreatedAt), nil
}

func orderHit(o *model.Order) Hit {
	return Hit{Kind: vault.OrderOps.Name, ID: o.ID, Heading: o.Number, Subheading: o.Subheading(), Status: o.Status, DueDate: o.DueDate,
		CreatedAt: o.CreatedAt, property: o.Property}
}

// readFile reads a document. The filters apply to the template and the property of its abstract. fits
// reports whether the document passes them.
func (s *Service) readFile(t *store.Tx, id uint64, q *Query) (h Hit, fits bool, err error) {
	file, err := t.File(id)
	if err != nil {
		return h, false, err
	}
	var abstract model.Abstract
	var location string
	if file.AbstractID == 0 {
		location, err = s.vault.Location(t, file)
	} else if abstract, err = t.Abstract(file.AbstractID); err == nil {
		location = s.vault.HeadingIn(t, abstract)
	} else if errors.Is(err, store.ErrDamaged) {
		err = nil // documents of a damaged abstract are still found; an integrity check reports the damage
	}
	if err != nil {
		return h, false, err
	}
	h = Hit{Kind: vault.FileOps.Name, ID: id, Heading: file.Filename, Subheading: location, CreatedAt: file.CreatedAt,
		AbstractID: file.AbstractID, FolderID: file.FolderID, File: &file}
	h.fields, h.terms = []fieldText{{value: file.Filename}}, file.SearchTerms
	return h, q.Matches(filterValues(abstract.TemplateID, abstract.Property, ""), file.CreatedAt), nil
}

// readInstrument reads an instrument. fits reports whether it passes the filters.
func (s *Service) readInstrument(t *store.Tx, id uint64, q *Query) (h Hit, fits bool, err error) {
	i, err := t.Instrument(id)
	if err != nil {
		return h, false, err
	}
	abstract, err := t.Abstract(i.AbstractID)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return h, false, err
	}
	heading := ""
	if err == nil { // instruments of a damaged abstract are still found; an integrity check reports the damage
		heading = s.vault.HeadingIn(t, abstract)
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return h, false, err
	}
	documentType, _ := types.ByID(i.TypeID)
	h = Hit{Kind: query.Instrument, ID: id, Heading: i.Heading(documentType), Subheading: heading, Recorded: i.Recorded,
		Filed: documentType.IsFiled(), CreatedAt: i.CreatedAt, AbstractID: i.AbstractID}
	h.fields = instrumentFields(&i, documentType)
	h.terms = func() model.SearchTerms { return i.SearchTerms(documentType.Name) }
	h.owners, h.others = documentType.SplitInstrument(i)
	return h, q.Matches(instrumentValues(&i), i.CreatedAt), nil
}
