package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/document/phrase"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// keyedLock is a set of locks by key. It ensures that an image is generated only once even
// if several requests wait for it.
type keyedLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by key; closed when the lock is released
}

// acquire waits for the lock of a key. The caller must call end to release it. If ctx ends
// first, acquire returns the error of ctx.
func (m *keyedLock) acquire(ctx context.Context, key string) (end func(), err error) {
	for {
		m.mu.Lock()
		wait, locked := m.held[key]
		if !locked {
			done := make(chan struct{})
			if m.held == nil {
				m.held = map[string]chan struct{}{}
			}
			m.held[key] = done
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.held, key)
				m.mu.Unlock()
				close(done)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// PageSizes returns the size of each page of a document, in order. Sizes are cached after
// the first read. It returns NotFound if the document doesn't exist or doesn't have page
// images.
func (p *Previews) PageSizes(ctx context.Context, actor model.Actor, id uint64) ([]document.PageSize, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if stored := p.storedSizes(file); stored != nil {
		return stored, nil
	}
	sizes, err := p.readSizes(ctx, file, actor.Record(), sandbox.View)
	if sandbox.IsDocumentError(err) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: "There are no pictures of this document.", Err: err}
	}
	return sizes, err
}

// readSizes reads the page sizes from the document and stores them.
func (p *Previews) readSizes(ctx context.Context, file model.File, owner string, class sandbox.Class) ([]document.PageSize, error) {
	r, done, err := p.openRequest(ctx, file, owner, class)
	if err != nil {
		return nil, err
	}
	defer done()
	r.RunToCompletion = class == sandbox.View
	sizes, err := p.reader.Sizes(ctx, r, p.limits)
	if err != nil {
		return nil, err
	}
	return sizes, p.storePreview(context.WithoutCancel(ctx), file.Digest, blobstore.PageSizesFile, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(sizes)
	})
}

// storedSizes returns the stored page sizes, or nil if they are missing or invalid.
func (p *Previews) storedSizes(file model.File) (sizes []document.PageSize) {
	stored, err := p.previews.Open(file.Digest, blobstore.PageSizesFile)
	if err != nil {
		return nil
	}
	defer stored.Close() //nolint:errcheck // it was only read
	if json.NewDecoder(stored).Decode(&sizes) != nil || len(sizes) == 0 {
		return nil
	}
	for _, s := range sizes {
		if !s.Valid() {
			return nil
		}
	}
	return sizes
}

// Hit is an occurrence of a phrase in a document, with the words around it on one line.
type Hit struct {
	Page                 int
	Before, Match, After string
}

// MaxHits is the maximum number of hits that Find returns.
const MaxHits = 1000

// snippetContext is the number of characters of text shown on each side of a hit.
const snippetContext = 60

// findLockPrefix is the prefix of the lock keys for searches within documents. Each user
// can run one such search at a time.
const findLockPrefix = "find in a document: "

var errFindTimeout = &errs.Error{Kind: errs.Unavailable,
	Message: "To look through this document took too long; look for something else, or try again."}

// Find returns the occurrences of a phrase in the text of a document, in order. more
// reports whether there may be further ones, because Find stops at MaxHits and at the
// deadline. It ignores case, accents, and line breaks (phrase.Phrase) and runs one search
// per actor at a time. It returns NotFound if the document doesn't exist or can't have
// text, and Unavailable if the deadline passes before the first hit.
func (p *Previews) Find(ctx context.Context, actor model.Actor, id uint64, typed string) (hits []Hit, more bool, err error) {
	return p.find(ctx, actor, id, newFinder(typed, nil))
}

// FindWords is like Find but searches for several phrases from phrase.Split. If the given
// page contains all of them, it returns only the hits on pages that contain all of them.
// Page 0 means any page.
func (p *Previews) FindWords(ctx context.Context, actor model.Actor, id uint64, phrases []string, page int) (hits []Hit,
	more bool, err error) {
	s := newFinder(strings.Join(phrases, " "), phrases)
	s.requiredPage = page
	return p.find(ctx, actor, id, s)
}

// finder collects the hits of a search within a document.
type finder struct {
	phrase         phrase.Phrase
	required       []phrase.Phrase // phrases that a complete page contains; empty if completeness doesn't matter
	hits           []Hit           // at most MaxHits+1
	completeHits   []Hit           // hits on complete pages, at most MaxHits+1
	requiredPage   int             // completeHits are used only if this page is complete; 0 means if any page is complete
	preferComplete bool            // completeHits are used
}

func newFinder(typed string, phrases []string) *finder {
	s := &finder{phrase: phrase.New(typed)}
	for _, phraseText := range phrases {
		if len(phrases) > 1 {
			s.required = append(s.required, phrase.New(phraseText))
		}
	}
	return s
}

// scanPage adds the hits on a page and reports whether no further pages are needed. If ctx
// ends, it discards the page and returns the error of ctx, because a page can have a
// megabyte of text and is scanned once for each phrase.
func (s *finder) scanPage(ctx context.Context, page int, text string) (enough bool, err error) {
	limit := MaxHits + 1 - len(s.hits)
	if len(s.required) > 0 {
		limit = MaxHits + 1
	}
	runes := []rune(text)
	spans := s.phrase.Find(runes, limit)
	complete := len(s.required) > 0
	for i := 0; i < len(s.required) && complete; i++ {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		complete = phrase.ContainsAll(runes, s.required[i:i+1])
	}
	s.preferComplete = s.preferComplete || complete && (s.requiredPage == 0 || s.requiredPage == page)
	for _, span := range spans {
		if complete && len(s.completeHits) <= MaxHits {
			s.completeHits = append(s.completeHits, newHit(page, runes, span))
		}
		if len(s.hits) <= MaxHits {
			s.hits = append(s.hits, newHit(page, runes, span))
		}
	}
	return s.preferComplete && len(s.completeHits) > MaxHits || len(s.required) == 0 && len(s.hits) > MaxHits, nil
}

