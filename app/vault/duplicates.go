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

// Repeated returns the instrument of the runsheet that the input for a new one repeats, so that a person
// can be asked before it is stored. fills are the blank fields of that instrument for which the input has
// values. If the input is invalid or repeats none, the ID is 0. For a change of an instrument, id is its ID,
// and an instrument that it repeats already doesn't count.
func (ins *Instruments) Repeated(ctx context.Context, actor model.Actor, abstract, id uint64, p InstrumentPatch) (
	repeated InstrumentView, fills []string, err error) {
	err = ins.v.Store.View(ctx, func(t *store.Tx) error {
		repeated, fills = InstrumentView{}, nil
		a, err := t.Abstract(abstract)
		if err != nil {
			return err
		}
		old := model.Instrument{AbstractID: abstract, County: a.County, State: a.State}
		if id != 0 {
			if !runsheet.Identifies(p.Input) {
				return nil
			}
			if old, err = t.Instrument(id); err != nil {
				return err
			}
		}
		i, err := ins.check(t, actor, old, p)
		if errs.KindOf(err) == errs.Invalid {
			return nil
		} else if err != nil {
			return err
		}
		duplicate := ins.duplicateOf(ctx, t, i)
		if duplicate.ID == 0 || id != 0 && ins.duplicateOf(ctx, t, old).ID == duplicate.ID {
			return nil
		}
		repeated, err = ins.ops(ctx).get(t, duplicate.ID)
		repeated.Duplicate = duplicate
		for _, change := range repeated.Changes(repeated.FillBlank(typedOnly(p.Input, i))) {
			if change.Field != "documents" {
				fills = append(fills, change.Field)
			}
		}
		return err
	})
	return repeated, fills, err
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
			if f.Exact && f.By == store.SortFileNumber && f.Record.ID != abstract.ID {
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
