package vault

import (
	"context"
	"slices"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
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