// results returns at most MaxHits hits and reports whether there are more.
func (s *finder) results() (hits []Hit, more bool) {
	if hits = s.hits; s.preferComplete {
		hits = s.completeHits
	}
	return hits[:min(len(hits), MaxHits)], len(hits) > MaxHits
}

func (p *Previews) find(ctx context.Context, actor model.Actor, id uint64, s *finder) (hits []Hit, more bool, err error) {
	if s.phrase.Empty() {
		_, err := p.vault.Files.Get(ctx, id)
		return nil, false, err
	}
	// Start the deadline with the first page, because the text may have to be regenerated
	// first.
	release, findCtx := func() {}, context.Context(nil)
	defer func() { release() }()
	err = p.Text(ctx, actor, id, func(page int, text string) (err error) {
		if findCtx == nil {
			if findCtx, release, err = p.acquireFind(ctx, actor); err != nil {
				return err
			}
		}
		if findCtx.Err() != nil {
			return findCtx.Err()
		}
		enough, err := s.scanPage(findCtx, page, text)
		if enough {
			return txn.ErrStop
		}
		return err
	})
	hits, more = s.results()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		if len(hits) == 0 {
			return nil, false, errFindTimeout
		}
		return hits, true, nil
	}
	return hits, more, txn.IgnoreStop(err)
}

// TextPages returns the number of pages of a document that have text. If they weren't
// counted during processing, it reads the text. It returns NotFound if the document doesn't
// exist.
func (p *Previews) TextPages(ctx context.Context, actor model.Actor, id uint64) (n int, err error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil || file.TextPages != nil {
		if err == nil {
			n = *file.TextPages
		}
		return n, err
	}
	err = p.Text(ctx, actor, id, func(_ int, text string) error {
		if strings.TrimSpace(text) != "" {
			n++
		}
		return nil
	})
	if errs.KindOf(err) == errs.NotFound {
		return 0, nil // this document type never has text
	}
	return n, err
}

// Unsearchable returns the number of documents that don't have searchable text. all is
// false if some documents were processed before such documents were counted, so that the
// number may be too low.
func (p *Previews) Unsearchable(ctx context.Context) (n uint64, all bool, err error) {
	err = p.Store.View(ctx, func(t *store.Tx) error {
		n = t.Count(store.CountWithoutText)
		all = t.Count(store.CountTextChecked)+t.Count(store.CountTasks) >= t.Count(store.CountFiles)
		return nil
	})
	return n, all, err
}

// acquireFind waits for the actor's search lock. It returns a context that ends at the
// deadline, which includes the wait, and a function that releases the lock and the context.
func (p *Previews) acquireFind(ctx context.Context, actor model.Actor) (findCtx context.Context, release func(), err error) {
	findCtx, cancel := context.WithTimeout(ctx, p.deadline)
	end, err := p.locks.acquire(findCtx, findLockPrefix+actor.Record())
	if err != nil {
		return findCtx, cancel, err
	}
	return findCtx, func() { end(); cancel() }, nil
}

// newHit returns a hit with the surrounding text, which is cut at spaces.
func newHit(page int, text []rune, s phrase.Span) Hit {
	line := func(from, to int) string { return strings.Join(strings.Fields(string(text[from:to])), " ") }
	h := Hit{Page: page, Match: line(s.Start, s.End)}
	from, to := max(s.Start-snippetContext, 0), min(s.End+snippetContext, len(text))
	if at := slices.IndexFunc(text[from:s.Start], isBlank); from > 0 && !isBlank(text[from-1]) && at >= 0 && from+at < s.Start-1 {
		from += at
	}
	for at := to; to < len(text) && !isBlank(text[to]) && at > s.End+1; at-- {
		if isBlank(text[at-1]) {
			to = at - 1
		}
	}
	h.Before, h.After = line(from, s.Start), line(s.End, to)
	if s.Start > 0 && isBlank(text[s.Start-1]) && h.Before != "" {
		h.Before += " "
	}
	if s.End < len(text) && isBlank(text[s.End]) && h.After != "" {
		h.After = " " + h.After
	}
	if from > 0 {
		h.Before = "…" + h.Before
	}
	if to < len(text) {
		h.After += "…"
	}
	return h
}

func isBlank(r rune) bool { return strings.ContainsRune(" \t\n\r\f", r) }

// Marks returns the rectangles to highlight for each hit of a phrase on a page, in the same
// order as Find. The coordinates are fractions of the page size. Page numbers start at 1.
// Marks returns NotFound if the document or page doesn't exist, or if the document is not a
// PDF.
func (p *Previews) Marks(ctx context.Context, actor model.Actor, id uint64, page int, typed string) ([][]document.Rect, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	r, done, err := p.openRequest(ctx, file, actor.Record(), sandbox.View)
	if err != nil {
		return nil, err
	}
	defer done()
	r.RunToCompletion = true
	marks, err := p.reader.Marks(ctx, r, page, typed, p.limits)
	if sandbox.IsDocumentError(err) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: "Where this stands on the page cannot be told.", Err: err}
	}
	return marks, err
}

// ensureImage generates an image unless it is already stored. Concurrent requests for the
// same image wait for the first one.
func (p *Previews) ensureImage(ctx context.Context, actor model.Actor, file model.File, name string, page, width int) error {
	end, err := p.locks.acquire(ctx, file.Digest+name)
	if err != nil {
		return err
	}
	defer end()
	if p.previews.Has(file.Digest, name) {
		return nil // another request generated it
	}
	return p.generateImage(ctx, file, actor.Record(), sandbox.View, name, page, width)
}
