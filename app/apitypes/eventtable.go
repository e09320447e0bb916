package apitypes

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
)

// ByteOrderMark makes spreadsheets read a file of CSV as UTF-8.
const ByteOrderMark = "\ufeff"

// EventColumns heads an EventTable.
func EventColumns() []string {
	return []string{"seq", "at", "actor_kind", "actor_id", "actor_name", "address", "kind", "record", "detail", "changes", "request_id", "hash"}
}

// EventTable writes entries of the log as CSV (RFC 4180, but lines end with LF: Go's
// writer drops a CR in a cell where they end with CRLF), behind ByteOrderMark, headed
// by EventColumns, each cell made Harmless.
type EventTable struct {
	out   io.Writer
	table *csv.Writer
	more  []string
	begun bool
}

// NewEventTable begins a table with these columns after those of EventColumns; nothing is
// written before the first Write or Flush.
func NewEventTable(out io.Writer, more ...string) *EventTable {
	return &EventTable{out: out, table: csv.NewWriter(out), more: more}
}

func (t *EventTable) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	_, err := io.WriteString(t.out, ByteOrderMark)
	return errors.Join(err, t.table.Write(append(EventColumns(), t.more...)))
}

// Write adds a row, which may wait for Flush, with the cells of the columns that follow.
func (t *EventTable) Write(e Event, more ...string) error {
	row, err := eventRow(e)
	for _, cell := range more {
		row = append(row, Harmless(cell))
	}
	return errors.Join(err, t.begin(), t.table.Write(row))
}

// Flush writes what waits; a table without rows has its heading then.
func (t *EventTable) Flush() error {
	err := t.begin()
	t.table.Flush()
	return errors.Join(err, t.table.Error())
}

func eventRow(e Event) ([]string, error) {
	detail, err := Marshal(e.Detail)
	if err != nil {
		return nil, err
	}
	changes, err := Marshal(e.Changes)
	if err != nil {
		return nil, err
	}
	id := ""
	if e.Actor.ID != nil {
		id = strconv.FormatInt(*e.Actor.ID, 10)
	}
	row := []string{strconv.FormatInt(e.Seq, 10), e.At.String(), e.Actor.Kind, id, given(e.Actor.Name), given(e.Actor.Address), e.Kind, given(e.Record),
		string(detail), string(changes), given(e.RequestID), e.Hash}
	for i, cell := range row {
		row[i] = Harmless(cell)
	}
	return row, nil
}

func given(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Harmless keeps a spreadsheet from taking a cell for a formula, by an apostrophe
// before it (OWASP, "CSV Injection").
func Harmless(cell string) string {
	if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
		return "'" + cell
	}
	return cell
}
