// The functions in this file give tests access to internals.

package jobs

import (
	"context"

	"deedkeep/app/model"
)

// DropDerived removes what was made of a document.
func (p *Previews) DropDerived(digest string) error { return p.previews.Remove(digest) }

// Looks does something while somebody looks through a document.
func (p *Previews) Looks(ctx context.Context, actor model.Actor, do func()) error {
	_, leave, err := p.looking(ctx, actor)
	defer leave()
	if err == nil {
		do()
	}
	return err
}
