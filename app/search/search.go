package search

import (
	"context"
	"errors"
	"slices"
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

// Query is a search in the fields of records and in the text of documents. The default of Limit is 25,
// and its maximum is 100.
type Query = query.Query

// Hit is a record that matches a search by text (Records) or by number (Find).
type Hit struct {
	Kind                string // "abstract", "order", "file", or "instrument"
	ID                  uint64
	Heading, Subheading string         // how users identify the record, and a second line
	Status              string         // of an abstract or an order
	DueDate             string         // of an order
	Recorded            string         // recording date of an instrument
	Filed               bool           // the instrument is filed, not recorded
	Documents           int            // of an abstract
	Snippet             []SnippetPiece // quoted from its fields or text; nil if there is no match to show
	Page                int            // page of the document that Snippet is from, starting at 1; 0: not from the text
	Score               float64        // higher is better; only comparable within one search
	Match               MatchType      // how well it matches
	AbstractID          uint64         // of a document or an instrument; 0: none
	FolderID            uint64         // of a document; 0: none
	CreatedAt           time.Time
	File                *model.File // the record if it is a document; otherwise nil

	// Only set by Find:
	Field    string // the matching field: "order_number", "file_number", "parcel", or "address"
	Value    string // value of Field
	Exact    bool   // the complete Value matches, not only a prefix
	property model.Property

	// Only set by readHits:
	fields         []fieldText              // fields that the snippet may show
	terms          func() model.SearchTerms // returns its search terms, including its numbers
	owners, others []string                 // parties of an instrument; see model.DocumentType.SplitParties
}

// MatchType is how well a record matches a text.
type MatchType string

// Match types, best first.
const (
	MatchExact   MatchType = "exact"   // the text equals one of the record's numbers, ignoring punctuation
	MatchWords   MatchType = "words"   // every word matches; the last may be a prefix
	MatchSimilar MatchType = "similar" // some words match with another spelling, or not at all
)

// SnippetPiece is a part of a snippet.
type SnippetPiece = query.Piece

// Page is a page of hits or of complete records, best match first. It may have fewer items than Query.Limit because
// records that were deleted or changed after they were indexed are omitted.
type Page[T any] struct {
	Items        []T
	Offset, Next int // Query.Offset of this page and of the next one, which is 0 after the last page

	// Only set by Records:
	Counts  map[string]int // number of matches by record type, regardless of Query.Kind
	Fuzzy   bool           // some hits match with another spelling
	Relaxed bool           // some hits lack some of the words

	// Only set for complete records:
	Capped    bool // there are more hits, but paging can't reach them
	Bytes     int  // stored size of the records, including the files of abstracts
	Truncated bool // the page is smaller than Query.Limit because it reached the maximum size
}

// Limits of a search.
const (
	MaxHits         = 1000 // maximum number of hits that paging can reach
	maxPageSize     = 100
	defaultPageSize = 25
	maxTextChars    = 500 // characters
)

// Records searches live records by their fields and by the text of documents. It returns Invalid for
// the field "q" or "kind" if the query is not valid. It returns Unavailable if there is no complete
// index, the search takes too long, or too many other searches are running. The audit log records that
// the actor searched, but not the text.
func (s *Service) Records(ctx context.Context, actor model.Actor, q Query) (page Page[Hit], err error) {
	err = s.runSearch(ctx, actor, q, func(within context.Context, found indexResult) error {
		hits, err := store.Read(ctx, s.Store, func(t *store.Tx) ([]Hit, error) { return s.readHits(t, found) })
		if err != nil {
			return err
		}
		s.addSnippets(within, found.highlighter(), hits)
		page = Page[Hit]{Items: hits, Offset: found.query.Offset, Counts: found.result.Counts,
			Fuzzy: found.result.Fuzzy, Relaxed: found.result.Relaxed}
		if found.more() {
			page.Next = found.query.Offset + found.query.Limit
		}
		return nil
	})
	return page, err
}

// indexResult is a query and the result that the index returned for it.
type indexResult struct {
	query  Query
	result query.Result
}

// runSearch queries the index and passes the result to process. It holds a search slot until process
// returns because processing takes memory too. Waiting for the slot and searching share one deadline,
// which is also the deadline of the context within. process uses within only for optional work, such as
// snippets. This way, hits found in time are returned even if no time is left. Each search is counted.
func (s *Service) runSearch(ctx context.Context, actor model.Actor, q Query,
	process func(within context.Context, found indexResult) error) (err error) {
	var found indexResult
	defer func(start time.Time) { s.metrics.add(time.Since(start), len(found.result.Hits) > 0, err) }(time.Now())
	if err := normalize(&q); err != nil {
		return err
	}
	found.query = q
	within, cancel := context.WithTimeout(ctx, s.settings.Timeout())
	defer cancel()
	if q.Limit <= 0 || matchesNothing(q) {
		return process(within, found)
	}
	release, err := s.Index.Acquire(within, clientKey(actor))
	if err == nil {
		defer release()
		found.result, err = s.Index.Search(within, q)
	}
	switch {
	case err == nil:
		s.events.RecordSearch(actor)
		return process(within, found)
	case ctx.Err() != nil:
		return ctx.Err() // the client disconnected
	}
	return callerError(err)
}

// more reports whether there are more hits after this page and within MaxHits.
func (i indexResult) more() bool {
	return i.result.More && i.query.Offset+i.query.Limit < MaxHits
}

// highlighter returns a highlighter for what the query matched.
func (i indexResult) highlighter() *query.Highlighter {
	m := query.NewHighlighter(i.query.Text)
	if i.result.Fuzzy {
		m = m.Fuzzy()
	}
	return m
}

// TrimText trims white space from a search text but keeps one space after the last word, which means
// that the word is complete and not a prefix.
func TrimText(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && strings.TrimRightFunc(text, unicode.IsSpace) != text {
		return trimmed + " "
	}
	return trimmed
}

// Codes of problems with a search text.
const (
	TextTooShort   errs.Code = "The q field must have at least two letters or digits."
	TextTooLong    errs.Code = "The q field must not be greater than %d characters."
	TextTooComplex errs.Code = "The q field has too many words or alternatives. Use fewer words."
	TextInvalid    errs.Code = "The q field contains invalid characters."
	PartyInvalid   errs.Code = "The party field must have at least one word and at most 32."
)

// ValidateText adds a field error to invalid if the search text is invalid. The text must be trimmed with
// TrimText. The index may reject additional texts.
func ValidateText(text string, invalid *errs.Fields) {
	const field = "q"
	switch text = strings.TrimSpace(text); {
	case text == "":
		invalid.Add(field, errs.Required)
	case hasInvalidChars(text):
		invalid.Add(field, TextInvalid)
	case utf8.RuneCountInString(text) > maxTextChars:
		invalid.Add(field, TextTooLong, maxTextChars)
	}
}

// ValidateParty adds a field error to invalid if the name of a party is invalid. The index may reject
// additional names.
func ValidateParty(name string, invalid *errs.Fields) {
	switch {
	case hasInvalidChars(name):
		invalid.Add(partyField, errs.InvalidCharacters)
	case utf8.RuneCountInString(name) > maxTextChars:
		invalid.Add(partyField, errs.TooLong, maxTextChars)
	}
}

// partyField is the name of Query.Party in field errors.
const partyField = "party"

func hasInvalidChars(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsRune(text, 0)
}

// QueryFromList returns a search for a text with the filters and limits of the list query q. It starts
// at the first page.
func QueryFromList(text string, q vault.Query) Query {
	out := Query{Text: text, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Limit: q.Limit}
	for _, w := range q.Filters {
		switch w.Column {
		case model.ColumnKind:
			out.Kind = w.Value
		case model.ColumnParty:
			out.Party = w.Value
		case model.ColumnCounty:
			out.County = w.Value
		case model.ColumnState:
			out.State = w.Value
		case model.ColumnStatus:
			out.Status = w.Value
		case model.ColumnTemplate:
			out.Template, _ = strconv.ParseUint(w.Value, 10, 64) // the caller formatted it from a number
		case model.ColumnDocumentType:
			out.DocumentType, _ = strconv.ParseUint(w.Value, 10, 64) // likewise
		default: // searches support fewer columns than lists
		}
	}
	return out
}

// normalize validates the query and applies defaults and limits.
func normalize(q *Query) error {
	var invalid errs.Fields
	q.Text = TrimText(q.Text)
	if q.Party = strings.TrimSpace(q.Party); q.Party != "" {
		ValidateParty(q.Party, &invalid)
	}
	if q.Text != "" || q.Party == "" {
		ValidateText(q.Text, &invalid)
	}
	if !slices.Contains([]string{"", query.Abstract, query.Order, query.File, query.Instrument}, q.Kind) {
		invalid.Add("kind", errs.InvalidChoice)
	}
	if q.Limit <= 0 {
		q.Limit = defaultPageSize
	}
	q.Offset = min(max(q.Offset, 0), MaxHits)
	q.Limit = min(q.Limit, maxPageSize, MaxHits-q.Offset)
	return invalid.Err()
}

// matchesNothing reports whether the filters contradict each other, so that no record can match.
func matchesNothing(q Query) bool {
	return (q.Kind == query.Order || q.Kind == query.Instrument) && q.Template != 0 ||
		!q.CreatedFrom.IsZero() && !q.CreatedTo.IsZero() && q.CreatedTo.Before(q.CreatedFrom)
}

// callerError converts an error of the index to one that Records may return.
func callerError(err error) error {
	switch {
	case errors.Is(err, query.ErrShort):
		return errs.InvalidField("q", TextTooShort)
	case errors.Is(err, query.ErrLong):
		return errs.InvalidField("q", TextTooComplex)
	case errors.Is(err, query.ErrParty):
		return errs.InvalidField(partyField, PartyInvalid)
	case errors.Is(err, query.ErrDeadline):
		return errs.NotNow(errs.Busy, "The search took too long. Use more specific words, or add filters.", err)
	}
	return err
}
