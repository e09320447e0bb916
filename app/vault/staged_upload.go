package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/model/origin"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/vault/storage"
)

// StagedUpload holds the documents of one request from the time they arrive until their
// records are committed. Bytes are written to disk as they arrive, and each document is
// inspected while the next one arrives. The caller of Stage must call Discard when done.
// Discard doesn't affect committed documents.
type StagedUpload struct {
	v         *Vault
	ctx       context.Context
	cancel    context.CancelFunc
	files     []*stagedFile
	pending   sync.WaitGroup
	closed    sync.Once
	BatchItem *BatchItem    // position of the documents in their batch; nil: append them to the abstract
	Origin    []origin.Part // pages that the documents were created from; nil: they were uploaded
}

// stagedFile is one document of an upload. It is either rejected, or staged and
// inspected.
type stagedFile struct {
	filename  string
	rejection string
	staged    *blobstore.Staged
	report    document.Report
	err       error // internal error; fails the complete request
}

// Stage returns an empty upload. If there is too little free disk space, it returns
// InsufficientStorage.
func (f *Files) Stage(ctx context.Context) (*StagedUpload, error) {
	if err := f.v.Ready(ctx); err != nil {
		return nil, err
	}
	owner := fmt.Sprintf("upload:%d", f.v.stagedUploads.Add(1))
	ctx, cancel := context.WithCancel(sandbox.WithOwner(ctx, owner))
	f.v.Activity.Begin()
	return &StagedUpload{v: f.v, ctx: ctx, cancel: cancel}, nil
}

// Add reads one document to the end. If the document is rejected, Add records the reason
// and returns nil. An error means that the upload can't be committed because reading from
// r failed (Add returns r's error), the disk is full, or writing failed.
func (u *StagedUpload) Add(filename string, r io.Reader) error {
	doc := &stagedFile{filename: filename}
	u.files = append(u.files, doc)
	err := u.add(doc, r)
	if err != nil {
		doc.err = err
	}
	return err
}

func (u *StagedUpload) add(doc *stagedFile, r io.Reader) error {
	ext, accepted := document.Extension(doc.filename)
	switch {
	case len(u.files) > u.v.Settings.MaxFilesPerRequest:
		doc.rejection = document.ReasonTooManyFiles
		_, err := io.Copy(io.Discard, r)
		return err
	case !accepted:
		return u.rejectByName(doc, r)
	}
	// Check before each document, because the disk may fill up during a long request.
	if err := u.v.CheckSpace(); err != nil {
		return err
	}
	staged, err := u.v.Blobs.Stage(u.ctx, &storage.DiskGuardReader{Reader: r, Storage: u.v.Storage}, u.v.Settings.MaxFileSize)
	if err != nil {
		return u.tooLarge(doc, err)
	}
	doc.staged = staged
	if staged.Size() == 0 {
		doc.rejection = document.ReasonEmpty
		return nil
	}
	u.pending.Add(1)
	go u.inspect(doc, ext)
	return nil
}

// Adopt adds a document that was stored by a completed resumable upload.
func (u *StagedUpload) Adopt(filename string, partial *blobstore.Partial) error {
	staged, err := partial.Adopt(u.ctx)
	if err != nil {
		return u.v.StorageError(err)
	}
	ext, accepted := document.Extension(filename)
	doc := &stagedFile{filename: filename, staged: staged}
	u.files = append(u.files, doc)
	switch {
	case staged.Size() > u.v.Settings.MaxFileSize:
		doc.rejection = document.ReasonTooLarge(u.v.Settings.MaxFileSize) // the limit was lowered after the upload started
	case !accepted:
		doc.rejection = document.ReasonUnsupportedType
	default:
		u.pending.Add(1)
		go u.inspect(doc, ext)
	}
	return nil
}

