// The functions in this file give tests access to internals.

package jobs

import (
	"context"

	"deedkeep/app/model"
)

// WithFindLock calls do while the actor holds the lock for searches within documents.
func (p *Previews) WithFindLock(ctx context.Context, actor model.Actor, do func()) error {
	_, release, err := p.acquireFind(ctx, actor)
	defer release()
	if err == nil {
		do()
	}
	return err
}
