package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// A known name, an unknown one, one that is disabled and one without a password cost
// the same: as many runs of argon2, and as many transactions.
func TestSignInCostsTheSame(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "known", model.RoleStaff)
	gone := p.CreateUser(t, "disabled", model.RoleStaff)
	if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, gone.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "invited", Role: model.RoleStaff}); err != nil {
		t.Fatal(err)
	}
	for i, row := range []struct{ name, password string }{
		{"known", "wrong password"}, {"unknown", "wrong password"}, {"disabled", vaulttest.GoodPassword}, {"invited", ""}, {"", ""},
		{"known", strings.Repeat("x", 2000)}, {"unknown", strings.Repeat("x", 2000)}, {"\xff\x00", "x"},
	} {
		before := p.Users.HashRuns()
		_, err := p.TrySignIn(t, row.name, row.password, "", fmt.Sprintf("192.0.2.%d", i))
		vaulttest.WantSignInError(t, row.name, err, auth.WrongPassword)
		if ran := p.Users.HashRuns() - before; ran != 1 {
			t.Errorf("%q: argon2 ran %d times", row.name, ran)
		}
		if err.Error() != "The name or the password is wrong." {
			t.Errorf("%q: %v", row.name, err)
		}
	}
}

func TestSignInResistsGuessing(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	began, tries := p.Clock.Now(), 0
	var waits []time.Duration
	for p.Clock.Now().Sub(began) < 15*time.Minute {
		before := p.Users.HashRuns()
		_, err := p.TrySignIn(t, "Owner", "wrong password", "", "203.0.113.9")
		if wait := tooMany(err); wait > 0 {
			if p.Users.HashRuns() != before {
				t.Fatal("a refused try costs a run of argon2")
			}
			if wait != wait.Truncate(time.Second) {
				t.Fatalf("wait %s", wait)
			}
			waits = append(waits, wait)
			p.Clock.Advance(wait)
			continue
		}
		vaulttest.WantSignInError(t, "a wrong password", err, auth.WrongPassword)
		tries++
	}
	if tries != 10 {
		t.Errorf("%d tries in 15 minutes", tries)
	}
	for i := 1; i < len(waits); i++ {
		if waits[i] < waits[i-1] {
			t.Errorf("the delays do not grow: %v", waits)
		}
	}
	// Nobody locks the owner out: from another address the right password opens.
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "192.0.2.1"); err != nil {
		t.Error(err)
	}
}

// The right password at the tenth try, or while waiting, is told apart from a wrong
// one only when its turn comes.
func TestSignInWhileWaiting(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	for range 3 {
		_, err := p.TrySignIn(t, "owner", "wrong password", "", "203.0.113.9")
		vaulttest.WantSignInError(t, "wrong", err, auth.WrongPassword)
	}
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "203.0.113.9")
	vaulttest.WantSignInError(t, "right, too early", err, auth.TooManyAttempts)
	p.Clock.Advance(tooMany(err))
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "203.0.113.9"); err != nil {
		t.Error(err)
	}
	// A success begins anew.
	for range 3 {
		_, err := p.TrySignIn(t, "owner", "wrong password", "", "203.0.113.9")
		vaulttest.WantSignInError(t, "wrong again", err, auth.WrongPassword)
	}
}

func TestSignInByAddress(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	// A whole office that signs in uses nothing up.
	for range 70 {
		p.SignIn(t, "owner")
	}
	stopped := 0
	for i := range 70 {
		_, err := p.TrySignIn(t, fmt.Sprintf("name %d", i), "wrong password", "", fmt.Sprintf("2001:db8::%x", i))
		if tooMany(err) > 0 {
			stopped++
		}
	}
	if stopped != 10 {
		t.Errorf("%d of 70 stopped", stopped)
	}
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "2001:db8::ffff")
	vaulttest.WantSignInError(t, "the same network", err, auth.TooManyAttempts)
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "2001:db8:0:1::1"); err != nil {
		t.Error(err)
	}
}