// tooLarge handles an error of Blobs.Stage. If the document exceeds the size limit, it
// rejects the document and returns nil. For other errors, or if the client disconnected,
// it returns the error.
func (u *StagedUpload) tooLarge(doc *stagedFile, err error) error {
	if !errors.Is(err, blobstore.ErrTooLarge) || errors.Is(err, blobstore.ErrSource) || u.ctx.Err() != nil {
		return u.v.StorageError(err)
	}
	doc.rejection = document.ReasonTooLarge(u.v.Settings.MaxFileSize)
	return nil
}

// HasFiles reports whether the request contained any documents, accepted or rejected.
func (u *StagedUpload) HasFiles() bool { return len(u.files) > 0 }

// Len returns the number of documents received so far, accepted or rejected.
func (u *StagedUpload) Len() int { return len(u.files) }

// rejectByName reads and discards a document with an unsupported filename extension. It
// reads the document to find its size, because "empty" and "too large" take precedence as
// reasons.
func (u *StagedUpload) rejectByName(doc *stagedFile, r io.Reader) error {
	n, err := io.Copy(io.Discard, r)
	switch {
	case n == 0:
		doc.rejection = document.ReasonEmpty
	case n > u.v.Settings.MaxFileSize:
		doc.rejection = document.ReasonTooLarge(u.v.Settings.MaxFileSize)
	default:
		doc.rejection = document.ReasonUnsupportedType
	}
	return err
}

func (u *StagedUpload) inspect(doc *stagedFile, ext string) {
	defer u.pending.Done()
	doc.report, doc.err = u.v.Reader.Inspect(u.ctx, doc.staged, doc.staged.Size(), ext, u.v.Settings.InspectLimits)
	doc.rejection = doc.report.Rejection
	if doc.err != nil {
		doc.err = fmt.Errorf("inspect document: %w", doc.err)
	}
}

// Discard removes the staged bytes of documents that have not been committed.
func (u *StagedUpload) Discard() {
	u.closed.Do(u.v.Activity.End)
	u.cancel()
	u.pending.Wait()
	for _, doc := range u.files {
		if doc.staged == nil {
			continue
		}
		if err := doc.staged.Discard(); err != nil {
			// The server empties tmp at its next start.
			u.v.Log.Warn("temporary file not deleted; the next start deletes it", "error", err)
		}
	}
}

// checkedFiles contains the documents of an upload after inspection, in the order sent:
// the accepted documents, and the rejected ones with the reasons.
type checkedFiles struct {
	v         *Vault
	all       []*stagedFile // accepted and rejected, in the order sent
	files     []*stagedFile // accepted
	rejected  []model.RejectedFile
	batchItem *BatchItem
	origin    []origin.Part
	limited   *checkedFiles // result of limitTo if it rejected committed documents, or nil
	unpin     func()        // allows the sweeper to remove blobs without records
}

// finish unpins the committed blobs and updates the upload counters. If err is not nil or
// the abstract was full, some blobs have no record, so it requests a sweep.
func (f *checkedFiles) finish(err error) {
	f.unpin()
	if (err != nil || f.limited != nil) && len(f.files) > 0 {
		f.v.Orphans.Notify()
	}
	f.count(err)
}

// count updates the upload counters.
func (f *checkedFiles) count(err error) {
	counted := f
	if f.limited != nil {
		counted = f.limited
	}
	f.v.UploadCounts.Rejected.Add(uint64(len(counted.rejected)))
	if err != nil {
		return
	}
	f.v.UploadCounts.Uploaded.Add(uint64(len(counted.files)))
	for _, doc := range counted.files {
		f.v.UploadCounts.UploadedBytes.Add(uint64(doc.staged.Size()))
	}
}

// defaultMaxFilesPerAbstract is the limit if MaxFilesPerAbstract is 0 in the settings.
const defaultMaxFilesPerAbstract = 2000

// MaxFilesPerAbstract returns the maximum number of documents in an abstract.
func (v *Vault) MaxFilesPerAbstract() int {
	return cmp.Or(v.Settings.MaxFilesPerAbstract, defaultMaxFilesPerAbstract)
}

