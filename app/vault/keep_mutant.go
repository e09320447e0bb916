//go:build mutant

package vault

import (
	"context"
	"time"

	"deedkeep/app/blobstore"
)

// keepBytes is the mistake that the crash harness must catch: the record is
// committed first and the bytes get their names afterward. It is in no build of
// the product.
func (v *Vault) keepBytes(ctx context.Context, staged ...*blobstore.Staged) (release func(), err error) {
	return func() {
		time.Sleep(20 * time.Millisecond) // as on a slow disk
		unpin, err := v.blobs.Commit(ctx, staged...)
		if err != nil {
			v.Log.Error("mutant: bytes are lost", "error", err)
			return
		}
		unpin()
	}, nil
}
