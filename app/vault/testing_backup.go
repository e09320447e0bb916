// The functions in this file give tests access to internals.

package vault

import "context"

// Turn looks at the plan once.
func (b *Backups) Turn(ctx context.Context) { b.turn(ctx) }

// BackupError is the error of a backup as its callers see it.
func BackupError(err error) error { return backupError(err) }