// limitTo returns f without the documents that don't fit into an abstract that already
// has the given number of documents. It adds these documents to the rejected ones.
func (f *checkedFiles) limitTo(existing int) *checkedFiles {
	capacity := max(0, f.v.MaxFilesPerAbstract()-existing)
	if f.limited = nil; len(f.files) <= capacity {
		return f
	}
	limited := &checkedFiles{v: f.v, all: f.all, batchItem: f.batchItem, origin: f.origin}
	for _, doc := range f.all {
		reason := doc.rejection
		if reason == "" && len(limited.files) == capacity {
			reason = document.ReasonAbstractFull
		}
		if reason != "" {
			limited.rejected = append(limited.rejected, model.RejectedFile{Filename: doc.filename, Reason: reason})
			continue
		}
		limited.files = append(limited.files, doc)
	}
	f.limited = limited
	return limited
}

// mustFit returns Conflict if a document that was created from pages didn't fit into an abstract.
func (f *checkedFiles) mustFit() error {
	if len(f.origin) == 0 || len(f.rejected) == 0 {
		return nil
	}
	return &errs.Error{Kind: errs.Conflict, Message: f.rejected[0].Reason + "."}
}

// checked waits for the inspections to finish and separates accepted documents from
// rejected ones. It commits nothing.
func (u *StagedUpload) checked() (*checkedFiles, error) {
	u.pending.Wait()
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	f := &checkedFiles{v: u.v, all: u.files, batchItem: u.BatchItem, origin: u.Origin}
	for _, doc := range u.files {
		switch {
		case errors.Is(doc.err, sandbox.ErrBusy):
			return nil, errs.NotNow(errs.Busy, "Too many documents are waiting to be checked. Try again in a moment.", doc.err)
		case errors.Is(doc.err, sandbox.ErrKilled):
			return nil, errs.NotNow(errs.Busy,
				"The server couldn't check a document, so nothing was saved. Try again in a moment.", doc.err)
		case doc.err != nil:
			return nil, doc.err
		case doc.rejection != "":
			f.rejected = append(f.rejected, model.RejectedFile{Filename: doc.filename, Reason: doc.rejection})
		default:
			f.files = append(f.files, doc)
		}
	}
	return f, nil
}

// commit waits for the inspections to finish and commits the bytes of every accepted
// document.
func (u *StagedUpload) commit() (*checkedFiles, error) {
	defer u.closed.Do(u.v.Activity.End)
	f, err := u.checked()
	if err != nil {
		return nil, err
	}
	staged := make([]*blobstore.Staged, 0, len(f.files))
	for _, doc := range f.files {
		staged = append(staged, doc.staged)
	}
	if f.unpin, err = u.v.commitBlobs(u.ctx, staged...); err != nil {
		// Some blobs may have been committed before the error.
		u.v.Orphans.Notify()
		return nil, u.v.StorageError(err)
	}
	if len(staged) > 0 {
		u.v.StorageHealth.RecordSuccess()
	}
	return f, nil
}

// saveRecords writes a record, an audit entry, and a processing task for each accepted
// document. names are the names of records that aren't stored yet, for the audit entries. It must not
// change f, because a transaction may call it twice.
func (f *checkedFiles) saveRecords(v *Vault, t *store.Tx, at time.Time, actor model.Actor, location model.File, names map[string]string,
) ([]model.File, error) {
	list := make([]model.File, 0, len(f.files))
	retained, err := v.retainedByOrigin(t, f.origin)
	if err != nil {
		return nil, err
	}
	for _, doc := range f.files {
		id, err := t.NewFileID()
		if err != nil {
			return nil, err
		}
		file := model.File{ID: id, Filename: doc.filename, MIME: doc.report.MIME, Pages: doc.report.Pages, Size: doc.staged.Size(),
			Digest: doc.staged.Digest().String(), FolderID: location.FolderID, AbstractID: location.AbstractID,
			Processing: true, Owner: actor.Record(), Version: 1, CreatedAt: at, Origin: f.origin, RetainedUntil: retained}
		detail := FileDetail(file)
		if len(f.origin) > 0 {
			detail["created_from"] = origin.Text(f.origin)
		}
		err = errors.Join(t.PutFile(file), t.AddTask(model.ProcessingTask{FileID: id, Owner: actor.Record(), DueAt: at}),
			v.AddEntry(t, model.Event{At: at, Actor: actor, Kind: "file.filed", Record: model.RecordRef("file", id), Detail: detail,
				Names: maps.Clone(names)}))
		if err != nil {
			return nil, err
		}
		list = append(list, file)
	}
	return list, nil
}

