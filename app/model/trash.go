package model

import (
	"strings"
	"time"
)

// Trashed says since when a record is in the trash, and by whose hand. What is in
// the trash is as good as absent to every reader, until it is restored or its time
// is over.
type Trashed struct {
	At       time.Time `json:"at"`
	By       Actor     `json:"by"`
	With     string    `json:"with,omitempty"`  // the record it went along with, like "abstract:7"; it comes back with it alone
	Position int       `json:"place,omitempty"` // where it stood among its abstract's documents
}

// ConfirmationMatches compares what someone typed to confirm with what was asked for: neither
// capitals nor the number of spaces count.
func ConfirmationMatches(typed, asked string) bool {
	words := func(s string) string { return strings.Join(strings.Fields(Fold(s)), " ") }
	return words(typed) == words(asked) && words(asked) != ""
}
