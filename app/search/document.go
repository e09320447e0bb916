package search

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// indexed is a record as the index is told of it.
type indexed struct {
	query.Document
	found  bool   // false: it is in the trash, gone, or damaged, and not to be found
	digest string // of a document that may have text; "" for others
	failed bool   // its text cannot be made
}

// Kinds are the kinds of records as the index calls them, by their nouns.
func Kinds() map[string]query.Kind {
	return map[string]query.Kind{"abstract": query.Abstract, "order": query.Order, fileNoun: query.File}
}

const fileNoun = "file"

// indexed makes what the index is told of a record.
func (x *Indexer) indexed(t *store.Tx, noun string, id uint64) indexed {
	r := indexed{Document: query.Document{ID: id}}
	var err error
	switch noun {
	case "abstract":
		r.Kind = query.Abstract
		err = r.abstract(t)
	case "order":
		r.Kind = query.Order
		err = r.order(t)
	default:
		r.Kind = query.File
		err = r.file(t)
	}
	if err != nil && errs.KindOf(err) != errs.NotFound {
		x.log.Warn("a record is not in the search index", "noun", noun, "id", id, "error", err) // a verification names it
	}
	r.found = err == nil
	return r
}

func (r *indexed) abstract(t *store.Tx) error {
	a, err := t.Abstract(r.ID)
	if err != nil {
		return err
	}
	r.place(a.Property, a.TemplateID, a.CreatedAt)
	r.Status = a.Status
	r.known(a.SearchTerms())
	return nil
}

func (r *indexed) order(t *store.Tx) error {
	o, err := t.Order(r.ID)
	if err != nil {
		return err
	}
	r.place(o.Property, 0, o.CreatedAt)
	r.Status = o.Status
	r.known(o.SearchTerms())
	return nil
}

// file is found where its abstract lies: the store tells of its files when that moves.
func (r *indexed) file(t *store.Tx) error {
	f, err := t.File(r.ID)
	if err != nil {
		return err
	}
	var of model.Abstract
	if f.AbstractID != 0 {
		// A damaged one hides no document; a verification names it.
		if of, err = t.Abstract(f.AbstractID); err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
	}
	r.place(of.Property, of.TemplateID, f.CreatedAt)
	r.known(f.SearchTerms())
	if !f.Processing { // whose end is a change
		r.digest, r.failed = f.Digest, f.MissingText()
	}
	return nil
}

func (r *indexed) place(p model.Property, template uint64, created time.Time) {
	r.County, r.State, r.Template, r.CreatedDay = p.County, p.State, template, Day(created)
}

func (r *indexed) known(k model.SearchTerms) {
	r.Numbers, r.Names, r.Fields = k.Numbers, k.Names, k.Other
}

// Day is the day of a time as the index has it, in days since 1970 in UTC.
func Day(at time.Time) int32 {
	const day = 24 * 60 * 60
	seconds := at.Unix()
	if seconds < 0 {
		seconds -= day - 1
	}
	return int32(seconds / day)
}

// document hands over the kept text of a document, and counts it. Where that is not to
// be had, the document is found by its name, and by what was there, until it is made.
func (b *indexBatch) document(ctx context.Context, r indexed, page func(text string) error) error {
	var refused error
	err := b.x.text(r.digest, func(_ int, text string) error {
		b.text += int64(len(text))
		if refused = ctx.Err(); refused == nil {
			refused = page(text)
		}
		return refused
	})
	if refused != nil {
		return refused
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.x.log.Warn("text of a document is not in the search index", "file", r.ID, "error", err)
	}
	if err != nil && !r.failed {
		b.lacking = append(b.lacking, r.ID)
	}
	return nil
}
