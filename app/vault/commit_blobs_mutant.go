//go:build mutant

package vault

import (
	"context"
	"time"

	"deedkeep/app/blobstore"
)

// commitBlobs deliberately commits the blobs after their records. The crash harness must
// detect the resulting data loss. Only builds with the tag "mutant" contain it.
func (v *Vault) commitBlobs(ctx context.Context, staged ...*blobstore.Staged) (release func(), err error) {
	return func() {
		time.Sleep(20 * time.Millisecond) // simulates a slow disk
		unpin, err := v.Blobs.Commit(ctx, staged...)
		if err != nil {
			v.Log.Error("mutant: bytes are lost", "error", err)
			return
		}
		unpin()
	}, nil
}
