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
	"deedkeep/app/importer"
)

// importRun is one import under way: a walk that finds, and workers that file.
type importRun struct {
	shell       *shell
	client      *client.Client
	dry         bool
	destination []string // the folder of the vault for DIR, from the top

	foldersMu sync.Mutex              // guards folders, and that none is made twice
	folders   map[string]targetFolder // by path below DIR

	mu         sync.Mutex // guards what follows
	count      apitypes.ImportReport
	rejections *rejectionReport
	progress   func(apitypes.Progress)
	position   apitypes.Progress
}

// targetFolder is the folder of the vault for a folder of the tree.
type targetFolder struct {
	id        int64  // the folder, or the deepest one above it that exists
	missing   int    // folders below id that don't exist yet
	rejection string // why the vault can't have this folder
}

// run walks and files until the end, an error, or the end of ctx.
func (i *importRun) run(ctx context.Context, dir string, avoid os.FileInfo, parallel int) error {
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
	err := i.walk(ctx, dir, avoid, jobs)
	close(jobs)
	workers.Wait()
	if ended := context.Cause(ctx); ended != nil {
		return ended // the first there was; what the walk says of it comes later
	}
	return err
}

func (i *importRun) walk(ctx context.Context, dir string, avoid os.FileInfo, jobs chan<- importer.Entry) error {
	if _, err := i.folderFor(ctx, "", false); err != nil {
		return err // a name that no folder can have is told of at once
	}
	return importer.Walk(ctx, dir, avoid, func(e importer.Entry) error {
		switch e.Kind {
		case importer.Skipped:
			i.update(func() { i.count.Skipped++ })
			return nil
		case importer.Link:
			return i.reject(&i.count.Links, e, "link", "is a link; links are not followed")
		case importer.Special:
			return i.reject(&i.count.Links, e, "link", "is no file: a device, a placeholder, or the vault itself")
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

// folderFor returns the folder of the vault for one of the tree. When a document is about
// to be uploaded to it (wanted), missing folders are created.
func (i *importRun) folderFor(ctx context.Context, at string, wanted bool) (targetFolder, error) {
	i.foldersMu.Lock()
	defer i.foldersMu.Unlock()
	return i.resolveFolder(ctx, at, wanted)
}

func (i *importRun) resolveFolder(ctx context.Context, at string, wanted bool) (f targetFolder, err error) {
	if f, known := i.folders[at]; known && (f.missing == 0 || f.rejection != "" || !wanted) {
		return f, nil
	}
	names := i.destination
	if at != "" {
		above, name := path.Split(at)
		if f, err = i.resolveFolder(ctx, path.Clean("/" + above)[1:], wanted); err != nil {
			return f, err
		}
		names = []string{name}
	}
	for _, name := range names {
		if f, err = i.ensureFolder(ctx, f, name, wanted); err != nil {
			return f, err
		}
	}
	if at == "" && f.rejection != "" {
		return f, &usageError{fmt.Errorf("--folder: %s", f.rejection)}
	}
	i.folders[at] = f
	return f, nil
}

// ensureFolder returns the folder of a name below another. Below a refused folder everything
// is refused for the same reason.
func (i *importRun) ensureFolder(ctx context.Context, above targetFolder, name string, wanted bool) (targetFolder, error) {
	if above.rejection != "" {
		return above, nil
	}
	found, err := i.client.EnsureFolder(ctx, apitypes.FolderEnsure{ParentID: above.id, Missing: above.missing, Name: name, DryRun: !wanted})
	refused, isRefusal := errors.AsType[*client.Error](err)
	switch {
	case isRefusal && refused.Status == http.StatusUnprocessableEntity:
		above.rejection = fmt.Sprintf("folder %q: %s", name, refused.Message)
		return above, nil
	case err != nil:
		return above, fmt.Errorf("folder %q: %w", name, err)
	case found.Folder == nil:
		above.missing++
		return above, nil
	case found.Created:
		i.update(func() { i.count.Folders++ })
	}
	return targetFolder{id: found.Folder.ID}, nil
}

// file files one document, or tells why not. An error ends the import.
func (i *importRun) file(ctx context.Context, e importer.Entry) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	defer i.advance()
	d := client.Import{Filename: e.Name, Size: e.Size, DryRun: i.dry}
	seen, err := i.client.CheckImport(ctx, d)
	if err != nil {
		return err
	}
	if seen.Rejected != "" {
		return i.reject(&i.count.Rejected, e, "refused", seen.Rejected)
	}
	document, err := e.Open()
	if err != nil {
		return i.reject(&i.count.Unreadable, e, "unreadable", err.Error())
	}
	defer document.Close() //nolint:errcheck // only read from
	if d.SHA256, d.Size, err = digest(ctx, document); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return i.reject(&i.count.Unreadable, e, "unreadable", err.Error())
	}
	if seen, err = i.checkExisting(ctx, e, &d); err != nil {
		return err
	}
	if !seen.Existing && seen.Rejected == "" {
		if seen, err = i.send(ctx, d, document); err != nil {
			return i.sendFailed(e, err)
		}
	}
	return i.record(e, d.Size, seen)
}

// checkExisting checks whether a document is at its place already. If it isn't, settle creates
// the folder that the document is about to be uploaded to.
func (i *importRun) checkExisting(ctx context.Context, e importer.Entry, d *client.Import) (seen apitypes.Imported, err error) {
	folder, err := i.folderFor(ctx, e.Folder.Path, false)
	if err == nil && folder.missing > 0 && folder.rejection == "" && !i.dry {
		folder, err = i.folderFor(ctx, e.Folder.Path, true)
	}
	switch {
	case err != nil:
		return seen, err
	case folder.rejection != "":
		return apitypes.Imported{Rejected: folder.rejection}, nil
	case folder.missing > 0:
		return seen, nil // a dry run: nothing is there yet
	}
	d.Folder = folder.id
	return i.client.CheckImport(ctx, *d)
}

func (i *importRun) record(e importer.Entry, size int64, seen apitypes.Imported) error {
	switch {
	case seen.Rejected != "":
		return i.reject(&i.count.Rejected, e, "refused", seen.Rejected)
	case seen.Existing:
		i.update(func() { i.count.Existing++ })
	default:
		i.update(func() { i.count.Imported++; i.count.Bytes += size })
	}
	return nil
}

// sendFailed tells of a document that did not get through, when that is its own fault.
func (i *importRun) sendFailed(e importer.Entry, err error) error {
	if unreadable, ok := errors.AsType[*readError](err); ok {
		return i.reject(&i.count.Unreadable, e, "unreadable", unreadable.Error())
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && (refused.Status == http.StatusConflict || refused.Status == http.StatusInternalServerError) {
		return i.reject(&i.count.Rejected, e, "refused", refused.Error())
	}
	return err
}

const (
	maxBusyAttempts = 60
	busyRetryDelay  = time.Second
)

// send sends a document, and again while the server has too much to read.
func (i *importRun) send(ctx context.Context, d client.Import, document *os.File) (apitypes.Imported, error) {
	for try := 1; ; try++ {
		if _, err := document.Seek(0, io.SeekStart); err != nil {
			return apitypes.Imported{}, &readError{err}
		}
		done, err := i.client.ImportFile(ctx, d, sourceReader{document})
		busy, ok := errors.AsType[*client.Error](err)
		if !ok || busy.Status != http.StatusServiceUnavailable || try == maxBusyAttempts {
			return done, err
		}
		select {
		case <-time.After(busyRetryDelay):
		case <-ctx.Done():
			return done, ctx.Err()
		}
	}
}

// readError is an error of the disk that is imported from, not of the way to the vault.
type readError struct{ error }

func (r *readError) Unwrap() error { return r.error }

// sourceReader marks the errors of a document's own disk.
type sourceReader struct{ io.Reader }

func (o sourceReader) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// digest reads a document to its end.
func digest(ctx context.Context, r io.Reader) (sum string, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, contextReader{ctx, r})
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// contextReader reads as long as ctx lives.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (u contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

func (i *importRun) update(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *importRun) advance() {
	i.update(func() { i.position.Done++; i.progress(i.position) })
}

// reject counts and notes what is not filed; an error is the report's.
func (i *importRun) reject(count *int64, e importer.Entry, what, reason string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	*count++
	return i.rejections.add(apitypes.ImportRejection{Path: e.Path(), What: what, Reason: reason})
}
