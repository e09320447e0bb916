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

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// settled fills a store with two users, one with two sessions.
func settled(t *testing.T, s *Store) {
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
	settled(t, s)
	view(t, s, func(tx *Tx) error {
		for name, want := range map[string]uint64{"kim lee": 1, " KIM LEE ": 1, "robin": 2, "kim": 0, "": 0} {
			if u, found, err := tx.UserByName(name); err != nil || found != (want > 0) || u.ID != want {
				t.Errorf("%q: %+v %v %v", name, u, found, err)
			}
		}
		if list, err := tx.Users(); err != nil || len(list) != 2 || list[0].Name != "Kim Lee" {
			t.Errorf("%+v %v", list, err)
		}
		_, err := tx.User(3)
		if errs.KindOf(err) != errs.NotFound {
			t.Errorf("%v", err)
		}
		return nil
	})
	err := s.Update(context.Background(), nil, func(tx *Tx) error { return tx.PutUser(model.User{ID: 2, Name: "KIM lee"}) })
	if err == nil {
		t.Error("two users have one name")
	}
	update(t, s, func(tx *Tx) error { return tx.PutUser(model.User{ID: 1, Name: "Kim Doe"}) })
	update(t, s, func(tx *Tx) error { return tx.PutUser(model.User{ID: 2, Name: "Kim Lee"}) })
	view(t, s, func(tx *Tx) error {
		if u, found, err := tx.UserByName("kim lee"); err != nil || !found || u.ID != 2 {
			t.Errorf("%+v %v %v", u, found, err)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Error(findings)
	}
}

func TestSessions(t *testing.T) {
	s := openNew(t)
	settled(t, s)
	hash, err := hex.DecodeString(digest(2))
	if err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		if got, found, err := tx.Session(hash); err != nil || !found || got.UserID != 1 || got.Hash != digest(2) {
			t.Errorf("%+v %v %v", got, found, err)
		}
		if _, found, err := tx.Session(hash[:31]); err != nil || found {
			t.Errorf("%v %v", found, err)
		}
		if one, none := tx.SessionsOfUser(1), tx.SessionsOfUser(2); len(one) != 2 || len(none) != 0 {
			t.Errorf("%v %v", one, none)
		}
		return nil
	})
	for _, bad := range []string{"", "xyz", digest(1)[2:]} {
		if err := s.Update(context.Background(), nil, func(tx *Tx) error { return tx.PutSession(model.Session{Hash: bad, UserID: 1}) }); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	update(t, s, func(tx *Tx) error { return tx.RemoveSession(model.Session{Hash: digest(2), UserID: 1}) })
	view(t, s, func(tx *Tx) error {
		if list := tx.SessionsOfUser(1); len(list) != 1 || list[0].Hash != digest(1) {
			t.Errorf("%v", list)
		}
		n := 0
		tx.EachSession(func(model.Session) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d sessions", n)
		}
		return nil
	})
	if findings := check(t, s); len(findings) > 0 {
		t.Error(findings)
	}
}

// What does not hold about users and sessions is found, and a Rebuild mends what is
// of the indexes.
func TestCheckAndRebuildOfUsers(t *testing.T) {
	hash := func(n int) []byte {
		raw, err := hex.DecodeString(digest(n))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	put := func(bucket, key, value []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put(key, value) }
	}
	remove := func(bucket, key []byte) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error { return tx.Bucket(bucket).Delete(key) }
	}
	session := func(at int, s model.Session) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			raw, err := encodeRecord(bucketSessions, hash(at), s)
			return errors.Join(err, tx.Bucket(bucketSessions).Put(hash(at), raw))
		}
	}
	for _, row := range []struct {
		name   string
		change func(*bolt.Tx) error
		want   Finding // its Problem in part
		mended bool
	}{
		{"a name without its index", remove(bucketUserNames, []byte("robin")), Finding{"user", "2", "missing in the index user_names"}, true},
		{"an index without its user", put(bucketUserNames, []byte("nobody"), encodeUint64(7)), Finding{"index", "user_names", "names no record"}, true},
		{"an index that names another", put(bucketUserNames, []byte("robin"), encodeUint64(1)), Finding{"user", "2", "missing in the index user_names"}, true},
		{"a user is missing", remove(bucketUsers, encodeUint64(1)), Finding{"session", digest(1)[:16], "names user 1, which is missing"}, false},
		{"a session without its index", remove(bucketSessionUsers, sessionUserKey(1, hash(1))), Finding{"session", digest(1)[:16], "missing in the index session_users"}, true},
		{"an index without its session", remove(bucketSessions, hash(1)), Finding{"index", "session_users", "names no record"}, true},
		{"an index that is cut", put(bucketSessionUsers, encodeUint64(1), nil), Finding{"index", "session_users", "names no record"}, true},
		{"a session under another's hash", session(1, model.Session{Hash: digest(2), UserID: 1}), Finding{"session", digest(2)[:16], "stands under another hash"}, false},
		{"a damaged session", put(bucketSessions, hash(1), []byte("x")), Finding{"session", digest(1), "record is damaged"}, false},
		{"a damaged user", put(bucketUsers, encodeUint64(1), []byte("x")), Finding{"user", "1", "record is damaged"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			s := open(t, path)
			settled(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			raw(t, path, row.change)
			s = open(t, path)
			found := false
			for _, f := range check(t, s) {
				found = found || f.Kind == row.want.Kind && f.Subject == row.want.Subject && strings.Contains(f.Problem, row.want.Problem)
			}
			if !found {
				t.Errorf("%v", check(t, s))
			}
			view(t, s, func(tx *Tx) error {
				tx.SessionsOfUser(1)
				tx.EachSession(func(model.Session) bool { return true })
				return nil
			})
			if err := s.Rebuild(context.Background(), func(Finding) {}); err != nil {
				t.Fatal(err)
			}
			if left := check(t, s); row.mended != (len(left) == 0) {
				t.Errorf("after the rebuild: %v", left)
			}
		})
	}
}

// An index is made in many transactions; none of a thousand is forgotten.
func TestRebuildOfManySessions(t *testing.T) {
	s := openNew(t)
	settled(t, s)
	update(t, s, func(tx *Tx) error {
		for n := range defaultRebuildBatch + 10 {
			if err := tx.PutSession(model.Session{Hash: fmt.Sprintf("%064x", n), UserID: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Rebuild(context.Background(), func(f Finding) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	if findings := check(t, s); len(findings) > 0 {
		t.Error(findings)
	}
}
