package backup

import (
	"context"
	"slices"
	"strings"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// MaxSchema is the newest schema of the database that this version of deedkeep can restore.
const MaxSchema = store.Schema

// SnapshotSummary is a snapshot in the configured directory. If the snapshot can't be
// read, Problem says why.
type SnapshotSummary struct {
	Snapshot string
	At       time.Time
	Files    uint64
	Bytes    int64 // size of the documents, duplicates counted once
	Problem  string
}

// Destination is the configured directory and the snapshots in it.
type Destination struct {
	To        string            // "": not set
	Every     time.Duration     // 0: no scheduled backups
	Encrypted bool              // whether snapshots are encrypted or, if there are none, whether new ones will be
	Snapshots []SnapshotSummary // newest first
	More      int               // number of older snapshots that are not listed
	Problem   string            // why the directory can't be read; "" if it can be read or doesn't exist yet
}

// Destination returns the configured directory and up to limit snapshots in it, newest
// first.
func (b *Backups) Destination(ctx context.Context, actor model.Actor, limit int) (p Destination, err error) {
	if err := b.ViewAsAdmin(ctx, actor, nil); err != nil {
		return p, err
	}
	settings := b.settings
	p = Destination{To: settings.To, Every: settings.Every, Encrypted: len(settings.Recipients) > 0 || settings.Passphrase != "" ||
		settings.PassphraseFile != ""}
	if settings.To == "" {
		return p, nil
	}
	a, err := b.open(settings.To)
	if errs.KindOf(err) == errs.NotFound {
		return p, nil // no backup has been created yet
	}
	if err != nil {
		p.Problem = errs.UserMessage(err)
		return p, nil
	}
	p.Encrypted = a.Encrypted()
	names, err := a.Snapshots()
	if err != nil {
		p.Problem = err.Error()
		return p, nil //nolint:nilerr // the caller shows it as a problem of the directory
	}
	if missing, err := a.Missing(); err != nil {
		p.Problem = err.Error()
	} else if len(missing) > 0 {
		p.Problem = strings.Join(missing, ", ") + ": " + archive.ErrVanished.Error()
	}
	slices.Reverse(names)
	if len(names) > limit {
		p.More, names = len(names)-limit, names[:limit]
	}
	for _, name := range names {
		summary := SnapshotSummary{Snapshot: name}
		if info, err := a.Info(name); err != nil {
			summary.Problem = err.Error()
		} else {
			summary.At, summary.Files, summary.Bytes = info.CreatedAt, info.Files, info.Bytes
		}
		p.Snapshots = append(p.Snapshots, summary)
	}
	return p, ctx.Err()
}

// open opens the archive in a directory with the vault's keys.
func (b *Backups) open(to string) (*archive.Archive, error) {
	opts, err := ArchiveOptions(b.secrets, b.settings, "")
	if err != nil {
		return nil, err
	}
	opts.Now = b.Now
	a, err := archive.Open(to, opts)
	return a, ClassifyError(err)
}

// StartVerify verifies every byte of a snapshot in the configured directory, or of all
// snapshots if snapshot is "". It runs in the background. It returns Locked if another
// verification is running, Invalid if no directory is set, and NotFound if there is no
// such snapshot.
func (b *Backups) StartVerify(ctx context.Context, actor model.Actor, snapshot string) error {
	if err := b.ViewAsAdmin(ctx, actor, nil); err != nil {
		return err
	}
	to, err := b.target("")
	if err != nil {
		return err
	}
	a, err := b.open(to)
	if err != nil {
		return err
	}
	if names, err := a.Snapshots(); err != nil {
		return err
	} else if snapshot != "" && !slices.Contains(names, snapshot) {
		return errs.RecordNotFound("snapshot", snapshot)
	}
	return b.verification.Start(actor, func(ctx context.Context, report func(done, total int64)) (archive.VerifyReport, error) {
		found, err := a.Verify(ctx, snapshot, report)
		return found, ClassifyError(err)
	})
}

// VerifyProgress returns the progress, in bytes, of the current verification. If none is
// running, it returns the result of the last one since the vault was opened.
func (b *Backups) VerifyProgress() txn.Progress[archive.VerifyReport] {
	return b.verification.Progress()
}
