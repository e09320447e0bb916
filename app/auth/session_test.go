package auth_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

func TestSession(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	if len(in.Token) != 43 || strings.Contains(in.Session.Hash, in.Token) || in.Session.Device != "Firefox on Windows" || in.Session.Address != "192.0.2.1" {
		t.Errorf("%+v", in.Session)
	}
	p.WantSignedOut(t, "no token", "")
	p.WantSignedOut(t, "a made-up token", strings.Repeat("0", 43))
	p.WantSignedOut(t, "the hash", in.Session.Hash)
	actor := p.Authenticate(t, in.Token)
	if err := p.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	p.WantSignedOut(t, "a copy of the cookie", in.Token)
	for _, again := range []string{in.Token, "", "none"} {
		if err := p.Sessions.SignOut(t.Context(), again, ""); err != nil {
			t.Errorf("once more: %v", err)
		}
	}
	_, err := p.Sessions.List(t.Context(), actor)
	vaulttest.WantKind(t, "its actor", err, errs.Unauthenticated)
}

func TestSessionLimits(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		limits    model.SessionLimits
		idle, max time.Duration
	}{
		"by default": {model.SessionLimits{}, 12 * time.Hour, 14 * 24 * time.Hour},
		"set":        {model.SessionLimits{Idle: time.Hour, Max: 3 * time.Hour}, time.Hour, 3 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.Users.Session = row.limits })
			p.CreateUser(t, "kim", model.RoleAdmin)
			idle, used := p.SignIn(t, "kim"), p.SignIn(t, "kim")
			began := p.Clock.Now()
			p.Clock.Advance(row.idle - time.Second)
			p.Authenticate(t, used.Token)
			p.Clock.Advance(time.Second)
			p.WantSignedOut(t, "idle", idle.Token)
			p.Authenticate(t, used.Token)
			for p.Clock.Now().Sub(began) < row.max-row.idle/2 {
				p.Clock.Advance(row.idle / 2)
				p.Authenticate(t, used.Token)
			}
			p.Clock.Advance(row.max - p.Clock.Now().Sub(began))
			p.WantSignedOut(t, "over the whole time", used.Token)
		})
	}
}

// Use is kept to the minute, written by itself, and survives a restart.
func TestSessionLastSeen(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now = clock.Now
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	p := &vaulttest.UserFixture{Instance: v, Clock: clock}
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	size := func() int64 { return p.Store.Size() }
	before, began := size(), clock.Now()
	for range 1000 {
		clock.Advance(59 * time.Millisecond)
		p.Authenticate(t, in.Token)
	}
	if size() != before {
		t.Error("looking at pages writes")
	}
	clock.Advance(11 * time.Hour)
	p.Authenticate(t, in.Token)
	seen := clock.Now()
	list, err := p.Sessions.List(t.Context(), p.Authenticate(t, in.Token))
	if err != nil || len(list) != 1 || !list[0].LastSeenAt.Equal(seen) || !list[0].CreatedAt.Equal(began) {
		t.Errorf("%+v, %v", list, err)
	}
	vaulttest.Close(t, v)
	p = &vaulttest.UserFixture{Instance: vaulttest.Open(t, opts), Clock: clock}
	clock.Advance(11 * time.Hour)
	p.Authenticate(t, in.Token)
	if err := p.Users.FlushBuffered(t.Context()); err != nil {
		t.Fatal(err)
	}
	if user, err := p.Users.Get(t.Context(), kim.ID); err != nil || !user.LastSeenAt.Equal(clock.Now()) || user.Version != 1 {
		t.Errorf("%+v, %v", user, err)
	}
}

func TestSessionsOfOneUser(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	p.CreateUser(t, "lee", model.RoleStaff)
	lee := p.SignIn(t, "lee")
	var all []auth.SignedIn
	for range 4 {
		p.Clock.Advance(time.Minute)
		all = append(all, p.SignIn(t, "kim"))
	}
	actor := p.Authenticate(t, all[0].Token)
	list, err := p.Sessions.List(t.Context(), actor)
	if err != nil || len(list) != 4 || list[0].Hash != all[0].Session.Hash || list[1].Hash != all[3].Session.Hash || list[3].Hash != all[1].Session.Hash {
		t.Errorf("%+v, %v", list, err)
	}
	vaulttest.WantKind(t, "another's", p.Sessions.End(t.Context(), actor, lee.Session.ID()), errs.NotFound)
	vaulttest.WantKind(t, "none", p.Sessions.End(t.Context(), actor, ""), errs.NotFound)
	if err := p.Sessions.End(t.Context(), actor, all[1].Session.ID()); err != nil {
		t.Error(err)
	}
	p.WantSignedOut(t, "the ended one", all[1].Token)
	p.Authenticate(t, all[2].Token)
	if err := p.Sessions.EndOthers(t.Context(), actor); err != nil {
		t.Error(err)
	}
	p.WantSignedOut(t, "another one", all[2].Token)
	p.Authenticate(t, all[0].Token)
	if err := p.Sessions.EndAll(t.Context(), actor); err != nil {
		t.Error(err)
	}
	p.WantSignedOut(t, "the own one", all[0].Token)
	p.Authenticate(t, lee.Token)
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	user := p.CreateUser(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.Put(t, user)
	first := p.SignIn(t, "kim")
	for range 50 {
		p.Clock.Advance(time.Second)
		p.SignIn(t, "kim")
	}
	p.WantSignedOut(t, "the longest unused", first.Token)
	list, err := p.Sessions.List(t.Context(), p.Actor(t, "kim"))
	if err != nil || len(list) != 50 {
		t.Errorf("%d, %v", len(list), err)
	}
	p.Clock.Advance(13 * time.Hour)
	if err := p.Sessions.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := p.SessionCount(t); n != 0 {
		t.Errorf("%d stay", n)
	}
}

// What a browser calls itself is somebody else's text.
func TestDeviceText(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"": "", " Firefox ": "Firefox", "a\x00b\r\nc\x7f": "abc", "caf\xe9 b": "caf b", strings.Repeat("é", 300): strings.Repeat("é", 200),
	} {
		if got := model.SanitizeDevice(sent); got != want {
			t.Errorf("%q: %q", sent, got)
		}
	}
}

// The memory about tries is bounded, and what an attacker fills it with is forgotten
// before what counts.
func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	user := p.CreateUser(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.Put(t, user)
	for range 3 {
		_, err := p.TrySignIn(t, "kim", "wrong password", "", "203.0.113.9")
		vaulttest.WantSignInError(t, "wrong", err, auth.WrongPassword)
	}
	for i := range 25_000 {
		p.Users.CountAttempt(fmt.Sprintf("name %d", i), fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
		if n := p.Users.ThrottleKeys(); n > 20_002 {
			t.Fatalf("%d are remembered", n)
		}
	}
	_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "203.0.113.9")
	vaulttest.WantSignInError(t, "still waiting", err, auth.TooManyAttempts)
	p.Clock.Advance(time.Hour)
	p.Users.CountAttempt("later", "10.0.0.1")
	p.Clock.Advance(-2 * time.Hour) // a clock that is set back holds nobody up
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "203.0.113.9"); err != nil {
		t.Error(err)
	}
}

// While the vault serves, what was gathered is written without anybody asking.
func TestSessionLastSeenIsWrittenByItself(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	p.Start(time.Hour)
	p.Clock.Advance(2 * time.Minute)
	p.Authenticate(t, in.Token)
	vaulttest.Eventually(t, "the sight", func() bool {
		user, err := p.Users.Get(t.Context(), kim.ID)
		return err == nil && user.LastSeenAt.Equal(p.Clock.Now())
	})
}
