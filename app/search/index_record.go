package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// indexRecord is a record as it is indexed.
type indexRecord struct {
	query.Document
	found      bool   // false if the record is deleted, in the trash, or damaged
	digest     string // digest of a document that may have text; otherwise ""
	textFailed bool   // the text of the document cannot be extracted
}

// loadRecord reads a record from the database and converts it for the index.
func (in *Indexer) loadRecord(t *store.Tx, recordType string, id uint64) indexRecord {
	r := indexRecord{Document: query.Document{Kind: recordType, ID: id}}
	var err error
	switch recordType {
	case query.Abstract:
		var a model.Abstract
		a, err = t.Abstract(id)
		r.set(a.Property, a.TemplateID, a.CreatedAt, a.SearchTerms())
		r.Status = a.Status
	case query.Order:
		var o model.Order
		o, err = t.Order(id)
		r.set(o.Property, 0, o.CreatedAt, o.SearchTerms())
		r.Status = o.Status
	case query.Instrument:
		err = r.loadInstrument(t)
	case query.File:
		err = r.loadFile(t)
	default:
		err = fmt.Errorf("index %s %d: unknown type", recordType, id)
	}
	if err != nil && errs.KindOf(err) != errs.NotFound {
		in.options.Log.Warn("record not added to the search index", "type", recordType, "id", id, "error", err) // an integrity check reports it
	}
	r.found = err == nil
	return r
}

// loadFile reads a document. It is indexed with the property and template of its abstract. When those
// change, the store adds the files of the abstract to the change feed.
func (r *indexRecord) loadFile(t *store.Tx) error {
	f, err := t.File(r.ID)
	if err != nil {
		return err
	}
	var abstract model.Abstract
	if f.AbstractID != 0 {
		// Documents of a damaged abstract are still found. An integrity check reports the damage.
		if abstract, err = t.Abstract(f.AbstractID); err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
	}
	r.set(abstract.Property, abstract.TemplateID, f.CreatedAt, f.SearchTerms())
	if !f.Processing { // when processing ends, the change feed has another entry for the document
		r.digest, r.textFailed = f.Digest, f.MissingText()
	}
	return nil
}

// loadInstrument reads an instrument. When its type is renamed, the store adds the instruments of the
// type to the change feed.
func (r *indexRecord) loadInstrument(t *store.Tx) error {
	i, err := t.Instrument(r.ID)
	if err != nil {
		return err
	}
	types, err := t.DocumentTypes()
	if err != nil && !errors.Is(err, store.ErrDamaged) { // an integrity check reports the damage
		return err
	}
	documentType, _ := types.ByID(i.TypeID)
	r.set(model.Property{County: i.County, State: i.State}, 0, i.CreatedAt, i.SearchTerms(documentType.Name))
	r.DocumentType, r.Parties = i.TypeID, i.Names()
	return nil
}

func (r *indexRecord) set(p model.Property, template uint64, created time.Time, terms model.SearchTerms) {
	r.County, r.State, r.Template, r.CreatedDay = p.County, p.State, template, query.Day(created)
	r.Numbers, r.Names, r.Fields = terms.Numbers, terms.Names, terms.Other
}

// readText passes the stored text of a document to page. If the text is unavailable, the document is
// indexed with its name and the text read so far, and its ID is added to missingText.
func (b *indexBatch) readText(ctx context.Context, r indexRecord, page func(text string) error) error {
	var pageErr error
	err := b.x.options.ReadText(r.digest, func(_ int, text string) error {
		b.textBytes += int64(len(text))
		if pageErr = ctx.Err(); pageErr == nil {
			pageErr = page(text)
		}
		return pageErr
	})
	if pageErr != nil {
		return pageErr
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.x.options.Log.Warn("document text not added to the search index", "file", r.ID, "error", err)
	}
	if err != nil && !r.textFailed {
		b.missingText = append(b.missingText, r.ID)
	}
	return nil
}
