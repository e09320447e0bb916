package model

import (
	"slices"
	"time"
	"unicode"

	"deedkeep/app/errs"
)

// Abilities of an API key.
const (
	AbilityAPI     = "api:v1"      // all of /v1
	AbilityRead    = "api:v1:read" // GET and HEAD of /v1
	AbilityEvents  = "events"
	AbilityMetrics = "metrics"
)

// Abilities returns all abilities.
func Abilities() []string {
	return []string{AbilityAPI, AbilityRead, AbilityEvents, AbilityMetrics}
}

// Key is a stored API key. It contains the hash of the key, never the key itself.
type Key struct {
	ID         uint64     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"` // first characters of the key, for display
	Hash       string     `json:"hash"`   // SHA-256 of the key, lower-case hex
	Abilities  []string   `json:"abilities"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	UseCount   uint64     `json:"use_count,omitempty"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	Replaces   uint64     `json:"replaces,omitempty"` // ID of the key whose rotation created this one; 0 if none
}

// Active reports whether the key is neither revoked nor expired at the given time.
func (k Key) Active(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// KeyDraft is the input for a new key. If Abilities is empty, the key gets the ability api:v1.
type KeyDraft struct {
	Name      string
	Abilities []string
	ExpiresAt *time.Time
}

// Check validates the draft.
func (d KeyDraft) Check(now time.Time) (Key, errs.Fields) {
	var f validation
	k := Key{Name: userName(&f, d.Name), Abilities: slices.Clone(d.Abilities), ExpiresAt: d.ExpiresAt, CreatedAt: now}
	if len(k.Abilities) == 0 {
		k.Abilities = []string{AbilityAPI}
	}
	slices.Sort(k.Abilities)
	k.Abilities = slices.Compact(k.Abilities)
	for _, a := range k.Abilities {
		if !slices.Contains(Abilities(), a) {
			f.Add("abilities", "The selected ability is invalid.")
			break
		}
	}
	if k.ExpiresAt != nil && !k.ExpiresAt.After(now) {
		f.Add("expires_at", "The expires at field must be a date after now.")
	}
	return k, f.Fields
}

// isControl reports whether a character has no glyph of its own but changes how the others are shown: a control
// character, a format character, such as one that changes the text direction, or a line or paragraph separator.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
