package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Sessions authenticates, lists, and ends sign-in sessions. It buffers last-seen times,
// so that a page view doesn't need a disk sync. A crash loses at most the last minute of
// these times.
type Sessions struct {
	auth            *Auth
	mu              sync.Mutex
	unsavedLastSeen map[string]time.Time // by session hash; last-seen times that are not written yet
}

// lastSeenPrecision is the minimum time between two updates of a last-seen time.
const lastSeenPrecision = time.Minute

// maxSessionsPerUser is the maximum number of sessions per user. When it is reached, a
// new session replaces the least recently seen one.
const maxSessionsPerUser = 50

// Authenticate returns the actor for a session token, or Unauthenticated if the token is
// not valid. It reads the session and user each time, so that signing out, disabling a
// user, and changing a role take effect with the next request. If two-factor
// authentication is required and the user has not set it up yet, Actor.Role is "".
func (s *Sessions) Authenticate(ctx context.Context, token string) (model.Actor, error) {
	actor, session, err := s.lookup(ctx, token)
	if err == nil {
		s.touch(session, s.auth.Now())
	}
	return actor, err
}

// AuthenticateBackground does the same as Authenticate for requests that a page sends
// automatically. It doesn't update the last-seen time.
func (s *Sessions) AuthenticateBackground(ctx context.Context, token string) (model.Actor, error) {
	actor, _, err := s.lookup(ctx, token)
	return actor, err
}

func (s *Sessions) lookup(ctx context.Context, token string) (model.Actor, model.Session, error) {
	hash, ok := secret.HashToken(token)
	if !ok {
		return model.Actor{}, model.Session{}, txn.ErrUnauthenticated
	}
	var user model.User
	var session model.Session
	err := s.auth.Store.View(ctx, func(t *store.Tx) (err error) {
		user, session, err = s.auth.LiveSession(t, hash[:])
		return err
	})
	if err != nil {
		return model.Actor{}, session, err
	}
	actor := userActor(user)
	actor.Session = session.Hash
	if !s.auth.MustEnroll(user) {
		actor.Role = user.Role
	}
	return actor, session, nil
}

func userActor(user model.User) model.Actor {
	return model.Actor{Kind: model.ActorUser, ID: user.ID, Name: user.Name}
}

// lastSeen returns the last-seen time of a session, even if it is only buffered.
func (s *Sessions) lastSeen(session model.Session) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.unsavedLastSeen[session.Hash]; ok && at.After(session.LastSeenAt) {
		return at
	}
	return session.LastSeenAt
}

