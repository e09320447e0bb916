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

// Tray holds the documents of one request between their arrival and the commit of
// their records. Bytes go to disk as they arrive and are inspected while the rest
// of the request still comes. Who makes a tray must Discard it in the end; what
// was filed from it stays.
type Tray struct {
	v       *Vault
	ctx     context.Context
	cancel  context.CancelFunc
	items   []*item
	pending sync.WaitGroup
	closed  sync.Once
	Turn    *Turn // nil: what is filed stands behind what is there
}

// item is one document of a tray: refused, or staged with its report.
type item struct {
	filename string
	refusal  string
	staged   *blobstore.Staged
	report   document.Report
	err      error // our own fault, which ends the request
}

// NewTray gives an empty tray, or Full when the disk has no room.
func (f *Files) NewTray(ctx context.Context) (*Tray, error) {
	if err := f.v.Ready(ctx); err != nil {
		return nil, err
	}
	owner := fmt.Sprintf("tray:%d", f.v.trays.Add(1))
	ctx, cancel := context.WithCancel(sandbox.WithOwner(ctx, owner))
	f.v.Activity.Begin()
	return &Tray{v: f.v, ctx: ctx, cancel: cancel}, nil
}

// Add reads one document to its end. A document that is refused is remembered with
// its reason and is no error; an error means that the request cannot go on: r
// broke off (as r said it), Full, or a failure of the disk. Nothing of the tray
// can be filed then.
func (t *Tray) Add(filename string, r io.Reader) error {
	it := &item{filename: filename}
	t.items = append(t.items, it)
	err := t.add(it, r)
	if err != nil {
		it.err = err
	}
	return err
}

func (t *Tray) add(it *item, r io.Reader) error {
	ext, accepted := document.Extension(it.filename)
	switch {
	case len(t.items) > t.v.Set.FilesPerRequest:
		it.refusal = document.ReasonTooManyFiles
		_, err := io.Copy(io.Discard, r)
		return err
	case !accepted:
		return t.refuse(it, r)
	}
	// Once more for each: a request of many documents outlasts the room there was
	// when it began.
	if err := t.v.CheckSpace(); err != nil {
		return err
	}
	staged, err := t.v.Blobs.Stage(t.ctx, &RoomReader{Reader: r, V: t.v}, t.v.Set.FileSize)
	if err != nil {
		return t.tooLarge(it, err)
	}
	it.staged = staged
	if staged.Size() == 0 {
		it.refusal = document.ReasonEmpty
		return nil
	}
	t.pending.Add(1)
	go t.inspect(it, ext)
	return nil
}

// adopt takes a document whose bytes lie in the vault's uploads already.
func (t *Tray) Adopt(filename string, x *blobstore.Partial) error {
	staged, err := x.Adopt(t.ctx)
	if err != nil {
		return t.v.Disk(err)
	}
	ext, accepted := document.Extension(filename)
	it := &item{filename: filename, staged: staged}
	t.items = append(t.items, it)
	switch {
	case staged.Size() > t.v.Set.FileSize:
		it.refusal = document.ReasonTooLarge(t.v.Set.FileSize) // the settings have changed meanwhile
	case !accepted:
		it.refusal = document.ReasonUnsupportedType
	default:
		t.pending.Add(1)
		go t.inspect(it, ext)
	}
	return nil
}

// tooLarge makes a refusal of the one error of Stage that is the document's. A
// document over the limit that then broke off is no refusal: nobody is there to
// read it.
func (t *Tray) tooLarge(it *item, err error) error {
	if !errors.Is(err, blobstore.ErrTooLarge) || errors.Is(err, blobstore.ErrSource) || t.ctx.Err() != nil {
		return t.v.Disk(err)
	}
	it.refusal = document.ReasonTooLarge(t.v.Set.FileSize)
	return nil
}

// Has reports whether any file part arrived, refused or not.
func (t *Tray) Has() bool { return len(t.items) > 0 }

// Len is how many documents arrived, refused or not.
func (t *Tray) Len() int { return len(t.items) }

// refuse reads a document whose name is enough to refuse it: its length still
// decides which of the reasons comes first.
func (t *Tray) refuse(it *item, r io.Reader) error {
	n, err := io.Copy(io.Discard, r)
	switch {
	case n == 0:
		it.refusal = document.ReasonEmpty
	case n > t.v.Set.FileSize:
		it.refusal = document.ReasonTooLarge(t.v.Set.FileSize)
	default:
		it.refusal = document.ReasonUnsupportedType
	}
	return err
}

func (t *Tray) inspect(it *item, ext string) {
	defer t.pending.Done()
	it.report, it.err = t.v.Reader.Inspect(t.ctx, it.staged, it.staged.Size(), ext, t.v.Set.Inspect)
	it.refusal = it.report.Rejection
	if it.err != nil {
		it.err = fmt.Errorf("inspect a document: %w", it.err)
	}
}

// Discard forgets every document that was not filed.
func (t *Tray) Discard() {
	t.closed.Do(t.v.Activity.End)
	t.cancel()
	t.pending.Wait()
	for _, it := range t.items {
		if it.staged == nil {
			continue
		}
		if err := it.staged.Discard(); err != nil {
			// The start of the next serve empties tmp.
			t.v.Log.Warn("staged file stays until the next start", "error", err)
		}
	}
}

