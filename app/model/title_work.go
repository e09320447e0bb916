package model

import "time"

// TitleWork is the work on an abstract besides its fields, documents, and instruments. Each part
// has a version of its own for If-Match.
type TitleWork struct {
	AbstractID uint64 `json:"abstract_id"`
	// Sequence contains the instruments whose place in the runsheet a person chose.
	Sequence []uint64 `json:"sequence,omitempty"`
	// SequenceBefore is the Sequence before the runsheet was sorted by recording date, to undo that.
	SequenceBefore []uint64 `json:"sequence_before,omitempty"`
	// RunsheetVersion counts the changes of the instruments and their sequence.
	RunsheetVersion uint64            `json:"runsheet_version,omitempty"`
	OrderID         uint64            `json:"order_id,omitempty"`
	PriorID         uint64            `json:"prior_id,omitempty"`  // the abstract that this one brings down
	NotTaken        []string          `json:"not_taken,omitempty"` // what the bring-down left in the prior abstract, such as "2 documents"
	Assignment      Assignment        `json:"assignment,omitzero"`
	NamesRun        []NameRun         `json:"names_run,omitempty"`
	Requirements    []RequirementRow  `json:"requirements,omitempty"`
	Certificates    []Certificate     `json:"certificates,omitempty"` // oldest first
	Versions        TitleWorkVersions `json:"versions,omitzero"`
}

// TitleWorkVersions are the versions of the parts of a TitleWork.
type TitleWorkVersions struct {
	Order        uint64 `json:"order,omitempty"`
	Assignment   uint64 `json:"assignment,omitempty"`
	NamesRun     uint64 `json:"names_run,omitempty"`
	Requirements uint64 `json:"requirements,omitempty"`
}

// Assignment says who works on an abstract and by when.
type Assignment struct {
	SearcherID uint64 `json:"searcher_id,omitempty"`
	ExaminerID uint64 `json:"examiner_id,omitempty"`
	DueDate    string `json:"due_date,omitempty"` // YYYY-MM-DD
}

// NameRun says that the indexes were searched for a name.
type NameRun struct {
	Name    string    `json:"name"`
	From    string    `json:"from,omitempty"` // YYYY-MM-DD
	To      string    `json:"to,omitempty"`   // YYYY-MM-DD
	Indexes []string  `json:"indexes,omitempty"`
	Result  string    `json:"result,omitempty"`
	Pending bool      `json:"pending,omitempty"` // carried over by a bring-down and not run again yet
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
}

// Kinds of a RequirementRow.
const (
	RequirementKind = "requirement" // Schedule B-I
	ExceptionKind   = "exception"   // Schedule B-II
)

// RequirementRow is a requirement or an exception of an abstract. Instruments have requirements and
// exceptions, too; see Instrument.Requirement.
type RequirementRow struct {
	Kind         string `json:"kind"`
	Text         string `json:"text"`
	InstrumentID uint64 `json:"instrument_id,omitempty"`
	Cleared      string `json:"cleared,omitempty"` // YYYY-MM-DD
}

// Certificate says through which date the indexes were searched. The runsheet at that time is kept
// as a document.
type Certificate struct {
	ID              uint64    `json:"id"`
	EffectiveDate   string    `json:"effective_date"`           // certified through, YYYY-MM-DD
	EffectiveTime   string    `json:"effective_time,omitempty"` // HH:MM or HH:MM:SS
	SearchFrom      string    `json:"search_from,omitempty"`
	IndicesSearched []string  `json:"indices_searched,omitempty"`
	By              Actor     `json:"by"`
	At              time.Time `json:"at"`
	RunsheetVersion uint64    `json:"runsheet_version"`
	FileID          uint64    `json:"file_id,omitempty"`
	Digest          string    `json:"digest,omitempty"` // SHA-256 of the runsheet's document, lower-case hex
	// Accepted are the findings that were accepted with a reason. Unaccepted are the others; see app/titlecheck.
	Accepted   []AcceptedCheck `json:"accepted,omitempty"`
	Unaccepted []AcceptedCheck `json:"unaccepted,omitempty"`
}

// AcceptedCheck is a finding about a search, with the reason why it was accepted.
type AcceptedCheck struct {
	Check  string `json:"check"`          // ID of the finding, or of a check for all of its findings
	Text   string `json:"text,omitempty"` // the finding; "" if there was no such finding
	Reason string `json:"reason,omitempty"`
}
