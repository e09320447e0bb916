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

// StagedUpload holds the documents of one request between their arrival and the commit of
// their records. Bytes go to disk as they arrive and are inspected while the rest
// of the request still comes. Who makes a tray must Discard it in the end; what
// was filed from it stays.
type StagedUpload struct {
	v         *Vault
	ctx       context.Context
	cancel    context.CancelFunc
	files     []*stagedFile
	pending   sync.WaitGroup
	closed    sync.Once
	BatchItem *BatchItem // nil: what is filed stands behind what is there
}

// stagedFile is one document of a tray: refused, or staged with its report.
type stagedFile struct {
	filename  string
	rejection string
	staged    *blobstore.Staged
	report    document.Report
	err       error // our own fault, which ends the request
}

// Stage gives an empty tray, or Full when the disk has no room.
func (f *Files) Stage(ctx context.Context) (*StagedUpload, error) {
	if err := f.v.Ready(ctx); err != nil {
		return nil, err
	}
	owner := fmt.Sprintf("tray:%d", f.v.stagedUploads.Add(1))
	ctx, cancel := context.WithCancel(sandbox.WithOwner(ctx, owner))
	f.v.Activity.Begin()
	return &StagedUpload{v: f.v, ctx: ctx, cancel: cancel}, nil
}

// Add reads one document to its end. A document that is refused is remembered with
// its reason and is no error; an error means that the request cannot go on: r
// broke off (as r said it), Full, or a failure of the disk. Nothing of the tray
// can be filed then.
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
	// Once more for each: a request of many documents outlasts the room there was
	// when it began.
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

// adopt takes a document whose bytes lie in the vault's uploads already.
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
		it.rejection = document.ReasonTooLarge(t.v.Settings.MaxFileSize) // the settings have changed meanwhile
	case !accepted:
		it.rejection = document.ReasonUnsupportedType
	default:
		t.pending.Add(1)
		go t.inspect(it, ext)
	}
	return nil
}

// tooLarge makes a refusal of the one error of Stage that is the document's. A
// document over the limit that then broke off is no refusal: nobody is there to
// read it.
func (t *StagedUpload) tooLarge(it *stagedFile, err error) error {
	if !errors.Is(err, blobstore.ErrTooLarge) || errors.Is(err, blobstore.ErrSource) || t.ctx.Err() != nil {
		return t.v.StorageError(err)
	}
	it.rejection = document.ReasonTooLarge(t.v.Settings.MaxFileSize)
	return nil
}

// HasFiles reports whether any file part arrived, refused or not.
func (t *StagedUpload) HasFiles() bool { return len(t.files) > 0 }

// Len is how many documents arrived, refused or not.
func (t *StagedUpload) Len() int { return len(t.files) }

// rejectByName reads a document whose name is enough to refuse it: its length still
// decides which of the reasons comes first.
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

// Discard forgets every document that was not filed.
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

// acceptedFiles is what of a tray is to be filed: bytes that are durable already, and the
// reasons of what was refused, both in the order sent.
type acceptedFiles struct {
	v         *Vault
	all       []*stagedFile // good or not, as sent
	accepted  []*stagedFile
	rejected  []model.RejectedFile
	batchItem *BatchItem
	limited   *acceptedFiles // of the good, where others were refused after their bytes were kept; else nil
	unpin     func()         // the sweep may look at the bytes again
}

// finish gives the bytes back to the sweep; when err says that no record names them,
// it asks for one soon.
func (f *acceptedFiles) finish(err error) {
	f.unpin()
	if (err != nil || f.limited != nil) && len(f.accepted) > 0 {
		f.v.Orphans.Notify()
	}
	f.count(err)
}

// count tells the counts what became of the documents.
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

// defaultMaxFilesPerAbstract is how many files an abstract may have, unless the settings say so.
const defaultMaxFilesPerAbstract = 2000

func (v *Vault) MaxFilesPerAbstract() int {
	return cmp.Or(v.Settings.MaxFilesPerAbstract, defaultMaxFilesPerAbstract)
}

// limitTo is the filing of no more documents than an abstract takes that has some; the
// others are refused.
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

// accepted waits for the inspections and separates the accepted documents from the
// rejected ones. Nothing is durable yet.
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

// commit waits for the inspections and makes every good document durable.
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

// saveRecords writes the records of the good documents: file, event, task, each. It runs
// inside a transaction, perhaps twice.
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

// disk names an error of the blob store: Full, or a failed sync, after which
// nobody knows what the disk holds and the vault takes no more writes.
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
