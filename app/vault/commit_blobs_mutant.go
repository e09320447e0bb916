//go:build mutant

package vault

import (
	"context"
	"time"

	"deedkeep/app/blobstore"
)

// commitBlobs is the mistake that the crash harness must catch: the record is
// committed first and the bytes get their names afterward. It is in no build of
// the product.
func (v *Vault) commitBlobs(ctx context.Context, staged ...*blobstore.Staged) (release func(), err error) {
	return func() {
		time.Sleep(20 * time.Millisecond) // as on a slow disk
		unpin, err := v.Blobs.Commit(ctx, staged...)
		if err != nil {
			v.Log.Error("mutant: bytes are lost", "error", err)
			return
		}
		unpin()
	}, nil
}
