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

// SearchQuery asks for the records whose fields or documents a text is found in.
type SearchQuery struct {
	Text          string
	Kind          string    // "abstract", "order" or "file"; "": all of them
	Template      uint64    // of an abstract; 0: all
	County, State string    // as title.FoldCounty and title.FoldState compare them; "": all
	Status        string    // without regard to case; "": all
	Since, Until  time.Time // of creation, both included; zero is open
	Offset        int       // hits to leave out
	Limit         int       // hits to give, at most 100; 0: 25
	Bytes         int       // of records as they are stored, where whole ones are asked for; 0: 4 MB
}

// SearchHit is a record that a text is found in.
type SearchHit struct {
	Kind           string // "abstract", "order" or "file"
	ID             uint64
	Heading, Under string         // what people know it by, and the line below
	Status         string         // of an abstract or an order
	DueDate        string         // of an order
	Documents      int            // of an abstract
	Snippet        []SnippetPiece // of its fields or its text; nil where nothing of it can be shown
	Page           int            // of a document that Snippet stands on, from 1; 0: on none
	Score          float64        // more is better; of use within one answer
	Match          Matching       // how sure it is
	AbstractID     uint64         // of a document; 0: of none
	FolderID       uint64         // of a document; 0: in none
	CreatedAt      time.Time
	File           *model.File // nil unless it is a document
}

// Matching says how a record holds what was asked for.
type Matching string

// The ways.
const (
	MatchExact   Matching = "exact"   // all of the text is one of the record's numbers, whatever its punctuation: title.Known
	MatchWords   Matching = "words"   // it has every word; the last may be the beginning of one
	MatchSimilar Matching = "similar" // it has a word with a typing error, or not all of them: Answer
)

// SnippetPiece is a part of a snippet, in the words of the record.
type SnippetPiece = query.Piece

// SearchPage is some of the hits, the best first. It has fewer than were asked for where
// records changed or went to the trash that the index does not know of yet.
type SearchPage struct {
	Hits   []SearchHit
	More   bool           // there are hits behind these
	Counts map[string]int // matches of each kind, whatever SearchQuery.Kind says
	Fuzzy  bool           // some hits are there with a typing error allowed for
	Loose  bool           // some hits are there without all of it: Answer
}

// Bounds of a search.
const (
	MostSearched   = 1000 // hits that can be reached
	mostSearchPage = 100
	searchPage     = 25
	mostSearchText = 500 // characters
)

// Search looks for live records by their fields and by the text of documents. Invalid
// under "q" or "kind" when it cannot be asked so; Closing when there is no whole index
// yet, the search took too long, or too many others are under way. That the actor searched
// is taken down as a view is (Events.Note), without the text.
func (s *SearchService) Records(ctx context.Context, actor model.Actor, q SearchQuery) (page SearchPage, err error) {
	err = s.asking(ctx, actor, q, func(within context.Context, f searched) error {
		var seen []seen
		if err := s.Store.View(ctx, func(t *store.Tx) (err error) { seen, err = s.see(t, f); return err }); err != nil {
			return err
		}
		page = SearchPage{Hits: s.snippets(within, f.marker(), seen), More: f.more(), Counts: f.counts(), Fuzzy: f.answer.Fuzzy, Loose: f.answer.Relaxed}
		return nil
	})
	return page, err
}

// searched is what the index answered, and what it was asked.
type searched struct {
	query  SearchQuery
	answer query.Result
}

// asking asks the index, when it is the actor's turn, and keeps his place while use makes
// something of the answer: that takes memory as well. The wait and the search have the
// deadline of within together, and so has what use can do without, as the snippets. It
// reads the records of a page however late it is: what the index found in time is given,
// though a later stage of the search used up all of it. Each is counted.
func (s *SearchService) asking(ctx context.Context, actor model.Actor, q SearchQuery, use func(within context.Context, f searched) error) (err error) {
	var f searched
	defer func(begun time.Time) { s.counts.add(time.Since(begun), len(f.answer.Hits) > 0, err) }(time.Now())
	if err := q.settle(); err != nil {
		return err
	}
	f.query = q
	within, cancel := context.WithTimeout(ctx, s.set.Timeout())
	defer cancel()
	if q.Limit <= 0 || q.never() {
		return use(within, f)
	}
	leave, err := s.Index.Enter(within, asker(actor))
	if err == nil {
		defer leave()
		f.answer, err = s.Index.Search(within, q.asked())
	}
	switch {
	case err == nil:
		s.events.RecordSearch(actor)
		return use(within, f)
	case ctx.Err() != nil:
		return ctx.Err() // who asked has left
	}
	return refusedSearch(err)
}

