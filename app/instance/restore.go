package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault/storage"
)

// restoreMarker is the JSON content of integrity.RestoreMarkerFile.
type restoreMarker struct {
	Archive  string `json:"archive"`
	Snapshot string `json:"snapshot"`
	From     string `json:"from"`
}

// RestoreOptions contains the options of Restore. Vault contains the options for opening
// the restored vault. Vault.Dir is the directory to restore into.
type RestoreOptions struct {
	From     string // the archive's directory
	Snapshot string // name of the snapshot, or archive.Latest
	Archive  archive.Options
	Vault    Options
	Progress func(done, total int64) // bytes
	Remove   func(path string) error // removes a file or an empty directory after a restore test; nil: os.Remove
}

// RestoreResult is the outcome of a restore.
type RestoreResult struct {
	Info   archive.Info
	Report integrity.Report // verification of the restored vault
	Copied int64            // bytes of documents restored in this run
	// Replaced is the snapshot of an unfinished restore that this one replaced, or "".
	Replaced string
	// DamagedTexts is the number of documents whose OCR results are damaged in the backup. Their pages are read again.
	DamagedTexts int
}

// Restore restores a snapshot into a data directory. The directory must not exist, be
// empty, or contain an unfinished restore. Restore resumes a restore of the same snapshot
// and replaces any other. It succeeds only after it has opened the vault and verified every
// byte. It returns Conflict for any other directory, if the backup is damaged, or if it is
// from a newer version of deedkeep. It may also return InsufficientStorage, Locked, or
// NotFound. It checks all this before it changes the directory, and never changes the
// archive.
func Restore(ctx context.Context, opts RestoreOptions) (r RestoreResult, err error) {
	a, err := archive.Open(opts.From, opts.Archive)
	if err != nil {
		return r, backup.ClassifyError(err)
	}
	if err := a.Unlock(); err != nil {
		return r, backup.ClassifyError(err)
	}
	release, err := a.LockForReading()
	if err != nil {
		return r, backup.ClassifyError(err)
	}
	defer release()
	w := &restorer{opts: opts, a: a}
	if w.dir, err = filepath.Abs(opts.Vault.Dir); err != nil {
		return r, err
	}
	w.opts.Vault.Dir = w.dir
	w.info, _, err = a.Choose(opts.Snapshot, store.Schema)
	if err != nil {
		return r, backup.ClassifyError(err)
	}
	// Read the complete manifest before changing the directory.
	w.info, err = a.Manifest(w.info.Snapshot, func(e archive.Entry) error {
		if e.Text != "" {
			w.texts = append(w.texts, e)
		} else {
			w.entries = append(w.entries, e)
		}
		return ctx.Err()
	})
	if err != nil {
		return r, backup.ClassifyError(err)
	}
	r.Info = w.info
	if r.Replaced, err = w.unfinished(); err != nil {
		return r, err
	}
	if err := w.checkSpace(); err != nil {
		return r, err
	}
	unlock, err := w.lockDir()
	if err != nil {
		return r, err
	}
	defer unlock()
	if err := w.copyAll(ctx); err != nil {
		return r, backup.ClassifyError(err)
	}
	r.Copied, r.DamagedTexts = w.copied, w.damagedTexts
	r.Report, err = w.openAndVerify(ctx)
	return r, err
}

type restorer struct {
	opts    RestoreOptions
	a       *archive.Archive
	dir     string
	info    archive.Info
	entries []archive.Entry // documents
	texts   []archive.Entry // OCR results
	copied  int64

	damagedTexts int
}

