//go:build !mutant

package vault

import (
	"context"

	"deedkeep/app/blobstore"
)

// commitBlobs makes documents durable before their records are written. A damaged blob
// with the same digest is intact again afterward. The blobs are pinned until release is
// called.
func (v *Vault) commitBlobs(ctx context.Context, staged ...*blobstore.Staged) (release func(), err error) {
	release, err = v.Blobs.Commit(ctx, staged...)
	if err == nil {
		for _, blob := range staged {
			v.ClearDamage(blob.Digest())
		}
	}
	return release, err
}
