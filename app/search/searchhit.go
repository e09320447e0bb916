package search

import (
	"errors"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// seen is a hit with the words that its snippet is made of.
type seen struct {
	SearchHit
	words []worded                 // of its fields
	known func() model.SearchTerms // with its numbers
}

// matching says how the record holds a text that the index found it by.
func (s seen) matching(hit query.Hit, text string) Matching {
	switch {
	case hit.MayMatchNumber && query.MatchesNumber(text, s.known().Numbers):
		return MatchExact
	case hit.Approximate:
		return MatchSimilar
	}
	return MatchWords
}

// see reads the live records of the hits. What is gone, in the trash, or not what was
// asked for any more is left out.
func (svc *SearchService) see(t *store.Tx, f searched) (list []seen, err error) {
	n := names{t: t, templates: map[uint64]model.Template{}}
	for _, hit := range f.answer.Hits {
		var s seen
		var fits bool
		switch hit.Kind {
		case query.Abstract:
			s, fits, err = svc.seeAbstract(&n, hit.ID, &f.query)
		case query.Order:
			s, fits, err = seeOrder(&n, hit.ID, &f.query)
		case query.File:
			s, fits, err = svc.seeFile(t, hit.ID, &f.query)
		}
		switch {
		case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged): // Check reports it
			continue
		case err != nil:
			return nil, err
		}
		if fits {
			s.Score, s.Match = hit.Score, s.matching(hit, f.query.Text)
			list = append(list, s)
		}
	}
	return list, nil
}

func (svc *SearchService) seeAbstract(n *names, id uint64, q *SearchQuery) (s seen, fits bool, err error) {
	a, err := n.t.Abstract(id)
	if err != nil {
		return s, false, err
	}
	s.SearchHit = svc.abstractHit(&a, "").Found()
	s.Heading = svc.vault.HeadingIn(n.t, a)
	s.words, s.known = wordingOf(&a, n.template(a.TemplateID)), a.SearchTerms
	return s, q.fits(a.TemplateID, a.Property, a.Status, a.CreatedAt), nil
}

func seeOrder(n *names, id uint64, q *SearchQuery) (s seen, fits bool, err error) {
	o, err := n.t.Order(id)
	if err != nil {
		return s, false, err
	}
	s.SearchHit = orderHit(&o, "").Found()
	s.words, s.known = wordingOfOrder(&o, n.orderFields()), o.SearchTerms
	return s, q.fits(0, o.Property, o.Status, o.CreatedAt), nil
}

// seeFile takes a document for one of its abstract's template and place.
func (svc *SearchService) seeFile(t *store.Tx, id uint64, q *SearchQuery) (s seen, fits bool, err error) {
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
	s.SearchHit = SearchHit{Kind: vault.FileOps.Name, ID: id, Heading: file.Filename, Under: place, CreatedAt: file.CreatedAt,
		AbstractID: file.AbstractID, FolderID: file.FolderID, File: &file}
	s.words, s.known = []worded{{value: file.Filename}}, file.SearchTerms
	return s, q.fits(of.TemplateID, of.Property, "", file.CreatedAt), nil
}

// Found is a hit by a number as one of a search, without a snippet.
func (h Hit) Found() SearchHit {
	return SearchHit{Kind: h.Noun, ID: h.ID, Heading: h.Heading, Under: h.Under, Status: h.Status, DueDate: h.DueDate, Documents: h.Documents, CreatedAt: h.CreatedAt}
}
