// Package auth holds users, their sessions and passwords, two-factor authentication, and
// API keys: who may sign in, and on whose behalf a request acts.
package auth

import (
	"context"
	"time"

	"deedkeep/app/audit"
	"deedkeep/app/secret"
	"deedkeep/app/stats"
	"deedkeep/app/txn"
)

// Auth holds what users, sessions, and keys share.
type Auth struct {
	*txn.DB
	Users    *Users
	Sessions *Sessions
	Keys     *Keys

	secrets *secret.Keys
	rules   UserRules
	usage   *usage
	signIns stats.Counters
	events  *audit.Events
}

// NewAuth returns the users, sessions, and keys of a database; cost is that of password
// hashes.
func NewAuth(db *txn.DB, secrets *secret.Keys, rules UserRules, cost secret.Argon2Params, events *audit.Events) *Auth {
	a := &Auth{DB: db, secrets: secrets, rules: rules, usage: &usage{seen: map[uint64]use{}},
		signIns: stats.NewCounters(SignInOutcomes...), events: events}
	a.Keys = &Keys{a}
	a.Sessions = &Sessions{auth: a, seen: map[string]time.Time{}}
	a.Users = &Users{auth: a, passwords: secret.NewPasswords(db.Rand, cost, rules.Queue), tries: &tries{seen: map[string][]time.Time{}},
		refused: &refusals{auth: a, seen: map[refusedFrom]int{}}, steps: steps{waiting: map[string]step{}}}
	db.LastSeen = a.Sessions.last
	events.WriteWith(a.usage)
	return a
}

// Flush writes the last use of keys and the buffered audit entries.
func (a *Auth) Flush(ctx context.Context) error { return a.events.Flush(ctx) }
