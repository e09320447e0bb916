package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

// backup makes a snapshot; it streams its progress and then its result, a JSON line
// each. A command that goes away ends it.
func (c control) backup(w http.ResponseWriter, r *http.Request) {
	var asked wire.BackupCreate
	if err := read(r, &asked); err != nil {
		c.answer(func(*http.Request) (any, error) { return nil, err })(w, r)
		return
	}
	if asked.New {
		if err := c.Vault.Backups.Anew(asked.To); err != nil {
			c.answer(func(*http.Request) (any, error) { return nil, err })(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines, flusher := json.NewEncoder(w), http.NewResponseController(w)
	said := time.Time{}
	made, err := c.Vault.Backups.Create(r.Context(), operator(r), asked.To, func(p vault.BackupProgress) {
		if time.Since(said) < progressEvery {
			return
		}
		said = time.Now()
		// A command that has gone ends the request's context, and with it the work.
		_ = errors.Join(lines.Encode(wire.BackupLine{Progress: &wire.Progress{Done: p.Done, Total: p.Total, Unit: "bytes"}}), flusher.Flush())
	})
	line := wire.BackupLine{Result: backupShape(made)}
	if err != nil {
		status, failure, _ := translate(err)
		if status == http.StatusInternalServerError {
			c.Log.ErrorContext(r.Context(), "backup", "error", err, "request_id", r.Header.Get(requestIDHeader))
			// Whoever may knock at this door owns the machine: the reason is for them.
			failure.Message = err.Error()
		}
		line = wire.BackupLine{Error: failure.Message, Status: status}
	}
	_ = lines.Encode(line) // as above
}

func backupShape(b vault.Backup) *wire.Backup {
	return &wire.Backup{
		Snapshot: b.Snapshot, CreatedAt: wire.At(b.At), To: b.To, Files: int64(b.Files), Bytes: b.Bytes,
		BytesWritten: b.BytesWritten, Seconds: b.Took.Seconds(),
	}
}

// backupStatus adds what became of the last backups.
func (c control) backupStatus(out *wire.Status) error {
	state, err := c.Vault.Backups.State()
	if err != nil {
		return err
	}
	if good := state.Good; good != nil {
		out.LastBackupAt, out.LastBackup = new(wire.At(good.At)), backupShape(*good)
	}
	if failed := state.Failed; failed != nil {
		out.BackupFailure = &wire.BackupFailure{At: wire.At(failed.At), To: failed.To, Reason: failed.Reason}
	}
	if state.Next != nil {
		out.NextBackupAt = new(wire.At(*state.Next))
	}
	return nil
}
