// Package backup creates, lists, schedules, verifies, and prunes backups of a vault, and
// restores single files from them. Package archive implements the format on disk.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// Backups creates and manages the backups of a vault.
type Backups struct {
	*txn.DB
	vault    *vault.Vault
	checker  *integrity.Checker
	secrets  *secret.Keys
	settings Settings

	stateMu      sync.Mutex // guards the state file and unsaved
	unsaved      *State     // the state if the file couldn't be written
	creation     txn.Task[Backup]
	verification txn.Task[archive.VerifyReport]
}

// NewBackups returns a Backups for the vault v.
func NewBackups(v *vault.Vault, checker *integrity.Checker, secrets *secret.Keys, settings Settings) *Backups {
	return &Backups{DB: v.DB, vault: v, checker: checker, secrets: secrets, settings: settings,
		creation:     txn.Task[Backup]{DB: v.DB, Busy: "A backup is already running."},
		verification: txn.Task[archive.VerifyReport]{DB: v.DB}}
}

// Settings are the backup.* settings in config.example.yaml.
type Settings struct {
	Text           bool          // snapshots contain OCR results
	To             string        // the configured directory; "": no scheduled backups
	Every          time.Duration // 0: no scheduled backups
	Keep           archive.Retention
	Recipients     []string
	Passphrase     string
	PassphraseFile string // read for each backup if Passphrase is ""
	Version        string // version of deedkeep, which is stored in snapshots
}

// Backup describes a snapshot that was created.
type Backup struct {
	Snapshot     string        `json:"snapshot"`
	At           time.Time     `json:"at"`
	To           string        `json:"to"`
	Files        uint64        `json:"files"`
	Bytes        int64         `json:"bytes"` // size of the documents, duplicates counted once
	BytesWritten int64         `json:"bytes_written"`
	Archive      string        `json:"archive"` // ID of the archive in To
	Duration     time.Duration `json:"duration"`
	Encrypted    bool          `json:"encrypted"`         // encrypted
	Missing      []string      `json:"missing,omitempty"` // snapshots that vanished from the archive
	Damaged      []uint64      `json:"damaged,omitempty"` // IDs of documents that are damaged in the vault but intact in the backup
	// IDs of documents whose OCR results were damaged or couldn't be read. Damaged pages are read again.
	DamagedText []uint64 `json:"damaged_text,omitempty"`
}

// Progress is the number of bytes of a backup that are done, and the total.
type Progress struct{ Done, Total int64 }

// Create adds a snapshot of the current state to the archive in the directory to, or in
// the configured directory if to is "". If there is no archive, it creates one. The vault
// remains usable, and an incomplete snapshot is never visible. It returns Invalid if no
// directory is set, Locked if another backup is running, InsufficientStorage, or Conflict
// with a message that says what prevents the backup.
func (b *Backups) Create(ctx context.Context, actor model.Actor, to string, progress func(Progress)) (Backup, error) {
	to, err := b.checkCreate(ctx, actor, to)
	if err != nil {
		return Backup{}, err
	}
	return b.creation.Run(ctx, actor, func(ctx context.Context, report func(done, total int64)) (Backup, error) {
		return b.createAndRecord(ctx, actor, to, func(p Progress) {
			report(p.Done, p.Total)
			progress(p)
		})
	})
}

// StartCreate runs Create in the background. Progress and State report the outcome. It returns
// the errors that Create returns before it starts copying.
func (b *Backups) StartCreate(ctx context.Context, actor model.Actor, to string) error {
	to, err := b.checkCreate(ctx, actor, to)
	if err != nil {
		return err
	}
	return b.creation.Start(actor, func(ctx context.Context, report func(done, total int64)) (Backup, error) {
		created, err := b.createAndRecord(ctx, actor, to, func(p Progress) { report(p.Done, p.Total) })
		if err != nil && ctx.Err() == nil {
			b.Log.Error("backup failed", "error", err)
		}
		return created, err
	})
}

// Progress returns the progress of the current snapshot, in bytes. If none is being
// created, it returns the outcome of the last one since the vault was opened.
func (b *Backups) Progress() txn.Progress[Backup] { return b.creation.Progress() }

