package backup

import (
	"context"
	"slices"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/txn"
)

// SnapshotSummary is a snapshot in the directory of the settings. Problem says why it cannot be
// read, and is "" for one that can.
type SnapshotSummary struct {
	Snapshot string
	At       time.Time
	Files    uint64
	Bytes    int64 // of documents, each once
	Problem  string
}

// Destination is what the settings say of where snapshots go, and what is there.
type Destination struct {
	To        string            // "": nowhere
	Every     time.Duration     // 0: not by themselves
	Encrypted bool              // those that are there, or would be made
	Snapshots []SnapshotSummary // newest first
	More      int               // older ones that are not listed
	Problem   string            // why the directory cannot be read; "" when it can, or is not there yet
}

// Destination lists the newest snapshots in the directory of the settings.
func (b *Backups) Destination(ctx context.Context, actor model.Actor, most int) (p Destination, err error) {
	if err := b.ViewAsAdmin(ctx, actor, nil); err != nil {
		return p, err
	}
	set := b.settings
	p = Destination{To: set.To, Every: set.Every, Encrypted: len(set.Recipients) > 0 || set.Passphrase != "" || set.PassphraseFile != ""}
	if set.To == "" {
		return p, nil
	}
	a, err := b.open(set.To)
	if errs.KindOf(err) == errs.NotFound {
		return p, nil // nothing was made there yet
	}
	if err != nil {
		p.Problem = txn.UserMessage(err)
		return p, nil
	}
	p.Encrypted = a.Encrypted()
	names, err := a.Snapshots()
	if err != nil {
		p.Problem = err.Error()
		return p, nil //nolint:nilerr // it is a finding about the place, and told as one
	}
	slices.Reverse(names)
	if len(names) > most {
		p.More, names = len(names)-most, names[:most]
	}
	for _, name := range names {
		listed := SnapshotSummary{Snapshot: name}
		if info, err := a.Info(name); err != nil {
			listed.Problem = err.Error()
		} else {
			listed.At, listed.Files, listed.Bytes = info.CreatedAt, info.Files, info.Bytes
		}
		p.Snapshots = append(p.Snapshots, listed)
	}
	return p, ctx.Err()
}

// open opens the archive in a directory with what the vault has to open it.
func (b *Backups) open(to string) (*archive.Archive, error) {
	opts, err := ArchiveOptions(b.secrets, b.settings, "")
	if err != nil {
		return nil, err
	}
	opts.Now = b.Now
	a, err := archive.Open(to, opts)
	return a, ClassifyError(err)
}

// StartVerify reads every byte of one snapshot in the directory of the settings, or of
// all where the name is "", behind whoever asks for it. Locked while one goes on,
// Invalid without a directory, NotFound where there is no such snapshot.
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

// VerifyProgress is how far a verification that StartVerify started has come, in bytes, and
// what the last one found since the vault was opened.
func (b *Backups) VerifyProgress() txn.Progress[archive.VerifyReport] {
	return b.verification.Progress()
}
