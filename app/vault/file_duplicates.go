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
