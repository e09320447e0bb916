package search

import (
	"context"
	"errors"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// UnreadScans counts the live documents with scanned pages that OCR hasn't read.
type UnreadScans struct {
	Matching uint64 // that the filters of the search include
	Total    uint64 // of the vault
	Known    bool   // Matching is known; otherwise, too many documents wait to compare them with the filters
}

// Max returns Matching or, if it isn't known, Total.
func (u UnreadScans) Max() uint64 {
	if u.Known {
		return u.Matching
	}
	return u.Total
}

// maxScansCompared is the maximum number of documents that are compared with the filters of a search.
// It bounds the time that this adds to the search; each takes about 2 µs.
const maxScansCompared = 5000

// UnreadScans returns how many documents q can't find by all of their text. Without filters, it only
// reads a counter.
func (s *Service) UnreadScans(ctx context.Context, q Query) (u UnreadScans, err error) {
	if q.Kind != "" && q.Kind != query.File || q.Party != "" {
		return UnreadScans{Known: true}, nil
	}
	err = s.Store.View(ctx, func(t *store.Tx) error {
		u = UnreadScans{Total: t.Count(store.CountOCRFiles), Known: true}
		switch {
		case !q.Filtered():
			u.Matching = u.Total
		case u.Total > maxScansCompared:
			u.Known = false
		default:
			u.Matching, err = countUnreadScans(t, q)
		}
		return err
	})
	return u, err
}

// countUnreadScans returns the number of live documents in the OCR queue that the filters of q include.
// As in the search index, a document has the template and the property of its abstract.
func countUnreadScans(t *store.Tx, q Query) (n uint64, err error) {
	abstracts := map[uint64]model.Abstract{0: {}}
	err = t.EachForOCR(func(f model.File) (err error) {
		a, known := abstracts[f.AbstractID]
		if !known {
			a, err = t.Abstract(f.AbstractID)
			if err != nil && errs.KindOf(err) != errs.NotFound && !errors.Is(err, store.ErrDamaged) {
				return err
			}
			abstracts[f.AbstractID] = a
		}
		if q.Matches(filterValues(a.TemplateID, a.Property, ""), f.CreatedAt) {
			n++
		}
		return nil
	})
	return n, err
}