// StorageError classifies an error from the blob store. It returns InsufficientStorage if
// the disk is full. If an fsync failed, it makes the vault read-only, because it is
// unknown what was written to the disk.
func (v *Vault) StorageError(err error) error {
	switch {
	case errors.Is(err, blobstore.ErrDiskFull):
		return errs.DiskFull(err)
	case errors.Is(err, blobstore.ErrSync):
		v.Store.Fail(err)
		return errs.DiskFailed(err)
	}
	v.StorageHealth.RecordFailure(v.Now(), err)
	return err
}

// commitBlobs syncs documents to the disk before their records are written. If a blob
// with the same digest was damaged, it is intact afterward. The blobs stay pinned until
// release is called.
func (v *Vault) commitBlobs(ctx context.Context, staged ...*blobstore.Staged) (release func(), err error) {
	release, err = v.Blobs.Commit(ctx, staged...)
	if err == nil {
		for _, blob := range staged {
			v.ClearDamage(blob.Digest())
		}
	}
	return release, err
}

// maxBatches is the maximum number of batches in memory. The oldest batch is dropped
// first.
const maxBatches = 200

// Batches records the documents uploaded so far from each batch, by their position in the
// batch. Documents that a user selects together are uploaded concurrently and finish in
// any order, but must end up in the sequence in which they were selected. The state is
// only in memory: after a restart, the remaining documents of a batch are appended to the
// abstract.
type Batches struct {
	mu    sync.Mutex
	order []string
	all   map[string]map[int]uint64
}

// BatchItem is the position of a document in a batch.
type BatchItem struct {
	batches *Batches
	batch   string
	n       int
}

// NewBatchItem returns an item for position n of a batch.
func NewBatchItem(in *Batches, batch string, n int) *BatchItem { return &BatchItem{in, batch, n} }

// uploadedAfter returns the IDs of the documents from this batch that have a higher
// position and are already uploaded.
func (bi *BatchItem) uploadedAfter() (files []uint64) {
	bi.batches.mu.Lock()
	defer bi.batches.mu.Unlock()
	for n, file := range bi.batches.all[bi.batch] {
		if n > bi.n {
			files = append(files, file)
		}
	}
	return files
}

// recordUpload records the ID of the uploaded document. If a transaction is retried, it
// is called again, and the last ID is kept.
func (bi *BatchItem) recordUpload(file uint64) {
	b := bi.batches
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[string]map[int]uint64{}
	}
	if b.all[bi.batch] == nil {
		if len(b.order) == maxBatches {
			delete(b.all, b.order[0])
			b.order = slices.Delete(b.order, 0, 1)
		}
		b.all[bi.batch] = map[int]uint64{}
		b.order = append(b.order, bi.batch)
	}
	b.all[bi.batch][bi.n] = file
}

// insertPosition returns the index in existing at which to insert new documents. It also
// records added, the ID of the first one, in the batch.
func (f *checkedFiles) insertPosition(existing []uint64, added uint64) int {
	if f.batchItem == nil {
		return len(existing)
	}
	defer f.batchItem.recordUpload(added)
	later := f.batchItem.uploadedAfter()
	if at := slices.IndexFunc(existing, func(id uint64) bool { return slices.Contains(later, id) }); at >= 0 {
		return at
	}
	return len(existing)
}
