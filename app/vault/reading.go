package vault

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"deedkeep/app/derived"
	"deedkeep/app/extract"
	"deedkeep/app/reader"
	"deedkeep/app/title"
)

// making lets one picture be made once, however many wait for it.
type making struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // by digest and name; closed when it is made or is not
}

// begin waits until nobody makes the same; the caller calls end. It is ctx's error
// when that ends first.
func (m *making) begin(ctx context.Context, what string) (end func(), err error) {
	for {
		m.mu.Lock()
		wait, taken := m.busy[what]
		if !taken {
			done := make(chan struct{})
			if m.busy == nil {
				m.busy = map[string]chan struct{}{}
			}
			m.busy[what] = done
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.busy, what)
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

// Sizes gives the size of every page of a document, in order; it is kept when it was
// read once. NotFound when there is no such document, or there are no pictures of it.
func (f *Files) Sizes(ctx context.Context, actor title.Actor, id uint64) ([]extract.Size, error) {
	file, err := f.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if kept := f.keptSizes(file); kept != nil {
		return kept, nil
	}
	sizes, err := f.v.readSizes(ctx, file, actor.Record(), reader.View)
	if reader.Final(err) {
		return nil, &title.Error{Kind: title.NotFound, Message: "There are no pictures of this document.", Err: err}
	}
	return sizes, err
}

// readSizes reads them anew and keeps them.
func (v *Vault) readSizes(ctx context.Context, file title.File, owner string, class reader.Class) ([]extract.Size, error) {
	r, done, err := v.request(file, owner, class)
	if err != nil {
		return nil, err
	}
	defer done()
	r.Whole = class == reader.View
	sizes, err := v.reader.Sizes(ctx, r, v.set.Extract)
	if err != nil {
		return nil, err
	}
	return sizes, v.putDerived(context.WithoutCancel(ctx), file.Digest, derived.Sizes, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(sizes)
	})
}

// keptSizes is nil where there are none, or no sane ones.
func (f *Files) keptSizes(file title.File) (sizes []extract.Size) {
	kept, err := f.v.derived.Get(file.Digest, derived.Sizes)
	if err != nil {
		return nil
	}
	defer kept.Close() //nolint:errcheck // it was only read
	if json.NewDecoder(kept).Decode(&sizes) != nil || len(sizes) == 0 {
		return nil
	}
	for _, s := range sizes {
		if !s.Sane() {
			return nil
		}
	}
	return sizes
}

// Spot is one place of a phrase in a document: the words around it on one line.
type Spot struct {
	Page                 int
	Before, Match, After string
}

// MostHits is how many places of a phrase Find gives.
const MostHits = 1000

// around is how many characters of the text are shown on each side of a hit.
const around = 60

// findAtOnce is what somebody is named by among those who wait: one look through a
// document at a time, as they read the page before.
const findAtOnce = "find in a document: "

var errFindLate = &title.Error{Kind: title.Closing, Message: "To look through this document took too long; look for something else, or try again."}

// Find gives the places of a phrase in the text of a document, in order, and whether
// there may be more than these: more than MostHits, or in what could not be looked
// through within the time of a search. Whatever the case, the accents and how the lines
// break (extract.Phrase). NotFound when there is no such document, or it can have no
// text; no hits where it has none; Closing when the time was over before the first. What
// one actor looks for is done one after the other.
func (f *Files) Find(ctx context.Context, actor title.Actor, id uint64, typed string) (hits []Spot, more bool, err error) {
	phrase := extract.NewPhrase(typed)
	if phrase.Empty() {
		_, err := f.Get(ctx, id)
		return nil, false, err
	}
	// The time begins with the first page: the text may have to be made before.
	leave, late := func() {}, context.Context(nil)
	defer func() { leave() }()
	err = f.Text(ctx, actor, id, func(page int, text string) (err error) {
		if late == nil {
			if late, leave, err = f.looking(ctx, actor); err != nil {
				return err
			}
		}
		if late.Err() != nil {
			return late.Err()
		}
		runes := []rune(text)
		for _, s := range phrase.Find(runes, MostHits+1-len(hits)) {
			hits = append(hits, hit(page, runes, s))
		}
		if len(hits) > MostHits {
			return errStop
		}
		return nil
	})
	switch {
	case len(hits) > MostHits:
		return hits[:MostHits], true, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && len(hits) > 0:
		return hits, true, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, false, errFindLate
	}
	return hits, false, stopped(err)
}

// looking waits for the actor's turn, and gives the time that a look through a document
// may take, the wait among it.
func (f *Files) looking(ctx context.Context, actor title.Actor) (late context.Context, leave func(), err error) {
	late, cancel := context.WithTimeout(ctx, f.v.set.Search.deadline())
	end, err := f.v.making.begin(late, findAtOnce+actor.Record())
	if err != nil {
		return late, cancel, err
	}
	return late, func() { end(); cancel() }, nil
}

func hit(page int, text []rune, s extract.Span) Spot {
	line := func(from, to int) string { return strings.Join(strings.Fields(string(text[from:to])), " ") }
	h := Spot{Page: page, Match: line(s.Start, s.End)}
	from, to := max(s.Start-around, 0), min(s.End+around, len(text))
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
func (f *Files) Marks(ctx context.Context, actor title.Actor, id uint64, page int, typed string) ([][]extract.Rect, error) {
	file, err := f.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	r, done, err := f.v.request(file, actor.Record(), reader.View)
	if err != nil {
		return nil, err
	}
	defer done()
	r.Whole = true
	marks, err := f.v.reader.Marks(ctx, r, page, typed, f.v.set.Extract)
	if reader.Final(err) {
		return nil, &title.Error{Kind: title.NotFound, Message: "Where this stands on the page cannot be told.", Err: err}
	}
	return marks, err
}

// made sees to it that a picture is there, made by whoever asked for it first.
func (f *Files) made(ctx context.Context, actor title.Actor, file title.File, name string, page, width int) error {
	end, err := f.v.making.begin(ctx, file.Digest+name)
	if err != nil {
		return err
	}
	defer end()
	if f.v.derived.Has(file.Digest, name) {
		return nil // meanwhile
	}
	return f.v.derivePicture(ctx, file, actor.Record(), reader.View, name, page, width)
}