// lockDir writes the restore marker. It removes what another unfinished restore created.
func (r *restorer) lockDir() (unlock func(), err error) {
	if err := integrity.CreatePrivateDir(r.dir); err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	lock := flock.New(filepath.Join(r.dir, integrity.RestoreMarkerFile+".lock"))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		err = &errs.Error{Kind: errs.Locked, Message: "Another restore is running in " + r.dir + "."}
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	other, err := r.unfinished() // another restore may have started before this one got the lock
	if err == nil && other != "" {
		err = r.removeUnfinished()
	}
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(restoreMarker{r.a.ID(), r.info.Snapshot, r.a.Dir()})
	}
	if err == nil {
		err = durable.WriteLine(filepath.Join(r.dir, integrity.RestoreMarkerFile), raw)
	}
	unlock = func() {
		_ = os.Remove(lock.Path()) // Windows can't remove an open file; an empty lock file does no harm
		_ = lock.Close()
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// ignoredFiles lists files and directories that may be present in a directory that counts as empty.
var ignoredFiles = []string{"config.yaml", extract.PatternsFileName, "languages", "README.md", "lost+found", "cache",
	integrity.RestoreMarkerFile + ".new", integrity.RestoreMarkerFile + ".lock"}

// unfinished returns the name of another snapshot whose restore into the directory has not
// finished, or "". It returns Conflict if the directory contains anything else.
func (r *restorer) unfinished() (snapshot string, err error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	existing, err := readMarker(r.dir)
	switch {
	case err == nil && existing.Archive == r.a.ID() && existing.Snapshot == r.info.Snapshot:
		return "", nil
	case err == nil:
		return existing.Snapshot, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	for _, e := range entries {
		if !slices.Contains(ignoredFiles, e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			return "", backup.Conflict("%s is not empty (it contains %q); restore never overwrites live data, "+
				"so choose an empty or new directory with --data", r.dir, e.Name())
		}
	}
	return "", nil
}

// removeUnfinished removes what an unfinished restore of another snapshot created. Nothing
// has used it: only a restore opens such a directory. Restored documents stay, because their
// names are their digests. This restore uses those that it needs.
func (r *restorer) removeUnfinished() (err error) {
	for _, name := range []string{
		"vault.db", "vault.db.clean", "vault.db.restore", "secret.key", storage.GenerationFile, txn.ReserveFile, storage.ServerStateFile,
		integrity.BackupStateFile, blobstore.OCRDirName, "previews", search.DirName, "tmp", "uploads",
	} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, name)))
	}
	return err
}

func readMarker(dir string) (marker restoreMarker, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, integrity.RestoreMarkerFile))
	if err == nil && json.Unmarshal(raw, &marker) != nil {
		marker.Snapshot = "unknown"
	}
	return marker, err
}

