package search

import (
	"errors"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// foundRecord is a hit with the data for its snippet and its match type.
type foundRecord struct {
	Hit
	fields []fieldText              // fields that the snippet may show
	terms  func() model.SearchTerms // returns its search terms, including its numbers
	// owners and others are the parties of an instrument; see model.DocumentType.SplitParties.
	owners, others []string
}

// matchType returns how the record matches a text.
func (f foundRecord) matchType(hit query.Hit, text string) MatchType {
	switch {
	case hit.MayMatchNumber && query.MatchesNumber(text, f.terms().Numbers):
		return MatchExact
	case hit.Approximate:
		return MatchSimilar
	}
	return MatchWords
}

// readHits reads the live records of the hits. It skips records that have been deleted or no longer
// match the filters.
func (s *Service) readHits(t *store.Tx, f indexResult) (records []foundRecord, err error) {
	cache := newDefinitionCache(t)
	for _, hit := range f.result.Hits {
		var record foundRecord
		var fits bool
		switch hit.Kind {
		case query.Abstract:
			record, fits, err = s.readAbstract(cache, hit.ID, &f.query)
		case query.Order:
			record, fits, err = readOrder(cache, hit.ID, &f.query)
		case query.File:
			record, fits, err = s.readFile(t, hit.ID, &f.query)
		case query.Instrument:
			record, fits, err = s.readInstrument(t, hit.ID, &f.query)
		}
		switch {
		case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged): // an integrity check reports it
			continue
		case err != nil:
			return nil, err
		}
		if fits {
			record.Score, record.Match = hit.Score, record.matchType(hit, f.query.Text)
			records = append(records, record)
		}
	}
	return records, nil
}

func (s *Service) readAbstract(cache *definitionCache, id uint64, q *Query) (found foundRecord, fits bool, err error) {
	a, err := cache.t.Abstract(id)
	if err != nil {
		return found, false, err
	}
	found.Hit = s.abstractHit(cache.t, &a)
	found.fields, found.terms = abstractFields(&a, cache.templateFields(a.TemplateID)), a.SearchTerms
	return found, q.Matches(filterValues(a.TemplateID, a.Property, a.Status), a.CreatedAt), nil
}

func (s *Service) abstractHit(t *store.Tx, a *model.Abstract) Hit {
	return Hit{Kind: vault.AbstractOps.Name, ID: a.ID, Heading: s.vault.HeadingIn(t, *a), Subheading: a.Subheading(), Status: a.Status,
		Documents: len(a.Files), CreatedAt: a.CreatedAt, property: a.Property}
}

func readOrder(cache *definitionCache, id uint64, q *Query) (s foundRecord, fits bool, err error) {
	o, err := cache.t.Order(id)
	if err != nil {
		return s, false, err
	}
	s.Hit = orderHit(&o)
	s.fields, s.terms = orderFields(&o, cache.orderFields()), o.SearchTerms
	return s, q.Matches(filterValues(0, o.Property, o.Status), o.CreatedAt), nil
}

func orderHit(o *model.Order) Hit {
	return Hit{Kind: vault.OrderOps.Name, ID: o.ID, Heading: o.Number, Subheading: o.Subheading(), Status: o.Status, DueDate: o.DueDate,
		CreatedAt: o.CreatedAt, property: o.Property}
}

// readFile reads a document. The filters apply to the template and the property of its abstract. fits
// reports whether the document passes them.
func (s *Service) readFile(t *store.Tx, id uint64, q *Query) (found foundRecord, fits bool, err error) {
	file, err := t.File(id)
	if err != nil {
		return found, false, err
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
		return found, false, err
	}
	found.Hit = Hit{Kind: vault.FileOps.Name, ID: id, Heading: file.Filename, Subheading: location, CreatedAt: file.CreatedAt,
		AbstractID: file.AbstractID, FolderID: file.FolderID, File: &file}
	found.fields, found.terms = []fieldText{{value: file.Filename}}, file.SearchTerms
	return found, q.Matches(filterValues(abstract.TemplateID, abstract.Property, ""), file.CreatedAt), nil
}

// readInstrument reads an instrument. fits reports whether it passes the filters.
func (s *Service) readInstrument(t *store.Tx, id uint64, q *Query) (found foundRecord, fits bool, err error) {
	i, err := t.Instrument(id)
	if err != nil {
		return found, false, err
	}
	abstract, err := t.Abstract(i.AbstractID)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return found, false, err
	}
	heading := ""
	if err == nil { // instruments of a damaged abstract are still found; an integrity check reports the damage
		heading = s.vault.HeadingIn(t, abstract)
	}
	types, err := t.DocumentTypes()
	if err != nil {
		return found, false, err
	}
	documentType, _ := types.ByID(i.TypeID)
	found.Hit = Hit{Kind: query.Instrument, ID: id, Heading: i.Heading(documentType), Subheading: heading, Recorded: i.Recorded,
		Filed: documentType.IsFiled(), CreatedAt: i.CreatedAt, AbstractID: i.AbstractID}
	found.fields = instrumentFields(&i, documentType)
	found.terms = func() model.SearchTerms { return i.SearchTerms(documentType.Name) }
	found.owners, found.others = documentType.SplitInstrument(i)
	return found, q.Matches(instrumentValues(&i), i.CreatedAt), nil
}
