package postings

// Node is one of Term, All, Any, Prefer and Phrase: what a document must have, and
// what it is worth. A nil Node is every document, worth nothing. An All, an Any or a
// Phrase of nothing is no document, and so is a term that none can have.
type Node interface{ node() }

// Term is a document that has the term, at positions or without. It is worth Weight,
// where Flat; else Weight times BM25, which is 0 where it has no positions.
type Term struct {
	Text   string
	Weight float64
	Flat   bool
}

// All is a document that every node holds of; it is worth the sum.
type All []Node

// Any is a document that at least one node holds of; it is worth the most of those.
type Any []Node

// Prefer is a document that Must holds of; each of Should that holds of it too adds
// what it is worth.
type Prefer struct {
	Must   Node
	Should []Node
}

// Phrase is a document in which the terms stand one behind the other; it is worth
// Weight times the BM25 of the terms.
type Phrase struct {
	Terms  []string
	Weight float64
}

func (Term) node()   {}
func (All) node()    {}
func (Any) node()    {}
func (Prefer) node() {}
func (Phrase) node() {}

// Query asks for the documents that are worth most.
type Query struct {
	Node   Node
	Groups uint8    // of which groups hits are given, a bit each; 0 for all
	Where  []string // terms that every match has besides, worth nothing
	Dated  bool     // only those whose date is From to To, both included
	From   int32    // days since 1970
	To     int32
	Limit  int // hits, at most MostHits; 0 only counts
}

// Hit is a document that matches.
type Hit struct {
	Key   uint64
	Group uint8
	Score float64
}

// Answer is the hits, those worth most first, among equals those of the lowest group, and
// among those the ones that came last first; and how many documents of every group match, whatever Query.Groups says.
type Answer struct {
	Hits   []Hit
	Counts [Groups]int
}
