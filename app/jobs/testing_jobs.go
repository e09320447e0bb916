// The functions in this file give tests access to internals.

package jobs

import (
	"context"

	"deedkeep/app/model"
)

// RemovePreviews removes the stored previews and text of a document.
func (p *Previews) RemovePreviews(digest string) error { return p.previews.Remove(digest) }

// WithFindLock calls do while the actor holds the lock of a search within a document.
func (p *Previews) WithFindLock(ctx context.Context, actor model.Actor, do func()) error {
	_, release, err := p.acquireFind(ctx, actor)
	defer release()
	if err == nil {
		do()
	}
	return err
}
