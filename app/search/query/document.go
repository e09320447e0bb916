package query

// Kind is what a document of the index is.
type Kind uint8

// The kinds.
const (
	Abstract Kind = 1
	Order    Kind = 2
	File     Kind = 3
)

// Document is a record as the index is told of it. Nothing of it is kept but where
// its words stand.
type Document struct {
	Kind       Kind
	ID         uint64   // unique within the kind, at most 2^56-1
	Template   uint64   // filter; 0 for none
	County     string   // filter, compared as title.FoldCounty says; "" for none
	State      string   // filter, compared as title.FoldState says
	Status     string   // filter, without regard to case
	CreatedDay int32    // it was made on, days since 1970
	Numbers    []string // what it is called by: file, order and parcel numbers, book and page; found exactly and by beginnings, with and without punctuation
	Names      []string // of people, companies, places and files: found by words, their beginnings, and with a typing error
	Fields     []string // every other value: found by words and phrases
	// Text gives the text page after page, or is nil. A page is asked for once.
	Text func(page func(text string) error) error
}

// Query is what somebody looks for.
type Query struct {
	Text         string
	Kind         Kind   // 0 for all
	Template     uint64 // 0 for all
	County       string // "" for all; compared as in Document
	State        string
	Status       string
	HasDateRange bool  // only those made on From to To, both included
	From, To     int32 // days since 1970
	Offset       int   // hits to leave out
	Limit        int   // hits to give
}

// Hit is a record that matches.
type Hit struct {
	Kind           Kind
	ID             uint64
	Score          float64 // more is better; of use within one answer
	Approximate    bool    // it is there with a typing error, or without a word: Answer.Fuzzy and Loose
	MayMatchNumber bool    // all that was typed may be one of its Numbers: Called tells
}

// Result is a page of the hits, best first.
type Result struct {
	Hits    []Hit
	More    bool         // there are hits behind these
	Counts  map[Kind]int // matches of each kind, whatever Query.Kind says
	Fuzzy   bool         // some hits are there with a typing error allowed for
	Relaxed bool         // some hits are there without a word: one of one letter that is being typed, or book or page before a number
}
