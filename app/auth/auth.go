// Package auth manages users, their passwords and sessions, two-factor authentication,
// and API keys. It decides who may sign in and identifies the user or API key that a
// request acts for.
package auth

import (
	"context"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/secret"
	"deedkeep/app/stats"
	"deedkeep/app/txn"
)

// Auth contains the state that users, sessions, and API keys share.
type Auth struct {
	*txn.DB
	Users    *Users
	Sessions *Sessions
	Keys     *Keys

	secrets  *secret.Keys
	rules    UserRules
	keyUsage *keyUsage
	signIns  stats.Counters
	events   *audit.Events
}

// NewAuth returns an Auth for the users, sessions, and API keys in db. cost sets the
// Argon2 parameters of password hashes.
func NewAuth(db *txn.DB, secrets *secret.Keys, rules UserRules, cost secret.Argon2Params, events *audit.Events) *Auth {
	a := &Auth{DB: db, secrets: secrets, rules: rules, keyUsage: &keyUsage{uses: map[uint64]keyUse{}},
		signIns: stats.NewCounters(SignInOutcomes...), events: events}
	a.Keys = &Keys{a}
	a.Sessions = &Sessions{auth: a, unsavedLastSeen: map[string]time.Time{}}
	a.Users = &Users{auth: a, passwords: secret.NewPasswords(db.Rand, cost, rules.Queue),
		throttle: &loginThrottle{attempts: map[string][]time.Time{}},
		failures: &failedSignIns{auth: a, counts: map[failureKey]int{}}, challenges: challenges{pending: map[string]mfaChallenge{}}}
	db.LastSeen = a.Sessions.lastSeen
	events.WriteWith(a.keyUsage)
	return a
}

// Flush writes the last use of each API key and the buffered audit entries.
func (a *Auth) Flush(ctx context.Context) error { return a.events.Flush(ctx) }
