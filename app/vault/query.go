package vault

import "deedkeep/app/store"

// Types of list queries and pages, declared in store and exported here because
// transports must not import store.
type (
	// Query selects a page of a list.
	Query = store.Query
	// Page is a page of a list, with the positions of the next and previous pages.
	Page[T any] = store.Page[T]
	// Filter is one filter of a list.
	Filter = store.Filter
	// Column is a property by which lists are filtered.
	Column = store.Column
	// Sort is the sort key of a list.
	Sort = store.Sort
)

// The columns.
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
)

// The sorts.
const (
	SortCreated     = store.SortCreated
	SortUpdated     = store.SortUpdated
	SortDue         = store.SortDue
	SortOrderNumber = store.SortOrderNumber
	SortFileNumber  = store.SortFileNumber
	SortParcel      = store.SortParcel
	SortAddress     = store.SortAddress

	SortSequence = store.SortSequence // of events alone
)

// EventPosition returns the list position after an audit entry, for lists with
// SortSequence; 0 is the start.
func EventPosition(seq uint64) []byte { return store.LogPosition(seq) }
