package client

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
)

// CreateBackup has a snapshot made as asked. It calls progress, which may be nil, for each report, in this
// goroutine; the end of the context is that of the backup, and nothing of it is visible. What
// stands against it is an *Error; an answer that was cut, io.ErrUnexpectedEOF. Door
// only.
func (c *Client) CreateBackup(ctx context.Context, asked apitypes.BackupCreate, progress func(apitypes.Progress)) (apitypes.Backup, error) {
	return followProgress[apitypes.Backup](ctx, c, "/control/backup", asked, progress)
}

// BackupsPruned has the log of events say which snapshots a command removed. Door only.
func (c *Client) BackupsPruned(ctx context.Context, done apitypes.BackupPruned) error {
	return c.call(ctx, http.MethodPost, "/control/backup/pruned", done, &struct{}{})
}
