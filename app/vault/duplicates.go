package vault

import (
	"context"
	"slices"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
)

// maxDuplicatesScanned is the maximum number of duplicates that Duplicates reads. For
// example, every abstract may contain the same cover sheet.
const maxDuplicatesScanned = 200

// Duplicates returns at most limit other live documents with the same content as file.
// Documents in the same abstract or folder come first.
func (f *Files) Duplicates(ctx context.Context, file model.File, limit int) (duplicates []Document, err error) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return nil, err
	}
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		sameLocation, others, scanned := []model.File{}, []model.File{}, 0
		_, _, err := t.FindFileByDigest(digest, func(other model.File) bool {
			scanned++
			switch {
			case other.ID == file.ID:
			case other.AbstractID == file.AbstractID && other.FolderID == file.FolderID:
				sameLocation = append(sameLocation, other)
			case len(others) < limit:
				others = append(others, other)
			}
			return len(sameLocation) >= limit || scanned >= maxDuplicatesScanned
		})
		if err != nil {
			return err
		}
		all := slices.Concat(sameLocation, others)
		for _, duplicate := range all[:min(limit, len(all))] {
			location, err := f.v.Location(t, duplicate)
			if err != nil {
				return err
			}
			duplicates = append(duplicates, Document{duplicate, location})
		}
		return nil
	})
	return duplicates, err
}

// duplicateOf returns the live instrument of the same abstract that i repeats. If that can't be found
// out, there is none.
func (ins *Instruments) duplicateOf(ctx context.Context, t *store.Tx, i model.Instrument) (found runsheet.Duplicate) {
	ins.v.Derive(ctx, PartDuplicate, func() error {
		types, err := t.DocumentTypes()
		if err != nil {
			return err
		}
		keys, err := ins.runsheetKeys(t, i.AbstractID)
		if err != nil {
			return err
		}
		d := runsheet.NewDuplicates(types, func(id uint64) (model.Instrument, bool) {
			i, err := t.Instrument(id) // an integrity check reports damage
			return i, err == nil
		})
		d.AddLike(i, keys)
		found = d.Of(i)
		return nil
	})
	return found
}

// ErrRunsheetChanged is returned by CreateMany if a row repeats another instrument than the page that a person reviewed
// shows, or if an instrument to fill is no longer on the runsheet.
var ErrRunsheetChanged = &errs.Error{Kind: errs.Conflict,
	Message: "The runsheet has changed in the meantime. Check what to do with each row."}

// checkReviewed returns ErrRunsheetChanged if a row repeats another instrument than when it was reviewed. The
// transaction of the caller stores the rows, so two people can't store the same one.
func (ins *Instruments) checkReviewed(t *store.Tx, abstract uint64, types model.DocumentTypes, list []NewInstrument,
	checked []model.Instrument) error {
	if !slices.ContainsFunc(list, func(item NewInstrument) bool { return item.Reviewed != nil }) {
		return nil
	}
	keys, err := ins.runsheetKeys(t, abstract)
	existing := runsheet.NewDuplicates(types, func(id uint64) (model.Instrument, bool) {
		i, err := t.Instrument(id) // an integrity check reports damage
		return i, err == nil
	})
	for _, key := range keys {
		existing.Add(key)
	}
	for n, item := range list {
		if item.Reviewed == nil || err != nil {
			continue
		}
		found := existing.Of(checked[n])
		if found.ID != item.Reviewed.Existing || found.ID != 0 && found.Possible != item.Reviewed.Possible {
			err = ErrRunsheetChanged
		}
	}
	return err
}

// RepeatError means that the input for an instrument repeats one of the runsheet, so that a person is asked before it
// is stored.
type RepeatError struct {
	Repeat
	Fills []string // blank fields of that instrument for which the input has values
}

func (e *RepeatError) Error() string { return "the instrument repeats " + e.Title }

// repeatError returns the RepeatError for an input that results in i, which repeats another instrument.
func (ins *Instruments) repeatError(ctx context.Context, t *store.Tx, found runsheet.Duplicate, i model.Instrument,
	p InstrumentPatch) error {
	existing, err := ins.ops(ctx).get(t, found.ID)
	if err != nil {
		return err
	}
	e := &RepeatError{Repeat: Repeat{Existing: found.ID, Possible: found.Possible, Position: existing.Position,
		Title: existing.Title(existing.Type)}}
	for _, change := range existing.Changes(existing.FillBlank(typedOnly(p.Input, i))) {
		if change.Field != "documents" {
			e.Fills = append(e.Fills, change.Field)
		}
	}
	return e
}

// WithSameFileNumber returns up to MaxFound other live abstracts whose file number is the
// same, ignoring punctuation. It also reports whether there may be more. File numbers
// don't have to be unique, because title updates reuse them.
func (a *Abstracts) WithSameFileNumber(ctx context.Context, abstract model.Abstract) (list []model.Abstract, more bool, err error) {
	number := abstract.FileNumber()
	if number == "" {
		return nil, false, nil
	}
	err = a.v.Store.View(ctx, func(t *store.Tx) error {
		list, more = nil, false
		found, beyond, err := t.FindAbstracts(number, store.Query{Limit: MaxFound + 1})
		for _, f := range found {
			if f.Exact && f.By == model.SortFileNumber && f.Record.ID != abstract.ID {
				list = append(list, f.Record)
			}
		}
		more = len(list) > MaxFound || beyond && len(list) == MaxFound
		return err
	})
	return list[:min(len(list), MaxFound)], more, err
}

// MaxFound is the maximum number of results in each group.
const MaxFound = 20
