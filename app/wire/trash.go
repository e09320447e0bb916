package wire

import (
	"encoding/json"
	"fmt"
)

// Trashed is something in the trash, an item of GET /trash (API.md, "Ours"). Kind
// is abstract, order or file, ID that of its kind, Heading what people know it by.
// At RestorableUntil it goes for good.
type Trashed struct {
	Kind            string   `json:"kind"`
	ID              RecordID `json:"id"`
	Heading         string   `json:"heading"`
	DeletedAt       Time     `json:"deleted_at"`
	DeletedBy       Actor    `json:"deleted_by"`
	RestorableUntil Time     `json:"restorable_until"`
}

// RecordID is the id of a record of any kind as JSON: a string for an abstract or an
// order, a number for all others.
type RecordID string

// MarshalJSON writes the id as it is.
func (id RecordID) MarshalJSON() ([]byte, error) { return []byte(id), nil }

// UnmarshalJSON takes a string or a number.
func (id *RecordID) UnmarshalJSON(data []byte) error {
	var text string
	var number int64
	if string(data) == "null" || json.Unmarshal(data, &text) != nil && json.Unmarshal(data, &number) != nil {
		return fmt.Errorf("id: %s is neither a string nor a number", data)
	}
	*id = RecordID(data)
	return nil
}

// String returns the id without quotes, as it stands in an address.
func (id RecordID) String() string {
	var text string
	if json.Unmarshal([]byte(id), &text) == nil {
		return text
	}
	return string(id)
}
