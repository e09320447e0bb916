package control

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
)

// CreateBackup creates a snapshot. It calls progress in this goroutine unless progress is nil. If ctx ends, the
// backup stops and leaves no snapshot. CreateBackup returns a *client.Error if the server rejects or can't finish the
// backup, and io.ErrUnexpectedEOF if the response ends early.
func (c *Client) CreateBackup(ctx context.Context, create apitypes.BackupCreate,
	progress func(apitypes.Progress)) (apitypes.Backup, error) {
	return followProgress[apitypes.Backup](ctx, c, "/control/backup", create, progress)
}

func (h handler) backup(w http.ResponseWriter, r *http.Request) {
	var asked apitypes.BackupCreate
	err := readBody(r, &asked, maxBody)
	if s := asked.Encryption; err == nil && s != nil {
		err = h.App.Backups.CheckEncryption(backup.Encryption{Recipients: s.Recipients, PassphraseFingerprint: s.Passphrase})
	}
	if err == nil && asked.NewArchive {
		err = h.App.Backups.ForgetArchive(asked.To)
	}
	if err != nil {
		h.respond(w, r, nil, err)
		return
	}
	streamProgress(h, w, r, "bytes", func(report func(done, total int64)) (apitypes.Backup, error) {
		made, err := h.App.Backups.Create(r.Context(), operator(r), asked.To, func(p backup.Progress) { report(p.Done, p.Total) })
		return backupShape(made), err
	})
}

// BackupsPruned records in the audit log that a command removed snapshots.
func (c *Client) BackupsPruned(ctx context.Context, pruned apitypes.BackupPruned) error {
	_, err := call[struct{}](ctx, c, "POST /control/backup/pruned", pruned)
	return err
}

func (h handler) pruned(r *http.Request, done apitypes.BackupPruned) (any, error) {
	return struct{}{}, h.App.Backups.LogPruned(r.Context(), operator(r), done.From, done.Removed)
}

func backupShape(b backup.Backup) apitypes.Backup {
	return apitypes.Backup{
		Snapshot: b.Snapshot, CreatedAt: apitypes.At(b.At), To: b.To, Files: int64(b.Files), Bytes: b.Bytes,
		BytesWritten: b.BytesWritten, Seconds: b.Duration.Seconds(), Encrypted: b.Encrypted, Missing: b.Missing, Damaged: b.Damaged,
		DamagedText: b.DamagedText,
	}
}
