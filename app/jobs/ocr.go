package jobs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/pagetext"
	"deedkeep/app/sandbox"
	"deedkeep/app/stats"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// PageReader reads the words on the image of a page. In production, it is a pool of worker
// processes that is used for nothing else. It returns the errors of sandbox.Pool.PageImage.
type PageReader interface {
	ReadPage(ctx context.Context, r sandbox.Request, page int, lim document.ExtractLimits) (ocr.Page, error)
}

// OCRSettings are the ocr.* settings in config.example.yaml.
type OCRSettings struct {
	Workers int         // pages that are read at the same time; 0 means 1
	Hours   DailyPeriod // when pages are read
}

// OCR reads the pages of documents whose own text is missing or unusable. Its queue is in the
// database (store.NextForOCR). The users and API keys that uploaded the documents take turns, one
// page each, so that a backlog of one delays the others by one page. Of each, documents that a user
// just opened come first, then newer ones before older ones. Documents in the trash aren't read until
// they are restored. The result of a page is on the disk before the
// page counts as read. After a crash, no page that was read is read again, and none is left
// out. Every document eventually leaves the queue, because a page that can't be read is stored
// as failed.
type OCR struct {
	*txn.DB
	previews *Previews
	reader   PageReader // nil: pages are never read
	settings OCRSettings
	outcomes stats.Counters
	wake     txn.Signal // the queue or its order changed, or a page was read

	openedMu sync.Mutex
	opened   []uint64 // documents that were opened, most recently opened first

	mu       sync.Mutex
	turn     uint64                    // number of turns so far
	turns    map[store.OCROwner]uint64 // the last turn of each owner
	active   map[uint64]*ocrFile       // documents whose pages are being read
	retryAt  map[uint64]time.Time      // documents that can't be read now
	failures map[uint64]int            // how often that happened in a row
	finished map[uint64]ocrEnd         // documents that have nothing to read; not stored yet
}

// ocrEnd is the state of a document whose pages need no OCR or have all been read.
type ocrEnd struct {
	pagetext.State
	changed bool // the search index must read the text again
}

// ocrFile is a document whose pages are being read.
type ocrFile struct {
	model.File
	unread   []int       // pages that no worker has taken yet, in order
	reading  []int       // pages that are being read
	attempts map[int]int // failed attempts to read a page
	savedAt  time.Time   // when the progress was last stored in the record
	saving   bool        // a worker is storing it
	unsaved  bool        // pages were read since then
	broken   bool        // the document can't be read now
}

const (
	// ocrSaveInterval is how often the progress of a document is stored in its record. The
	// search index then reads all of its text again.
	ocrSaveInterval = 10 * time.Second
	// maxPageAttempts is how often the job tries to read a page that kills its worker or takes too long.
	maxPageAttempts = 2
	// maxOpened is how many of the opened documents are preferred.
	maxOpened = 64
	// ocrPollInterval is the longest pause of the job. The queue may change without a signal.
	ocrPollInterval = time.Minute
	// maxOCRDelay is the longest delay until a document that can't be read is tried again.
	maxOCRDelay = time.Hour
	// ocrBatchSize is how many documents without anything to read are stored in one transaction.
	ocrBatchSize = 64
	// maxActive is how many documents stay in memory after newer uploads have interrupted their
	// reading.
	maxActive = 256
	// textMissing stands for the number of pages with text if the document's own text is missing.
	textMissing = -1
	// ocrOwner is the owner of the job's requests in the sandbox.
	ocrOwner = "ocr"
)

// NewOCR returns the job that reads pages with reader. If reader is nil, it does nothing.
func NewOCR(p *Previews, reader PageReader, settings OCRSettings) *OCR {
	o := &OCR{DB: p.DB, previews: p, reader: reader, settings: settings, wake: txn.NewSignal(),
		outcomes: stats.NewCounters(PageOutcomes...), turns: map[store.OCROwner]uint64{}, active: map[uint64]*ocrFile{},
		retryAt: map[uint64]time.Time{}, failures: map[uint64]int{}, finished: map[uint64]ocrEnd{}}
	p.ocr = o
	return o
}

// Enabled reports whether pages are read at all.
func (o *OCR) Enabled() bool { return o.reader != nil }

// PausedUntil returns when the hours begin in which pages are read, or zero if pages are read now or
// never.
func (o *OCR) PausedUntil() time.Time {
	now := o.Now()
	if wait := o.settings.Hours.Until(now); wait > 0 && o.Enabled() {
		return now.Add(wait)
	}
	return time.Time{}
}

