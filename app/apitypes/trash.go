package apitypes

import (
	"encoding/json"
	"fmt"
)

// Trashed is an item of GET /trash. Kind is abstract, order, or file, and ID is an ID of that type. The server deletes
// the record permanently at RestorableUntil. RetainedUntil is the end of the retention period, null if retention
// doesn't apply. AbstractID is the abstract that a document belonged to; it may be purged already.
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

// TrashItem is a record in the trash as "deedkeep trash list" shows it. Record is its name for "deedkeep trash purge",
// like abstract:Zz9aB31x or file:17.
type TrashItem struct {
	Record        string         `json:"record"`
	Kind          string         `json:"kind"` // abstract, order, or file
	Name          string         `json:"name"`
	Abstract      *TrashAbstract `json:"abstract"` // the abstract that a document belonged to
	DeletedAt     Time           `json:"deleted_at"`
	DeletedBy     Actor          `json:"deleted_by"`
	KeptUntil     Time           `json:"kept_until"`     // restorable until this time
	RetainedUntil *Time          `json:"retained_until"` // end of the retention period; null if retention doesn't apply
}

// TrashAbstract is the abstract that a document in the trash belonged to.
type TrashAbstract struct {
	ID      string  `json:"id"`
	Name    *string `json:"name"` // null if purged
	InTrash bool    `json:"in_trash"`
	Purged  bool    `json:"purged"`
}

// TrashPurgeable counts the records that emptying the trash would purge, and those that retention keeps. An abstract
// with its documents counts as one.
type TrashPurgeable struct {
	Records int64 `json:"records"`
	Kept    int64 `json:"kept"`
}

// TrashRestore is the request to restore one record.
type TrashRestore struct {
	Record string `json:"record"`
}

// TrashPurge is the request to purge one record. A Reason overrides retention.
type TrashPurge struct {
	Record string `json:"record"`
	Reason string `json:"reason"`
}

// TrashPurged is the result of a purge. FreedBytes counts documents that no other record uses. Waits says that a
// running backup still uses them, so the space is freed when it ends.
type TrashPurged struct {
	Records    int64 `json:"records"`
	Documents  int64 `json:"documents"`
	Kept       int64 `json:"kept"`
	FreedBytes int64 `json:"freed_bytes"`
	Waits      bool  `json:"waits"`
}

// RecordID is the ID of a record of any type as JSON: a string for abstracts and orders, a number for all others.
type RecordID string

// MarshalJSON writes the ID unchanged.
func (id RecordID) MarshalJSON() ([]byte, error) { return []byte(id), nil }

// UnmarshalJSON accepts a string or a number.
func (id *RecordID) UnmarshalJSON(data []byte) error {
	var text string
	var number int64
	if string(data) == "null" || json.Unmarshal(data, &text) != nil && json.Unmarshal(data, &number) != nil {
		return fmt.Errorf("decode id: %s is not a string or a number", data)
	}
	*id = RecordID(data)
	return nil
}

// String returns the ID without quotes, as URLs contain it.
func (id RecordID) String() string {
	var text string
	if json.Unmarshal([]byte(id), &text) == nil {
		return text
	}
	return string(id)
}
