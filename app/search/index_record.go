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

// indexRecord is a record as the index is told of it.
type indexRecord struct {
	query.Document
	found      bool   // false: it is in the trash, gone, or damaged, and not to be found
	digest     string // of a document that may have text; "" for others
	textFailed bool   // its text cannot be made
}

// indexKinds maps each record type to its kind in the search index.
var indexKinds = map[string]query.Kind{"abstract": query.Abstract, "order": query.Order, fileType: query.File}

const fileType = "file"

// loadRecord makes what the index is told of a record.
func (x *Indexer) loadRecord(t *store.Tx, noun string, id uint64) indexRecord {
	r := indexRecord{Document: query.Document{ID: id}}
	var err error
	switch noun {
	case "abstract":
		r.Kind = query.Abstract
		err = r.loadAbstract(t)
	case "order":
		r.Kind = query.Order
		err = r.loadOrder(t)
	default:
		r.Kind = query.File
		err = r.loadFile(t)
	}
	if err != nil && errs.KindOf(err) != errs.NotFound {
		x.log.Warn("a record is not in the search index", "noun", noun, "id", id, "error", err) // a verification names it
	}
	r.found = err == nil
	return r
}

func (r *indexRecord) loadAbstract(t *store.Tx) error {
	a, err := t.Abstract(r.ID)
	if err != nil {
		return err
	}
	r.setPlace(a.Property, a.TemplateID, a.CreatedAt)
	r.Status = a.Status
	r.setTerms(a.SearchTerms())
	return nil
}

func (r *indexRecord) loadOrder(t *store.Tx) error {
	o, err := t.Order(r.ID)
	if err != nil {
		return err
	}
	r.setPlace(o.Property, 0, o.CreatedAt)
	r.Status = o.Status
	r.setTerms(o.SearchTerms())
	return nil
}

// loadFile is found where its abstract lies: the store tells of its files when that moves.
func (r *indexRecord) loadFile(t *store.Tx) error {
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
	r.setPlace(of.Property, of.TemplateID, f.CreatedAt)
	r.setTerms(f.SearchTerms())
	if !f.Processing { // whose end is a change
		r.digest, r.textFailed = f.Digest, f.MissingText()
	}
	return nil
}

func (r *indexRecord) setPlace(p model.Property, template uint64, created time.Time) {
	r.County, r.State, r.Template, r.CreatedDay = p.County, p.State, template, dayNumber(created)
}

func (r *indexRecord) setTerms(k model.SearchTerms) {
	r.Numbers, r.Names, r.Fields = k.Numbers, k.Names, k.Other
}

// dayNumber is the day of a time as the index has it, in days since 1970 in UTC.
func dayNumber(at time.Time) int32 {
	const day = 24 * 60 * 60
	seconds := at.Unix()
	if seconds < 0 {
		seconds -= day - 1
	}
	return int32(seconds / day)
}

// readText hands over the kept text of a document, and counts it. Where that is not to
// be had, the document is found by its name, and by what was there, until it is made.
func (b *indexBatch) readText(ctx context.Context, r indexRecord, page func(text string) error) error {
	var refused error
	err := b.x.readText(r.digest, func(_ int, text string) error {
		b.textBytes += int64(len(text))
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
	if err != nil && !r.textFailed {
		b.missingText = append(b.missingText, r.ID)
	}
	return nil
}
