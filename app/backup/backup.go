package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Backups are the copies of the vault in a directory elsewhere (app/backup/archive).
type Backups struct {
	*txn.DB
	vault    *vault.Vault
	checker  *integrity.Checker
	secrets  *secret.Keys
	settings Settings

	createMu sync.Mutex // held by the snapshot under way
	mu       sync.Mutex
	cancel   context.CancelFunc // of the snapshot under way
	closed   bool
	progress txn.Progress[Backup] // the snapshot under way, or the last

	running      sync.WaitGroup // added to before closed
	verification txn.Task[archive.VerifyReport]
}

// NewBackups returns the backups of a vault.
func NewBackups(v *vault.Vault, checker *integrity.Checker, secrets *secret.Keys, set Settings) *Backups {
	return &Backups{DB: v.DB, vault: v, checker: checker, secrets: secrets, settings: set, verification: txn.Task[archive.VerifyReport]{DB: v.DB}}
}

// Settings are the settings backup.* of config.example.yaml.
type Settings struct {
	To             string        // "": none by itself
	Every          time.Duration // 0: none by itself
	Keep           archive.Retention
	Recipients     []string
	Passphrase     string
	PassphraseFile string // read each time, when Passphrase is ""
}

// Backup is one snapshot, and what it took to make it.
type Backup struct {
	Snapshot     string        `json:"snapshot"`
	At           time.Time     `json:"at"`
	To           string        `json:"to"`
	Files        uint64        `json:"files"`
	Bytes        int64         `json:"bytes"` // of documents, each once
	BytesWritten int64         `json:"bytes_written"`
	Archive      string        `json:"archive"` // which one in To
	Duration     time.Duration `json:"took"`
	Encrypted    bool          `json:"sealed"`            // encrypted
	Damaged      []uint64      `json:"damaged,omitempty"` // documents that are known to be damaged in the vault, and are intact in it
}

// Progress says how many bytes of those to be copied are there.
type Progress struct{ Done, Total int64 }

// Create adds a snapshot of this moment to the archive in directory to ("": that of
// the settings), which is made where there is none. Serving goes on; the snapshot is
// complete or invisible. It returns Invalid without a directory, Locked while another
// one is being made, Full, or Conflict with a sentence that says what stands against it.
func (b *Backups) Create(ctx context.Context, actor model.Actor, to string, progress func(Progress)) (Backup, error) {
	ctx, to, done, err := b.beginCreate(ctx, actor, to)
	if err != nil {
		return Backup{}, err
	}
	defer done()
	return b.createAndRecord(ctx, actor, to, progress)
}

// StartCreate is Create in the directory of the settings behind whoever asks for it: what it
// comes to stands in Running, and in State. What can be told at once is an error, as of
// Create.
func (b *Backups) StartCreate(ctx context.Context, actor model.Actor) error {
	ctx, to, done, err := b.beginCreate(context.WithoutCancel(ctx), actor, "")
	if err != nil {
		return err
	}
	err = b.Tasks.Start(func(context.Context) { // close ends it by the context of begin
		defer done()
		if _, err := b.createAndRecord(ctx, actor, to, func(Progress) {}); err != nil && ctx.Err() == nil {
			b.Log.Error("backup", "error", err)
		}
	})
	if err != nil {
		b.updateProgress(func(p *txn.Progress[Backup]) { p.Running, p.Ended, p.Err = false, b.Now(), err })
		done()
	}
	return err
}

// Progress is how far the snapshot under way has come, in bytes, whoever asked for it,
// and what the last one came to since the vault was opened.
func (b *Backups) Progress() txn.Progress[Backup] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.progress
}

// beginCreate makes sure that one snapshot is made at a time; done is called when it is over.
func (b *Backups) beginCreate(asked context.Context, actor model.Actor, where string) (ctx context.Context, to string, done func(), err error) {
	if err := b.ViewAsAdmin(asked, actor, nil); err != nil {
		return nil, "", nil, err
	}
	if to, err = b.target(where); err != nil {
		return nil, "", nil, err
	}
	if !b.createMu.TryLock() {
		return nil, "", nil, &errs.Error{Kind: errs.Locked, Message: "A backup is already being made."}
	}
	ctx, left, err := b.register(asked)
	if err != nil {
		b.createMu.Unlock()
		return nil, "", nil, err
	}
	b.updateProgress(func(p *txn.Progress[Backup]) { *p = txn.Progress[Backup]{Running: true, By: actor, Begun: b.Now()} })
	return ctx, to, func() { left(); b.createMu.Unlock() }, nil
}

