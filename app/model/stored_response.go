package model

import "time"

// StoredResponse is a response stored under an idempotency key. A repeated request with the
// same key gets the same response.
type StoredResponse struct {
	RequestHash string            `json:"request"` // SHA-256 of the request, lower-case hex
	Status      int               `json:"status"`
	Header      map[string]string `json:"header,omitempty"`
	Body        []byte            `json:"body,omitempty"`
	At          time.Time         `json:"at"` // when it was sent
}
