package apitypes

import "encoding/json"

// Event is one entry of the log of who did what (API.md, "GET /events"). Hash covers
// the entry and the one before it: who keeps it can tell whether the log was written
// anew.
type Event struct {
	Seq       int64        `json:"seq"`
	At        Time         `json:"at"`
	Actor     Actor        `json:"actor"`
	Kind      string       `json:"kind"`   // noun.verb: "abstract.created"
	Record    *string      `json:"record"` // noun:id, with the id of that noun on the wire
	Detail    Detail       `json:"detail"`
	Changes   List[Change] `json:"changes"`
	RequestID *string      `json:"request_id"`
	Hash      string       `json:"hash"`
}

// Actor is who did something: kind "key", "user", "link", "operator" or "system".
type Actor struct {
	Kind    string  `json:"kind"`
	ID      *int64  `json:"id"`
	Name    *string `json:"name"`
	Address *string `json:"address"`
}

// Change is what became of one field: null is no value.
type Change struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
}

// Detail is what a kind of event says besides. It is {} and never null.
type Detail map[string]string

// MarshalJSON writes the map, or {} for none.
func (d Detail) MarshalJSON() ([]byte, error) {
	if len(d) == 0 {
		return []byte("{}"), nil
	}
	return Marshal(map[string]string(d))
}

// Events answers GET /control/events, newest first.
type Events struct {
	Data List[Event] `json:"data"`
}

// EventLine is one line of the answer of GET /control/events/export, which is
// application/x-ndjson. Exactly one member is set; the last line has End or Error,
// and an answer without such a line was cut.
//
//	{"event":{"seq":1,…}}   {"damaged":{"kind":"event","subject":"2","problem":"…"}}
//	{"end":{"entries":2}}   or   {"error":"…"}
type EventLine struct {
	Event   *Event    `json:"event,omitempty"`
	Damaged *Finding  `json:"damaged,omitempty"`
	End     *EventEnd `json:"end,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// EventEnd says how many entries were given, damaged ones not counted.
type EventEnd struct {
	Entries int64 `json:"entries"`
}

// EventVerify is the result of a verification of the log: every finding makes OK
// false, More counts those that are not listed. Head is the hash of entry Last. Agree is
// how many entries of an export are those of the log; nil where none was held against it.
type EventVerify struct {
	OK       bool          `json:"ok"`
	Entries  int64         `json:"entries"`
	Last     int64         `json:"last"`
	Head     string        `json:"head"`
	Findings List[Finding] `json:"findings"`
	More     int64         `json:"more"`
	Agree    *int64        `json:"agree"`
}
