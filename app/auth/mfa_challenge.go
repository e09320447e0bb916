package auth

import (
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// mfaChallenge is a pending sign-in with a correct password whose verification code is
// still missing. The browser keeps the challenge token, so that the password is sent only
// once. The server keeps only a hash of the token, in memory. After a restart, the user
// has to sign in again.
type mfaChallenge struct {
	user      model.User // record at the time the password was checked; startSession checks that it still applies
	newHash   string
	expiresAt time.Time
}

// ChallengeTTL is how long a user has to enter the verification code after the password.
const ChallengeTTL = 5 * time.Minute

// maxChallenges is the maximum number of pending challenges per user. The oldest
// challenge is evicted.
const maxChallenges = 5

type challenges struct {
	mu      sync.Mutex
	pending map[string]mfaChallenge // by token hash
}

// add stores a challenge and returns a token for it.
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

// find returns the challenge with the given token if it has not expired.
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

// active reports whether the challenge has not expired. If the clock was set back,
// expiresAt may be too far ahead, and active returns false.
func (c mfaChallenge) active(now time.Time) bool {
	return now.Before(c.expiresAt) && !c.expiresAt.After(now.Add(ChallengeTTL))
}

// inWords formats a wait time for a message: "5 seconds", "2 minutes".
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