// checkCreate returns the directory for a new snapshot.
func (b *Backups) checkCreate(ctx context.Context, actor model.Actor, to string) (string, error) {
	if err := b.ViewAsAdmin(ctx, actor, nil); err != nil {
		return "", err
	}
	return b.target(to)
}

// createAndRecord creates a snapshot and records the outcome.
func (b *Backups) createAndRecord(ctx context.Context, actor model.Actor, to string, progress func(Progress)) (created Backup, err error) {
	defer b.vault.Sweeper.Hold()()
	started := b.Progress().Begun
	if created, err = b.create(ctx, to, nil, progress); err != nil {
		err = ClassifyError(targetError(to, err))
		if ctx.Err() == nil {
			failed := &Failure{At: started, To: to, Reason: errs.UserMessage(err)}
			b.recordOutcome(to, func(o *Outcome) { o.Failed = failed })
		}
		return created, fmt.Errorf("create backup: %w", err)
	}
	created.To, created.Duration = to, b.Now().Sub(started)
	if created.Damaged, err = b.vault.DamagedFileIDs(context.WithoutCancel(ctx)); err != nil {
		b.Log.Warn("damaged documents not named", "error", err) // the backup is complete
	}
	b.updateState(func(s *State) {
		s.record(b.settings, to, func(o *Outcome) { o.LastGood, o.Failed = &created, nil })
		s.setArchive(to, created.Archive)
	})
	b.announce(to)
	auditErr := b.Store.Update(context.WithoutCancel(ctx), nil, func(t *store.Tx) error {
		return b.AddEvent(t, b.Now(), actor, "backup.created", "", map[string]string{"snapshot": created.Snapshot, "to": to})
	})
	if auditErr != nil {
		// The backup is valid even if the vault is read-only, so that the audit event can't be
		// stored. That is when a backup is needed most.
		b.Log.Error("backup created, but not recorded in the audit log", "error", auditErr)
	}
	return created, nil
}

// targetError returns Conflict for an error of the file system in the backup directory to.
// It returns other errors unchanged.
func targetError(to string, err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	_, known := errors.AsType[*errs.Error](err)
	if !ok || known || !filepath.IsAbs(at.Path) || !contains(to, at.Path) && !contains(at.Path, to) {
		return err
	}
	return &errs.Error{Kind: errs.Conflict, Err: err,
		Message: fmt.Sprintf("The backup directory %s can't be used (%s: %v). No backup was created.", to, at.Path, at.Err)}
}

// contains reports whether a path is the directory dir or in it.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// target returns the absolute path of a backup directory that passes CheckTarget.
func (b *Backups) target(to string) (string, error) {
	if to == "" {
		to = b.settings.To
	}
	if to == "" {
		return "", errs.InvalidField("to", "No backup directory is set. Use --to, or set backup.to in config.yaml and restart the server.")
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	return to, CheckTarget(to, b.Dir)
}

// CheckTarget returns an Invalid error if the backup directory to is inside the data
// directory or contains it, because losing one would then mean losing both.
func CheckTarget(to, data string) error {
	to, errTo := filepath.Abs(to)
	data, errData := filepath.Abs(data)
	if err := errors.Join(errTo, errData); err != nil {
		return err
	}
	for _, pair := range [][2]string{{to, data}, {data, to}} {
		if contains(resolveLinks(pair[1]), resolveLinks(pair[0])) {
			return errs.InvalidField("to", "%s overlaps with the data directory %s. Store backups on another disk.", to, data)
		}
	}
	return nil
}

// resolveLinks resolves the symbolic links in the existing part of a path.
func resolveLinks(path string) string {
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolveLinks(parent), filepath.Base(path))
	}
	return path
}

