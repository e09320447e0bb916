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

// keyedLock lets one picture be made once, however many wait for it.
type keyedLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by digest and name; closed when it is made or is not
}

// acquire waits until nobody makes the same; the caller calls end. It is ctx's error
// when that ends first.
func (m *keyedLock) acquire(ctx context.Context, what string) (end func(), err error) {
	for {
		m.mu.Lock()
		wait, taken := m.held[what]
		if !taken {
			done := make(chan struct{})
			if m.held == nil {
				m.held = map[string]chan struct{}{}
			}
			m.held[what] = done
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.held, what)
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

// PageSizes gives the size of every page of a document, in order; it is kept when it was
// read once. NotFound when there is no such document, or there are no pictures of it.
func (p *Previews) PageSizes(ctx context.Context, actor model.Actor, id uint64) ([]document.PageSize, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if kept := p.storedSizes(file); kept != nil {
		return kept, nil
	}
	sizes, err := p.readSizes(ctx, file, actor.Record(), sandbox.View)
	if sandbox.IsDocumentError(err) {
		return nil, &errs.Error{Kind: errs.NotFound, Message: "There are no pictures of this document.", Err: err}
	}
	return sizes, err
}

// readSizes reads them anew and keeps them.
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

// storedSizes is nil where there are none, or no sane ones.
func (p *Previews) storedSizes(file model.File) (sizes []document.PageSize) {
	kept, err := p.previews.Open(file.Digest, blobstore.PageSizesFile)
	if err != nil {
		return nil
	}
	defer kept.Close() //nolint:errcheck // it was only read
	if json.NewDecoder(kept).Decode(&sizes) != nil || len(sizes) == 0 {
		return nil
	}
	for _, s := range sizes {
		if !s.Valid() {
			return nil
		}
	}
	return sizes
}

// Hit is one place of a phrase in a document: the words around it on one line.
type Hit struct {
	Page                 int
	Before, Match, After string
}

// MaxHits is how many places of a phrase Find gives.
const MaxHits = 1000

// snippetContext is how many characters of the text are shown on each side of a hit.
const snippetContext = 60

// findLockPrefix is what somebody is named by among those who wait: one look through a
// document at a time, as they read the page before.
const findLockPrefix = "find in a document: "

var errFindTimeout = &errs.Error{Kind: errs.Unavailable, Message: "To look through this document took too long; look for something else, or try again."}

// Find gives the places of a phrase in the text of a document, in order, and whether
// there may be more than these: more than MaxHits, or in what could not be looked
// through within the time of a search. Whatever the case, the accents and how the lines
// break (phrase.Phrase). NotFound when there is no such document, or it can have no
// text; no hits where it has none; Closing when the time was over before the first. What
// one actor looks for is done one after the other.
func (p *Previews) Find(ctx context.Context, actor model.Actor, id uint64, typed string) (hits []Hit, more bool, err error) {
	return p.find(ctx, actor, id, newFinder(typed, nil))
}

// FindWords is Find for each of several phrases, those of phrase.Split: on the pages that
// have all of them, where there are any, and page is one of those; 0 is any page.
func (p *Previews) FindWords(ctx context.Context, actor model.Actor, id uint64, each []string, page int) (hits []Hit, more bool, err error) {
	s := newFinder(strings.Join(each, " "), each)
	s.requiredPage = page
	return p.find(ctx, actor, id, s)
}

// finder is a look through a document.
type finder struct {
	phrase         phrase.Phrase
	required       []phrase.Phrase // what a page must have to be whole; none where that makes no difference
	hits           []Hit           // MaxHits and one more at most
	completeHits   []Hit           // of whole pages, as many
	requiredPage   int             // the page that must be whole for others not to count; 0 is any
	preferComplete bool            // it is
}

func newFinder(typed string, each []string) *finder {
	s := &finder{phrase: phrase.New(typed)}
	for _, one := range each {
		if len(each) > 1 {
			s.required = append(s.required, phrase.New(one))
		}
	}
	return s
}

// scanPage looks through a page, and says whether that is enough. Where ctx ends before, it is
// as if the page were not there, and its error comes back: a page may have a megabyte, and
// is looked through once for each phrase.
func (s *finder) scanPage(ctx context.Context, page int, text string) (enough bool, err error) {
	left := MaxHits + 1 - len(s.hits)
	if len(s.required) > 0 {
		left = MaxHits + 1
	}
	runes := []rune(text)
	spans := s.phrase.Find(runes, left)
	whole := len(s.required) > 0
	for i := 0; i < len(s.required) && whole; i++ {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		whole = phrase.ContainsAll(runes, s.required[i:i+1])
	}
	s.preferComplete = s.preferComplete || whole && (s.requiredPage == 0 || s.requiredPage == page)
	for _, span := range spans {
		if whole && len(s.completeHits) <= MaxHits {
			s.completeHits = append(s.completeHits, newHit(page, runes, span))
		}
		if len(s.hits) <= MaxHits {
			s.hits = append(s.hits, newHit(page, runes, span))
		}
	}
	return s.preferComplete && len(s.completeHits) > MaxHits || len(s.required) == 0 && len(s.hits) > MaxHits, nil
}

// results is what was found so far.
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
	// The time begins with the first page: the text may have to be made before.
	leave, late := func() {}, context.Context(nil)
	defer func() { leave() }()
	err = p.Text(ctx, actor, id, func(page int, text string) (err error) {
		if late == nil {
			if late, leave, err = p.acquireFind(ctx, actor); err != nil {
				return err
			}
		}
		if late.Err() != nil {
			return late.Err()
		}
		enough, err := s.scanPage(late, page, text)
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

// TextPages gives how many pages of a document have text: as its processing counted them,
// and otherwise by reading the text. NotFound when there is no such document.
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
		return 0, nil // it can have none
	}
	return n, err
}

// Unsearchable gives how many documents have no text that could be searched, and whether
// that is all of them: documents that were uploaded before this was counted are not known.
func (p *Previews) Unsearchable(ctx context.Context) (n uint64, all bool, err error) {
	err = p.Store.View(ctx, func(t *store.Tx) error {
		n = t.Count(store.CountWithoutText)
		all = t.Count(store.CountTextChecked)+t.Count(store.CountTasks) >= t.Count(store.CountFiles)
		return nil
	})
	return n, all, err
}

// acquireFind waits for the actor's turn, and gives the time that a look through a document
// may take, the wait among it.
func (p *Previews) acquireFind(ctx context.Context, actor model.Actor) (late context.Context, leave func(), err error) {
	late, cancel := context.WithTimeout(ctx, p.deadline)
	end, err := p.locks.acquire(late, findLockPrefix+actor.Record())
	if err != nil {
		return late, cancel, err
	}
	return late, func() { end(); cancel() }, nil
}

// newHit is a place with what is around it, which begins and ends between words.
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

// Marks gives where on a page, from 1, the places of a phrase are to be seen: for
// each, in the order of Find, its rectangles in fractions of the page. NotFound when
// there is no such document or page, or nobody can tell, as of all but PDFs.
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

// ensureImage sees to it that a picture is there, made by whoever asked for it first.
func (p *Previews) ensureImage(ctx context.Context, actor model.Actor, file model.File, name string, page, width int) error {
	end, err := p.locks.acquire(ctx, file.Digest+name)
	if err != nil {
		return err
	}
	defer end()
	if p.previews.Has(file.Digest, name) {
		return nil // meanwhile
	}
	return p.generateImage(ctx, file, actor.Record(), sandbox.View, name, page, width)
}
