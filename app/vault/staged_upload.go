package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// StagedUpload holds the documents of one request from their arrival until their records
// are committed. Bytes are written to disk as they arrive, and each document is
// inspected while the next one arrives. The caller of Stage must call Discard when it is
// done; committed documents are not affected.
type StagedUpload struct {
	v         *Vault
	ctx       context.Context
	cancel    context.CancelFunc
	files     []*stagedFile
	pending   sync.WaitGroup
	closed    sync.Once
	BatchItem *BatchItem // nil: new documents are appended
}

// stagedFile is one document of an upload: rejected, or staged and inspected.
type stagedFile struct {
	filename  string
	rejection string
	staged    *blobstore.Staged
	report    document.Report
	err       error // internal error, which fails the request
}

// Stage returns an empty upload, or InsufficientStorage if the disk has too little free
// space.
func (f *Files) Stage(ctx context.Context) (*StagedUpload, error) {
	if err := f.v.Ready(ctx); err != nil {
		return nil, err
	}
	owner := fmt.Sprintf("tray:%d", f.v.stagedUploads.Add(1))
	ctx, cancel := context.WithCancel(sandbox.WithOwner(ctx, owner))
	f.v.Activity.Begin()
	return &StagedUpload{v: f.v, ctx: ctx, cancel: cancel}, nil
}

// Add reads one document to its end. A rejected document is recorded with its reason and
// does not cause an error. An error means that the upload cannot be committed: reading
// from r failed (r's error), the disk is full, or writing failed.
func (t *StagedUpload) Add(filename string, r io.Reader) error {
	it := &stagedFile{filename: filename}
	t.files = append(t.files, it)
	err := t.add(it, r)
	if err != nil {
		it.err = err
	}
	return err
}

func (t *StagedUpload) add(it *stagedFile, r io.Reader) error {
	ext, accepted := document.Extension(it.filename)
	switch {
	case len(t.files) > t.v.Settings.MaxFilesPerRequest:
		it.rejection = document.ReasonTooManyFiles
		_, err := io.Copy(io.Discard, r)
		return err
	case !accepted:
		return t.rejectByName(it, r)
	}
	// Check for each document: a long request may outlast the free space at its start.
	if err := t.v.CheckSpace(); err != nil {
		return err
	}
	staged, err := t.v.Blobs.Stage(t.ctx, &DiskGuardReader{Reader: r, Vault: t.v}, t.v.Settings.MaxFileSize)
	if err != nil {
		return t.tooLarge(it, err)
	}
	it.staged = staged
	if staged.Size() == 0 {
		it.rejection = document.ReasonEmpty
		return nil
	}
	t.pending.Add(1)
	go t.inspect(it, ext)
	return nil
}

// Adopt adds a document that a completed resumable upload has stored.
func (t *StagedUpload) Adopt(filename string, x *blobstore.Partial) error {
	staged, err := x.Adopt(t.ctx)
	if err != nil {
		return t.v.StorageError(err)
	}
	ext, accepted := document.Extension(filename)
	it := &stagedFile{filename: filename, staged: staged}
	t.files = append(t.files, it)
	switch {
	case staged.Size() > t.v.Settings.MaxFileSize:
		it.rejection = document.ReasonTooLarge(t.v.Settings.MaxFileSize) // the settings have changed since the upload started
	case !accepted:
		it.rejection = document.ReasonUnsupportedType
	default:
		t.pending.Add(1)
		go t.inspect(it, ext)
	}
	return nil
}

// tooLarge rejects a document that exceeds the size limit and returns nil. For any other
// error of Stage, and if the client disconnected, it returns the error.
func (t *StagedUpload) tooLarge(it *stagedFile, err error) error {
	if !errors.Is(err, blobstore.ErrTooLarge) || errors.Is(err, blobstore.ErrSource) || t.ctx.Err() != nil {
		return t.v.StorageError(err)
	}
	it.rejection = document.ReasonTooLarge(t.v.Settings.MaxFileSize)
	return nil
}