// PageOutcomes are the label values of the counter of pages. They mean that the page was read, or
// that it can't be read.
var PageOutcomes = []string{outcomeDone, outcomeFailed}

// PageCounts returns the number of pages for each of the PageOutcomes.
func (o *OCR) PageCounts() map[string]uint64 { return o.outcomes.Read() }

// ReadingPage is a page that is being read.
type ReadingPage struct {
	FileID uint64
	Page   int
}

// Reading returns the pages that are being read, in the order of their documents.
func (o *OCR) Reading() (list []ReadingPage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, file := range o.active {
		for _, page := range file.reading {
			list = append(list, ReadingPage{id, page})
		}
	}
	slices.SortFunc(list, func(a, b ReadingPage) int {
		return cmp.Or(cmp.Compare(a.FileID, b.FileID), cmp.Compare(a.Page, b.Page))
	})
	return list
}

// Prefer moves a document before the others of its owner because a user opened it. It doesn't write
// to the database, so that opening a document never waits for the disk. After a restart, the
// order is the usual one.
func (o *OCR) Prefer(id uint64) {
	o.openedMu.Lock()
	defer o.openedMu.Unlock()
	if len(o.opened) > 0 && o.opened[0] == id {
		return
	}
	o.opened = slices.DeleteFunc(o.opened, func(other uint64) bool { return other == id })
	o.opened = slices.Insert(o.opened, 0, id)
	o.opened = o.opened[:min(len(o.opened), maxOpened)]
	o.wake.Notify()
}

