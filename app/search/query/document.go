package query

// Kind is the type of an indexed document.
type Kind uint8

// The kinds of documents.
const (
	Abstract Kind = 1
	Order    Kind = 2
	File     Kind = 3
)

// Document is a record to be indexed. The index stores only its terms and their positions.
type Document struct {
	Kind       Kind
	ID         uint64 // unique within the kind, at most 2^56-1
	Template   uint64 // ID used as a filter; 0 for none
	County     string // used as a filter, normalized by model.FoldCounty; "" for none
	State      string // used as a filter, normalized by model.FoldState
	Status     string // used as a filter, case-insensitive
	CreatedDay int32  // creation date, in days since January 1, 1970
	// Numbers are file, order, and parcel numbers and book and page references. They match exactly
	// or by prefix, regardless of punctuation.
	Numbers []string
	// Names are names of people, companies, places, and files. They match by word, by prefix, or
	// with a typing error.
	Names []string
	// Fields are all other values. They match by word or phrase.
	Fields []string
	// Text passes the pages of the text to the callback in order. It is called once. nil means that
	// the document has no text.
	Text func(page func(text string) error) error
}

// Query describes a search.
type Query struct {
	Text         string
	Kind         Kind   // 0 for all
	Template     uint64 // 0 for all
	County       string // "" for all; otherwise normalized as in Document
	State        string
	Status       string
	HasDateRange bool  // only find documents created between From and To, inclusive
	From, To     int32 // in days since 1970
	Offset       int   // number of hits to skip
	Limit        int   // maximum number of hits to return
}

// Hit is a matching document.
type Hit struct {
	Kind           Kind
	ID             uint64
	Score          float64 // comparable only within one Result
	Approximate    bool    // matches with a typing error or lacks a word (Result.Fuzzy, Result.Relaxed)
	MayMatchNumber bool    // the query may equal one of its Numbers; use MatchesNumber to check
}

// Result is one page of hits, best first.
type Result struct {
	Hits    []Hit
	More    bool         // there are more hits after this page
	Counts  map[Kind]int // number of matches of each kind, regardless of Query.Kind
	Fuzzy   bool         // some hits match only with a typing error
	Relaxed bool         // some hits lack a final single letter, or the word book or page before a number
}
