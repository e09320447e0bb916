package auth_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// office is an address that several people share.
const office = "198.51.100.7"

// A person who signed in from an address lately gets in there although others have used
// up its tries; guesses at that person's name still count.
func TestSignInFromKnownAddress(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	p.CreateUser(t, "other", model.RoleStaff)
	p.SignInFrom(t, "owner", office)
	p.SignInFrom(t, "other", "192.0.2.1")
	p.ExhaustAttempts(t, office)
	p.SignInFrom(t, "Owner", office)
	_, err := p.TrySignIn(t, "other", vaulttest.GoodPassword, "", office)
	vaulttest.WantSignInError(t, "a person not known there", err, auth.TooManyAttempts)
	_, err = p.TrySignIn(t, "other", vaulttest.GoodPassword, "", office)
	vaulttest.WantSignInError(t, "the same person again", err, auth.TooManyAttempts)
	for range 3 {
		_, err = p.TrySignIn(t, "owner", "wrong password", "", office)
		vaulttest.WantSignInError(t, "a guess at a known name", err, auth.TooManyAttempts)
	}
	before := p.Users.HashRuns()
	_, err = p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", office)
	vaulttest.WantSignInError(t, "after three guesses", err, auth.TooManyAttempts)
	if ran := p.Users.HashRuns() - before; ran != 0 {
		t.Errorf("argon2 ran %d times for a name that has to wait, want 0", ran)
	}
	p.Clock.Advance(time.Second)
	p.SignInFrom(t, "owner", office)
	p.SignInFrom(t, "other", "192.0.2.1")
}

// Which names are known at an address with too many tries can't be learned there: a
// known name with a wrong password, another user's with a wrong and with the right one, and
// no one's give the same response with the same wait, at the cost of the same runs of argon2,
// and count alike.
func TestKnownNamesStaySecret(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "known", model.RoleAdmin)
	p.CreateUser(t, "elsewhere", model.RoleStaff)
	p.CreateUser(t, "right password", model.RoleStaff)
	p.SignInFrom(t, "known", office)
	p.SignInFrom(t, "elsewhere", "192.0.2.1")
	p.ExhaustAttempts(t, office)
	p.Clock.Advance(time.Minute)
	type seen struct {
		text string
		wait time.Duration
		runs uint64
	}
	answers := func(name, password string) (all []seen) {
		for range 5 {
			before := p.Users.HashRuns()
			_, err := p.TrySignIn(t, name, password, "", office)
			vaulttest.WantSignInError(t, name, err, auth.TooManyAttempts)
			all = append(all, seen{err.Error(), tooMany(err), p.Users.HashRuns() - before})
		}
		return all
	}
	want := answers("no one", "wrong password")
	if want[0].wait != 14*time.Minute || want[0].runs != 1 {
		t.Fatalf("the first response to no one's name: %+v, want a wait of 14m and one run", want[0])
	}
	for _, row := range []struct{ name, password string }{{"known", "wrong password"}, {"elsewhere", "wrong password"}, {"right password", vaulttest.GoodPassword}, {"", ""}} {
		if got := answers(row.name, row.password); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: got %v, want %v", row.name, got, want)
		}
	}
}

// Both steps of two-factor authentication pass at a crowded address where the person is known.
func TestTwoFactorFromKnownAddress(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	plain, _ := p.EnableTwoFactor(t, p.Actor(t, "owner")) // from 192.0.2.1
	p.Clock.Advance(time.Minute)
	p.ExhaustAttempts(t, "192.0.2.1")
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "the password alone", err, auth.CodeNeeded)
	asked, _ := errors.AsType[*auth.SignInError](err)
	step := auth.SignInDraft{Challenge: asked.Challenge, Code: p.TOTPCode(t, plain), Address: "192.0.2.1"}
	elsewhere := step
	elsewhere.Address = office
	p.ExhaustAttempts(t, office)
	_, err = p.Users.SignIn(t.Context(), elsewhere)
	vaulttest.WantSignInError(t, "the code from another crowded address", err, auth.TooManyAttempts)
	if _, err = p.Users.SignIn(t.Context(), step); err != nil {
		t.Errorf("the code: %v", err)
	}
}

// Where no one signed in lately, too many tries cost no argon2.
func TestTriesFromUnknownAddressCostNothing(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	p.SignInFrom(t, "owner", "192.0.2.1")
	p.ExhaustAttempts(t, office)
	before := p.Users.HashRuns()
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", office)
	vaulttest.WantSignInError(t, "a foreign address", err, auth.TooManyAttempts)
	if ran := p.Users.HashRuns() - before; ran != 0 {
		t.Errorf("argon2 ran %d times, want 0", ran)
	}
}

// An address is known for the time of the setting, across restarts; 0 turns it off.
func TestKnownAddressEnds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		known  time.Duration
		later  time.Duration
		reopen bool
		in     bool
	}{
		{"within the time", 24 * time.Hour, 23 * time.Hour, false, true},
		{"after a restart", 24 * time.Hour, time.Hour, true, true},
		{"after the time", 24 * time.Hour, 24 * time.Hour, false, false},
		{"turned off", 0, time.Minute, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			clock, opts := vaulttest.NewClock(), vaulttest.Options(t)
			opts.Now, opts.Settings.Users.KnownAddress = clock.Now, row.known
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			p := &vaulttest.UserFixture{Instance: v, Clock: clock}
			p.CreateUser(t, "owner", model.RoleAdmin)
			p.SignInFrom(t, "owner", office)
			p.Clock.Advance(row.later)
			if row.reopen {
				vaulttest.Close(t, p.Instance)
				if p.Instance, err = instance.Open(t.Context(), opts); err != nil {
					t.Fatal(err)
				}
			}
			defer func() { vaulttest.Close(t, p.Instance) }()
			p.ExhaustAttempts(t, office)
			if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", office); (err == nil) != row.in {
				t.Errorf("got %v, want success: %v", err, row.in)
			}
		})
	}
}

// A person keeps few addresses, the latest ones.
func TestKnownAddressesAreFew(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	user := p.CreateUser(t, "owner", model.RoleAdmin)
	for i := range 30 {
		p.SignInFrom(t, "owner", fmt.Sprintf("203.0.113.%d", i))
		p.SignInFrom(t, "owner", fmt.Sprintf("203.0.113.%d", i)) // once more is no second entry
		p.Clock.Advance(time.Minute)
	}
	kept, err := p.Users.Get(t.Context(), user.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept.KnownAddresses) != model.MaxKnownAddresses || kept.KnownAddresses[0].Network != "203.0.113.29" {
		t.Errorf("got %d addresses, the first %+v; want %d, the first 203.0.113.29", len(kept.KnownAddresses), kept.KnownAddresses[0], model.MaxKnownAddresses)
	}
}
