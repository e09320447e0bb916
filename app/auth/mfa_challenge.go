package auth

import (
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// A mfaChallenge is a sign-in whose password was right and whose code is still to come. It is
// named by a token that the browser holds, so that nobody has to send the password
// twice; kept is its hash, in memory alone: a restart asks for the password again.
type mfaChallenge struct {
	user      model.User // as the password was checked; Users.begin holds it against the record
	newHash   string
	expiresAt time.Time
}

// ChallengeTTL is how long a code may take after the password.
const ChallengeTTL = 5 * time.Minute

// maxChallenges of one user; the oldest makes room. Each one cost a right password.
const maxChallenges = 5

type challenges struct {
	mu      sync.Mutex
	pending map[string]mfaChallenge // by the hash of its token
}

// add keeps a step and gives its token.
func (s *challenges) add(chance io.Reader, now time.Time, fresh mfaChallenge) (token string, err error) {
	if token, err = secret.NewToken(chance); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	same, oldest := 0, ""
	for hash, other := range s.pending {
		switch {
		case !other.active(now):
			delete(s.pending, hash)
		case other.user.ID == fresh.user.ID:
			if same++; oldest == "" || other.expiresAt.Before(s.pending[oldest].expiresAt) {
				oldest = hash
			}
		}
	}
	if same >= maxChallenges {
		delete(s.pending, oldest)
	}
	fresh.expiresAt = now.Add(ChallengeTTL)
	s.pending[tokenHash(token)] = fresh
	return token, nil
}

// find gives the step of a token, where there is one that still waits.
func (s *challenges) find(token string, now time.Time) (found mfaChallenge, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok = s.pending[tokenHash(token)]
	return found, ok && found.active(now)
}

func (s *challenges) remove(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, tokenHash(token))
}

// active is false as well for one that a clock which was set back would keep for longer.
func (s mfaChallenge) active(now time.Time) bool {
	return now.Before(s.expiresAt) && !s.expiresAt.After(now.Add(ChallengeTTL))
}

// inWords says how long to wait.
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
