package instance_test

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
	p := peopled(t, nil)
	p.user(t, "kim", model.RoleAdmin)
	in := p.signIn(t, "kim")
	if len(in.Token) != 43 || strings.Contains(in.Session.Hash, in.Token) || in.Session.Device != "Firefox on Windows" || in.Session.Address != "192.0.2.1" {
		t.Errorf("%+v", in.Session)
	}
	p.silent(t, "no token", "")
	p.silent(t, "a made-up token", strings.Repeat("0", 43))
	p.silent(t, "the hash", in.Session.Hash)
	actor := p.speaks(t, in.Token)
	if err := p.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	p.silent(t, "a copy of the cookie", in.Token)
	for _, again := range []string{in.Token, "", "none"} {
		if err := p.Sessions.SignOut(t.Context(), again, ""); err != nil {
			t.Errorf("once more: %v", err)
		}
	}
	_, err := p.Sessions.List(t.Context(), actor)
	kind(t, "its actor", err, errs.Unauthenticated)
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
			p := peopled(t, func(o *instance.Options) { o.Settings.Users.Session = row.limits })
			p.user(t, "kim", model.RoleAdmin)
			idle, used := p.signIn(t, "kim"), p.signIn(t, "kim")
			began := p.clock.Now()
			p.clock.Advance(row.idle - time.Second)
			p.speaks(t, used.Token)
			p.clock.Advance(time.Second)
			p.silent(t, "idle", idle.Token)
			p.speaks(t, used.Token)
			for p.clock.Now().Sub(began) < row.max-row.idle/2 {
				p.clock.Advance(row.idle / 2)
				p.speaks(t, used.Token)
			}
			p.clock.Advance(row.max - p.clock.Now().Sub(began))
			p.silent(t, "over the whole time", used.Token)
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
	p := &people{v, clock}
	kim := p.user(t, "kim", model.RoleAdmin)
	in := p.signIn(t, "kim")
	size := func() int64 { return p.Store.Size() }
	before, began := size(), clock.Now()
	for range 1000 {
		clock.Advance(59 * time.Millisecond)
		p.speaks(t, in.Token)
	}
	if size() != before {
		t.Error("looking at pages writes")
	}
	clock.Advance(11 * time.Hour)
	p.speaks(t, in.Token)
	seen := clock.Now()
	list, err := p.Sessions.List(t.Context(), p.speaks(t, in.Token))
	if err != nil || len(list) != 1 || !list[0].LastSeenAt.Equal(seen) || !list[0].CreatedAt.Equal(began) {
		t.Errorf("%+v, %v", list, err)
	}
	closed(t, v)
	p = &people{vaulttest.Open(t, opts), clock}
	clock.Advance(11 * time.Hour)
	p.speaks(t, in.Token)
	if err := p.Users.FlushBuffered(t.Context()); err != nil {
		t.Fatal(err)
	}
	if user, err := p.Users.Get(t.Context(), kim.ID); err != nil || !user.LastSeenAt.Equal(clock.Now()) || user.Version != 1 {
		t.Errorf("%+v, %v", user, err)
	}
}

func TestSessionsOfOneUser(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "kim", model.RoleAdmin)
	p.user(t, "lee", model.RoleStaff)
	lee := p.signIn(t, "lee")
	var all []auth.SignedIn
	for range 4 {
		p.clock.Advance(time.Minute)
		all = append(all, p.signIn(t, "kim"))
	}
	actor := p.speaks(t, all[0].Token)
	list, err := p.Sessions.List(t.Context(), actor)
	if err != nil || len(list) != 4 || list[0].Hash != all[0].Session.Hash || list[1].Hash != all[3].Session.Hash || list[3].Hash != all[1].Session.Hash {
		t.Errorf("%+v, %v", list, err)
	}
	kind(t, "another's", p.Sessions.End(t.Context(), actor, lee.Session.ID()), errs.NotFound)
	kind(t, "none", p.Sessions.End(t.Context(), actor, ""), errs.NotFound)
	if err := p.Sessions.End(t.Context(), actor, all[1].Session.ID()); err != nil {
		t.Error(err)
	}
	p.silent(t, "the ended one", all[1].Token)
	p.speaks(t, all[2].Token)
	if err := p.Sessions.EndOthers(t.Context(), actor); err != nil {
		t.Error(err)
	}
	p.silent(t, "another one", all[2].Token)
	p.speaks(t, all[0].Token)
	if err := p.Sessions.EndAll(t.Context(), actor); err != nil {
		t.Error(err)
	}
	p.silent(t, "the own one", all[0].Token)
	p.speaks(t, lee.Token)
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	user := p.user(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.put(t, user)
	first := p.signIn(t, "kim")
	for range 50 {
		p.clock.Advance(time.Second)
		p.signIn(t, "kim")
	}
	p.silent(t, "the longest unused", first.Token)
	list, err := p.Sessions.List(t.Context(), p.actor(t, "kim"))
	if err != nil || len(list) != 50 {
		t.Errorf("%d, %v", len(list), err)
	}
	p.clock.Advance(13 * time.Hour)
	if err := p.Sessions.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := p.stored(t); n != 0 {
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
	p := peopled(t, nil)
	user := p.user(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.put(t, user)
	for range 3 {
		_, err := p.try(t, "kim", "wrong password", "", "203.0.113.9")
		refused(t, "wrong", err, auth.WrongPassword)
	}
	for i := range 25_000 {
		p.Users.CountAttempt(fmt.Sprintf("name %d", i), fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
		if n := p.Users.ThrottleKeys(); n > 20_002 {
			t.Fatalf("%d are remembered", n)
		}
	}
	_, err := p.try(t, "kim", goodPassword, "", "203.0.113.9")
	refused(t, "still waiting", err, auth.TooManyAttempts)
	p.clock.Advance(time.Hour)
	p.Users.CountAttempt("later", "10.0.0.1")
	p.clock.Advance(-2 * time.Hour) // a clock that is set back holds nobody up
	if _, err := p.try(t, "kim", goodPassword, "", "203.0.113.9"); err != nil {
		t.Error(err)
	}
}

// While the vault serves, what was gathered is written without anybody asking.
func TestSessionLastSeenIsWrittenByItself(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	kim := p.user(t, "kim", model.RoleAdmin)
	in := p.signIn(t, "kim")
	p.Start(time.Hour)
	p.clock.Advance(2 * time.Minute)
	p.speaks(t, in.Token)
	eventually(t, "the sight", func() bool {
		user, err := p.Users.Get(t.Context(), kim.ID)
		return err == nil && user.LastSeenAt.Equal(p.clock.Now())
	})
}
