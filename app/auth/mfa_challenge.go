package auth

import (
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// mfaChallenge is a sign-in whose password was right and whose verification code is
// pending. The browser holds its token, so that the password is sent only once. Only a
// hash of the token is kept, in memory; after a restart the user signs in again.
type mfaChallenge struct {
	user      model.User // as read when the password was checked; startSession compares it with the record
	newHash   string
	expiresAt time.Time
}

// ChallengeTTL is how long a user has to enter the code after the password.
const ChallengeTTL = 5 * time.Minute

// maxChallenges limits the pending challenges of a user; the oldest is evicted.
const maxChallenges = 5

type challenges struct {
	mu      sync.Mutex
	pending map[string]mfaChallenge // by token hash
}

// add stores a challenge and returns its token.
func (c *challenges) add(rand io.Reader, now time.Time, challenge mfaChallenge) (token string, err error) {
	if token, err = secret.NewToken(rand); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	count, oldest := 0, ""
	for hash, other := range c.pending {
		switch {
		case !other.active(now):
			delete(c.pending, hash)
		case other.user.ID == challenge.user.ID:
			if count++; oldest == "" || other.expiresAt.Before(c.pending[oldest].expiresAt) {
				oldest = hash
			}
		}
	}
	if count >= maxChallenges {
		delete(c.pending, oldest)
	}
	challenge.expiresAt = now.Add(ChallengeTTL)
	c.pending[tokenHash(token)] = challenge
	return token, nil
}

// find returns the active challenge of a token.
func (c *challenges) find(token string, now time.Time) (found mfaChallenge, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok = c.pending[tokenHash(token)]
	return found, ok && found.active(now)
}

func (c *challenges) remove(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, tokenHash(token))
}

// active reports whether the challenge has not expired. It is false for an expiration too
// far ahead, after the clock was set back.
func (c mfaChallenge) active(now time.Time) bool {
	return now.Before(c.expiresAt) && !c.expiresAt.After(now.Add(ChallengeTTL))
}

// inWords formats a wait for people: "5 seconds", "2 minutes".
func inWords(wait time.Duration) string {
	n, unit := int(seconds(wait)/time.Second), "second"
	if n > 90 {
		n, unit = (n+59)/60, "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