// HasFiles reports whether any file part arrived, accepted or rejected.
func (t *StagedUpload) HasFiles() bool { return len(t.files) > 0 }

// Len returns the number of documents that arrived, accepted or rejected.
func (t *StagedUpload) Len() int { return len(t.files) }

// rejectByName reads a document with an unsupported file extension and discards it. Its
// size determines the reason: empty and too large take precedence.
func (t *StagedUpload) rejectByName(it *stagedFile, r io.Reader) error {
	n, err := io.Copy(io.Discard, r)
	switch {
	case n == 0:
		it.rejection = document.ReasonEmpty
	case n > t.v.Settings.MaxFileSize:
		it.rejection = document.ReasonTooLarge(t.v.Settings.MaxFileSize)
	default:
		it.rejection = document.ReasonUnsupportedType
	}
	return err
}

func (t *StagedUpload) inspect(it *stagedFile, ext string) {
	defer t.pending.Done()
	it.report, it.err = t.v.Reader.Inspect(t.ctx, it.staged, it.staged.Size(), ext, t.v.Settings.InspectLimits)
	it.rejection = it.report.Rejection
	if it.err != nil {
		it.err = fmt.Errorf("inspect a document: %w", it.err)
	}
}

// Discard removes the staged bytes of documents that were not committed.
func (t *StagedUpload) Discard() {
	t.closed.Do(t.v.Activity.End)
	t.cancel()
	t.pending.Wait()
	for _, it := range t.files {
		if it.staged == nil {
			continue
		}
		if err := it.staged.Discard(); err != nil {
			// The start of the next serve empties tmp.
			t.v.Log.Warn("staged file stays until the next start", "error", err)
		}
	}
}

// acceptedFiles holds the documents of an upload after inspection, in the order sent:
// the accepted ones, whose bytes are committed, and the reasons for the rejected ones.
type acceptedFiles struct {
	v         *Vault
	all       []*stagedFile // good or not, as sent
	accepted  []*stagedFile
	rejected  []model.RejectedFile
	batchItem *BatchItem
	limited   *acceptedFiles // of the good, where others were rejected after their bytes were kept; else nil
	unpin     func()         // the sweep may look at the bytes again
}

// finish unpins the committed bytes and counts the documents. If some of the bytes have
// no record, because err is not nil or an abstract was full, it requests a sweep.
func (f *acceptedFiles) finish(err error) {
	f.unpin()
	if (err != nil || f.limited != nil) && len(f.accepted) > 0 {
		f.v.Orphans.Notify()
	}
	f.count(err)
}

// count updates the upload counters.
func (f *acceptedFiles) count(err error) {
	filed := f
	if f.limited != nil {
		filed = f.limited
	}
	f.v.UploadCounts.Rejected.Add(uint64(len(filed.rejected)))
	if err != nil {
		return
	}
	f.v.UploadCounts.Uploaded.Add(uint64(len(filed.accepted)))
	for _, it := range filed.accepted {
		f.v.UploadCounts.UploadedBytes.Add(uint64(it.staged.Size()))
	}
}

// defaultMaxFilesPerAbstract is the limit if the settings have none.
const defaultMaxFilesPerAbstract = 2000

// MaxFilesPerAbstract returns the maximum number of documents in an abstract.
func (v *Vault) MaxFilesPerAbstract() int {
	return cmp.Or(v.Settings.MaxFilesPerAbstract, defaultMaxFilesPerAbstract)
}

