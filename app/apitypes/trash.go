package apitypes

import (
	"encoding/json"
	"fmt"
)

// Trashed is something in the trash, an item of GET /trash (API.md, "Ours"). Kind
// is abstract, order or file, ID that of its kind, Heading what people know it by.
// At RestorableUntil the server deletes it permanently. RetainedUntil is until when the
// retention setting keeps it, null where it does not apply; AbstractID is the abstract
// that a document was on, which may be purged by then.
type Trashed struct {
	Kind            string   `json:"kind"`
	ID              RecordID `json:"id"`
	Heading         string   `json:"heading"`
	DeletedAt       Time     `json:"deleted_at"`
	DeletedBy       Actor    `json:"deleted_by"`
	RestorableUntil Time     `json:"restorable_until"`
	RetainedUntil   *Time    `json:"retained_until"`
	AbstractID      *string  `json:"abstract_id"`
}

// TrashItem is something in the trash as "deedkeep trash list" shows it. Record names it
// for "deedkeep trash purge", like abstract:Zz9aB31x or file:17.
type TrashItem struct {
	Record        string         `json:"record"`
	Kind          string         `json:"kind"` // abstract, order or file
	Name          string         `json:"name"`
	Abstract      *TrashAbstract `json:"abstract"` // that a document was on; null for none
	DeletedAt     Time           `json:"deleted_at"`
	DeletedBy     Actor          `json:"deleted_by"`
	KeptUntil     Time           `json:"kept_until"`     // restorable until then
	RetainedUntil *Time          `json:"retained_until"` // by the retention setting; null where it does not apply
}

// TrashAbstract is the abstract that a document in the trash was on.
type TrashAbstract struct {
	ID      string  `json:"id"`
	Name    *string `json:"name"` // null when it is purged
	InTrash bool    `json:"in_trash"`
	Purged  bool    `json:"purged"`
}

// TrashList is what is in the trash, the newest first.
type TrashList struct {
	Data List[TrashItem] `json:"data"`
}

// TrashPurgeable is how many records an emptying of the trash would purge, an abstract
// with its documents as one, and how many would stay under retention.
type TrashPurgeable struct {
	Records int64 `json:"records"`
	Kept    int64 `json:"kept"`
}

// TrashPurge asks for one record to be purged. Reason lifts its retention.
type TrashPurge struct {
	Record string `json:"record"`
	Reason string `json:"reason"`
}

// TrashPurged is what came of a purge. FreedBytes are those of documents that no other
// record has; Waits says that they are freed when a backup under way ends.
type TrashPurged struct {
	Records    int64 `json:"records"`
	Documents  int64 `json:"documents"`
	Kept       int64 `json:"kept"`
	FreedBytes int64 `json:"freed_bytes"`
	Waits      bool  `json:"waits"`
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
