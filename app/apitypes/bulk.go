package apitypes

import "encoding/json"

// Bulk is the response to the change of many records.
type Bulk struct {
	Data List[BulkItem] `json:"data"`
	Meta BulkMeta       `json:"meta"`
}

// BulkItem is the outcome for one record. ID is a string or a number, as in the other responses about the record.
type BulkItem struct {
	ID      json.RawMessage `json:"id"`
	OK      bool            `json:"ok"`
	Message string          `json:"message,omitempty"`
	Errors  FieldErrors     `json:"errors,omitempty"`
}

// BulkMeta counts the outcomes.
type BulkMeta struct {
	Changed int64 `json:"changed"`
	Failed  int64 `json:"failed"`
}
