package client

import (
	"context"

	"deedkeep/app/wire"
)

// CreateBackup has a snapshot made in the directory to, absolute, or "" for that of
// the settings. It calls progress, which may be nil, for each report, in this
// goroutine; the end of the context is that of the backup, and nothing of it is visible. What
// stands against it is an *Error; an answer that was cut, io.ErrUnexpectedEOF. Door
// only.
func (c *Client) CreateBackup(ctx context.Context, to string, progress func(wire.Progress)) (wire.Backup, error) {
	return follow[wire.Backup](ctx, c, "/control/backup", wire.BackupCreate{To: to}, progress)
}
