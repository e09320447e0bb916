package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// keyedLock is a set of locks by key. It ensures that an image is generated only once even
// if several requests wait for it.
type keyedLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by key; closed when the lock is released
}

// acquire waits for the lock of a key. The caller must call end to release it. If ctx ends
// first, acquire returns the error of ctx.
func (k *keyedLock) acquire(ctx context.Context, key string) (end func(), err error) {
	for {
		k.mu.Lock()
		wait, locked := k.held[key]
		if !locked {
			done := make(chan struct{})
			if k.held == nil {
				k.held = map[string]chan struct{}{}
			}
			k.held[key] = done
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				delete(k.held, key)
				k.mu.Unlock()
				close(done)
			}, nil
		}
		k.mu.Unlock()
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
	p.prefer(actor, file)
	if stored := p.storedSizes(file); stored != nil {
		return stored, nil
	}
	sizes, err := p.readSizes(ctx, file, actor.Record(), sandbox.View)
	if sandbox.IsDocumentError(err) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: "This document has no preview.", Err: err}
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

var errFindTimeout = errs.NotNow(errs.Busy,
	"Searching this document took too long. Search for something else, or try again.", nil)

// Find returns the matches of a text, or of its words (query.NewFinder), in the text of a
// document, in order. If words is set and the given page contains all of the words, it
// returns only the matches on pages that contain all of them. Page 0 means any page.
//
// It runs one search per actor at a time. It returns NotFound if the document doesn't exist
// or can't have text, and Unavailable if the deadline passes before the first hit.
func (p *Previews) Find(ctx context.Context, actor model.Actor, id uint64, typed string, words bool, page int) (Found, error) {
	return p.find(ctx, actor, id, &documentSearch{finder: query.NewFinder(typed, words), words: words, requiredPage: page})
}

// Found is the result of Find.
type Found struct {
	Hits []Hit // at most MaxHits
	More bool  // there may be more hits, because Find stopped at MaxHits or at the deadline
	All  bool  // the document contains all required words, possibly on different pages
}

// documentSearch collects the hits of a search within a document.
type documentSearch struct {
	finder         *query.Finder
	words          bool          // prefer the hits on pages that contain all words
	matched        query.WordSet // words found so far
	hits           []Hit         // at most MaxHits+1
	completeHits   []Hit         // hits on pages that contain all words, at most MaxHits+1
	requiredPage   int           // completeHits are used only if this page contains all words; 0 means if any page does
	preferComplete bool          // completeHits are used
}

// scanPage adds the hits on a page and reports whether no further pages are needed. If ctx
// ends, it discards the page and returns the error of ctx, because a page can have a
// megabyte of text.
func (s *documentSearch) scanPage(ctx context.Context, page int, text string) (enough bool, err error) {
	limit := MaxHits + 1 - len(s.hits)
	if s.words {
		limit = MaxHits + 1
	}
	spans, matched := s.finder.Find(ctx, text, limit)
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.matched |= matched
	complete := s.words && s.finder.HasAll(matched)
	s.preferComplete = s.preferComplete || complete && (s.requiredPage == 0 || s.requiredPage == page)
	runes, at, characters := []rune(text), 0, 0
	for _, span := range spans {
		start := characters + utf8.RuneCountInString(text[at:span.Start])
		characters, at = start+utf8.RuneCountInString(text[span.Start:span.End]), span.End
		hit := newHit(page, runes, start, characters)
		if complete && len(s.completeHits) <= MaxHits {
			s.completeHits = append(s.completeHits, hit)
		}
		if len(s.hits) <= MaxHits {
			s.hits = append(s.hits, hit)
		}
	}
	return s.preferComplete && len(s.completeHits) > MaxHits || !s.words && len(s.hits) > MaxHits, nil
}

// result returns the hits found so far.
func (s *documentSearch) result() Found {
	hits := s.hits
	if s.preferComplete {
		hits = s.completeHits
	}
	return Found{hits[:min(len(hits), MaxHits)], len(hits) > MaxHits, s.finder.HasAll(s.matched)}
}

func (p *Previews) find(ctx context.Context, actor model.Actor, id uint64, s *documentSearch) (Found, error) {
	if s.finder.Empty() {
		_, err := p.vault.Files.Get(ctx, id)
		return Found{}, err
	}
	// Start the deadline with the first page, because the text may have to be regenerated
	// first.
	release, findCtx := func() {}, context.Context(nil)
	defer func() { release() }()
	err := p.Text(ctx, actor, id, func(page int, text string) (err error) {
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
			return fs.SkipAll
		}
		return err
	})
	found := s.result()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		if len(found.Hits) == 0 {
			return Found{}, errFindTimeout
		}
		found.More = true
		return found, nil
	}
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return found, err
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
func newHit(page int, text []rune, start, end int) Hit {
	line := func(from, to int) string { return strings.Join(strings.Fields(string(text[from:to])), " ") }
	h := Hit{Page: page, Match: line(start, end)}
	from, to := max(start-snippetContext, 0), min(end+snippetContext, len(text))
	if at := slices.IndexFunc(text[from:start], isBlank); from > 0 && !isBlank(text[from-1]) && at >= 0 && from+at < start-1 {
		from += at
	}
	for at := to; to < len(text) && !isBlank(text[to]) && at > end+1; at-- {
		if isBlank(text[at-1]) {
			to = at - 1
		}
	}
	h.Before, h.After = line(from, start), line(end, to)
	if start > 0 && isBlank(text[start-1]) && h.Before != "" {
		h.Before += " "
	}
	if end < len(text) && isBlank(text[end]) && h.After != "" {
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

// Marks returns the rectangles to highlight for each hit of Find on a page, in the same
// order. The coordinates are fractions of the page size. Page numbers start at 1.
// Marks returns NotFound if the document or page doesn't exist, or if the position of its text is
// unknown because the document is not a PDF and OCR hasn't read the page.
func (p *Previews) Marks(ctx context.Context, actor model.Actor, id uint64, page int, typed string, words bool) ([][]document.Rect, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	read, found, err := p.vault.Texts.Words(file.Digest, page)
	if err != nil {
		return nil, err
	}
	if found {
		return wordMarks(ctx, read, typed, words), ctx.Err()
	}
	r, done, err := p.openRequest(ctx, file, actor.Record(), sandbox.View)
	if err != nil {
		return nil, err
	}
	defer done()
	r.RunToCompletion = true
	marks, err := p.reader.Marks(ctx, r, page, typed, words, p.limits)
	if sandbox.IsDocumentError(err) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: "The position on the page is unknown.", Err: err}
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
