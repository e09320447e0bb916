package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
	"deedkeep/app/control"
	"deedkeep/app/importer"
)

// importRun is a single import. It walks a directory to find documents, and its workers
// upload them.
type importRun struct {
	shell       *shell
	client      *control.Client
	dry         bool
	destination []string // path of the vault folder that DIR is imported into

	foldersMu sync.Mutex              // guards folders; held while a folder is created, so that it isn't created twice
	folders   map[string]targetFolder // vault folders by directory path relative to DIR

	mu         sync.Mutex // guards the fields below
	count      apitypes.ImportReport
	rejections *rejectionReport
	progress   func(apitypes.Progress)
	position   apitypes.Progress
}

// targetFolder is the vault folder for a directory below DIR.
type targetFolder struct {
	id        int64  // ID of the folder or, if it doesn't exist yet, of its closest existing ancestor
	missing   int    // number of folders below id that don't exist yet
	rejection string // why the vault rejects this folder; "" if it doesn't
}

// run imports dir. It returns when all documents are imported, an error occurs, or ctx is
// canceled.
func (i *importRun) run(ctx context.Context, dir string, dataDir os.FileInfo, parallel int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make(chan importer.Entry)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for e := range jobs {
				if err := i.file(ctx, e); err != nil {
					stop(err)
				}
				e.Folder.Release()
			}
		})
	}
	err := i.walk(ctx, dir, dataDir, jobs)
	close(jobs)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause // the first error; it also caused the error of the walk
	}
	return err
}

func (i *importRun) walk(ctx context.Context, dir string, dataDir os.FileInfo, jobs chan<- importer.Entry) error {
	if _, err := i.client.OrderStatuses(ctx); err != nil {
		return err // a command that can't reach the vault creates no report
	}
	if _, err := i.folderFor(ctx, "", false); err != nil {
		return err // report an invalid --folder before importing anything
	}
	if err := i.rejections.open(); err != nil {
		return err
	}
	return importer.Walk(ctx, dir, dataDir, func(e importer.Entry) error {
		switch e.Kind {
		case importer.Skipped:
			i.update(func() { i.count.Skipped++ })
			return nil
		case importer.Link:
			return i.reject(&i.count.Links, e, "link", "symbolic links are skipped")
		case importer.Special:
			return i.reject(&i.count.Links, e, "link", "not a regular file: a device, an offline placeholder, or the data directory itself")
		case importer.Unreadable:
			return i.reject(&i.count.Unreadable, e, "unreadable", e.Err.Error())
		}
		e.Folder.Acquire()
		select {
		case jobs <- e:
			return nil
		case <-ctx.Done():
			e.Folder.Release()
			return ctx.Err()
		}
	})
}

// folderFor returns the vault folder for a directory below DIR. If create is set, it
// creates missing folders. Callers set create when they are about to upload a document to
// the folder.
func (i *importRun) folderFor(ctx context.Context, dir string, create bool) (targetFolder, error) {
	i.foldersMu.Lock()
	defer i.foldersMu.Unlock()
	return i.resolveFolder(ctx, dir, create)
}

func (i *importRun) resolveFolder(ctx context.Context, dir string, create bool) (folder targetFolder, err error) {
	if folder, known := i.folders[dir]; known && (folder.missing == 0 || folder.rejection != "" || !create) {
		return folder, nil
	}
	names := i.destination
	if dir != "" {
		parent, name := path.Split(dir)
		if folder, err = i.resolveFolder(ctx, path.Clean("/" + parent)[1:], create); err != nil {
			return folder, err
		}
		names = []string{name}
	}
	for _, name := range names {
		if folder, err = i.ensureFolder(ctx, folder, name, create); err != nil {
			return folder, err
		}
	}
	if dir == "" && folder.rejection != "" {
		return folder, &usageError{fmt.Errorf("--folder: %s", folder.rejection)}
	}
	i.folders[dir] = folder
	return folder, nil
}

// ensureFolder returns the folder with the given name in parent and, if create is set,
// creates it if necessary. If parent was rejected, the folder is rejected for the same
// reason.
func (i *importRun) ensureFolder(ctx context.Context, parent targetFolder, name string, create bool) (targetFolder, error) {
	if parent.rejection != "" {
		return parent, nil
	}
	found, err := i.client.EnsureFolder(ctx, apitypes.FolderEnsure{ParentID: parent.id, Missing: parent.missing, Name: name, DryRun: !create})
	rejected, isClientErr := errors.AsType[*client.Error](err)
	switch {
	case isClientErr && rejected.Status == http.StatusUnprocessableEntity:
		parent.rejection = fmt.Sprintf("folder %q: %s", name, rejected.Message)
		return parent, nil
	case err != nil:
		return parent, fmt.Errorf("folder %q: %w", name, err)
	case found.Folder == nil:
		parent.missing++
		return parent, nil
	case found.Created:
		i.update(func() { i.count.Folders++ })
	}
	return targetFolder{id: found.Folder.ID}, nil
}