// checkNotRestoring returns Conflict if a restore into the directory was started but not
// finished.
func checkNotRestoring(dir string, restoring bool) error {
	if restoring {
		return nil
	}
	marker, err := readMarker(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return backup.Conflict(
		`%s contains an unfinished restore; run "deedkeep restore %s --from %s" again to resume it, or delete the directory`,
		dir, marker.Snapshot, marker.From)
}

// copyAll restores the secret key, then the documents, their OCR results, and finally the database.
func (r *restorer) copyAll(ctx context.Context) error {
	blobs, err := blobstore.Open(filepath.Join(r.dir, "blobs"), filepath.Join(r.dir, "tmp"),
		blobstore.Options{Files: r.opts.Vault.Disk, Log: r.opts.Vault.Log})
	if err != nil {
		return err
	}
	if err := durable.WriteLine(filepath.Join(r.dir, "secret.key"), []byte(r.info.Secret)); err != nil {
		return err
	}
	if err := r.documents(ctx, blobs); err != nil {
		return err
	}
	if err := r.restoreTexts(ctx); err != nil {
		return err
	}
	return r.database(ctx)
}

// checkSpace returns InsufficientStorage if the disk has too little space for what isn't
// restored yet. The directory may not exist.
func (r *restorer) checkSpace() error {
	need := saturatingAdd(uint64(r.info.Database.Size), r.opts.Vault.Settings.DiskReserve)
	for _, e := range r.entries {
		existing, err := os.Stat(filepath.Join(r.dir, "blobs", e.Digest[:2], e.Digest))
		if err != nil || existing.Size() != e.Size {
			need = saturatingAdd(need, uint64(e.Size))
		}
	}
	for _, e := range r.texts {
		need = saturatingAdd(need, uint64(e.Size))
	}
	dir := r.dir
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	free, err := blobstore.FreeSpace(dir)
	if err != nil {
		return err
	}
	if free < need {
		return &errs.Error{Kind: errs.InsufficientStorage,
			Message: fmt.Sprintf("The disk of %s has %d MB free, but this restore needs %d MB.", r.dir, free>>20, need>>20)}
	}
	return nil
}

// saturatingAdd returns a+b, or the maximum uint64 if the sum would overflow.
func saturatingAdd(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// Documents are synced in batches of at most batchFiles files and about batchBytes bytes.
// They are sorted by digest, so documents in a batch share directories.
const (
	batchFiles = 256
	batchBytes = 64 << 20
)

func (r *restorer) documents(ctx context.Context, blobs *blobstore.Store) (err error) {
	var batch []*blobstore.Staged
	defer func() { err = errors.Join(err, discardAll(batch)) }() // the batch is empty after success
	var bytes, done int64
	flush := func() error {
		release, err := blobs.Commit(ctx, batch...)
		release()
		batch, bytes = nil, 0
		return err
	}
	for _, e := range r.entries {
		r.opts.Progress(done, r.info.Bytes)
		done += e.Size
		existing, err := r.alreadyRestored(ctx, blobs, e)
		if err != nil {
			return err
		}
		if existing {
			continue
		}
		staged, err := r.stage(ctx, blobs, e)
		if err != nil {
			return err
		}
		r.copied += e.Size
		batch = append(batch, staged)
		if bytes += e.Size; len(batch) >= batchFiles || bytes >= batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	r.opts.Progress(done, r.info.Bytes)
	return flush()
}

func discardAll(batch []*blobstore.Staged) (err error) {
	for _, staged := range batch {
		err = errors.Join(err, staged.Discard())
	}
	return err
}

// alreadyRestored reports whether an earlier run has restored the document and it is
// intact.
func (r *restorer) alreadyRestored(ctx context.Context, blobs *blobstore.Store, e archive.Entry) (bool, error) {
	d, err := blobstore.ParseDigest(e.Digest)
	if err != nil {
		return false, err
	}
	if size, err := blobs.Size(ctx, d); err != nil || size != e.Size {
		return false, ctx.Err()
	}
	return blobs.Check(ctx, d) == nil, ctx.Err()
}

func (r *restorer) stage(ctx context.Context, blobs *blobstore.Store, e archive.Entry) (*blobstore.Staged, error) {
	src, err := r.a.Blob(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("restore document %s: %w", e.Digest, err)
	}
	staged, err := blobs.Stage(ctx, src, e.Size)
	if err = errors.Join(err, src.Close()); err != nil {
		return nil, fmt.Errorf("restore document %s: %w", e.Digest, err)
	}
	return staged, nil
}

// database writes vault.db under a temporary name, syncs it, and renames it. It replaces
// a database from an earlier run, because that database may have been opened and changed.
func (r *restorer) database(ctx context.Context) error {
	path := filepath.Join(r.dir, "vault.db")
	tempPath := path + ".restore"
	if err := r.a.ExtractDatabase(ctx, r.info, tempPath); err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	if err := os.Rename(tempPath, path); err != nil {
		return err
	}
	return durable.SyncDir(r.dir)
}

// openAndVerify opens the vault, verifies every byte, and removes the restore marker.
// Opening the vault upgrades the database to the current schema.
func (r *restorer) openAndVerify(ctx context.Context) (report integrity.Report, err error) {
	r.opts.Vault.restoring, r.opts.Vault.Create, r.opts.Vault.Upgrade = true, true, true
	v, err := Open(ctx, r.opts.Vault)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	report, err = v.Integrity.Verify(ctx, func(int, int) {})
	if err != nil {
		return report, err
	}
	if problem := difference(r.info, report); problem != "" {
		return report, &errs.Error{Kind: errs.Conflict, Err: archive.ErrDamaged,
			Message: fmt.Sprintf("the restored data differs from the backup: %s. Don't use the directory. The backup was not changed", problem)}
	}
	err = v.Store.Update(ctx, nil, func(t *store.Tx) error {
		if err := removeSessionsAndResponses(t); err != nil {
			return err
		}
		return v.AddEvent(t, v.Now(), model.Actor{Kind: "operator"}, "backup.restored", "", map[string]string{"snapshot": r.info.Snapshot})
	})
	if err != nil {
		return report, err
	}
	if err := os.Remove(filepath.Join(r.dir, integrity.RestoreMarkerFile)); err != nil {
		return report, err
	}
	return report, durable.SyncDir(r.dir)
}

// removeSessionsAndResponses removes all sessions, because the backup may contain
// sessions that were ended after it was created. It also removes the stored responses of
// idempotent requests, because the restored vault may reuse the record IDs in them.
func removeSessionsAndResponses(t *store.Tx) error {
	var open []model.Session
	t.EachSession(func(s model.Session) bool { open = append(open, s); return true })
	for _, s := range open {
		if err := t.RemoveSession(s); err != nil {
			return err
		}
	}
	_, err := t.PruneStoredResponses(time.Unix(1<<40, 0), math.MaxInt)
	return err
}

// difference describes how the restored vault differs from the snapshot. It returns "" if
// there is no difference.
func difference(info archive.Info, r integrity.Report) string {
	switch {
	case len(r.Findings) > 0:
		f := r.Findings[0]
		return fmt.Sprintf("%d problems; first: %s %s: %s", len(r.Findings), f.Kind, f.Subject, f.Problem)
	case uint64(r.Blobs) != info.Blobs || r.Bytes != info.Bytes:
		return fmt.Sprintf("%d documents with %d bytes, but the backup has %d with %d bytes", r.Blobs, r.Bytes, info.Blobs, info.Bytes)
	case uint64(r.Files) != info.Files || uint64(r.Events) < info.Events:
		return fmt.Sprintf("%d files and %d audit log entries, but the backup has %d and %d", r.Files, r.Events, info.Files, info.Events)
	}
	return ""
}