// limitTo returns the documents that fit into an abstract that already has the given
// number of documents. The others are rejected.
func (f *acceptedFiles) limitTo(has int) *acceptedFiles {
	room := max(0, f.v.MaxFilesPerAbstract()-has)
	if f.limited = nil; len(f.accepted) <= room {
		return f
	}
	some := &acceptedFiles{v: f.v, all: f.all, batchItem: f.batchItem}
	for _, it := range f.all {
		reason := it.rejection
		if reason == "" && len(some.accepted) == room {
			reason = document.ReasonAbstractFull
		}
		if reason != "" {
			some.rejected = append(some.rejected, model.RejectedFile{Filename: it.filename, Reason: reason})
			continue
		}
		some.accepted = append(some.accepted, it)
	}
	f.limited = some
	return some
}

// accepted waits for the inspections and separates accepted from rejected documents. It
// commits nothing.
func (t *StagedUpload) accepted() (*acceptedFiles, error) {
	t.pending.Wait()
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	f := &acceptedFiles{v: t.v, all: t.files, batchItem: t.BatchItem}
	for _, it := range t.files {
		switch {
		case errors.Is(it.err, sandbox.ErrBusy):
			return nil, &errs.Error{Kind: errs.Unavailable, Message: "Too many documents are waiting to be read; try again in a moment.", Err: it.err}
		case errors.Is(it.err, sandbox.ErrKilled):
			return nil, &errs.Error{Kind: errs.Unavailable, Message: "The server couldn't check a document, and stored nothing. Try again in a moment.", Err: it.err}
		case it.err != nil:
			return nil, it.err
		case it.rejection != "":
			f.rejected = append(f.rejected, model.RejectedFile{Filename: it.filename, Reason: it.rejection})
		default:
			f.accepted = append(f.accepted, it)
		}
	}
	return f, nil
}

// commit waits for the inspections and commits the bytes of every accepted document.
func (t *StagedUpload) commit() (*acceptedFiles, error) {
	defer t.closed.Do(t.v.Activity.End)
	f, err := t.accepted()
	if err != nil {
		return nil, err
	}
	staged := make([]*blobstore.Staged, 0, len(f.accepted))
	for _, it := range f.accepted {
		staged = append(staged, it.staged)
	}
	if f.unpin, err = t.v.commitBlobs(t.ctx, staged...); err != nil {
		// Some of them may have got their names before it went wrong.
		t.v.Orphans.Notify()
		return nil, t.v.StorageError(err)
	}
	if len(staged) > 0 {
		t.v.StorageHealth.recordSuccess()
	}
	return f, nil
}

// saveRecords writes the record, audit entry, and processing task of every accepted
// document. It may run twice in one transaction attempt, so it must not change f.
func (f *acceptedFiles) saveRecords(v *Vault, t *store.Tx, at time.Time, actor model.Actor, place model.File) ([]model.File, error) {
	list := make([]model.File, 0, len(f.accepted))
	for _, it := range f.accepted {
		id, err := t.NewFileID()
		if err != nil {
			return nil, err
		}
		file := model.File{ID: id, Filename: it.filename, MIME: it.report.MIME, Pages: it.report.Pages, Size: it.staged.Size(),
			Digest: it.staged.Digest().String(), FolderID: place.FolderID, AbstractID: place.AbstractID,
			Processing: true, Version: 1, CreatedAt: at}
		err = errors.Join(t.PutFile(file), t.AddTask(model.ProcessingTask{FileID: id, Owner: actor.Record(), DueAt: at}),
			v.AddEvent(t, at, actor, "file.filed", txn.RecordRef("file", id), fileEventDetail(file)))
		if err != nil {
			return nil, err
		}
		list = append(list, file)
	}
	return list, nil
}

// StorageError classifies an error of the blob store. A full disk becomes
// InsufficientStorage. A failed fsync makes the vault read-only, because the contents of
// the disk are unknown after it.
func (v *Vault) StorageError(err error) error {
	switch {
	case errors.Is(err, blobstore.ErrDiskFull):
		return &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full.", Err: err}
	case errors.Is(err, blobstore.ErrSync):
		v.Store.Fail(err)
		return txn.ReadOnlyError(err)
	}
	v.StorageHealth.recordFailure(v.Now(), err)
	return err
}
