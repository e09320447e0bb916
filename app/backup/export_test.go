// The functions in this file give tests access to internals.

package backup

import "context"

// RunIfDue creates a backup if one is due.
func (b *Backups) RunIfDue(ctx context.Context) { b.runIfDue(ctx) }