// create adds a snapshot to the archive in the directory to. upgrade is nil or describes the database if it is one of an
// older version that is about to be migrated.
func (b *Backups) create(ctx context.Context, to string, upgrade *store.Description, progress func(Progress)) (Backup, error) {
	opts, err := ArchiveOptions(b.secrets, b.settings, "")
	if err != nil {
		return Backup{}, err
	}
	opts.Now, opts.Rand, opts.FreeSpace, opts.Reserve = b.Now, b.Rand, blobstore.FreeSpace, b.MinFree
	opts.ExpectedID, opts.Existing = b.expectedArchive(to)
	a, err := archive.OpenOrCreate(to, opts)
	if err != nil {
		return Backup{}, err
	}
	s, err := a.NewSnapshot(ctx, (&txn.Throttle{Activity: b.Activity}).Pause)
	if err != nil {
		return Backup{}, err
	}
	if upgrade != nil {
		s.SetLabel("before-upgrade-" + upgrade.Label())
	}
	created, err := b.writeSnapshot(ctx, a, s, upgrade, progress)
	created.Encrypted, created.Archive, created.Missing = a.Encrypted(), a.ID(), s.Missing()
	if len(created.Missing) > 0 {
		b.Log.Warn("earlier backups are missing", "to", to, "snapshots", created.Missing)
	}
	return created, errors.Join(err, s.Close())
}

// writeSnapshot copies the database, then every document in it, and then OCR results. The temporary copy of
// the database isn't encrypted, so it may be in the archive's tmp directory only if the
// archive isn't encrypted either.
func (b *Backups) writeSnapshot(ctx context.Context, a *archive.Archive, s *archive.SnapshotWriter,
	upgrade *store.Description, progress func(Progress)) (created Backup, err error) {
	others := []string{os.TempDir()}
	if !a.Encrypted() {
		dir, err := a.TmpDir()
		if err != nil {
			return created, err
		}
		others = []string{dir, os.TempDir()}
	}
	copied, done, err := b.checker.CopyDatabase(ctx, "backup", others...)
	if err != nil {
		return created, err
	}
	defer func() { err = errors.Join(err, done()) }()
	info, err := b.checkCopy(ctx, copied, upgrade)
	if err != nil {
		return created, err
	}
	var plan textPlan
	err = copied.EachDigest(func(d [32]byte, files []model.File) error {
		s.Plan(d, files[0].Size)
		if b.settings.Text {
			b.planText(ctx, s, d, files, &plan)
		}
		return ctx.Err()
	})
	if err != nil {
		return created, err
	}
	if err := s.Start(ctx, info, copied.Path()); err != nil {
		return created, err
	}
	if err := b.addDocuments(ctx, s, copied, progress); err != nil {
		return created, err
	}
	if err := b.addTexts(ctx, s, &plan, progress); err != nil {
		return created, err
	}
	info, written, err := s.Commit(ctx)
	return Backup{Snapshot: info.Snapshot, At: info.CreatedAt, Files: info.Files, Bytes: info.Bytes, BytesWritten: written,
		DamagedText: plan.damaged}, err
}

// maxNamedDocuments is the maximum number of damaged documents named in an error message.
const maxNamedDocuments = 5

// addDocuments copies all documents. If one is damaged, it still copies the others, but
// the snapshot is not committed.
func (b *Backups) addDocuments(ctx context.Context, s *archive.SnapshotWriter, copied *store.Copy, progress func(Progress)) error {
	var damaged []string
	err := copied.EachDigest(func(d [32]byte, files []model.File) error {
		progress(Progress(s.Progress()))
		b.checkChanged(ctx, s, d, files[0])
		err := s.Add(ctx, d, files[0].Size, func() (io.ReadCloser, error) { return b.vault.Blobs.Open(ctx, d) })
		if errors.Is(err, archive.ErrSourceDamaged) && ctx.Err() == nil {
			for _, file := range files {
				damaged = append(damaged, fmt.Sprint(file.ID))
			}
			b.Log.Error("document not backed up", "file", files[0].ID, "error", err)
			if err := b.vault.VerifyBlob(ctx, d, files[0]); err != nil && ctx.Err() == nil {
				b.Log.Warn("document not verified", "file", files[0].ID, "error", err)
			}
			return nil
		}
		return err
	})
	if err != nil || len(damaged) == 0 {
		return err
	}
	named, verb := "document "+damaged[0], "is"
	if len(damaged) > 1 {
		named, verb = "documents "+strings.Join(damaged[:min(len(damaged), maxNamedDocuments)], ", "), "are"
	}
	if len(damaged) > maxNamedDocuments {
		named += fmt.Sprintf(" and %d more", len(damaged)-maxNamedDocuments)
	}
	return &errs.Error{Kind: errs.Conflict,
		Message: fmt.Sprintf("No backup was created: %[1]s %[2]s damaged or missing in the data directory and %[2]s not in an earlier backup in this directory. "+
			`Run "deedkeep verify" for details. Upload the documents again, or delete them permanently.`, named, verb)}
}