// createAndRecord makes the snapshot, and takes down what came of it.
func (b *Backups) createAndRecord(ctx context.Context, actor model.Actor, to string, progress func(Progress)) (made Backup, err error) {
	begun := b.Progress().Begun
	defer func() {
		b.updateProgress(func(p *txn.Progress[Backup]) { p.Running, p.Ended, p.Result, p.Err = false, b.Now(), made, err })
	}()
	made, err = b.create(ctx, to, func(at Progress) {
		b.updateProgress(func(p *txn.Progress[Backup]) { p.Done, p.Total = at.Done, at.Total })
		progress(at)
	})
	if err != nil {
		err = ClassifyError(err)
		if ctx.Err() == nil {
			failed := &Failure{At: begun, To: to, Reason: txn.UserMessage(err)}
			b.recordOutcome(to, func(o *Outcome) { o.Failed = failed })
		}
		return made, fmt.Errorf("backup: %w", err)
	}
	made.To, made.Duration, made.Damaged = to, b.Now().Sub(begun), b.vault.DamagedFileIDs()
	b.recordOutcome(to, func(o *Outcome) { o.LastGood, o.Failed = &made, nil })
	b.updateState(func(s *State) { s.setArchive(to, made.Archive) })
	noted := b.Store.Update(context.WithoutCancel(ctx), nil, func(t *store.Tx) error {
		return b.AddEvent(t, b.Now(), actor, "backup.created", "", map[string]string{"snapshot": made.Snapshot, "to": to})
	})
	if noted != nil {
		// A vault that takes no writes any more needs its backup most of all.
		b.Log.Error("the backup was made, but the log of events does not say so", "error", noted)
	}
	return made, nil
}

func (b *Backups) updateProgress(change func(*txn.Progress[Backup])) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.progress)
}

// register makes the snapshot one that Close can end and waits for.
func (b *Backups) register(ctx context.Context) (context.Context, func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, txn.ErrClosing
	}
	ctx, cancel := context.WithCancel(ctx)
	b.cancel = cancel
	release := b.vault.Sweeper.Hold()
	b.running.Add(1)
	return ctx, func() {
		cancel()
		release()
		b.running.Done()
	}, nil
}

// close ends the snapshot under way and waits for it.
func (b *Backups) Close() {
	b.mu.Lock()
	b.closed = true
	if b.cancel != nil {
		b.cancel()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// target is the directory, absolute. In the data directory it would be lost with it.
func (b *Backups) target(to string) (string, error) {
	if to == "" {
		to = b.settings.To
	}
	if to == "" {
		return "", errs.InvalidField("to", "There is no directory to back up to: name one with --to, or in the setting backup.to.")
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	return to, CheckTarget(to, b.Dir)
}

// CheckTarget is nil when backups of the vault in directory data may go to to: Invalid
// when one lies inside the other.
func CheckTarget(to, data string) error {
	to, errTo := filepath.Abs(to)
	data, errData := filepath.Abs(data)
	if err := errors.Join(errTo, errData); err != nil {
		return err
	}
	for _, pair := range [][2]string{{to, data}, {data, to}} {
		if rel, err := filepath.Rel(resolveLinks(pair[1]), resolveLinks(pair[0])); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return errs.InvalidField("to", fmt.Sprintf("%s and the data directory %s lie inside each other: a backup belongs on another disk.", to, data))
		}
	}
	return nil
}

// resolveLinks follows links as far as there are any.
func resolveLinks(path string) string {
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolveLinks(parent), filepath.Base(path))
	}
	return path
}

func (b *Backups) create(ctx context.Context, to string, progress func(Progress)) (Backup, error) {
	opts, err := ArchiveOptions(b.secrets, b.settings, "")
	if err != nil {
		return Backup{}, err
	}
	opts.Now, opts.Rand, opts.FreeSpace, opts.Reserve = b.Now, b.Rand, blobstore.FreeSpace, b.MinFree
	if opts.ExpectedID, err = b.expectedArchive(to); err != nil {
		return Backup{}, err
	}
	a, err := archive.OpenOrCreate(to, opts)
	if err != nil {
		return Backup{}, err
	}
	s, err := a.NewSnapshot(ctx, (&txn.Throttle{Activity: b.Activity}).Pause)
	if err != nil {
		return Backup{}, err
	}
	made, err := b.writeSnapshot(ctx, a, s, progress)
	made.Encrypted, made.Archive = a.Encrypted(), a.ID()
	return made, errors.Join(err, s.Close())
}

// writeSnapshot copies the database aside, and then every document that it names. The copy may be
// in the archive's own tmp, unless the archive is encrypted: a copy is not.
func (b *Backups) writeSnapshot(ctx context.Context, a *archive.Archive, s *archive.SnapshotWriter, progress func(Progress)) (made Backup, err error) {
	others := []string{os.TempDir()}
	if !a.Encrypted() {
		dir, err := a.TmpDir()
		if err != nil {
			return made, err
		}
		others = []string{dir, os.TempDir()}
	}
	copied, done, err := b.checker.CopyDatabase(ctx, "backup", others...)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, done()) }()
	info, err := b.checkCopy(ctx, copied)
	if err != nil {
		return made, err
	}
	err = copied.EachDigest(func(d [32]byte, files []model.File) error {
		s.Plan(d, files[0].Size)
		return ctx.Err()
	})
	if err != nil {
		return made, err
	}
	if err := s.Start(ctx, info, copied.Path()); err != nil {
		return made, err
	}
	if err := b.addDocuments(ctx, s, copied, progress); err != nil {
		return made, err
	}
	info, written, err := s.Commit(ctx)
	return Backup{Snapshot: info.Snapshot, At: info.CreatedAt, Files: info.Files, Bytes: info.Bytes, BytesWritten: written}, err
}