// touch buffers a new last-seen time if the previous one is at least lastSeenPrecision
// old.
func (s *Sessions) touch(session model.Session, now time.Time) {
	if now.Sub(session.LastSeenAt) < lastSeenPrecision {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsavedLastSeen[session.Hash] = now
}

// List returns the active sessions of the signed-in user, most recently seen first.
func (s *Sessions) List(ctx context.Context, actor model.Actor) (list []model.Session, err error) {
	err = s.auth.Store.View(ctx, func(t *store.Tx) (err error) {
		if _, err := s.auth.CurrentUser(t, actor); err != nil {
			return err
		}
		list = s.liveSessions(t, actor.ID)
		return nil
	})
	return list, err
}

// liveSessions returns the active sessions of a user, most recently seen first.
func (s *Sessions) liveSessions(t *store.Tx, user uint64) []model.Session {
	all := t.SessionsOfUser(user)
	list := make([]model.Session, 0, len(all))
	for _, session := range all {
		if session.LastSeenAt = s.lastSeen(session); session.Active(s.auth.Now(), s.auth.SessionLimits()) {
			list = append(list, session)
		}
	}
	slices.SortFunc(list, func(a, b model.Session) int {
		if order := b.LastSeenAt.Compare(a.LastSeenAt); order != 0 {
			return order
		}
		return strings.Compare(a.Hash, b.Hash)
	})
	return list
}

// SignOut ends the session with the given token. It returns nil if the token is expired
// or unknown.
func (s *Sessions) SignOut(ctx context.Context, token, address string) error {
	hash, ok := secret.HashToken(token)
	if !ok {
		return nil
	}
	var session model.Session
	var user model.User
	err := s.auth.StoreFromReserve(ctx, func(t *store.Tx) (err error) {
		var found bool
		if session, found, err = t.Session(hash[:]); err == nil && !found {
			err = txn.ErrNoChange
		}
		if err == nil {
			user, err = t.User(session.UserID)
		}
		return err
	}, func(t *store.Tx) error {
		actor := userActor(user)
		actor.Address = address
		return s.remove(t, actor, []model.Session{session}, "signed out")
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return err
}

// End ends the signed-in user's session with the given Session.ID. It returns NotFound if
// there is none.
func (s *Sessions) End(ctx context.Context, actor model.Actor, id string) error {
	return s.endMatching(ctx, actor, func(session model.Session) bool { return session.ID() == id }, true)
}

// EndOthers ends all sessions of the signed-in user except the current one.
func (s *Sessions) EndOthers(ctx context.Context, actor model.Actor) error {
	return s.endMatching(ctx, actor, func(session model.Session) bool { return session.Hash != actor.Session }, false)
}

// EndAll ends all sessions of the signed-in user.
func (s *Sessions) EndAll(ctx context.Context, actor model.Actor) error {
	return s.endMatching(ctx, actor, func(model.Session) bool { return true }, false)
}

func (s *Sessions) endMatching(ctx context.Context, actor model.Actor, match func(model.Session) bool, required bool) error {
	var ending []model.Session
	return s.auth.StoreFromReserve(ctx, func(t *store.Tx) error {
		if _, err := s.auth.CurrentUser(t, actor); err != nil {
			return err
		}
		ending = slices.DeleteFunc(t.SessionsOfUser(actor.ID), func(session model.Session) bool { return !match(session) })
		if required && len(ending) == 0 {
			return errs.RecordNotFound("session of user", actor.ID)
		}
		return nil
	}, func(t *store.Tx) error { return s.remove(t, actor, ending, "ended by the user") })
}

func (s *Sessions) remove(t *store.Tx, actor model.Actor, list []model.Session, reason string) error {
	if len(list) == 0 {
		return nil
	}
	for _, session := range list {
		if err := t.RemoveSession(session); err != nil {
			return err
		}
	}
	detail := map[string]string{"why": reason, "sessions": strconv.Itoa(len(list))}
	if len(list) == 1 {
		detail["session"] = list[0].ID()
	}
	return s.auth.AddEvent(t, s.auth.Now(), actor, "session.ended", model.RecordRef("user", list[0].UserID), detail)
}

// removeAllExcept removes the sessions of a user, except one, in the caller's
// transaction. It returns the number of removed sessions.
func (s *Sessions) removeAllExcept(t *store.Tx, user uint64, except string) (count int, err error) {
	for _, session := range t.SessionsOfUser(user) {
		if session.Hash == except {
			continue
		}
		if err := t.RemoveSession(session); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// add stores a new session. It removes the user's expired sessions. If there are more
// than maxSessionsPerUser, it also removes the least recently seen ones.
func (s *Sessions) add(t *store.Tx, added model.Session) error {
	live := s.liveSessions(t, added.UserID)
	live = live[:min(len(live), maxSessionsPerUser-1)]
	for _, session := range t.SessionsOfUser(added.UserID) {
		kept := slices.ContainsFunc(live, func(l model.Session) bool { return l.Hash == session.Hash })
		if kept {
			continue
		}
		if err := t.RemoveSession(session); err != nil {
			return err
		}
	}
	return t.PutSession(added)
}

// flush writes the buffered last-seen times. If an error occurs, the times stay in the
// buffer.
func (s *Sessions) flush(ctx context.Context) error {
	s.mu.Lock()
	unsaved := s.unsavedLastSeen
	s.unsavedLastSeen = map[string]time.Time{}
	s.mu.Unlock()
	if len(unsaved) == 0 {
		return nil
	}
	err := s.auth.Store.Update(ctx, nil, func(t *store.Tx) error {
		for hash, at := range unsaved {
			if err := s.writeLastSeen(t, hash, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for hash, at := range unsaved {
			if later, ok := s.unsavedLastSeen[hash]; !ok || at.After(later) {
				s.unsavedLastSeen[hash] = at
			}
		}
	}
	return err
}

// writeLastSeen writes the last-seen time of one session to the session and its user. It
// skips missing or damaged records.
func (s *Sessions) writeLastSeen(t *store.Tx, hexHash string, at time.Time) error {
	hash, err := hex.DecodeString(hexHash)
	if err != nil {
		return err
	}
	session, found, err := t.Session(hash)
	if txn.IsMissingOrDamaged(err) || err == nil && !found {
		return nil
	}
	if err != nil {
		return err
	}
	if at.After(session.LastSeenAt) {
		session.LastSeenAt = at
	}
	if err := t.PutSession(session); err != nil {
		return err
	}
	user, err := t.User(session.UserID)
	if txn.IsMissingOrDamaged(err) || err == nil && user.LastSeenAt != nil && !at.After(*user.LastSeenAt) {
		return nil
	}
	if err != nil {
		return err
	}
	user.LastSeenAt = &at
	return t.PutUser(user)
}

// pruneBatchSize is the maximum number of expired sessions removed in one transaction.
const pruneBatchSize = 256

// prune removes expired sessions.
func (s *Sessions) prune(ctx context.Context) error {
	for {
		ended, err := store.Read(ctx, s.auth.Store, func(t *store.Tx) ([]model.Session, error) { return s.expired(t), nil })
		if err != nil || len(ended) == 0 {
			return err
		}
		err = s.auth.Store.Update(ctx, nil, func(t *store.Tx) error {
			for _, session := range ended {
				if err := t.RemoveSession(session); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

func (s *Sessions) expired(t *store.Tx) (list []model.Session) {
	now, limits := s.auth.Now(), s.auth.SessionLimits()
	t.EachSession(func(session model.Session) bool {
		if session.LastSeenAt = s.lastSeen(session); !session.Active(now, limits) {
			list = append(list, session)
		}
		return len(list) < pruneBatchSize
	})
	return list
}
