// The functions in this file give tests access to internals.

package backup

import "context"

// RunIfDue checks the schedule once.
func (b *Backups) RunIfDue(ctx context.Context) { b.runIfDue(ctx) }
