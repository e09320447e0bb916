package auth

import (
	"fmt"
	"io"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// A step is a sign-in whose password was right and whose code is still to come. It is
// named by a token that the browser holds, so that nobody has to send the password
// twice; kept is its hash, in memory alone: a restart asks for the password again.
type step struct {
	user     model.User // as the password was checked; Users.begin holds it against the record
	rehashed string
	until    time.Time
}

// StepLife is how long a code may take after the password.
const StepLife = 5 * time.Minute

// mostSteps of one user; the oldest makes room. Each one cost a right password.
const mostSteps = 5

type steps struct {
	mu      sync.Mutex
	waiting map[string]step // by the hash of its token
}

// add keeps a step and gives its token.
func (s *steps) add(chance io.Reader, now time.Time, fresh step) (token string, err error) {
	if token, err = secret.NewToken(chance); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	same, oldest := 0, ""
	for hash, other := range s.waiting {
		switch {
		case !other.live(now):
			delete(s.waiting, hash)
		case other.user.ID == fresh.user.ID:
			if same++; oldest == "" || other.until.Before(s.waiting[oldest].until) {
				oldest = hash
			}
		}
	}
	if same >= mostSteps {
		delete(s.waiting, oldest)
	}
	fresh.until = now.Add(StepLife)
	s.waiting[hashOf(token)] = fresh
	return token, nil
}

// find gives the step of a token, where there is one that still waits.
func (s *steps) find(token string, now time.Time) (found step, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok = s.waiting[hashOf(token)]
	return found, ok && found.live(now)
}

func (s *steps) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, hashOf(token))
}

// live is false as well for one that a clock which was set back would keep for longer.
func (s step) live(now time.Time) bool {
	return now.Before(s.until) && !s.until.After(now.Add(StepLife))
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
