package query

import (
	"slices"
	"time"

	"deedkeep/app/model"
)

// Kind is the type of an indexed document: the name of its record type.
type Kind = string

// The kinds of documents.
const (
	Abstract   Kind = "abstract"
	Order      Kind = "order"
	File       Kind = "file"
	Instrument Kind = "instrument"
)

// kinds are all kinds by their number in document keys. 0 is not used.
var kinds = []Kind{1: Abstract, 2: Order, 3: File, 4: Instrument}

// kindNumber returns the number of a kind, or 0 if there is no such kind.
func kindNumber(k Kind) uint8 {
	return uint8(max(slices.Index(kinds, k), 0)) // at most 4
}

// Document is a record to be indexed. The index stores only its terms and their positions.
type Document struct {
	Kind         Kind
	ID           uint64 // unique within the kind, at most 2^56-1
	Template     uint64 // ID used as a filter; 0 for none
	DocumentType uint64 // of an instrument; ID used as a filter; 0 for none
	County       string // used as a filter, normalized by model.FoldCounty; "" for none
	State        string // used as a filter, normalized by model.FoldState
	Status       string // used as a filter, case-insensitive
	CreatedDay   int32  // creation date (Day)
	// Numbers are file, order, and parcel numbers and book and page references. They match exactly
	// or by prefix, regardless of punctuation.
	Numbers []string
	// Names are names of people, companies, places, and files. They match by word, by prefix, or
	// with a typo.
	Names []string
	// Fields are all other values. They match by word or phrase.
	Fields []string
	// Parties are the names of the parties to an instrument, which Query.Party looks for. They don't
	// match Query.Text unless they are in Names, too.
	Parties []string
	// Text passes the pages of the text to the callback in order. It is called once. nil means that
	// the document has no text.
	Text func(page func(text string) error) error
}

// Query describes a search.
type Query struct {
	Text                   string    // may be "" if Party is not
	Party                  string    // words that must all be in the name of one party to an instrument; "" for any
	Kind                   Kind      // "" for all
	Template               uint64    // of an abstract; 0 for all
	DocumentType           uint64    // of an instrument; 0 for all
	County, State, Status  string    // "" for all; otherwise normalized as in Document
	CreatedFrom, CreatedTo time.Time // inclusive; zero: unlimited
	Offset                 int       // number of hits to skip
	Limit                  int       // maximum number of hits to return
	SkipCounts             bool      // Result.Counts is not needed; among many matches, the search is then faster
}

// Matches reports whether a document passes the filters of the query. created is its creation time,
// of which the index has only the day.
func (q Query) Matches(d Document, created time.Time) bool {
	terms := d.filterTerms()
	for _, filter := range q.filterTerms() {
		if !slices.Contains(terms, filter) {
			return false
		}
	}
	return !created.Before(q.CreatedFrom) && (q.CreatedTo.IsZero() || !created.After(q.CreatedTo))
}

// Filtered reports whether the query has filters that Matches checks.
func (q Query) Filtered() bool {
	return len(q.filterTerms()) > 0 || !q.CreatedFrom.IsZero() || !q.CreatedTo.IsZero()
}

func (d Document) filterTerms() []string {
	return filterTerms(d.Template, d.DocumentType, d.County, d.State, d.Status)
}

func (q Query) filterTerms() []string {
	return filterTerms(q.Template, q.DocumentType, q.County, q.State, q.Status)
}

// filterTerms returns the terms of the filters that are set.
func filterTerms(template, documentType uint64, county, state, status string) []string {
	var terms []string
	if template != 0 {
		terms = append(terms, idTerm(nsTemplate, template))
	}
	if documentType != 0 {
		terms = append(terms, idTerm(nsDocumentType, documentType))
	}
	for _, f := range []struct {
		ns    byte
		value string
	}{{nsCounty, model.FoldCounty(county)}, {nsState, model.FoldState(state)}, {nsStatus, model.Fold(status)}} {
		if f.value != "" {
			terms = append(terms, term(f.ns, boundedValue(f.value)))
		}
	}
	return terms
}

// Day returns the number of days from January 1, 1970 to the given time, in UTC.
func Day(at time.Time) int32 {
	const day = 24 * 60 * 60
	seconds := at.Unix()
	if seconds < 0 {
		seconds -= day - 1
	}
	return int32(seconds / day)
}

// Hit is a matching document.
type Hit struct {
	Kind           Kind
	ID             uint64
	Score          float64 // comparable only within one Result
	Approximate    bool    // matches with a typo or lacks a word (Result.Fuzzy, Result.Relaxed)
	MayMatchNumber bool    // the query may equal one of its Numbers; use MatchesNumber to check
}

// Result is one page of hits, best first.
type Result struct {
	Hits    []Hit
	More    bool         // there are more hits after this page
	Counts  map[Kind]int // number of matches of each kind, regardless of Query.Kind; too low with Query.Party or Query.SkipCounts
	Fuzzy   bool         // some hits match only with a typo
	Relaxed bool         // some hits lack a final single letter, or the word book or page before a number
}
