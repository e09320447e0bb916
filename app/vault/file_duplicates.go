package vault

import (
	"context"
	"slices"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Duplicate is a document of the same bytes as another, and where it is: Heading is what
// people know its abstract by ("" when there is nothing), or the name of its folder.
type Duplicate struct {
	File     model.File
	Location string
}

// maxDuplicatesScanned bounds the search: a cover sheet may be in every abstract.
const maxDuplicatesScanned = 200

// Duplicates gives at most so many live documents with the bytes of a file, those at the
// same place first; the file itself is none of them.
func (f *Files) Duplicates(ctx context.Context, file model.File, most int) (twins []Duplicate, err error) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return nil, err
	}
	err = f.v.Store.View(ctx, func(t *store.Tx) error {
		near, far, looked := []model.File{}, []model.File{}, 0
		_, _, err := t.FindFileByDigest(digest, func(other model.File) bool {
			looked++
			switch {
			case other.ID == file.ID:
			case other.AbstractID == file.AbstractID && other.FolderID == file.FolderID:
				near = append(near, other)
			case len(far) < most:
				far = append(far, other)
			}
			return len(near) >= most || looked >= maxDuplicatesScanned
		})
		if err != nil {
			return err
		}
		all := slices.Concat(near, far)
		for _, one := range all[:min(most, len(all))] {
			heading, err := f.v.Location(t, one)
			if err != nil {
				return err
			}
			twins = append(twins, Duplicate{one, heading})
		}
		return nil
	})
	return twins, err
}
