package vault

import (
	"context"
	"slices"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Twin is a document of the same bytes as another, and where it is: Heading is what
// people know its abstract by ("" when there is nothing), or the name of its folder.
type Twin struct {
	File    model.File
	Heading string
}

// mostTwinsLooked bounds the search: a cover sheet may be in every abstract.
const mostTwinsLooked = 200

// Twins gives at most so many live documents with the bytes of a file, those at the
// same place first; the file itself is none of them.
func (f *Files) Twins(ctx context.Context, file model.File, most int) (twins []Twin, err error) {
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
			return len(near) >= most || looked >= mostTwinsLooked
		})
		if err != nil {
			return err
		}
		all := slices.Concat(near, far)
		for _, one := range all[:min(most, len(all))] {
			heading, err := f.v.Place(t, one)
			if err != nil {
				return err
			}
			twins = append(twins, Twin{one, heading})
		}
		return nil
	})
	return twins, err
}
