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

// importing is one import under way: a walk that finds, and workers that file.
type importing struct {
	shell  *shell
	client *client.Client
	dry    bool
	under  []string // the folder of the vault for DIR, from the top

	placing sync.Mutex          // guards folders, and that none is made twice
	folders map[string]imported // by path below DIR

	mu       sync.Mutex // guards what follows
	count    apitypes.ImportReport
	list     *refusals
	progress func(apitypes.Progress)
	far      apitypes.Progress
}

// imported is the folder of the vault for a folder of the tree.
type imported struct {
	id      int64  // the folder, or the deepest one above it that exists
	missing int    // folders below id that don't exist yet
	refused string // why the vault can't have this folder
}

// run walks and files until the end, an error, or the end of ctx.
func (i *importing) run(ctx context.Context, dir string, avoid os.FileInfo, parallel int) error {
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

func (i *importing) walk(ctx context.Context, dir string, avoid os.FileInfo, jobs chan<- importer.Entry) error {
	if _, err := i.place(ctx, "", false); err != nil {
		return err // a name that no folder can have is told of at once
	}
	return importer.Walk(ctx, dir, avoid, func(e importer.Entry) error {
		switch e.Kind {
		case importer.Skipped:
			i.tell(func() { i.count.Skipped++ })
			return nil
		case importer.Link:
			return i.refuse(&i.count.Links, e, "link", "is a link; links are not followed")
		case importer.Special:
			return i.refuse(&i.count.Links, e, "link", "is no file: a device, a placeholder, or the vault itself")
		case importer.Unreadable:
			return i.refuse(&i.count.Unreadable, e, "unreadable", e.Err.Error())
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

// place returns the folder of the vault for one of the tree. When a document is about
// to be uploaded to it (wanted), missing folders are created.
func (i *importing) place(ctx context.Context, at string, wanted bool) (imported, error) {
	i.placing.Lock()
	defer i.placing.Unlock()
	return i.find(ctx, at, wanted)
}

func (i *importing) find(ctx context.Context, at string, wanted bool) (f imported, err error) {
	if f, known := i.folders[at]; known && (f.missing == 0 || f.refused != "" || !wanted) {
		return f, nil
	}
	names := i.under
	if at != "" {
		above, name := path.Split(at)
		if f, err = i.find(ctx, path.Clean("/" + above)[1:], wanted); err != nil {
			return f, err
		}
		names = []string{name}
	}
	for _, name := range names {
		if f, err = i.ensure(ctx, f, name, wanted); err != nil {
			return f, err
		}
	}
	if at == "" && f.refused != "" {
		return f, &usageError{fmt.Errorf("--folder: %s", f.refused)}
	}
	i.folders[at] = f
	return f, nil
}

// ensure returns the folder of a name below another. Below a refused folder everything
// is refused for the same reason.
func (i *importing) ensure(ctx context.Context, above imported, name string, wanted bool) (imported, error) {
	if above.refused != "" {
		return above, nil
	}
	found, err := i.client.EnsureFolder(ctx, apitypes.FolderEnsure{ParentID: above.id, Missing: above.missing, Name: name, DryRun: !wanted})
	refused, isRefusal := errors.AsType[*client.Error](err)
	switch {
	case isRefusal && refused.Status == http.StatusUnprocessableEntity:
		above.refused = fmt.Sprintf("folder %q: %s", name, refused.Message)
		return above, nil
	case err != nil:
		return above, fmt.Errorf("folder %q: %w", name, err)
	case found.Folder == nil:
		above.missing++
		return above, nil
	case found.Created:
		i.tell(func() { i.count.Folders++ })
	}
	return imported{id: found.Folder.ID}, nil
}

// file files one document, or tells why not. An error ends the import.
func (i *importing) file(ctx context.Context, e importer.Entry) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	defer i.step()
	d := client.Import{Filename: e.Name, Size: e.Size, DryRun: i.dry}
	seen, err := i.client.CheckImport(ctx, d)
	if err != nil {
		return err
	}
	if seen.Rejected != "" {
		return i.refuse(&i.count.Rejected, e, "refused", seen.Rejected)
	}
	document, err := e.Open()
	if err != nil {
		return i.refuse(&i.count.Unreadable, e, "unreadable", err.Error())
	}
	defer document.Close() //nolint:errcheck // only read from
	if d.SHA256, d.Size, err = digest(ctx, document); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return i.refuse(&i.count.Unreadable, e, "unreadable", err.Error())
	}
	if seen, err = i.settle(ctx, e, &d); err != nil {
		return err
	}
	if !seen.Existing && seen.Rejected == "" {
		if seen, err = i.send(ctx, d, document); err != nil {
			return i.failed(e, err)
		}
	}
	return i.done(e, d.Size, seen)
}

// settle checks whether a document is at its place already. If it isn't, settle creates
// the folder that the document is about to be uploaded to.
func (i *importing) settle(ctx context.Context, e importer.Entry, d *client.Import) (seen apitypes.Imported, err error) {
	folder, err := i.place(ctx, e.Folder.Path, false)
	if err == nil && folder.missing > 0 && folder.refused == "" && !i.dry {
		folder, err = i.place(ctx, e.Folder.Path, true)
	}
	switch {
	case err != nil:
		return seen, err
	case folder.refused != "":
		return apitypes.Imported{Rejected: folder.refused}, nil
	case folder.missing > 0:
		return seen, nil // a dry run: nothing is there yet
	}
	d.Folder = folder.id
	return i.client.CheckImport(ctx, *d)
}

func (i *importing) done(e importer.Entry, size int64, seen apitypes.Imported) error {
	switch {
	case seen.Rejected != "":
		return i.refuse(&i.count.Rejected, e, "refused", seen.Rejected)
	case seen.Existing:
		i.tell(func() { i.count.Existing++ })
	default:
		i.tell(func() { i.count.Imported++; i.count.Bytes += size })
	}
	return nil
}

// failed tells of a document that did not get through, when that is its own fault.
func (i *importing) failed(e importer.Entry, err error) error {
	if unreadable, ok := errors.AsType[*readError](err); ok {
		return i.refuse(&i.count.Unreadable, e, "unreadable", unreadable.Error())
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && (refused.Status == http.StatusConflict || refused.Status == http.StatusInternalServerError) {
		return i.refuse(&i.count.Rejected, e, "refused", refused.Error())
	}
	return err
}

const (
	busyTries = 60
	busyPause = time.Second
)

// send sends a document, and again while the server has too much to read.
func (i *importing) send(ctx context.Context, d client.Import, document *os.File) (apitypes.Imported, error) {
	for try := 1; ; try++ {
		if _, err := document.Seek(0, io.SeekStart); err != nil {
			return apitypes.Imported{}, &readError{err}
		}
		done, err := i.client.ImportFile(ctx, d, own{document})
		busy, ok := errors.AsType[*client.Error](err)
		if !ok || busy.Status != http.StatusServiceUnavailable || try == busyTries {
			return done, err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return done, ctx.Err()
		}
	}
}

// readError is an error of the disk that is imported from, not of the way to the vault.
type readError struct{ error }

func (r *readError) Unwrap() error { return r.error }

// own marks the errors of a document's own disk.
type own struct{ io.Reader }

func (o own) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// digest reads a document to its end.
func digest(ctx context.Context, r io.Reader) (sum string, size int64, err error) {
	hash := sha256.New()
	size, err = io.Copy(hash, until{ctx, r})
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// until reads as long as ctx lives.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

func (i *importing) tell(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *importing) step() {
	i.tell(func() { i.far.Done++; i.progress(i.far) })
}

// refuse counts and notes what is not filed; an error is the report's.
func (i *importing) refuse(count *int64, e importer.Entry, what, reason string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	*count++
	return i.list.add(apitypes.ImportRejection{Path: e.Path(), What: what, Reason: reason})
}