// file imports one document or records why it was rejected. If it returns an error, the
// import stops.
func (i *importRun) file(ctx context.Context, e importer.Entry) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	defer i.advance()
	d := control.ImportFile{Filename: e.Name, Size: e.Size, DryRun: i.dry}
	result, err := i.client.CheckImport(ctx, d)
	if err != nil {
		return err
	}
	if result.Rejected != "" {
		return i.reject(&i.count.Rejected, e, "rejected", result.Rejected)
	}
	document, err := e.Open()
	if err != nil {
		return i.reject(&i.count.Unreadable, e, "unreadable", err.Error())
	}
	defer document.Close() //nolint:errcheck // only read from
	source, hash := sourceReader{ctx, document}, sha256.New()
	if d.Size, err = io.Copy(hash, source); err != nil {
		return i.sendFailed(ctx, e, err)
	}
	d.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if result, err = i.checkExisting(ctx, e, &d); err != nil {
		return err
	}
	if !result.Existing && result.Rejected == "" {
		if result, err = i.send(ctx, d, source); err != nil {
			return i.sendFailed(ctx, e, err)
		}
	}
	switch {
	case result.Rejected != "":
		return i.reject(&i.count.Rejected, e, "rejected", result.Rejected)
	case result.Existing:
		i.update(func() { i.count.Existing++ })
	default:
		i.update(func() { i.count.Imported++; i.count.Bytes += d.Size })
	}
	return nil
}

// checkExisting checks whether the folder already contains the same document. If the folder
// doesn't exist, checkExisting creates it for the upload, except in a dry run.
func (i *importRun) checkExisting(ctx context.Context, e importer.Entry, d *control.ImportFile) (result apitypes.Imported, err error) {
	folder, err := i.folderFor(ctx, e.Folder.Path, false)
	if err == nil && folder.missing > 0 && folder.rejection == "" && !i.dry {
		folder, err = i.folderFor(ctx, e.Folder.Path, true)
	}
	switch {
	case err != nil:
		return result, err
	case folder.rejection != "":
		return apitypes.Imported{Rejected: folder.rejection}, nil
	case folder.missing > 0:
		return result, nil // in a dry run, the folder doesn't exist, so neither does the document
	}
	d.Folder = folder.id
	return i.client.CheckImport(ctx, *d)
}

// sendFailed records that a document couldn't be read or was rejected by the server. It
// returns all other errors, which stop the import.
func (i *importRun) sendFailed(ctx context.Context, e importer.Entry, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if unreadable, ok := errors.AsType[*readError](err); ok {
		return i.reject(&i.count.Unreadable, e, "unreadable", unreadable.Error())
	}
	if rejected, ok := errors.AsType[*client.Error](err); ok && (rejected.Status == http.StatusConflict || rejected.Status == http.StatusInternalServerError) {
		return i.reject(&i.count.Rejected, e, "rejected", rejected.Error())
	}
	return err
}

const (
	maxBusyAttempts = 60
	busyRetryDelay  = time.Second
)

// send uploads a document. It retries while the server is busy.
func (i *importRun) send(ctx context.Context, d control.ImportFile, document sourceReader) (apitypes.Imported, error) {
	for attempt := 1; ; attempt++ {
		if _, err := document.file.Seek(0, io.SeekStart); err != nil {
			return apitypes.Imported{}, &readError{err}
		}
		done, err := i.client.ImportFile(ctx, d, document)
		rejected, ok := errors.AsType[*client.Error](err)
		if !ok || rejected.Status != http.StatusServiceUnavailable || attempt == maxBusyAttempts {
			return done, err
		}
		select {
		case <-time.After(busyRetryDelay):
		case <-ctx.Done():
			return done, ctx.Err()
		}
	}
}

// readError is an error while reading the source file. It lets the import distinguish such
// errors from those of the connection to the server.
type readError struct{ error }

func (r *readError) Unwrap() error { return r.error }

// sourceReader wraps errors that occur while reading the source file in readError. Once ctx
// is canceled, Read returns an error.
type sourceReader struct {
	ctx  context.Context
	file *os.File
}

func (s sourceReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.file.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

func (i *importRun) update(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *importRun) advance() {
	i.update(func() { i.position.Done++; i.progress(i.position) })
}

// reject counts a rejected file and adds it to the report. It returns an error if the
// report can't be written.
func (i *importRun) reject(count *int64, e importer.Entry, category, reason string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	*count++
	return i.rejections.add(apitypes.ImportRejection{Path: e.Path(), Kind: category, Reason: reason})
}