// Run reads pages until ctx ends.
func (o *OCR) Run(ctx context.Context) {
	if o.reader == nil {
		return
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	for range max(o.settings.Workers, 1) {
		workers.Go(func() {
			for ctx.Err() == nil {
				o.step(ctx)
			}
		})
	}
}

// step reads one page, or waits until there may be one to read.
func (o *OCR) step(ctx context.Context) {
	if wait := o.settings.Hours.Until(o.Now()); wait > 0 {
		o.pause(ctx, wait)
		return
	}
	if o.Store.Failure() != nil || o.CheckSpace() != nil {
		// The result couldn't be stored. Ready and Status report the reason.
		o.pause(ctx, ocrPollInterval)
		return
	}
	file, page, err := o.take(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		if !errs.NotWritable(err) {
			o.Log.Error("documents for OCR not loaded", "error", err)
		}
		o.pause(ctx, retryDelay)
	case file == nil:
		o.pause(ctx, ocrPollInterval)
	default:
		o.Activity.WaitIdle(ctx)
		o.read(ctx, file, page)
	}
}

// pause waits until the queue may have changed, but not longer than limit.
func (o *OCR) pause(ctx context.Context, limit time.Duration) {
	select {
	case <-ctx.Done():
	case <-o.wake:
	case <-time.After(min(limit, ocrPollInterval)):
	}
}

// take returns the next page to read, or nil if there is none. The caller must pass it to read.
func (o *OCR) take(ctx context.Context) (*ocrFile, int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ctx.Err() == nil {
		file, found, err := o.next(ctx)
		if err != nil {
			return nil, 0, err
		}
		var active *ocrFile
		if found {
			if active = o.active[file.ID]; active == nil {
				active = o.open(file)
			}
		}
		if found && active == nil && len(o.finished) < ocrBatchSize {
			continue
		}
		if err := o.storeFinished(ctx); err != nil || !found {
			return nil, 0, err
		}
		if active == nil {
			o.Activity.WaitIdle(ctx)
			continue
		}
		page := active.unread[0]
		active.unread = active.unread[1:]
		active.reading = append(active.reading, page)
		o.wake.Notify() // another worker may read the next page
		return active, page, nil
	}
	return nil, 0, ctx.Err()
}

// next returns the next document that has pages to take: the first one of the owner whose last turn
// was the longest ago. This is a turn of that owner. The caller must hold mu.
func (o *OCR) next(ctx context.Context) (file model.File, found bool, err error) {
	now := o.Now()
	skip := func(id uint64) bool {
		if at, waits := o.retryAt[id]; waits && now.Before(at) {
			return true
		}
		_, finished := o.finished[id]
		active := o.active[id]
		return finished || active != nil && (len(active.unread) == 0 || active.broken)
	}
	o.openedMu.Lock()
	opened := slices.Clone(o.opened)
	o.openedMu.Unlock()
	var owner store.OCROwner
	err = o.Store.View(ctx, func(t *store.Tx) (err error) {
		preferred := map[store.OCROwner]model.File{}
		for _, id := range slices.Backward(opened) {
			if skip(id) {
				continue
			}
			if f, err := t.File(id); err == nil && f.WaitsForOCR() {
				preferred[store.OCROwnerOf(&f)] = f
			}
		}
		owners := t.OCROwners()
		slices.SortStableFunc(owners, func(a, b store.OCROwner) int { return cmp.Compare(o.turns[a], o.turns[b]) })
		for _, owner = range owners {
			if file, found = preferred[owner]; !found {
				file, found, err = t.NextForOCR(owner, skip)
			}
			if err != nil || found {
				return err
			}
		}
		return nil
	})
	if err == nil && found {
		o.turn++
		o.turns[owner] = o.turn
	}
	return file, found, err
}

// open determines which pages of a document have to be read. It returns nil if there are none, or
// if the document can't be read now. The caller must hold mu.
func (o *OCR) open(file model.File) *ocrFile {
	state, err := o.previews.vault.Texts.State(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// The document's own text was deleted or damaged. The server may be rebuilding it.
		o.finished[file.ID] = ocrEnd{changed: true, State: pagetext.State{TextPages: textMissing}}
		o.postpone(file.ID)
		return nil
	case err != nil:
		o.Log.Warn("text of a document for OCR not read", "file", file.ID, "error", err)
		o.postpone(file.ID)
		return nil
	case len(state.Missing) == 0:
		o.finished[file.ID] = ocrEnd{state, state.OCRPages > 0}
		return nil
	}
	for id, other := range o.active { // documents that newer ones have displaced
		if len(o.active) >= maxActive && len(other.reading) == 0 && !other.saving {
			delete(o.active, id)
		}
	}
	active := &ocrFile{File: file, unread: state.Missing, attempts: map[int]int{}}
	if file.OCR != nil && *file.OCR == state.OCR() {
		active.savedAt = o.Now()
	} else {
		active.unsaved = true // pages were read before a crash, and the next page stores the progress
	}
	o.active[file.ID] = active
	return active
}

// postpone makes the queue skip a document for a while. The caller must hold mu.
func (o *OCR) postpone(id uint64) {
	now := o.Now()
	for other, at := range o.retryAt { // documents may have been deleted in the meantime
		if now.Sub(at) > maxOCRDelay {
			delete(o.retryAt, other)
			delete(o.failures, other)
		}
	}
	n := o.failures[id]
	o.failures[id] = n + 1
	o.retryAt[id] = now.Add(min(retryDelay<<min(n, 10), maxOCRDelay))
}

// storeFinished stores the state of the documents that have nothing to read. The caller must hold
// mu.
func (o *OCR) storeFinished(ctx context.Context) error {
	if len(o.finished) == 0 {
		return nil
	}
	err := o.Store.Update(ctx, nil, func(t *store.Tx) error {
		for id, end := range o.finished {
			if end.TextPages == textMissing {
				t.MarkFileChanged(id) // the indexer then notices that the text is missing
				continue
			}
			if err := o.setOCR(t, id, end.State, end.changed); err != nil {
				return err
			}
		}
		return nil
	})
	clear(o.finished)
	return err
}

// setOCR stores the progress of a document in its record and, if that was its last page, an audit
// entry. If the document was purged or is being processed again, it does nothing.
func (o *OCR) setOCR(t *store.Tx, id uint64, state pagetext.State, changed bool) error {
	file, err := t.FileIncludingTrash(id)
	if err == nil {
		err = t.SetOCR(id, state.OCR(), state.TextPages, changed)
	}
	switch {
	case txn.IsMissingOrDamaged(err):
		return nil
	case err != nil || !file.WaitsForOCR():
		return err
	}
	return o.previews.addTextRead(t, id, state)
}

// addTextRead adds an audit entry if OCR has read all pages of a document that need it. API clients
// wait for that.
func (p *Previews) addTextRead(t *store.Tx, id uint64, state pagetext.State) error {
	read := state.OCR()
	if read.Pages == 0 || read.Read < read.Pages {
		return nil
	}
	return p.AddEvent(t, p.Now(), model.SystemActor(), "file.text_read", model.RecordRef("file", id),
		map[string]string{"pages": strconv.Itoa(read.Pages), "text_pages": strconv.Itoa(state.TextPages)})
}

// wakeOCR tells OCR that documents may have been queued.
func (p *Previews) wakeOCR() {
	if p.ocr != nil {
		p.ocr.wake.Notify()
	}
}
