package search

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Query asks for the records whose fields or documents a text is found in.
type Query struct {
	Text                   string
	Kind                   string    // "abstract", "order" or "file"; "": all of them
	Template               uint64    // of an abstract; 0: all
	County, State          string    // as title.FoldCounty and title.FoldState compare them; "": all
	Status                 string    // without regard to case; "": all
	CreatedFrom, CreatedTo time.Time // of creation, both included; zero is open
	Offset                 int       // hits to leave out
	Limit                  int       // hits to give, at most 100; 0: 25
	Bytes                  int       // of records as they are stored, where whole ones are asked for; 0: 4 MB
}

// Hit is a record that a text is found in.
type Hit struct {
	Kind                string // "abstract", "order" or "file"
	ID                  uint64
	Heading, Subheading string         // what people know it by, and the line below
	Status              string         // of an abstract or an order
	DueDate             string         // of an order
	Documents           int            // of an abstract
	Snippet             []SnippetPiece // of its fields or its text; nil where nothing of it can be shown
	Page                int            // of a document that Snippet stands on, from 1; 0: on none
	Score               float64        // more is better; of use within one answer
	Match               MatchType      // how sure it is
	AbstractID          uint64         // of a document; 0: of none
	FolderID            uint64         // of a document; 0: in none
	CreatedAt           time.Time
	File                *model.File // nil unless it is a document
}

// MatchType says how a record holds what was asked for.
type MatchType string

// The ways.
const (
	MatchExact   MatchType = "exact"   // all of the text is one of the record's numbers, whatever its punctuation: title.Known
	MatchWords   MatchType = "words"   // it has every word; the last may be the beginning of one
	MatchSimilar MatchType = "similar" // it has a word with a typing error, or not all of them: Answer
)

// SnippetPiece is a part of a snippet, in the words of the record.
type SnippetPiece = query.Piece

// Page is some of the hits, the best first. It has fewer than were asked for where
// records changed or went to the trash that the index does not know of yet.
type Page struct {
	Hits    []Hit
	More    bool           // there are hits behind these
	Counts  map[string]int // matches of each kind, whatever Query.Kind says
	Fuzzy   bool           // some hits are there with a typing error allowed for
	Relaxed bool           // some hits are there without all of it: Answer
}

// Bounds of a search.
const (
	MaxHits         = 1000 // hits that can be reached
	maxPageSize     = 100
	defaultPageSize = 25
	maxTextChars    = 500 // characters
)

// Search looks for live records by their fields and by the text of documents. Invalid
// under "q" or "kind" when it cannot be asked so; Closing when there is no whole index
// yet, the search took too long, or too many others are under way. That the actor searched
// is taken down as a view is (Events.Note), without the text.
func (s *Service) Records(ctx context.Context, actor model.Actor, q Query) (page Page, err error) {
	err = s.runSearch(ctx, actor, q, func(within context.Context, f indexResult) error {
		var seen []foundRecord
		if err := s.Store.View(ctx, func(t *store.Tx) (err error) { seen, err = s.readHits(t, f); return err }); err != nil {
			return err
		}
		page = Page{Hits: s.snippets(within, f.highlighter(), seen), More: f.more(), Counts: f.counts(), Fuzzy: f.result.Fuzzy, Relaxed: f.result.Relaxed}
		return nil
	})
	return page, err
}

// indexResult is what the index answered, and what it was asked.
type indexResult struct {
	query  Query
	result query.Result
}

// runSearch asks the index, when it is the actor's turn, and keeps his place while use makes
// something of the answer: that takes memory as well. The wait and the search have the
// deadline of within together, and so has what use can do without, as the snippets. It
// reads the records of a page however late it is: what the index found in time is given,
// though a later stage of the search used up all of it. Each is counted.
func (s *Service) runSearch(ctx context.Context, actor model.Actor, q Query, use func(within context.Context, f indexResult) error) (err error) {
	var f indexResult
	defer func(begun time.Time) { s.metrics.add(time.Since(begun), len(f.result.Hits) > 0, err) }(time.Now())
	if err := q.normalize(); err != nil {
		return err
	}
	f.query = q
	within, cancel := context.WithTimeout(ctx, s.settings.Timeout())
	defer cancel()
	if q.Limit <= 0 || q.matchesNothing() {
		return use(within, f)
	}
	leave, err := s.Index.Acquire(within, clientKey(actor))
	if err == nil {
		defer leave()
		f.result, err = s.Index.Search(within, q.indexQuery())
	}
	switch {
	case err == nil:
		s.events.RecordSearch(actor)
		return use(within, f)
	case ctx.Err() != nil:
		return ctx.Err() // who asked has left
	}
	return callerError(err)
}

// more says whether there are hits behind those that can be reached.
func (f indexResult) more() bool {
	return f.result.More && f.query.Offset+f.query.Limit < MaxHits
}