// Many at once from one address have the tries of one.
func TestSignInAtOnce(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	before := p.Users.HashRuns()
	done := make(chan error)
	for range 30 {
		go func() {
			_, err := p.Users.SignIn(context.Background(), auth.SignInDraft{Name: "owner", Password: "wrong password", Address: "203.0.113.9"})
			done <- err
		}()
	}
	for range 30 {
		if err := <-done; errs.KindOf(err) != errs.Unauthenticated {
			t.Error(err)
		}
	}
	if ran := p.Users.HashRuns() - before; ran > 3 {
		t.Errorf("%d passwords were tried at once", ran)
	}
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	other := p.SignIn(t, "kim")
	actor := p.Actor(t, "kim")
	_, err := p.Users.ConfirmTwoFactor(t.Context(), actor, "123456")
	vaulttest.WantKind(t, "not begun", err, errs.Conflict)
	_, err = p.Users.BeginTwoFactor(t.Context(), actor, "wrong password")
	vaulttest.WantKind(t, "without the password", err, errs.Invalid)
	offer, err := p.Users.BeginTwoFactor(t.Context(), actor, vaulttest.GoodPassword)
	if err != nil || !strings.HasPrefix(offer.URI, "otpauth://totp/deedkeep:kim?") || !strings.Contains(offer.URI, offer.Secret) {
		t.Fatalf("%v", err)
	}
	_, err = p.Users.ConfirmTwoFactor(t.Context(), actor, "000000")
	vaulttest.WantKind(t, "a wrong code", err, errs.Invalid)
	p.SignIn(t, "kim") // nothing is set up yet
	codes, err := p.Users.ConfirmTwoFactor(t.Context(), actor, p.TOTPCode(t, offer.Secret))
	if err != nil || len(codes) != 10 {
		t.Fatalf("%v, %v", codes, err)
	}
	if list, err := p.Sessions.List(t.Context(), actor); err != nil || len(list) != 1 || list[0].Hash != actor.Session {
		t.Errorf("%+v, %v", list, err)
	}
	p.WantSignedOut(t, "another session", other.Token)

	in := func(code string) error {
		_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, code, "192.0.2.7")
		return err
	}
	vaulttest.WantSignInError(t, "no code", in(""), auth.CodeNeeded)
	vaulttest.WantSignInError(t, "the code that confirmed", in(p.TOTPCode(t, offer.Secret)), auth.WrongCode)
	p.Clock.Advance(30 * time.Second)
	code := p.TOTPCode(t, offer.Secret)
	if err := in(code[:3] + " " + code[3:]); err != nil {
		t.Errorf("a good code: %v", err)
	}
	vaulttest.WantSignInError(t, "the code once more", in(code), auth.WrongCode)
	if err := in(strings.ToUpper(codes[3])); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
	vaulttest.WantSignInError(t, "the recovery code once more", in(codes[3]), auth.WrongCode)
	if user, err := p.Users.GetByName(t.Context(), "kim"); err != nil || len(user.TwoFactor.RecoveryHashes) != 9 {
		t.Errorf("%v", err)
	}
	_, err = p.TrySignIn(t, "kim", "wrong password", codes[4], "192.0.2.8")
	vaulttest.WantSignInError(t, "a wrong password with a good code", err, auth.WrongPassword)
	if err := in(codes[4]); err != nil {
		t.Errorf("it used the code up: %v", err)
	}
}

