package search

import (
	"errors"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// foundRecord is a hit with the words that its snippet is made of.
type foundRecord struct {
	Hit
	fields []fieldText              // of its fields
	terms  func() model.SearchTerms // with its numbers
}

// matchType says how the record holds a text that the index found it by.
func (s foundRecord) matchType(hit query.Hit, text string) MatchType {
	switch {
	case hit.MayMatchNumber && query.MatchesNumber(text, s.terms().Numbers):
		return MatchExact
	case hit.Approximate:
		return MatchSimilar
	}
	return MatchWords
}

// readHits reads the live records of the hits. What is gone, in the trash, or not what was
// asked for any more is left out.
func (svc *Service) readHits(t *store.Tx, f indexResult) (list []foundRecord, err error) {
	n := definitionCache{t: t, templates: map[uint64]model.Template{}}
	for _, hit := range f.result.Hits {
		var s foundRecord
		var fits bool
		switch hit.Kind {
		case query.Abstract:
			s, fits, err = svc.readAbstract(&n, hit.ID, &f.query)
		case query.Order:
			s, fits, err = readOrder(&n, hit.ID, &f.query)
		case query.File:
			s, fits, err = svc.readFile(t, hit.ID, &f.query)
		}
		switch {
		case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged): // Check reports it
			continue
		case err != nil:
			return nil, err
		}
		if fits {
			s.Score, s.Match = hit.Score, s.matchType(hit, f.query.Text)
			list = append(list, s)
		}
	}
	return list, nil
}

func (svc *Service) readAbstract(n *definitionCache, id uint64, q *Query) (s foundRecord, fits bool, err error) {
	a, err := n.t.Abstract(id)
	if err != nil {
		return s, false, err
	}
	s.Hit = svc.abstractHit(&a, "").ToHit()
	s.Heading = svc.vault.HeadingIn(n.t, a)
	s.fields, s.terms = abstractFields(&a, n.template(a.TemplateID)), a.SearchTerms
	return s, q.matches(a.TemplateID, a.Property, a.Status, a.CreatedAt), nil
}

func readOrder(n *definitionCache, id uint64, q *Query) (s foundRecord, fits bool, err error) {
	o, err := n.t.Order(id)
	if err != nil {
		return s, false, err
	}
	s.Hit = orderHit(&o, "").ToHit()
	s.fields, s.terms = orderFields(&o, n.orderFields()), o.SearchTerms
	return s, q.matches(0, o.Property, o.Status, o.CreatedAt), nil
}

// readFile takes a document for one of its abstract's template and place.
func (svc *Service) readFile(t *store.Tx, id uint64, q *Query) (s foundRecord, fits bool, err error) {
	file, err := t.File(id)
	if err != nil {
		return s, false, err
	}
	var of model.Abstract
	var place string
	if file.AbstractID == 0 {
		place, err = svc.vault.Location(t, file)
	} else if of, err = t.Abstract(file.AbstractID); err == nil {
		place = svc.vault.HeadingIn(t, of)
	} else if errors.Is(err, store.ErrDamaged) {
		err = nil // it hides no document, as in the index; Check reports it
	}
	if err != nil {
		return s, false, err
	}
	s.Hit = Hit{Kind: vault.FileOps.Name, ID: id, Heading: file.Filename, Subheading: place, CreatedAt: file.CreatedAt,
		AbstractID: file.AbstractID, FolderID: file.FolderID, File: &file}
	s.fields, s.terms = []fieldText{{value: file.Filename}}, file.SearchTerms
	return s, q.matches(of.TemplateID, of.Property, "", file.CreatedAt), nil
}

// ToHit is a hit by a number as one of a search, without a snippet.
func (h FindHit) ToHit() Hit {
	return Hit{Kind: h.Kind, ID: h.ID, Heading: h.Heading, Subheading: h.Subheading, Status: h.Status, DueDate: h.DueDate, Documents: h.Documents, CreatedAt: h.CreatedAt}
}
