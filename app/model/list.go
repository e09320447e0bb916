package model

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Column is the name of a property by which a list can be filtered. It includes the names
// of all filters of the /v1 API.
type Column string

// The columns. The package comment of app/store shows which columns each list has.
const (
	ColumnStatus      Column = "status"
	ColumnTemplate    Column = "template_id"
	ColumnCounty      Column = "county"
	ColumnState       Column = "state"
	ColumnOrderNumber Column = "order_number"
	ColumnAssignee    Column = "assignee"
	ColumnFolder      Column = "folder_id"
	ColumnAbstract    Column = "abstract_id"
	ColumnUnassigned  Column = "nowhere" // not in any folder or abstract; the value of the filter is ignored
	ColumnProcessing  Column = "is_processing"
	ColumnActor       Column = "actor"
	ColumnKind        Column = "kind" // kind of an audit log entry; in the trash, the record's type
	ColumnRecord      Column = "record"

	ColumnDocumentType     Column = "type_id"
	ColumnInstrumentNumber Column = "instrument_number"
	ColumnBook             Column = "book"
	ColumnPage             Column = "page"
	ColumnParty            Column = "party" // not a column of the index; a filter of the service
)

// RecordColumns returns the columns that the lists of abstracts and orders, and the search over all records, have in common.
func RecordColumns() []Column { return []Column{ColumnStatus, ColumnCounty, ColumnState} }

// Sort is the name of a sort order for a list. Records with equal values are sorted by
// creation time, then by ID.
type Sort string

// The sort orders. The doc comment of each list function says which ones it supports. The
// last three compare the first 64 bytes of normalized texts (NormalizeNumber,
// NormalizeText), and records without a text come last.
const (
	SortCreated     Sort = "created_at"
	SortUpdated     Sort = "updated_at"
	SortDue         Sort = "due_date" // orders without a due date come last
	SortOrderNumber Sort = "order_number"
	SortFileNumber  Sort = "file_number"
	SortParcel      Sort = "parcel"
	SortAddress     Sort = "address"

	// SortSequence sorts the audit log by sequence number, ascending only.
	SortSequence Sort = "sequence"
)

// View is a saved view of a list: its filters, sort order, and columns. A view without a name has only the columns that
// its owner chose for the list, and their widths.
type View struct {
	ID        uint64            `json:"id"`
	Name      string            `json:"name,omitempty"`
	Record    string            `json:"record"`            // orders, abstracts, or instruments
	Filters   map[string]string `json:"filters,omitempty"` // by the name of the parameter in the API
	Sort      string            `json:"sort,omitempty"`    // as in the API; "" means the default
	Columns   []string          `json:"columns,omitempty"` // names of columns; none means the default
	Widths    map[string]int    `json:"widths,omitempty"`  // of columns, in CSS pixels, by name; only of a view without a name
	Shared    bool              `json:"shared,omitempty"`
	Owner     Actor             `json:"owner"`
	Version   uint64            `json:"version"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}

var viewFields = []recordField[View]{
	{FieldLabel{Name: "name", Label: "Name"}, func(v *View) any { return v.Name }},
	{FieldLabel{Name: "filters", Label: "Filters"}, func(v *View) any {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(v.Filters)) {
			list = append(list, name+" = "+v.Filters[name])
		}
		return strings.Join(list, ", ")
	}},
	{FieldLabel{Name: "sort", Label: "Sort order"}, func(v *View) any { return v.Sort }},
	{FieldLabel{Name: "columns", Label: "Columns"}, func(v *View) any { return strings.Join(v.Columns, ", ") }},
	{FieldLabel{Name: "shared", Label: "Shared", Type: Checkbox}, func(v *View) any { return v.Shared }},
}

// Changes returns the differences between v and its new version, with API field names.
func (v View) Changes(to View) []Change { return compareRecords(viewFields, v, to) }

// SplitParties is the inverse of JoinParties. A text without a colon is a name.
func SplitParties(text string) []Party {
	list := []Party{}
	for _, item := range SplitNames(text) {
		role, name, found := strings.Cut(item, ":")
		if !found {
			role, name = "", item
		}
		list = append(list, Party{strings.TrimSpace(role), strings.TrimSpace(name)})
	}
	return list
}

// JoinParties joins parties as JoinNames joins names.
func JoinParties(list []Party, separator string) string {
	texts := make([]string, 0, len(list))
	for _, p := range list {
		texts = append(texts, p.Text())
	}
	return JoinNames(texts, separator)
}
