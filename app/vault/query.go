package vault

import "deedkeep/app/store"

// These types of list queries and pages are declared in package store. They are repeated
// here because the api, ui, and cmd packages must not import store.
type (
	// Query selects, sorts, and pages the records of a list.
	Query = store.Query
	// Page is a page of a list. It includes the positions of the next and previous pages.
	Page[T any] = store.Page[T]
	// Filter restricts a list to records with a given value.
	Filter = store.Filter
	// Column is a property that lists can be filtered by.
	Column = store.Column
	// Sort is a sort order of a list.
	Sort = store.Sort
)

// These are the columns that lists can be filtered by.
const (
	ColumnStatus      = store.ColumnStatus
	ColumnTemplate    = store.ColumnTemplate
	ColumnCounty      = store.ColumnCounty
	ColumnState       = store.ColumnState
	ColumnOrderNumber = store.ColumnOrderNumber
	ColumnFolder      = store.ColumnFolder
	ColumnAbstract    = store.ColumnAbstract
	ColumnUnassigned  = store.ColumnUnassigned
	ColumnProcessing  = store.ColumnProcessing
	ColumnActor       = store.ColumnActor
	ColumnKind        = store.ColumnKind
	ColumnRecord      = store.ColumnRecord

	ColumnDocumentType     = store.ColumnDocumentType
	ColumnInstrumentNumber = store.ColumnInstrumentNumber
	ColumnBook             = store.ColumnBook
	ColumnPage             = store.ColumnPage
	ColumnParty            = store.ColumnParty
)

// These are the sort orders.
const (
	SortCreated     = store.SortCreated
	SortUpdated     = store.SortUpdated
	SortDue         = store.SortDue
	SortOrderNumber = store.SortOrderNumber
	SortFileNumber  = store.SortFileNumber
	SortParcel      = store.SortParcel
	SortAddress     = store.SortAddress

	SortSequence = store.SortSequence // only for audit entries
)

// EventPosition returns the list position after the audit entry seq, for lists sorted by
// SortSequence. Sequence number 0 is the start of the list.
func EventPosition(seq uint64) []byte { return store.LogPosition(seq) }