// more says whether there are hits behind those that can be reached.
func (f searched) more() bool {
	return f.answer.More && f.query.Offset+f.query.Limit < MostSearched
}

// marker marks what was found.
func (f searched) marker() *query.Highlighter {
	m := query.NewHighlighter(f.query.Text)
	if f.answer.Fuzzy {
		m = m.Fuzzy()
	}
	return m
}

func (f searched) counts() map[string]int {
	counts := map[string]int{}
	for name, kind := range indexKinds {
		counts[name] = f.answer.Counts[kind]
	}
	return counts
}

// TrimSearch is a text to be searched for without the blanks around it, but for one behind
// its last word: that says that the word is whole (app/search/query).
func TrimSearch(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && strings.TrimRightFunc(text, unicode.IsSpace) != text {
		return trimmed + " "
	}
	return trimmed
}

// SearchText gives the sentence that refuses a text of TrimSearch to be searched for; ""
// where nothing but the index may refuse it.
func SearchText(text string) (sentence string) {
	const field = "q"
	switch text = strings.TrimSpace(text); {
	case text == "":
		return model.MsgRequired(field)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return model.MsgInvalidCharacters(field)
	case utf8.RuneCountInString(text) > mostSearchText:
		return model.MsgTooLong(field, mostSearchText)
	}
	return ""
}

// Searching is a list as a search for a text is asked for, from its first page on.
func Searching(text string, q vault.Query) SearchQuery {
	out := SearchQuery{Text: text, Since: q.CreatedFrom, Until: q.CreatedTo, Limit: q.Limit, Bytes: q.MaxBytes}
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

// settle makes a query out of what somebody sent, or says what is wrong with it.
func (q *SearchQuery) settle() error {
	var refused errs.Fields
	q.Text = TrimSearch(q.Text)
	if sentence := SearchText(q.Text); sentence != "" {
		refused.Add("q", sentence)
	}
	if _, known := indexKinds[q.Kind]; q.Kind != "" && !known {
		refused.Add("kind", model.MsgInvalidChoice("kind"))
	}
	if q.Limit <= 0 {
		q.Limit = searchPage
	}
	q.Offset = min(max(q.Offset, 0), MostSearched)
	q.Limit = min(q.Limit, mostSearchPage, MostSearched-q.Offset)
	return refused.Err()
}

// never reports what nothing can hold to.
func (q *SearchQuery) never() bool {
	return q.Kind == vault.OrderOps.Name && q.Template != 0 ||
		!q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since)
}

// asked is the query as the index takes it, which knows days.
func (q *SearchQuery) asked() query.Query {
	out := query.Query{Text: q.Text, Kind: indexKinds[q.Kind], Template: q.Template, County: q.County, State: q.State, Status: q.Status,
		Offset: q.Offset, Limit: q.Limit}
	if out.HasDateRange = !q.Since.IsZero() || !q.Until.IsZero(); out.HasDateRange {
		out.From, out.To = -1<<30, 1<<30
		if !q.Since.IsZero() {
			out.From = Day(q.Since)
		}
		if !q.Until.IsZero() {
			out.To = Day(q.Until)
		}
	}
	return out
}

// fits holds a live record against the filters: it may have changed since the index
// was told of it.
func (q *SearchQuery) fits(template uint64, p model.Property, status string, created time.Time) bool {
	return (q.Template == 0 || q.Template == template) && q.at(p) && (q.Status == "" || model.Fold(q.Status) == model.Fold(status)) &&
		!created.Before(q.Since) && (q.Until.IsZero() || !created.After(q.Until))
}

// at holds the place of a live record against the filters.
func (q *SearchQuery) at(p model.Property) bool {
	return (q.County == "" || model.FoldCounty(q.County) == model.FoldCounty(p.County)) &&
		(q.State == "" || model.FoldState(q.State) == model.FoldState(p.State))
}

// refusedSearch is an error of the index as callers know it.
func refusedSearch(err error) error {
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
