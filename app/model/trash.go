package model

import (
	"strings"
	"time"
)

// Trashed says when and by whom a record was moved to the trash. Records in the trash are
// invisible to all readers until they are restored or purged.
type Trashed struct {
	At       time.Time `json:"at"`
	By       Actor     `json:"by"`
	With     string    `json:"with,omitempty"`  // the record it was deleted with, such as "abstract:7"; restored only with it
	Position int       `json:"place,omitempty"` // former position among the abstract's documents
}

// ConfirmationMatches reports whether the typed text matches the words requested to confirm an
// action. It ignores case and extra spaces.
func ConfirmationMatches(typed, asked string) bool {
	words := func(s string) string { return strings.Join(strings.Fields(Fold(s)), " ") }
	return words(typed) == words(asked) && words(asked) != ""
}
