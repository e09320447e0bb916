package model

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Session is a signed-in user on one device. It contains the hash of the token, never the token
// itself.
type Session struct {
	Hash       string    `json:"hash"` // SHA-256 of the token, lower-case hex
	UserID     uint64    `json:"user_id"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at"` // accurate to the minute
	Address    string    `json:"address,omitempty"`
	Device     string    `json:"device,omitempty"` // User-Agent, at most MaxDeviceLength code points
}

// sessionIDLength is the number of hex digits of a session's ID.
const sessionIDLength = 16

// ID returns the identifier of the session in lists and audit events: the first digits of its
// hash.
func (s Session) ID() string { return s.Hash[:min(len(s.Hash), sessionIDLength)] }

// SessionLimits are the maximum idle time and the maximum lifetime of a session.
type SessionLimits struct{ Idle, Max time.Duration }

// maxClockSkew is how far in the future the creation time of a session may be. It is in the
// future if the clock was set back after the user signed in.
const maxClockSkew = 10 * time.Minute

// Active reports whether the session is valid at the given time. A session created more than
// maxClockSkew in the future is rejected, because it would outlive its limits.
func (s Session) Active(now time.Time, limits SessionLimits) bool {
	return !s.CreatedAt.After(now.Add(maxClockSkew)) && now.Before(s.LastSeenAt.Add(limits.Idle)) && now.Before(s.CreatedAt.Add(limits.Max))
}

// MaxDeviceLength is the maximum length of a stored User-Agent, in code points.
const MaxDeviceLength = 200

// SanitizeDevice makes a User-Agent header safe to store and display: valid UTF-8 without control
// characters, at most MaxDeviceLength code points.
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

// StoredResponse is a response stored under an idempotency key. A repeated request with the
// same key gets the same response.
type StoredResponse struct {
	RequestHash string            `json:"request"` // SHA-256 of the request, lower-case hex
	Status      int               `json:"status"`
	Header      map[string]string `json:"header,omitempty"`
	Body        []byte            `json:"body,omitempty"`
	At          time.Time         `json:"at"` // when it was sent
}