// Two sign-ins with one code at the same time: one gets in.
func TestCodeIsUsedOnce(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	plain, codes := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	p.Clock.Advance(time.Minute)
	for what, code := range map[string]string{"code": p.TOTPCode(t, plain), "recovery code": codes[0]} {
		done := make(chan error)
		for i := range 4 {
			go func() {
				_, err := p.Users.SignIn(context.Background(), auth.SignInDraft{Name: "kim", Password: vaulttest.GoodPassword, Code: code, Address: fmt.Sprintf("192.0.2.%d", i)})
				done <- err
			}()
		}
		in := 0
		for range 4 {
			if err := <-done; err == nil {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s: %d got in", what, in)
		}
	}
}

// Whoever has the password cannot guess the code from many addresses; the owner gets
// in with a recovery code meanwhile.
func TestCodesAreCountedForTheAccount(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	plain, codes := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	p.Clock.Advance(time.Minute)
	for i := range 20 {
		_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "000000", fmt.Sprintf("198.51.100.%d", i))
		vaulttest.WantSignInError(t, "a guess", err, auth.WrongCode)
	}
	_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, p.TOTPCode(t, plain), "192.0.2.1")
	vaulttest.WantSignInError(t, "after twenty guesses", err, auth.TooManyAttempts)
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, codes[0], "192.0.2.2"); err != nil {
		t.Error(err)
	}
	p.Clock.Advance(time.Hour)
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, p.TOTPCode(t, plain), "192.0.2.1"); err != nil {
		t.Error(err)
	}
}

func TestSecondFactorRequired(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.Users.RequireTwoFactor = true })
	p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	actor := p.Authenticate(t, in.Token)
	if !in.Enroll || actor.Role != "" || actor.Role.Can(model.PermRead) {
		t.Errorf("%+v", actor)
	}
	_, err := p.Orders.Create(t.Context(), actor, model.OrderDraft{Number: model.StringInput("2026-1")}, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "a write", err, errs.Forbidden)
	_, err = p.Users.Rename(t.Context(), actor, actor.ID, "x")
	vaulttest.WantKind(t, "an administrator's work", err, errs.Forbidden)
	p.EnableTwoFactor(t, actor)
	if actor = p.Authenticate(t, in.Token); actor.Role != model.RoleAdmin {
		t.Errorf("%+v", actor)
	}
	if _, err := p.Orders.Create(t.Context(), actor, model.OrderDraft{Number: model.StringInput("2026-1")}, vault.Idempotency[model.Order]{}); err != nil {
		t.Error(err)
	}
	vaulttest.WantKind(t, "taking it away", p.Users.RemoveTwoFactor(t.Context(), actor, vaulttest.GoodPassword), errs.Conflict)
}

func TestFactorTakenAway(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	actor := p.Actor(t, "kim")
	vaulttest.WantKind(t, "there is none", p.Users.RemoveTwoFactor(t.Context(), actor, vaulttest.GoodPassword), errs.Conflict)
	_, err := p.Users.NewRecoveryCodes(t.Context(), actor, vaulttest.GoodPassword)
	vaulttest.WantKind(t, "codes for none", err, errs.Conflict)
	_, old := p.EnableTwoFactor(t, actor)
	fresh, err := p.Users.NewRecoveryCodes(t.Context(), actor, vaulttest.GoodPassword)
	if err != nil || len(fresh) != 10 {
		t.Fatal(err)
	}
	_, err = p.TrySignIn(t, "kim", vaulttest.GoodPassword, old[0], "192.0.2.7")
	vaulttest.WantSignInError(t, "an old recovery code", err, auth.WrongCode)
	if _, err = p.TrySignIn(t, "kim", vaulttest.GoodPassword, fresh[0], "192.0.2.7"); err != nil {
		t.Error(err)
	}
	vaulttest.WantKind(t, "with a wrong password", p.Users.RemoveTwoFactor(t.Context(), actor, "wrong password"), errs.Invalid)
	if err := p.Users.RemoveTwoFactor(t.Context(), actor, vaulttest.GoodPassword); err != nil {
		t.Error(err)
	}
	p.SignIn(t, "kim")
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	other := p.SignIn(t, "kim")
	mine := p.SignIn(t, "kim")
	actor := p.Authenticate(t, mine.Token)
	actor.Address = "192.0.2.50"
	const fresh = "another good one of mine"
	vaulttest.WantKind(t, "wrong", p.Users.ChangePassword(t.Context(), actor, "wrong password", fresh), errs.Invalid)
	vaulttest.WantKind(t, "too short", p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, "short"), errs.Invalid)
	if err := p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, fresh); err != nil {
		t.Fatal(err)
	}
	p.Authenticate(t, mine.Token)
	p.WantSignedOut(t, "another session", other.Token)
	_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "the old one", err, auth.WrongPassword)
	if _, err := p.TrySignIn(t, "kim", fresh, "", "192.0.2.1"); err != nil {
		t.Error(err)
	}
	// A stolen session does not guess the password.
	for range 2 {
		vaulttest.WantKind(t, "a guess", p.Users.ChangePassword(t.Context(), actor, "wrong password", fresh), errs.Invalid)
	}
	vaulttest.WantSignInError(t, "one guess more", p.Users.ChangePassword(t.Context(), actor, "wrong password", fresh), auth.TooManyAttempts)
}

