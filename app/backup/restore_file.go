package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"deedkeep/app/backup/archive"
	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// RestoreFile restores one document from a snapshot to path, which must not exist. The
// file appears only after its digest has been verified. It returns NotFound if the
// snapshot doesn't contain the document.
func RestoreFile(ctx context.Context, from, snapshot string, opts archive.Options, id uint64, path string) (model.File, error) {
	file, err := restoreFileTo(ctx, from, snapshot, opts, id, path)
	return file, ClassifyError(err)
}

func restoreFileTo(ctx context.Context, from, snapshot string, opts archive.Options, id uint64, path string) (file model.File, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return file, errors.Join(Conflict("%s already exists; choose another file name with -o", path), err)
	}
	a, err := archive.Open(from, opts)
	if err != nil {
		return file, err
	}
	if err := a.Unlock(); err != nil {
		return file, err
	}
	release, err := a.LockForReading()
	if err != nil {
		return file, err
	}
	defer release()
	info, _, err := a.Choose(snapshot, store.Schema)
	if err != nil {
		return file, err
	}
	entries := map[string]archive.Entry{}
	info, err = a.Manifest(info.Snapshot, func(e archive.Entry) error {
		if e.Text == "" {
			entries[e.Digest] = e
		}
		return ctx.Err()
	})
	if err != nil {
		return file, err
	}
	if file, err = readArchivedFile(ctx, a, info, id); err != nil {
		return file, err
	}
	e, ok := entries[file.Digest]
	if !ok {
		return file, Conflict("backup %s contains the record of document %d, but not the file", info.Snapshot, id)
	}
	src, err := a.Blob(ctx, e)
	if err != nil {
		return file, err
	}
	return file, errors.Join(writeExclusive(src, path), src.Close())
}

// readArchivedFile reads the record of a file from the database in a snapshot. It extracts
// the database to a temporary directory.
func readArchivedFile(ctx context.Context, a *archive.Archive, info archive.Info, id uint64) (file model.File, err error) {
	dir, err := os.MkdirTemp("", "deedkeep-")
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "vault.db")
	if err := a.ExtractDatabase(ctx, info, path); err != nil {
		return file, err
	}
	records, err := store.OpenCopy(path)
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	err = records.View(func(t *store.Tx) (err error) {
		file, err = t.File(id)
		return err
	})
	if errs.KindOf(err) == errs.NotFound {
		err = &errs.Error{Kind: errs.NotFound, Message: fmt.Sprintf("Backup %s has no document %d.", info.Snapshot, id), Err: err}
	}
	return file, err
}

// writeExclusive writes src to path atomically. It never overwrites an existing file.
func writeExclusive(src io.Reader, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*.part")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, src)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	// Reserve the name first, because the rename would replace a file that was created in
	// the meantime.
	reserved, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(Conflict("%s already exists; choose another file name with -o", path), err, os.Remove(f.Name()))
	}
	if err := errors.Join(reserved.Close(), os.Rename(f.Name(), path)); err != nil {
		return errors.Join(err, os.Remove(f.Name()), os.Remove(path))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// Conflict returns an error of kind Conflict with a formatted message.
func Conflict(format string, args ...any) error {
	return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf(format, args...)}
}
