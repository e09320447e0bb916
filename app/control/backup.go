package control

import (
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup"
)

// backup creates a snapshot. It stops if the command disconnects.
func (c handler) backup(w http.ResponseWriter, r *http.Request) {
	var asked apitypes.BackupCreate
	if err := readBody(r, &asked); err != nil {
		c.respond(func(*http.Request) (any, error) { return nil, err })(w, r)
		return
	}
	if s := asked.Encryption; s != nil {
		if err := c.Vault.Backups.CheckEncryption(backup.Encryption{Recipients: s.Recipients, PassphraseFingerprint: s.Passphrase}); err != nil {
			c.respond(func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
	}
	if asked.NewArchive {
		if err := c.Vault.Backups.ForgetArchive(asked.To); err != nil {
			c.respond(func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
	}
	streamProgress(c, w, r, "bytes", func(report func(done, total int64)) (apitypes.Backup, error) {
		made, err := c.Vault.Backups.Create(r.Context(), operator(r), asked.To, func(p backup.Progress) { report(p.Done, p.Total) })
		return backupShape(made), err
	})
}

// pruned records in the audit log which snapshots a command removed from a backup directory.
func (c handler) pruned(r *http.Request) (any, error) {
	var done apitypes.BackupPruned
	if err := readBody(r, &done); err != nil {
		return nil, err
	}
	return struct{}{}, c.Vault.Backups.LogPruned(r.Context(), operator(r), done.From, done.Removed)
}

func backupShape(b backup.Backup) apitypes.Backup {
	return apitypes.Backup{
		Snapshot: b.Snapshot, CreatedAt: apitypes.At(b.At), To: b.To, Files: int64(b.Files), Bytes: b.Bytes,
		BytesWritten: b.BytesWritten, Seconds: b.Duration.Seconds(), Sealed: b.Encrypted, Damaged: b.Damaged,
	}
}

// backupStatus adds the results of the last backups.
func (c handler) backupStatus(out *apitypes.Status) error {
	state, err := c.Vault.Backups.State()
	if err != nil {
		return err
	}
	if good := state.LastGood; good != nil {
		out.LastBackupAt, out.LastBackup = new(apitypes.At(good.At)), new(backupShape(*good))
	}
	if failed := c.Vault.Backups.ScheduleFailure(state); failed != nil {
		out.BackupFailure = &apitypes.BackupFailure{At: apitypes.At(failed.At), To: failed.To, Reason: failed.Reason}
	}
	if state.Next != nil {
		out.NextBackupAt = new(apitypes.At(*state.Next))
	}
	return nil
}
