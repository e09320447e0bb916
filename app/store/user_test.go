package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// addUsersAndSessions adds two users. One of them has two sessions.
func addUsersAndSessions(t *testing.T, s *Store) {
	t.Helper()
	update(t, s, func(tx *Tx) error {
		for _, name := range []string{"Kim Lee", "Robin"} {
			id, err := tx.NewUserID()
			if err != nil {
				return err
			}
			if err := tx.PutUser(model.User{ID: id, Name: name, Role: model.RoleAdmin, CreatedAt: time.Unix(0, 0).UTC()}); err != nil {
				return err
			}
		}
		return errors.Join(tx.PutSession(model.Session{Hash: digest(1), UserID: 1}), tx.PutSession(model.Session{Hash: digest(2), UserID: 1}))
	})
}

func TestUsers(t *testing.T) {
	s := openNew(t)
	addUsersAndSessions(t, s)
	view(t, s, func(tx *Tx) error {
		for name, want := range map[string]uint64{"kim lee": 1, " KIM LEE ": 1, "robin": 2, "kim": 0, "": 0} {
			if u, found, err := tx.UserByName(name); err != nil || found != (want > 0) || u.ID != want {
				t.Errorf("UserByName(%q) = %+v, %v, %v; want user %d", name, u, found, err, want)
			}
		}
		if list, err := tx.Users(); err != nil || len(list) != 2 || list[0].Name != "Kim Lee" {
			t.Errorf("Users() = %+v, %v; want Kim Lee and Robin", list, err)
		}
		_, err := tx.User(3)
		if errs.KindOf(err) != errs.NotFound {
			t.Errorf("User(3): got %v, want errs.NotFound", err)
		}
		return nil
	})
	err := s.Update(context.Background(), nil, func(tx *Tx) error { return tx.PutUser(model.User{ID: 2, Name: "KIM lee"}) })
	if err == nil {
		t.Error("PutUser with the username of another user succeeded, want an error")
	}
	update(t, s, func(tx *Tx) error { return tx.PutUser(model.User{ID: 1, Name: "Kim Doe"}) })
	update(t, s, func(tx *Tx) error { return tx.PutUser(model.User{ID: 2, Name: "Kim Lee"}) })
	view(t, s, func(tx *Tx) error {
		if u, found, err := tx.UserByName("kim lee"); err != nil || !found || u.ID != 2 {
			t.Errorf("UserByName after the rename = %+v, %v, %v; want user 2", u, found, err)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %v, want none", findings)
	}
}

func TestSessions(t *testing.T) {
	s := openNew(t)
	addUsersAndSessions(t, s)
	hash, err := hex.DecodeString(digest(2))
	if err != nil {
		t.Fatalf("decode hash: %v", err)
	}
	view(t, s, func(tx *Tx) error {
		if got, found, err := tx.Session(hash); err != nil || !found || got.UserID != 1 || got.Hash != digest(2) {
			t.Errorf("Session = %+v, %v, %v; want one of user 1", got, found, err)
		}
		if _, found, err := tx.Session(hash[:31]); err != nil || found {
			t.Errorf("Session of a truncated hash: got %v, %v; want none", found, err)
		}
		if one, none := tx.SessionsOfUser(1), tx.SessionsOfUser(2); len(one) != 2 || len(none) != 0 {
			t.Errorf("got sessions %v and %v, want 2 and 0", one, none)
		}
		return nil
	})
	for _, bad := range []string{"", "xyz", digest(1)[2:]} {
		if err := s.Update(context.Background(), nil, func(tx *Tx) error {
			return tx.PutSession(model.Session{Hash: bad,
				UserID: 1})
		}); err == nil {
			t.Errorf("PutSession with hash %q succeeded, want an error", bad)
		}
	}
	update(t, s, func(tx *Tx) error { return tx.RemoveSession(model.Session{Hash: digest(2), UserID: 1}) })
	view(t, s, func(tx *Tx) error {
		if list := tx.SessionsOfUser(1); len(list) != 1 || list[0].Hash != digest(1) {
			t.Errorf("SessionsOfUser(1) = %v, want the first session", list)
		}
		n := 0
		tx.EachSession(func(model.Session) bool { n++; return true })
		if n != 1 {
			t.Errorf("EachSession: got %d sessions, want 1", n)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %v, want none", findings)
	}
}

// Check finds damage to users and sessions, and Rebuild repairs their indexes.
func TestCheckAndRebuildOfUsers(t *testing.T) {
	hash := func(n int) []byte {
		raw, err := hex.DecodeString(digest(n))
		if err != nil {
			t.Fatalf("decode hash: %v", err)
		}
		return raw
	}
	put := func(bucket, key, value []byte) func(*Tx) error {
		return func(tx *Tx) error { return tx.bucket(bucket).Put(key, value) }
	}
	remove := func(bucket, key []byte) func(*Tx) error {
		return func(tx *Tx) error { return tx.bucket(bucket).Delete(key) }
	}
	session := func(at int, s model.Session) func(*Tx) error {
		return func(tx *Tx) error {
			raw, err := encodeRecord(bucketSessions, hash(at), s)
			return errors.Join(err, tx.bucket(bucketSessions).Put(hash(at), raw))
		}
	}
	for _, row := range []struct {
		name     string
		change   func(*Tx) error
		want     Finding // Problem is a substring of the actual problem
		repaired bool
	}{
		{"a user without its index", remove(bucketUserNames, []byte("robin")), Finding{"user", "2", "missing from the database index user_names"}, true},
		{"an index without its user", put(bucketUserNames, []byte("absent"), encodeUint64(7)),
			Finding{"index", "user_names", "doesn't match a record"}, true},
		{"an index entry of another user", put(bucketUserNames, []byte("robin"), encodeUint64(1)),
			Finding{"user", "2", "missing from the database index user_names"}, true},
		{"a user is missing", remove(bucketUsers, encodeUint64(1)), Finding{"session", digest(1)[:16], "refers to user 1, which does not exist"}, false},
		{"a session without its index", remove(bucketSessionUsers, sessionUserKey(1, hash(1))),
			Finding{"session", digest(1)[:16], "missing from the database index session_users"}, true},
		{"an index without its session", remove(bucketSessions, hash(1)), Finding{"index", "session_users", "doesn't match a record"}, true},
		{"a truncated index key", put(bucketSessionUsers, encodeUint64(1), nil), Finding{"index", "session_users", "doesn't match a record"}, true},
		{"a session under another's hash", session(1, model.Session{Hash: digest(2), UserID: 1}),
			Finding{"session", digest(2)[:16], "is stored under another hash"}, false},
		{"a damaged session", put(bucketSessions, hash(1), []byte("x")), Finding{"session", digest(1), "record is damaged"}, false},
		{"a damaged user", put(bucketUsers, encodeUint64(1), []byte("x")), Finding{"user", "1", "record is damaged"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			s := open(t, path)
			addUsersAndSessions(t, s)
			if err := alter(s, row.change); err != nil {
				t.Fatalf("change database: %v", err)
			}
			found := false
			for _, f := range check(t, s) {
				found = found || f.Kind == row.want.Kind && f.Subject == row.want.Subject && strings.Contains(f.Problem, row.want.Problem)
			}
			if !found {
				t.Errorf("got findings %v, want %+v", check(t, s), row.want)
			}
			view(t, s, func(tx *Tx) error {
				tx.SessionsOfUser(1)
				tx.EachSession(func(model.Session) bool { return true })
				return nil
			})
			if err := s.Rebuild(context.Background(), func(Finding) {}); err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			if left := check(t, s); row.repaired != (len(left) == 0) {
				t.Errorf("after the rebuild: got findings %v, want repaired %v", left, row.repaired)
			}
		})
	}
}

// An index whose rebuild takes more than one transaction is rebuilt completely.
func TestRebuildOfManySessions(t *testing.T) {
	s := openNew(t)
	addUsersAndSessions(t, s)
	update(t, s, func(tx *Tx) error {
		for n := range defaultRebuildBatch + 10 {
			if err := tx.PutSession(model.Session{Hash: fmt.Sprintf("%064x", n), UserID: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Rebuild(context.Background(), func(f Finding) { t.Errorf("got finding %+v, want none", f) }); err != nil {
		t.Fatalf("rebuild: %v", err)
	}
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %v, want none", findings)
	}
}