// A hash of another cost is made anew when its owner signs in, and goes on opening.
func TestRehash(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Passwords = secret.DefaultArgon2Params() })
	user := p.CreateUser(t, "kim", model.RoleAdmin)
	// "a long walk to the courthouse" at m=64,t=1,p=1
	user.Password = cheapHash
	p.Put(t, user)
	for range 2 {
		p.SignIn(t, "kim")
	}
	now, err := p.Users.Get(t.Context(), user.ID)
	if err != nil || now.Password == cheapHash || !strings.Contains(now.Password, "m=19456,t=2,p=1") {
		t.Errorf("%s, %v", now.Password, err)
	}
	if _, stale, err := secret.NewPasswords(nil, secret.DefaultArgon2Params(), secret.QueueLimits{}).Verify(t.Context(), "", now.Password, vaulttest.GoodPassword); stale || err != nil {
		t.Errorf("%v %v", stale, err)
	}
}

// When as many check a password as may, making a hash anew keeps nobody out, and making
// a user is refused in words.
func TestEverythingIsBusy(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) {
		o.Passwords, o.Settings.Users.Queue = secret.DefaultArgon2Params(), secret.QueueLimits{MaxLength: 8}
	})
	ctx, leave := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer leave()
	for i := range 20 {
		crowd.Go(func() {
			for ctx.Err() == nil {
				if p.Users.VerifyUnknown(ctx, fmt.Sprint(i)) != nil {
					time.Sleep(time.Millisecond) // it is busy: the others hold it so
				}
			}
		})
	}
	vaulttest.Eventually(t, "a user is refused for the crowd", func() bool {
		password := vaulttest.GoodPassword
		soon, done := context.WithTimeout(t.Context(), 100*time.Millisecond) // else one that gets in waits for all of the crowd
		defer done()
		_, _, err := p.Users.Create(soon, vaulttest.Operator, model.UserDraft{Name: rand.Text(), Role: model.RoleAdmin, Password: &password})
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			return false
		}
		vaulttest.WantSignInError(t, "a new user", err, auth.TooBusy)
		return true
	})
	vaulttest.Eventually(t, "a password without its new hash", func() bool {
		hash, err := p.Users.Rehash(t.Context(), vaulttest.GoodPassword)
		if err != nil {
			t.Errorf("rehash: %v", err)
		}
		return hash == ""
	})
}

// While 200 addresses sign in at the same time, a person's own sign-in waits for its
// turn and succeeds.
func TestSignInAmongACrowd(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Passwords = secret.Argon2Params{Memory: 1024, Passes: 2, Lanes: 1} })
	p.CreateUser(t, "owner", model.RoleAdmin)
	var crowd sync.WaitGroup
	before := p.Users.HashRuns()
	for i := range 200 {
		crowd.Go(func() {
			_, err := p.Users.SignIn(context.Background(), auth.SignInDraft{Name: "x", Password: "wrong password", Address: fmt.Sprintf("198.51.100.%d", i)})
			vaulttest.WantSignInError(t, "one of the crowd", err, auth.WrongPassword)
		})
	}
	vaulttest.Eventually(t, "the crowd is there", func() bool { return p.Users.HashRuns() > before })
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "192.0.2.1"); err != nil {
		t.Errorf("the owner: %v", err)
	}
	crowd.Wait()
}
