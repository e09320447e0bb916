package vault

import "deedkeep/app/store"

// What lists are asked with and answer is the store's, under names of the vault: the
// voices speak to the vault alone. Which list takes which columns and sorts is said at
// its verb.
type (
	// Query asks for a page of a list.
	Query = store.Query
	// Page is a page of a list, and how to go on from it.
	Page[T any] = store.Page[T]
	// Filter is one filter of a list.
	Filter = store.Filter
	// Column is a property by which lists are filtered.
	Column = store.Column
	// Sort is what a list is sorted by.
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

// EventPosition is the position after an entry of the log, in a list by SortSequence; 0
// is the beginning.
func EventPosition(seq uint64) []byte { return store.LogPosition(seq) }
