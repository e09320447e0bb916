package auth_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

func TestSessionSignOut(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	if len(in.Token) != 43 || strings.Contains(in.Session.Hash, in.Token) || in.Session.Device != "Firefox on Windows" ||
		in.Session.Address != "192.0.2.1" {
		t.Errorf("sign in: got session %+v and a token of %d bytes, want Firefox on Windows from 192.0.2.1 and 43 bytes",
			in.Session, len(in.Token))
	}
	p.WantSignedOut(t, "no token", "")
	p.WantSignedOut(t, "invented token", strings.Repeat("0", 43))
	p.WantSignedOut(t, "hash instead of the token", in.Session.Hash)
	actor := p.Authenticate(t, in.Token)
	if err := p.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1"); err != nil {
		t.Fatalf("sign out: %v", err)
	}
	p.WantSignedOut(t, "token after sign-out", in.Token)
	for _, tt := range []struct{ name, token string }{
		{"signed out already", in.Token}, {"empty token", ""}, {"invalid token", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := p.Sessions.SignOut(t.Context(), tt.token, ""); err != nil {
				t.Errorf("SignOut() = %v, want nil", err)
			}
		})
	}
	_, err := p.Sessions.List(t.Context(), actor)
	vaulttest.WantKind(t, "list sessions after sign-out", err, errs.Unauthenticated)
}

func TestSessionLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		settings  map[string]string
		idle, max time.Duration
	}{
		"by default": {nil, 12 * time.Hour, 14 * 24 * time.Hour},
		"set":        {map[string]string{"users.session_idle": "1h", "users.session_max": "3h"}, time.Hour, 3 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Load = vaulttest.With(tt.settings) })
			p.CreateUser(t, "kim", model.RoleAdmin)
			idle, used := p.SignIn(t, "kim"), p.SignIn(t, "kim")
			start := p.Clock.Now()
			p.Clock.Advance(tt.idle - time.Second)
			p.Authenticate(t, used.Token)
			p.Clock.Advance(time.Second)
			p.WantSignedOut(t, "idle session", idle.Token)
			p.Authenticate(t, used.Token)
			for p.Clock.Now().Sub(start) < tt.max-tt.idle/2 {
				p.Clock.Advance(tt.idle / 2)
				p.Authenticate(t, used.Token)
			}
			p.Clock.Advance(tt.max - p.Clock.Now().Sub(start))
			p.WantSignedOut(t, "session at its maximum age", used.Token)
		})
	}
}

