//go:build !mutant

package vault

import (
	"context"

	"deedkeep/app/blob"
)

// keepBytes makes documents durable before the record that names them is written.
func (v *Vault) keepBytes(ctx context.Context, staged ...*blob.Staged) (release func(), err error) {
	return v.blobs.Keep(ctx, staged...)
}