// filing is what of a tray is to be filed: bytes that are durable already, and the
// reasons of what was refused, both in the order sent.
type filing struct {
	v        *Vault
	all      []*item // good or not, as sent
	good     []*item
	failures []model.RejectedFile
	turn     *Turn
	some     *filing // of the good, where others were refused after their bytes were kept; else nil
	release  func()  // the sweep may look at the bytes again
}

// end gives the bytes back to the sweep; when err says that no record names them,
// it asks for one soon.
func (f *filing) end(err error) {
	f.release()
	if (err != nil || f.some != nil) && len(f.good) > 0 {
		f.v.Orphans.Notify()
	}
	f.count(err)
}

// count tells the counts what became of the documents.
func (f *filing) count(err error) {
	filed := f
	if f.some != nil {
		filed = f.some
	}
	f.v.Counts.Rejected.Add(uint64(len(filed.failures)))
	if err != nil {
		return
	}
	f.v.Counts.Filed.Add(uint64(len(filed.good)))
	for _, it := range filed.good {
		f.v.Counts.FiledBytes.Add(uint64(it.staged.Size()))
	}
}

// mostPerAbstract is how many files an abstract may have, unless the settings say so.
const mostPerAbstract = 2000

func (v *Vault) MostPerAbstract() int { return cmp.Or(v.Set.FilesPerAbstract, mostPerAbstract) }

// within is the filing of no more documents than an abstract takes that has some; the
// others are refused.
func (f *filing) within(has int) *filing {
	room := max(0, f.v.MostPerAbstract()-has)
	if f.some = nil; len(f.good) <= room {
		return f
	}
	some := &filing{v: f.v, all: f.all, turn: f.turn}
	for _, it := range f.all {
		reason := it.refusal
		if reason == "" && len(some.good) == room {
			reason = document.ReasonAbstractFull
		}
		if reason != "" {
			some.failures = append(some.failures, model.RejectedFile{Filename: it.filename, Reason: reason})
			continue
		}
		some.good = append(some.good, it)
	}
	f.some = some
	return some
}

// judged waits for the inspections and separates the accepted documents from the
// rejected ones. Nothing is durable yet.
func (t *Tray) judged() (*filing, error) {
	t.pending.Wait()
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	f := &filing{v: t.v, all: t.items, turn: t.Turn}
	for _, it := range t.items {
		switch {
		case errors.Is(it.err, sandbox.ErrBusy):
			return nil, &errs.Error{Kind: errs.Unavailable, Message: "Too many documents are waiting to be read; try again in a moment.", Err: it.err}
		case errors.Is(it.err, sandbox.ErrKilled):
			return nil, &errs.Error{Kind: errs.Unavailable, Message: "The server couldn't check a document, and stored nothing. Try again in a moment.", Err: it.err}
		case it.err != nil:
			return nil, it.err
		case it.refusal != "":
			f.failures = append(f.failures, model.RejectedFile{Filename: it.filename, Reason: it.refusal})
		default:
			f.good = append(f.good, it)
		}
	}
	return f, nil
}

// keep waits for the inspections and makes every good document durable.
func (t *Tray) keep() (*filing, error) {
	defer t.closed.Do(t.v.Activity.End)
	f, err := t.judged()
	if err != nil {
		return nil, err
	}
	staged := make([]*blobstore.Staged, 0, len(f.good))
	for _, it := range f.good {
		staged = append(staged, it.staged)
	}
	if f.release, err = t.v.keepBytes(t.ctx, staged...); err != nil {
		// Some of them may have got their names before it went wrong.
		t.v.Orphans.Notify()
		return nil, t.v.Disk(err)
	}
	if len(staged) > 0 {
		t.v.Storage.succeeded()
	}
	return f, nil
}

// file writes the records of the good documents: file, event, task, each. It runs
// inside a transaction, perhaps twice.
func (f *filing) file(v *Vault, t *store.Tx, at time.Time, actor model.Actor, place model.File) ([]model.File, error) {
	list := make([]model.File, 0, len(f.good))
	for _, it := range f.good {
		id, err := t.NewFileID()
		if err != nil {
			return nil, err
		}
		file := model.File{ID: id, Filename: it.filename, MIME: it.report.MIME, Pages: it.report.Pages, Size: it.staged.Size(),
			Digest: it.staged.Digest().String(), FolderID: place.FolderID, AbstractID: place.AbstractID,
			Processing: true, Version: 1, CreatedAt: at}
		err = errors.Join(t.PutFile(file), t.AddTask(model.ProcessingTask{FileID: id, Owner: actor.Record(), DueAt: at}),
			v.AddEvent(t, at, actor, "file.filed", txn.RecordRef("file", id), fileDetail(file)))
		if err != nil {
			return nil, err
		}
		list = append(list, file)
	}
	return list, nil
}

// disk names an error of the blob store: Full, or a failed sync, after which
// nobody knows what the disk holds and the vault takes no more writes.
func (v *Vault) Disk(err error) error {
	switch {
	case errors.Is(err, blobstore.ErrDiskFull):
		return &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full.", Err: err}
	case errors.Is(err, blobstore.ErrSync):
		v.Store.Fail(err)
		return txn.ReadOnlyError(err)
	}
	v.Storage.failed(v.Now(), err)
	return err
}