// checkCopy checks the copy and counts its records: a damaged database is no backup.
func (b *Backups) checkCopy(ctx context.Context, copied *store.Copy) (info archive.Info, err error) {
	var first *store.Finding
	found := 0
	census, err := copied.Check(ctx, func(f store.Finding) {
		if found++; first == nil {
			first = &f
		}
	})
	if err != nil {
		return info, err
	}
	if first != nil {
		return info, &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("The database is damaged (%s %s: %s; %d findings), and a damaged one is not backed up: "+
			`"deedkeep verify" lists what is wrong. The backups made before are as they were.`, first.Kind, first.Subject, first.Problem, found)}
	}
	key, err := os.ReadFile(filepath.Join(b.Dir, "secret.key"))
	if err != nil {
		return info, err
	}
	info = archive.Info{Schema: store.Schema, Secret: strings.TrimSpace(string(key)), Files: uint64(census.Files), Events: uint64(census.Events)}
	return info, copied.View(func(t *store.Tx) error {
		info.Abstracts, info.Orders, info.Folders = t.Count(store.CountAbstracts), t.Count(store.CountOrders), t.Count(store.CountFolders)
		return nil
	})
}

// maxNamedDocuments is how many damaged documents a sentence names.
const maxNamedDocuments = 5

// addDocuments adds them all. One that is damaged here does not keep the others from
// being copied, but it keeps the snapshot from being finished.
func (b *Backups) addDocuments(ctx context.Context, s *archive.SnapshotWriter, copied *store.Copy, progress func(Progress)) error {
	var bad []string
	err := copied.EachDigest(func(d [32]byte, files []model.File) error {
		progress(Progress(s.Progress()))
		err := s.Add(ctx, d, files[0].Size, func() (io.ReadCloser, error) { return b.vault.Blobs.Open(d) })
		if errors.Is(err, archive.ErrSourceDamaged) && ctx.Err() == nil {
			bad = append(bad, fmt.Sprint(files[0].ID))
			b.Log.Error("a document could not be backed up", "file", files[0].ID, "error", err)
			if err := b.vault.VerifyBlob(ctx, d, files[0]); err != nil && ctx.Err() == nil {
				b.Log.Warn("a document is not verified", "file", files[0].ID, "error", err)
			}
			return nil
		}
		return err
	})
	if err != nil || len(bad) == 0 {
		return err
	}
	more := ""
	if len(bad) > maxNamedDocuments {
		more = fmt.Sprintf(" and %d more", len(bad)-maxNamedDocuments)
		bad = bad[:maxNamedDocuments]
	}
	return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf("The bytes of file %s%s are damaged or missing in the vault and in no earlier backup here: the snapshot was not made. "+
		`"deedkeep verify" says more; file them again, or delete them for good.`, strings.Join(bad, ", "), more)}
}

// ArchiveOptions are what opens an archive: the secret of the vault (nil where there
// is none), the passphrase of the settings, and age identities.
func ArchiveOptions(ring *secret.Keys, set Settings, identities string) (archive.Options, error) {
	phrase, err := set.passphrase()
	if err != nil {
		return archive.Options{}, err
	}
	opts := archive.Options{
		Encryption: archive.Encryption{Recipients: set.Recipients, Passphrase: phrase},
		Decryption: archive.Decryption{Passphrase: phrase, Identities: identities},
	}
	if ring != nil {
		opts.Vault, opts.HeaderKey = ring.Fingerprint(), ring.Subkey("backup-heads")
		opts.BlobNameKey, opts.ManifestKey = ring.Subkey("backup-names"), ring.Subkey("backup-manifests")
	}
	return opts, nil
}

func (s Settings) passphrase() (string, error) {
	if s.Passphrase != "" || s.PassphraseFile == "" {
		return s.Passphrase, nil
	}
	phrase, err := ReadPassphrase(s.PassphraseFile)
	if err != nil {
		return "", fmt.Errorf("backup.passphrase_file: %w", err)
	}
	return phrase, nil
}

// ReadPassphrase reads a file that holds a passphrase and, after it, any line ends.
func ReadPassphrase(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	phrase := strings.TrimRight(string(raw), "\r\n")
	if phrase == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return phrase, nil
}

// backupError gives an archive's error its kind; its sentence is for people.
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

// archiveKinds are looked through in this order: a full disk may have cut what then
// counts as damaged.
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