// checkChanged verifies a document that the archive already has if its file was changed since
// the previous snapshot: the archive's copy is not read from the vault again, so the damage
// would be noticed only by the next scrub. It records damage like the scrub.
func (b *Backups) checkChanged(ctx context.Context, s *archive.SnapshotWriter, d blobstore.Digest, f model.File) {
	if !s.Contains(d, f.Size) {
		return
	}
	state, err := b.vault.Blobs.Stat(ctx, d)
	if err == nil && state.Size == f.Size && !time.Unix(0, state.Modified).After(s.Previous()) {
		return
	}
	if err := b.vault.VerifyBlob(ctx, d, f); err != nil && ctx.Err() == nil {
		b.Log.Warn("document not verified", "file", f.ID, "error", err)
	}
}

// ArchiveOptions returns the options for opening an archive. keys may be nil if there is
// no vault. identities are age identities. The passphrase comes from the settings.
func ArchiveOptions(keys *secret.Keys, settings Settings, identities string) (archive.Options, error) {
	passphrase, err := settings.passphrase()
	if err != nil {
		return archive.Options{}, err
	}
	opts := archive.Options{
		Encryption: archive.Encryption{Recipients: settings.Recipients, Passphrase: passphrase},
		Decryption: archive.Decryption{Passphrase: passphrase, Identities: identities},
	}
	if keys != nil {
		opts.Vault, opts.HeaderKey = keys.Fingerprint(), keys.Subkey("backup-heads")
		opts.BlobNameKey, opts.ManifestKey = keys.Subkey("backup-names"), keys.Subkey("backup-manifests")
	}
	return opts, nil
}

func (s Settings) passphrase() (string, error) {
	if s.Passphrase != "" || s.PassphraseFile == "" {
		return s.Passphrase, nil
	}
	passphrase, err := ReadPassphrase(s.PassphraseFile)
	if err != nil {
		return "", fmt.Errorf("backup.passphrase_file: %w", err)
	}
	return passphrase, nil
}

// ReadPassphrase reads a passphrase from a file and removes trailing line breaks.
func ReadPassphrase(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	passphrase := strings.TrimRight(string(raw), "\r\n")
	if passphrase == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return passphrase, nil
}

// ClassifyError wraps an archive error in an *errs.Error of the matching kind. It returns
// other errors unchanged.
func ClassifyError(err error) error {
	if _, named := errors.AsType[*errs.Error](err); named || err == nil {
		return err
	}
	for _, known := range archiveKinds {
		if errors.Is(err, known.err) {
			return &errs.Error{Kind: known.kind, Message: err.Error(), Err: err}
		}
	}
	return err
}

// archiveKinds maps archive errors to kinds. The first match applies. For example, if the
// disk became full, the archive is incomplete and therefore also damaged.
var archiveKinds = []struct {
	err  error
	kind errs.Kind
}{
	{archive.ErrLocked, errs.Locked},
	{archive.ErrDiskFull, errs.InsufficientStorage},
	{archive.ErrNotFound, errs.NotFound},
	{archive.ErrForeign, errs.Conflict},
	{archive.ErrMissing, errs.Conflict},
	{archive.ErrDecrypt, errs.Conflict},
	{archive.ErrDamaged, errs.Conflict},
	{archive.ErrNewerVersion, errs.Conflict},
	{archive.ErrSourceDamaged, errs.Conflict},
}
