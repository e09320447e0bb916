// Package lists shows the lists of orders, abstracts, and instruments as tables: which columns they have, their rows
// as files, and the views that users save.
//
// The columns come from the declarations of the fields in app/model and from the custom fields. It doesn't filter:
// callers pass a query of app/vault or app/search. A list can be sorted by each of its columns.
package lists

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"deedkeep/app/encode"
	"deedkeep/app/fairqueue"
	"deedkeep/app/model"
	"deedkeep/app/spreadsheet"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// Service knows the tables.
type Service struct {
	vault *vault.Vault
	ids   encode.IDCodec
	zone  func() *time.Location
	users func(context.Context) ([]model.User, error)
	sorts *fairqueue.Turns // to sort in memory
}

// New returns the service. zone returns the time zone of the office, for times in files, and users the users, to name
// those who work on records.
func New(v *vault.Vault, ids encode.IDCodec, zone func() *time.Location, users func(context.Context) ([]model.User, error)) *Service {
	return &Service{vault: v, ids: ids, zone: zone, users: users, sorts: fairqueue.NewTurns(concurrentSorts, errTooManySorts)}
}

// Column is a column of a list of records of type T.
type Column[T any] struct {
	Name  string // in requests, such as "custom_fields.client"
	Label string
	Type  model.FieldType // of the value
	Sort  string          // name of the sort order by this column; "" if only files have the column
	Width float64         // in characters, in Excel
	Text  func(*T) string
	At    func(*T) time.Time // instead of Text

	values func(*T) []string // instead of Text, for a custom field
	index  model.Sort        // the index that has the sort order; "" if there is none
}

// Values returns the stored values of a record in the column. It returns none if At is set.
func (c Column[T]) Values(record *T) []string {
	switch {
	case c.values != nil:
		return c.values(record)
	case c.Text != nil:
		if text := c.Text(record); text != "" {
			return []string{text}
		}
	}
	return nil
}

// cell returns the text of a cell of a file. Dates, times, and numbers have a form that spreadsheets understand.
func (c Column[T]) cell(record *T, zone *time.Location) string {
	if c.At != nil {
		return c.At(record).In(zone).Format("2006-01-02 15:04")
	}
	values := c.Values(record)
	switch c.Type {
	case model.Date, model.Number, model.Money:
		return strings.Join(values, ", ")
	}
	return model.FormatValues(c.Type, values)
}

// Table is a list with its columns.
type Table[T any] struct {
	Name    string      // such as "Orders"
	Columns []Column[T] // all of them
	Page    []string    // names of the columns that pages show by default; the first one names the record
	Aside   []string    // those of Page that narrow screens omit
	hidden  []string    // columns that only files have
	derived []string    // columns that repeat others and that files have only by name

	zone func() *time.Location
	// rows converts a slice of stored records to rows that have what is needed to sort by the column.
	rows func(t *store.Tx, stored any, column string) ([]T, error)
}

// Find returns the columns with the given names, and the names that no column has.
func (t Table[T]) Find(names []string) (found []Column[T], unknown []string) {
	for _, name := range names {
		n := slices.IndexFunc(t.Columns, func(c Column[T]) bool { return c.Name == name })
		if n < 0 {
			unknown = append(unknown, name)
		} else {
			found = append(found, t.Columns[n])
		}
	}
	return found, unknown
}

// OnPage returns the columns to choose from on a page.
func (t Table[T]) OnPage() []Column[T] {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column[T]) bool { return slices.Contains(t.hidden, c.Name) })
}

// InFile returns the columns that a file has by default.
func (t Table[T]) InFile() []Column[T] {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column[T]) bool { return slices.Contains(t.derived, c.Name) })
}

// File returns the content of a file with the given columns and rows.
func (t Table[T]) File(columns []Column[T], rows iter.Seq2[T, error]) spreadsheet.Table {
	file := spreadsheet.Table{Name: t.Name}
	for _, c := range columns {
		file.Columns = append(file.Columns, spreadsheet.Column{Title: c.Label, Width: c.Width, Amount: c.Type == model.Money})
	}
	zone := t.zone()
	file.Rows = spreadsheet.Rows(rows, len(columns), func(record T, n int) string { return columns[n].cell(&record, zone) })
	return file
}

// Bounds of the pages that Rows reads. Those of a list without an index for its sort order are larger, because each page
// sorts all records.
const (
	pageRows    = 100
	pageBytes   = 256 << 10
	sortedRows  = 2_500
	sortedBytes = 2 << 20
)

// Rows returns the records on all pages of a list. It reads the first page immediately, so that an error is known before
// anything is sent, and the others as they are needed.
func Rows[T any](ctx context.Context, q vault.Query,
	read func(context.Context, vault.Query) (vault.Page[T], error)) (iter.Seq2[T, error], error) {
	if q.Limit, q.MaxBytes = pageRows, pageBytes; q.Keys != nil {
		q.Limit, q.MaxBytes = sortedRows, sortedBytes
	}
	page, err := read(ctx, q)
	if err != nil {
		return nil, err
	}
	return func(yield func(T, error) bool) {
		for {
			for _, record := range page.Items {
				if !yield(record, nil) {
					return
				}
			}
			if q.Position = page.Next; page.Next == nil {
				return
			}
			if page, err = read(ctx, q); err != nil {
				var none T
				yield(none, err)
				return
			}
		}
	}, nil
}

// Widths of columns, in characters.
const (
	narrow = 12
	medium = 20
	wide   = 36
)

// width returns the width of a column with values of a type.
func width(t model.FieldType) float64 {
	switch t {
	case model.Date, model.Number, model.Checkbox, model.Money, model.Choice:
		return narrow
	case model.Paragraph:
		return wide
	}
	return medium
}

// fieldColumns returns the columns of the fields that every record has.
func fieldColumns[T any](fields func(*T) []model.FieldValue) (list []Column[T]) {
	for n, f := range fields(new(T)) {
		list = append(list, Column[T]{Name: f.Key, Label: f.Label, Type: f.Type, Width: width(f.Type),
			Text: func(record *T) string { return fields(record)[n].Value }})
	}
	return list
}

// customColumns returns the columns of custom fields.
func customColumns[T any](defs []model.Field, custom func(*T) model.CustomValues) (list []Column[T]) {
	for _, f := range defs {
		list = append(list, Column[T]{Name: "custom_fields." + f.Key, Label: f.Label, Type: f.Type, Width: width(f.Type),
			values: func(record *T) []string { return model.StoredTexts(custom(record)[f.Key]) }})
	}
	return list
}

// timeColumns returns the columns of the times at which a record was created and last changed.
func timeColumns[T any](created, updated func(*T) time.Time) []Column[T] {
	return []Column[T]{
		{Name: string(model.SortCreated), Label: "Created", Width: medium, At: created},
		{Name: string(model.SortUpdated), Label: "Updated", Width: medium, At: updated},
	}
}

// Names of columns that combine several fields.
const (
	columnLocation = "location"
	columnCounty   = "county_state"
)

// placeColumns returns the columns that combine fields of a property.
func placeColumns[T any](of func(*T) model.Property) []Column[T] {
	return []Column[T]{
		{Name: columnLocation, Label: "Address", Width: wide,
			Text: func(record *T) string {
				return model.Property{Address: of(record).Address, City: of(record).City}.ShortAddress()
			}},
		{Name: columnCounty, Label: "County, state", Width: medium,
			Text: func(record *T) string { return joined(of(record).County, of(record).State) }},
	}
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// probe is a value of a custom field that shows which one a method of a record reads.
var probe = json.RawMessage(`"x"`)