// LastSeenAt is accurate to the minute, is written in the background, and survives a restart.
func TestSessionLastSeen(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now = clock.Now
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	p := &vaulttest.UserFixture{Instance: v, Clock: clock}
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	size := func() int64 { return p.Store.Size() }
	before, start := size(), clock.Now()
	for range 1000 {
		clock.Advance(59 * time.Millisecond)
		p.Authenticate(t, in.Token)
	}
	if got := size(); got != before {
		t.Errorf("database size after 1,000 requests = %d, want %d: a request must not write", got, before)
	}
	clock.Advance(11 * time.Hour)
	p.Authenticate(t, in.Token)
	seen := clock.Now()
	list, err := p.Sessions.List(t.Context(), p.Authenticate(t, in.Token))
	if err != nil || len(list) != 1 || !list[0].LastSeenAt.Equal(seen) || !list[0].CreatedAt.Equal(start) {
		t.Errorf("List() = %+v, %v; want one session created at %v and last seen at %v", list, err, start, seen)
	}
	vaulttest.Close(t, v)
	p = &vaulttest.UserFixture{Instance: vaulttest.Open(t, opts), Clock: clock}
	clock.Advance(11 * time.Hour)
	p.Authenticate(t, in.Token)
	if err := p.Users.FlushBuffered(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
	if user, err := p.Users.Get(t.Context(), kim.ID); err != nil || !user.LastSeenAt.Equal(clock.Now()) || user.Version != 1 {
		t.Errorf("Get(%d) = %+v, %v; want version 1, last seen at %v", kim.ID, user, err, clock.Now())
	}
}

func TestSessionEnd(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	p.CreateUser(t, "lee", model.RoleStaff)
	lee := p.SignIn(t, "lee")
	var kim []auth.SignedIn
	for range 4 {
		p.Clock.Advance(time.Minute)
		kim = append(kim, p.SignIn(t, "kim"))
	}
	actor := p.Authenticate(t, kim[0].Token)
	list, err := p.Sessions.List(t.Context(), actor)
	if err != nil || len(list) != 4 || list[0].Hash != kim[0].Session.Hash || list[1].Hash != kim[3].Session.Hash ||
		list[3].Hash != kim[1].Session.Hash {
		t.Errorf("List() = %+v, %v; want the four sessions, most recently seen first", list, err)
	}
	vaulttest.WantKind(t, "end another user's session", p.Sessions.End(t.Context(), actor, lee.Session.ID()), errs.NotFound)
	vaulttest.WantKind(t, "end a session without an ID", p.Sessions.End(t.Context(), actor, ""), errs.NotFound)
	if err := p.Sessions.End(t.Context(), actor, kim[1].Session.ID()); err != nil {
		t.Errorf("end one session: %v", err)
	}
	p.WantSignedOut(t, "ended session", kim[1].Token)
	p.Authenticate(t, kim[2].Token)
	if err := p.Sessions.EndOthers(t.Context(), actor); err != nil {
		t.Errorf("end other sessions: %v", err)
	}
	p.WantSignedOut(t, "other session", kim[2].Token)
	p.Authenticate(t, kim[0].Token)
	if err := p.Sessions.EndAll(t.Context(), actor); err != nil {
		t.Errorf("end all sessions: %v", err)
	}
	p.WantSignedOut(t, "current session", kim[0].Token)
	p.Authenticate(t, lee.Token)
}

func TestSessionCountIsLimited(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	user := p.CreateUser(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.PutUser(t, user)
	first := p.SignIn(t, "kim")
	for range 50 {
		p.Clock.Advance(time.Second)
		p.SignIn(t, "kim")
	}
	p.WantSignedOut(t, "least recently used session", first.Token)
	list, err := p.Sessions.List(t.Context(), p.Actor(t, "kim"))
	if err != nil || len(list) != 50 {
		t.Errorf("List() returned %d sessions, %v; want 50", len(list), err)
	}
	p.Clock.Advance(13 * time.Hour)
	if err := p.Sessions.Prune(t.Context()); err != nil {
		t.Fatalf("prune: %v", err)
	}
	if n := p.SessionCount(t); n != 0 {
		t.Errorf("stored sessions after pruning = %d, want 0", n)
	}
}

// The device text comes from the User-Agent header, which the client controls, so it is
// sanitized.
func TestSanitizeDevice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, header, want string }{
		{"empty", "", ""},
		{"surrounding spaces", " Firefox ", "Firefox"},
		{"control characters", "a\x00b\r\nc\x7f", "abc"},
		{"invalid UTF-8", "caf\xe9 b", "caf b"},
		{"too long", strings.Repeat("é", 300), strings.Repeat("é", 200)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := model.SanitizeDevice(tt.header); got != tt.want {
				t.Errorf("SanitizeDevice(%q) = %q, want %q", tt.header, got, tt.want)
			}
		})
	}
}

func TestSessionLastSeenIsWrittenInBackground(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	p.Start(time.Hour)
	p.Clock.Advance(2 * time.Minute)
	p.Authenticate(t, in.Token)
	vaulttest.Eventually(t, "the last use is written", func() bool {
		user, err := p.Users.Get(t.Context(), kim.ID)
		return err == nil && user.LastSeenAt.Equal(p.Clock.Now())
	})
}
