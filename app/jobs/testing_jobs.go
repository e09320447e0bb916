// The functions in this file give tests access to internals.

package jobs

import (
	"context"

	"deedkeep/app/model"
)

// RemovePreviews removes what was made of a document.
func (p *Previews) RemovePreviews(digest string) error { return p.previews.Remove(digest) }

// WithFindLock does something while somebody looks through a document.
func (p *Previews) WithFindLock(ctx context.Context, actor model.Actor, do func()) error {
	_, leave, err := p.acquireFind(ctx, actor)
	defer leave()
	if err == nil {
		do()
	}
	return err
}
