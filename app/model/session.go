package model

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Session is somebody signed in on one device, as kept: a hash, never the token.
type Session struct {
	Hash       string    `json:"hash"` // SHA-256 of the token, lower-case hex
	UserID     uint64    `json:"user_id"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at"` // to the minute
	Address    string    `json:"address,omitempty"`
	Device     string    `json:"device,omitempty"` // what the browser calls itself, at most MaxDeviceLength code points
}

// sessionID is how many hex digits of its hash name a session.
const sessionID = 16

// ID names the session in lists and events: the beginning of its hash.
func (s Session) ID() string { return s.Hash[:min(len(s.Hash), sessionID)] }

// SessionLimits are how long a session lives without use and at most.
type SessionLimits struct{ Idle, Max time.Duration }

// mostAhead is how far a clock that was set back may be behind a session that it began.
const mostAhead = 10 * time.Minute

// Active reports whether the session speaks for its user at the given time. One that
// begins more than ten minutes later was begun by a wrong clock, and would live on.
func (s Session) Active(now time.Time, limits SessionLimits) bool {
	return !s.CreatedAt.After(now.Add(mostAhead)) && now.Before(s.LastSeenAt.Add(limits.Idle)) && now.Before(s.CreatedAt.Add(limits.Max))
}

// MaxDeviceLength is how much is kept of what a browser calls itself.
const MaxDeviceLength = 200

// SanitizeDevice is a browser's own words as they may be kept and shown: valid text of
// at most MaxDeviceLength code points without control characters.
func SanitizeDevice(sent string) string {
	sent = strings.Map(func(r rune) rune {
		if isControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, sent[:min(len(sent), MaxDeviceLength*utf8.UTFMax)])
	if runes := []rune(sent); len(runes) > MaxDeviceLength {
		sent = string(runes[:MaxDeviceLength])
	}
	return strings.TrimSpace(sent)
}
