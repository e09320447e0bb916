package jobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
)

// DailyPeriod is a period of each day. The zero value is the entire day.
type DailyPeriod struct {
	From, To time.Duration         // after midnight; the period includes midnight if From is later than To
	Zone     func() *time.Location // nil: UTC
}

// Until returns how long it takes from now until the period begins, or 0 during the period.
func (p DailyPeriod) Until(now time.Time) time.Duration {
	if p.From == p.To {
		return 0
	}
	if p.Zone != nil {
		now = now.In(p.Zone())
	}
	hour, minute, second := now.Clock()
	at := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	switch {
	case p.From < p.To && (at < p.From || at >= p.To), p.From > p.To && at >= p.To && at < p.From:
		return (p.From - at + 24*time.Hour) % (24 * time.Hour)
	}
	return 0
}

// read reads a page that take returned and stores the result.
func (o *OCR) read(ctx context.Context, file *ocrFile, page int) {
	result, err := o.readPage(ctx, file.File, page)
	if o.isFinal(file, page, err) {
		o.Log.Info("page can't be read by OCR", "file", file.ID, "page", page, "error", err)
		result, err = ocr.Page{Failed: true}, nil
	}
	if err == nil {
		if err = o.keep(ctx, file.File, page, result); err == nil {
			o.count(result)
		}
	}
	o.finishPage(ctx, file, page, err)
}

func (o *OCR) readPage(ctx context.Context, file model.File, page int) (ocr.Page, error) {
	r, done, err := o.previews.openRequest(ctx, file, ocrOwner, sandbox.Background)
	if err != nil {
		return ocr.Page{}, err
	}
	defer done()
	return o.reader.ReadPage(ctx, r, page, o.previews.limits)
}

// isFinal reports whether the document caused the error of reading a page. If the reason may have
// been a worker that was slow or out of memory, the page is tried once more first.
func (o *OCR) isFinal(file *ocrFile, page int, err error) bool {
	if !sandbox.IsDocumentError(err) {
		return false
	}
	if !errors.Is(err, sandbox.ErrDeadline) && !errors.Is(err, sandbox.ErrMemory) && !errors.Is(err, document.ErrDamaged) {
		return true // the same happens each time
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	file.attempts[page]++
	return file.attempts[page] >= maxPageAttempts
}

func (o *OCR) count(result ocr.Page) {
	if result.Failed {
		o.outcomes.Add(outcomeFailed)
	} else {
		o.outcomes.Add(outcomeDone)
	}
}

// keep stores the result of a page. If the last record with the document's digest was purged in
// the meantime, it removes the results again, because the sweeper may already have run.
func (o *OCR) keep(ctx context.Context, file model.File, page int, result ocr.Page) error {
	if err := o.Store.CheckFile(); err != nil {
		return err // if the data directory is gone, don't create the folder on another disk
	}
	digest, err := blobstore.ParseDigest(file.Digest)
	if err != nil {
		return err
	}
	if err := o.previews.vault.Texts.Put(file.Digest, map[int]ocr.Page{page: result}); err != nil {
		return err
	}
	used, err := store.Read(context.WithoutCancel(ctx), o.Store, func(t *store.Tx) (bool, error) { return t.DigestInUse(digest), nil })
	if err != nil || used {
		return err
	}
	return errors.Join(errs.RecordNotFound("document", file.Digest), o.previews.vault.Texts.Remove(file.Digest))
}

// finishPage returns a page that read has tried. err is nil if its result is stored.
func (o *OCR) finishPage(ctx context.Context, file *ocrFile, page int, err error) {
	defer o.wake.Notify()
	o.mu.Lock()
	defer o.mu.Unlock()
	file.reading = slices.DeleteFunc(file.reading, func(p int) bool { return p == page })
	switch {
	case err == nil:
		file.unsaved = true
		delete(o.failures, file.ID)
	case ctx.Err() != nil || sandbox.IsDocumentError(err): // the latter is tried once more
		file.unread = append(file.unread, page) // at the end, so that it doesn't delay the others
	default:
		o.giveUp(file, err)
	}
	if file.saving {
		return // the worker that saves it continues here
	}
	for ctx.Err() == nil && file.unsaved && (file.complete() || o.Now().Sub(file.savedAt) >= ocrSaveInterval) {
		if !o.save(ctx, file) {
			break
		}
	}
	if file.complete() {
		delete(o.active, file.ID)
	}
}

// complete reports whether no worker reads or will read pages of the document.
func (f *ocrFile) complete() bool { return len(f.reading) == 0 && (len(f.unread) == 0 || f.broken) }

// giveUp stops reading a document for a while. The caller must hold mu.
func (o *OCR) giveUp(file *ocrFile, err error) {
	if !file.broken && errs.KindOf(err) != errs.NotFound && !errs.NotWritable(err) {
		o.Log.Warn("document not read by OCR", "file", file.ID, "error", err)
	}
	file.broken = true
	o.postpone(file.ID)
}

// save stores the progress of a document. The caller must hold mu, which save releases while it
// writes. Only one worker saves a document at a time, so that an older state never replaces a newer
// one.
func (o *OCR) save(ctx context.Context, file *ocrFile) (saved bool) {
	file.saving, file.unsaved, file.savedAt = true, false, o.Now()
	o.mu.Unlock()
	state, err := o.previews.vault.Texts.State(file.File)
	if err == nil {
		err = o.Store.Update(ctx, nil, func(t *store.Tx) error { return o.setOCR(t, file.ID, state, true) })
	}
	o.mu.Lock()
	file.saving = false
	if err != nil && ctx.Err() == nil {
		// The results are on the disk. The document is opened again later, which stores the progress.
		file.unsaved = true
		o.giveUp(file, err)
	}
	return err == nil
}