// highlighter marks what was found.
func (f indexResult) highlighter() *query.Highlighter {
	m := query.NewHighlighter(f.query.Text)
	if f.result.Fuzzy {
		m = m.Fuzzy()
	}
	return m
}

func (f indexResult) counts() map[string]int {
	counts := map[string]int{}
	for name, kind := range indexKinds {
		counts[name] = f.result.Counts[kind]
	}
	return counts
}

// TrimText is a text to be searched for without the blanks around it, but for one behind
// its last word: that says that the word is whole (app/search/query).
func TrimText(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && strings.TrimRightFunc(text, unicode.IsSpace) != text {
		return trimmed + " "
	}
	return trimmed
}

// ValidateText gives the sentence that refuses a text of TrimText to be searched for; ""
// where nothing but the index may refuse it.
func ValidateText(text string) (sentence string) {
	const field = "q"
	switch text = strings.TrimSpace(text); {
	case text == "":
		return model.MsgRequired(field)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return model.MsgInvalidCharacters(field)
	case utf8.RuneCountInString(text) > maxTextChars:
		return model.MsgTooLong(field, maxTextChars)
	}
	return ""
}

// QueryFromList is a list as a search for a text is asked for, from its first page on.
func QueryFromList(text string, q vault.Query) Query {
	out := Query{Text: text, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Limit: q.Limit, Bytes: q.MaxBytes}
	for _, w := range q.Filters {
		switch w.Column {
		case vault.ColumnKind:
			out.Kind = w.Value
		case vault.ColumnCounty:
			out.County = w.Value
		case vault.ColumnState:
			out.State = w.Value
		case vault.ColumnStatus:
			out.Status = w.Value
		case vault.ColumnTemplate:
			out.Template, _ = strconv.ParseUint(w.Value, 10, 64) // it was written from a number
		default: // lists know more columns than searches
		}
	}
	return out
}

// normalize makes a query out of what somebody sent, or says what is wrong with it.
func (q *Query) normalize() error {
	var refused errs.Fields
	q.Text = TrimText(q.Text)
	if sentence := ValidateText(q.Text); sentence != "" {
		refused.Add("q", sentence)
	}
	if _, known := indexKinds[q.Kind]; q.Kind != "" && !known {
		refused.Add("kind", model.MsgInvalidChoice("kind"))
	}
	if q.Limit <= 0 {
		q.Limit = defaultPageSize
	}
	q.Offset = min(max(q.Offset, 0), MaxHits)
	q.Limit = min(q.Limit, maxPageSize, MaxHits-q.Offset)
	return refused.Err()
}

// matchesNothing reports what nothing can hold to.
func (q *Query) matchesNothing() bool {
	return q.Kind == vault.OrderOps.Name && q.Template != 0 ||
		!q.CreatedFrom.IsZero() && !q.CreatedTo.IsZero() && q.CreatedTo.Before(q.CreatedFrom)
}

// indexQuery is the query as the index takes it, which knows days.
func (q *Query) indexQuery() query.Query {
	out := query.Query{Text: q.Text, Kind: indexKinds[q.Kind], Template: q.Template, County: q.County, State: q.State, Status: q.Status,
		Offset: q.Offset, Limit: q.Limit}
	if out.HasDateRange = !q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero(); out.HasDateRange {
		out.From, out.To = -1<<30, 1<<30
		if !q.CreatedFrom.IsZero() {
			out.From = dayNumber(q.CreatedFrom)
		}
		if !q.CreatedTo.IsZero() {
			out.To = dayNumber(q.CreatedTo)
		}
	}
	return out
}

// matches holds a live record against the filters: it may have changed since the index
// was told of it.
func (q *Query) matches(template uint64, p model.Property, status string, created time.Time) bool {
	return (q.Template == 0 || q.Template == template) && q.matchesPlace(p) && (q.Status == "" || model.Fold(q.Status) == model.Fold(status)) &&
		!created.Before(q.CreatedFrom) && (q.CreatedTo.IsZero() || !created.After(q.CreatedTo))
}

// matchesPlace holds the place of a live record against the filters.
func (q *Query) matchesPlace(p model.Property) bool {
	return (q.County == "" || model.FoldCounty(q.County) == model.FoldCounty(p.County)) &&
		(q.State == "" || model.FoldState(q.State) == model.FoldState(p.State))
}

// callerError is an error of the index as callers know it.
func callerError(err error) error {
	switch {
	case errors.Is(err, query.ErrShort):
		return errs.InvalidField("q", "The q field must have at least two letters or digits.")
	case errors.Is(err, query.ErrLong):
		return errs.InvalidField("q", "The q field has too much to look for; fewer words will do.")
	case errors.Is(err, query.ErrDeadline):
		return &errs.Error{Kind: errs.Unavailable, Message: "The search took too long; look for something rarer, or narrow it.", Err: err}
	}
	return err
}
