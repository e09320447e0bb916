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
	Template   uint64 // filter; 0 for none
	County     string // filter, normalized by model.FoldCounty; "" for none
	State      string // filter, normalized by model.FoldState
	Status     string // filter, case-insensitive
	CreatedDay int32  // day of creation, in days since 1970
	// Numbers are file, order, and parcel numbers, and book and page. They match exactly and by
	// prefix, regardless of punctuation.
	Numbers []string
	// Names are names of people, companies, places, and files. They match by word, by prefix, and
	// with a typing error.
	Names []string
	// Fields are all other values. They match by word and phrase.
	Fields []string
	// Text passes the pages of the text to the callback, in order; nil means no text. It is called
	// once.
	Text func(page func(text string) error) error
}

// Query describes a search.
type Query struct {
	Text         string
	Kind         Kind   // 0 for all
	Template     uint64 // 0 for all
	County       string // "" for all; normalized as in Document
	State        string
	Status       string
	HasDateRange bool  // only find documents created from From to To, inclusive
	From, To     int32 // in days since 1970
	Offset       int   // number of hits to skip
	Limit        int   // maximum number of hits to return
}

// Hit is a matching document.
type Hit struct {
	Kind           Kind
	ID             uint64
	Score          float64 // comparable only within one Result
	Approximate    bool    // found with a typing error or without a word (Result.Fuzzy, Result.Relaxed)
	MayMatchNumber bool    // the query may equal one of its Numbers; MatchesNumber checks it
}

// Result is one page of hits, best first.
type Result struct {
	Hits    []Hit
	More    bool         // more hits follow
	Counts  map[Kind]int // number of matches of each kind, regardless of Query.Kind
	Fuzzy   bool         // some hits match only with a typing error
	Relaxed bool         // some hits lack an unfinished word of one letter, or book or page before a number
}
