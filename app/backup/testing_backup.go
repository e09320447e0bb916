// The functions in this file give tests access to internals.

package backup

import "context"

// Turn looks at the plan once.
func (b *Backups) Turn(ctx context.Context) { b.turn(ctx) }

