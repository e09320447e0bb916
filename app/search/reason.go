package search

import "deedkeep/app/search/query"

// Reason is something that two searches have in common.
type Reason struct {
	Kind  ReasonKind
	Value string // the common parcel ID, address, lot, or name
	In    Hit    // the instrument, document, or order that has it; the zero value if the abstract itself has it
	Page  int    // where a document states it, starting at 1; 0: in its name. Only set by SuggestAbstracts

	weight int // how much it counts; 0: as its kind does
}

// ReasonKind is the kind of a Reason.
type ReasonKind string

// The kinds of reasons.
const (
	SameParcel  ReasonKind = "parcel"
	SameAddress ReasonKind = "address"
	SameLot     ReasonKind = "lot"
	SameParty   ReasonKind = "party" // to an instrument
	SameName    ReasonKind = "name"  // in the text of a document

	// Only returned by SuggestAbstracts:
	SameFileNumber  ReasonKind = "file number"
	SameOrderNumber ReasonKind = "order number" // of the order that the abstract is linked to
)

// rank returns how much a reason counts. A parcel or a lot outweighs names, because people own more than
// one property. Recorded instruments outweigh the texts of documents.
func (r Reason) rank() int {
	if r.weight != 0 {
		return r.weight
	}
	rank := map[ReasonKind]int{SameParcel: 1000, SameAddress: 900, SameLot: 800, SameParty: 30, SameName: 10}[r.Kind]
	switch r.In.Kind {
	case query.Instrument:
		rank -= 2
	case query.File:
		rank -= 4
	}
	return rank
}
