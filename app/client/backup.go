package client

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
)

// CreateBackup creates a backup. It calls progress, unless it is nil, for each report, in the same goroutine. If ctx
// ends, the backup stops and leaves no snapshot. A failure of the backup is an *Error; a truncated response is
// io.ErrUnexpectedEOF. Control socket only.
func (c *Client) CreateBackup(ctx context.Context, asked apitypes.BackupCreate, progress func(apitypes.Progress)) (apitypes.Backup, error) {
	return followProgress[apitypes.Backup](ctx, c, "/control/backup", asked, progress)
}

// BackupsPruned adds the snapshots that a command removed to the audit log. Control socket only.
func (c *Client) BackupsPruned(ctx context.Context, done apitypes.BackupPruned) error {
	return c.call(ctx, http.MethodPost, "/control/backup/pruned", done, &struct{}{})
}
