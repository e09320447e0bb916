//go:build !mutant

package vault

import (
	"context"

	"deedkeep/app/blobstore"
)

// commitBlobs makes documents durable before the record that names them is written. A
// damaged document of the same bytes is intact again then.
func (v *Vault) commitBlobs(ctx context.Context, staged ...*blobstore.Staged) (release func(), err error) {
	release, err = v.Blobs.Commit(ctx, staged...)
	if err == nil {
		for _, one := range staged {
			v.ClearDamage(one.Digest())
		}
	}
	return release, err
}
