package model

import "time"

// StoredResponse is an answer that is kept under an idempotency key, to be given again to
// whoever asks the same once more (API.md, "Idempotency-Key").
type StoredResponse struct {
	RequestHash string            `json:"request"` // SHA-256 of what was asked, lower-case hex
	Status      int               `json:"status"`
	Header      map[string]string `json:"header,omitempty"`
	Body        []byte            `json:"body,omitempty"`
	At          time.Time         `json:"at"` // when it was given
}
