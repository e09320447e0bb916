package apitypes

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Event is an audit log entry. Hash covers the entry and the hash of the previous entry. With a saved copy of a hash,
// you can prove later that the log up to that entry was not changed.
type Event struct {
	Seq       int64        `json:"seq"`
	At        Time         `json:"at"`
	Actor     Actor        `json:"actor"`
	Kind      string       `json:"kind"`   // record type and operation: "abstract.created"
	Record    *string      `json:"record"` // record type and ID in the form that /v1 uses: "file:17"
	Detail    Detail       `json:"detail"`
	Changes   List[Change] `json:"changes"`
	Names     Detail       `json:"names"` // names that the records had, by record
	RequestID *string      `json:"request_id"`
	Hash      string       `json:"hash"`
}

// Actor identifies who performed an operation: Kind is "key", "user", "link", "operator", or "system".
type Actor struct {
	Kind    string  `json:"kind"`
	ID      *int64  `json:"id"`
	Name    *string `json:"name"`
	Address *string `json:"address"`
}

// Change is the change of one field, or of one row of a list; null means no value or no row. Row is the row that moved:
// From and To are its places. Text is the change in words, or nil in entries of older versions.
type Change struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
	Row   *string         `json:"row"`
	Text  *string         `json:"text"`
}

// Detail maps names to additional facts about an event. Marshal encodes it as {} if empty, never as null.
type Detail map[string]string

// EventLine is one line of the response of GET /control/events/export, which is application/x-ndjson. Exactly one
// member is set. The last line has End or Error; a response without such a line was cut off.
//
//	{"event":{"seq":1,…}}   {"damaged":{"kind":"event","subject":"2","problem":"…"}}
//	{"end":{"entries":2}}   or   {"error":"…"}
type EventLine struct {
	Event   *Event    `json:"event,omitempty"`
	Damaged *Finding  `json:"damaged,omitempty"`
	End     *EventEnd `json:"end,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// EventEnd counts the exported entries, without damaged ones.
type EventEnd struct {
	Entries int64 `json:"entries"`
}

// EventVerify is the result of verifying the audit log. OK is false if there are findings. More is the number of
// findings that are not listed. Head is the hash of the entry with number Last. Matching is the number of exported
// entries that equal the entries of the log, or nil if no export was compared.
type EventVerify struct {
	OK       bool          `json:"ok"`
	Entries  int64         `json:"entries"`
	Last     int64         `json:"last"`
	Head     string        `json:"head"`
	Findings List[Finding] `json:"findings"`
	More     int64         `json:"more"`
	Matching *int64        `json:"matching"`
}

// ByteOrderMark at the start of a CSV file makes spreadsheets read the file as UTF-8.
const ByteOrderMark = "\ufeff"

// EventColumns returns the column names of an EventTable.
func EventColumns() []string {
	return []string{"seq", "at", "actor_kind", "actor_id", "actor_name", "address", "kind", "record", "detail", "changes",
		"request_id", "hash"}
}

// EventTable writes entries of the audit log as CSV (RFC 4180). The file starts with ByteOrderMark and EventColumns,
// and each cell is escaped by Harmless. Lines end with LF, because csv.Writer drops carriage returns inside cells when
// lines end with CRLF.
type EventTable struct {
	out       io.Writer
	table     *csv.Writer
	more      []string
	hasHeader bool
}

// NewEventTable returns a table that has the additional columns more after EventColumns. It writes nothing until the
// first call of Write or Flush.
func NewEventTable(out io.Writer, more ...string) *EventTable {
	return &EventTable{out: out, table: csv.NewWriter(out), more: more}
}

func (t *EventTable) writeHeader() error {
	if t.hasHeader {
		return nil
	}
	t.hasHeader = true
	_, err := io.WriteString(t.out, ByteOrderMark)
	return errors.Join(err, t.table.Write(append(EventColumns(), t.more...)))
}

// Write adds a row. more contains the cells of the additional columns. The row may be buffered until Flush.
func (t *EventTable) Write(e Event, more ...string) error {
	row, err := eventRow(e)
	for _, cell := range more {
		row = append(row, EscapeFormula(cell))
	}
	return errors.Join(err, t.writeHeader(), t.table.Write(row))
}

// Flush writes the buffered rows. If there are no rows, it writes only the header.
func (t *EventTable) Flush() error {
	err := t.writeHeader()
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
	row := []string{strconv.FormatInt(e.Seq, 10), e.At.String(), e.Actor.Kind, id, textOrEmpty(e.Actor.Name),
		textOrEmpty(e.Actor.Address), e.Kind, textOrEmpty(e.Record),
		string(detail), string(changes), textOrEmpty(e.RequestID), e.Hash}
	for i, cell := range row {
		row[i] = EscapeFormula(cell)
	}
	return row, nil
}

func textOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// EscapeFormula adds an apostrophe in front of a cell that a spreadsheet would interpret as a formula (OWASP, "CSV
// Injection").
func EscapeFormula(cell string) string {
	if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
		return "'" + cell
	}
	return cell
}
