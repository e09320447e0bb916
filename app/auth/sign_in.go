package auth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
)

// SignInDraft contains the form values of a sign-in. Code is a six-digit verification
// code or a recovery code. It is "" in the first request. In the second request,
// Challenge is the value of SignInError.Challenge and replaces Name and Password. Device
// is the browser's User-Agent header.
type SignInDraft struct{ Name, Password, Code, Challenge, Address, Device string }

// SignedIn is a new session. Only a hash of Token is stored.
type SignedIn struct {
	Token   string
	User    model.User
	Session model.Session
	Enroll  bool // whether the user must set up two-factor authentication first
}

// Reason is the reason why a sign-in failed.
type Reason string

// These are the reasons in a SignInError.
const (
	WrongPassword    Reason = "password" // also if the user is unknown, disabled, or has no password yet
	CodeNeeded       Reason = "code needed"
	WrongCode        Reason = "code" // also if the code was already used
	TooManyAttempts  Reason = "wait"
	TooBusy          Reason = "busy"
	ChallengeExpired Reason = "step" // after ChallengeTTL or a restart
)

// SignInError means that a sign-in was rejected. Its kind is Unauthenticated.
type SignInError struct {
	Reason    Reason
	Wait      time.Duration // time until the client may retry, in full seconds; set for TooManyAttempts and TooBusy
	Challenge string        // secret to send as SignInDraft.Challenge; set for CodeNeeded
}

// Error returns the message to show to the user.
func (e *SignInError) Error() string {
	switch e.Reason {
	case CodeNeeded:
		return "Enter your verification code."
	case WrongCode:
		return "Incorrect or already used verification code."
	case TooManyAttempts:
		return fmt.Sprintf("Too many sign-in attempts. Try again in %s.", inWords(e.Wait))
	case TooBusy:
		return "The server is busy. Try again in a few seconds."
	case ChallengeExpired:
		return "Your sign-in timed out. Enter your username and password again."
	}
	return "Incorrect username or password."
}

// Unwrap returns an error of kind Unauthenticated.
func (e *SignInError) Unwrap() error {
	return &errs.Error{Kind: errs.Unauthenticated, Message: e.Error()}
}

// busyWait is the time after which a client may retry if the server is busy.
const busyWait = 3 * time.Second

func seconds(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(d.Seconds())) * time.Second
}

// SignIn starts a session, or returns *SignInError if it rejects the sign-in. It takes
// the same time for known and unknown usernames. It blocks only until an Argon2 slot is
// free.
func (u *Users) SignIn(ctx context.Context, draft SignInDraft) (SignedIn, error) {
	in, err := u.signIn(ctx, draft)
	u.auth.countSignIn(err)
	return in, err
}

func (u *Users) signIn(ctx context.Context, draft SignInDraft) (SignedIn, error) {
	now := u.auth.Now()
	challenge, hasChallenge := u.challenges.find(draft.Challenge, now)
	switch {
	case hasChallenge:
		draft.Name = challenge.user.Name
	case draft.Challenge != "":
		return SignedIn{}, &SignInError{Reason: ChallengeExpired}
	}
	admitted, wait, err := u.admit(ctx, now, draft)
	switch {
	case err != nil:
		return SignedIn{}, err
	case wait == 0 && hasChallenge && admitted.addressWait > 0 && !u.userKnowsAddress(challenge.user, draft.Address, now):
		wait = admitted.addressWait // the limit was reached after the password step
	}
	if wait > 0 {
		return SignedIn{}, u.reject(ctx, draft, TooManyAttempts, wait)
	}
	if !hasChallenge {
		challenge, err = u.checkPassword(ctx, draft, now, admitted)
	}
	var in SignedIn
	if err == nil {
		in, err = u.finishSignIn(ctx, draft, challenge, now)
	}
	return in, u.recordOutcome(now, draft, admitted, err)
}

// recordOutcome updates the counters after an attempt and returns the error to show to
// the user.
func (u *Users) recordOutcome(now time.Time, draft SignInDraft, admitted admission, err error) error {
	var rejected *SignInError
	switch {
	case err == nil:
		u.throttle.refund(now, admitted.keys...)
		u.throttle.reset(byAccount(draft.Name, draft.Address))
		u.challenges.remove(draft.Challenge)
	case !errors.As(err, &rejected), rejected.Reason == CodeNeeded, rejected.Reason == TooBusy:
		u.throttle.refund(now, admitted.keys...) // don't count it, because it was not a guess
	case rejected.Reason == WrongPassword:
		u.challenges.remove(draft.Challenge)
		if admitted.addressWait > 0 {
			return &SignInError{Reason: TooManyAttempts, Wait: seconds(admitted.addressWait)}
		}
	}
	return err
}

// reject counts a failed sign-in for the audit log and returns the SignInError.
func (u *Users) reject(ctx context.Context, draft SignInDraft, reason Reason, wait time.Duration) error {
	id := uint64(0)
	if user, err := u.GetByName(ctx, draft.Name); err == nil {
		id = user.ID
	}
	u.failures.add(id, draft.Address, reason)
	return &SignInError{Reason: reason, Wait: seconds(wait)}
}

// checkPassword is the first step of SignIn. If the address has used up its attempts, it
// accepts only users who are known there.
func (u *Users) checkPassword(ctx context.Context, draft SignInDraft, now time.Time, admitted admission) (mfaChallenge, error) {
	user, err := u.GetByName(ctx, draft.Name)
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return mfaChallenge{}, err
	}
	hash := ""
	if err == nil && user.Enabled() && (admitted.addressWait == 0 || u.userKnowsAddress(user, draft.Address, now)) {
		hash = user.Password // "" if the user has not set a password yet
	}
	password := draft.Password
	if len(password) > model.MaxPasswordLength {
		password, hash = "", ""
	}
	from := secret.Requester{Owner: network(draft.Address), Known: admitted.known}
	ok, outdated, err := u.passwords.Verify(ctx, from, hash, password)
	switch {
	case errors.Is(err, secret.ErrBusy):
		return mfaChallenge{}, &SignInError{Reason: TooBusy, Wait: busyWait}
	case err != nil:
		return mfaChallenge{}, err
	case !ok:
		return mfaChallenge{}, u.reject(ctx, draft, WrongPassword, 0)
	}
	checked := mfaChallenge{user: user}
	if outdated {
		checked.newHash, err = u.rehash(ctx, from, draft.Password)
	}
	return checked, err
}

// finishSignIn is the second step of SignIn, after the password check.
func (u *Users) finishSignIn(ctx context.Context, draft SignInDraft, checked mfaChallenge, now time.Time) (SignedIn, error) {
	if checked.user.TwoFactor != nil {
		if err := u.requireCode(ctx, draft, checked, now); err != nil {
			return SignedIn{}, err
		}
	}
	return u.startSession(ctx, draft, checked.user, checked.newHash)
}

// rehash hashes a password with the current parameters. If the server is busy, it returns
// "", and the hash can be replaced at the next sign-in.
func (u *Users) rehash(ctx context.Context, from secret.Requester, password string) (string, error) {
	hash, err := u.passwords.Hash(ctx, from, password)
	if errors.Is(err, secret.ErrBusy) {
		return "", nil
	}
	return hash, err
}

// requireCode returns CodeNeeded if the draft doesn't contain a code. It limits the
// number of attempts with six-digit codes per user.
func (u *Users) requireCode(ctx context.Context, draft SignInDraft, checked mfaChallenge, now time.Time) (err error) {
	if draft.Code == "" {
		codeNeeded := &SignInError{Reason: CodeNeeded, Challenge: draft.Challenge}
		if codeNeeded.Challenge == "" {
			codeNeeded.Challenge, err = u.challenges.add(u.auth.Rand, now, checked)
		}
		if err != nil {
			return err
		}
		return codeNeeded
	}
	if !secret.IsTOTPCode(draft.Code) {
		return nil
	}
	if wait := u.throttle.acquire(now, byCode(checked.user.ID)); wait > 0 {
		return u.reject(ctx, draft, TooManyAttempts, wait)
	}
	return nil
}

var errUserChanged = errors.New("user changed after the password was checked")

// startSession marks the code as used and stores the session in one transaction. It fails
// if the password has changed since it was checked.
func (u *Users) startSession(ctx context.Context, draft SignInDraft, checked model.User, newHash string) (in SignedIn, err error) {
	if in.Token, err = secret.NewToken(u.auth.Rand); err != nil {
		return SignedIn{}, err
	}
	var user model.User
	var codeType string
	var lastStepInFuture bool
	err = u.auth.StoreFromReserve(ctx, func(t *store.Tx) (err error) {
		user, err = t.User(checked.ID)
		if err == nil && (!user.CanSignIn() || user.Password != checked.Password || user.Name != checked.Name) {
			err = errUserChanged
		}
		if err == nil {
			lastStepInFuture = user.TwoFactor != nil && secret.TOTPStepInFuture(u.auth.Now(), user.TwoFactor.LastStep)
			codeType, err = u.consumeCode(&user, draft.Code)
		}
		return err
	}, func(t *store.Tx) error {
		now := u.auth.Now()
		if newHash != "" {
			user.Password = newHash
		}
		user.LastSeenAt = &now
		u.rememberAddress(&user, draft.Address, now)
		in.Session = model.Session{
			Hash: tokenHash(in.Token), UserID: user.ID, CreatedAt: now, LastSeenAt: now, Address: draft.Address,
			Device: model.SanitizeDevice(draft.Device),
		}
		if err := errors.Join(t.PutUser(user), u.auth.Sessions.add(t, in.Session)); err != nil {
			return err
		}
		return u.logSignIn(t, user, in.Session, codeType, lastStepInFuture)
	})
	switch {
	case errors.Is(err, errUserChanged):
		return SignedIn{}, u.reject(ctx, draft, WrongPassword, 0)
	case errors.Is(err, errWrongCode):
		return SignedIn{}, u.reject(ctx, draft, WrongCode, 0)
	case err != nil:
		return SignedIn{}, err
	}
	if codeType == "code" {
		u.throttle.reset(byCode(user.ID))
	}
	in.User, in.Enroll = user, u.auth.MustEnroll(user)
	return in, nil
}

// logSignIn adds an audit entry for a new session. codeType is the result of consumeCode.
// lastStepInFuture means that the time step of the user's last code is in the future;
// logSignIn then adds another audit entry.
func (u *Users) logSignIn(t *store.Tx, user model.User, session model.Session, codeType string, lastStepInFuture bool) error {
	actor := userActor(user)
	actor.Address = session.Address
	detail := map[string]string{"session": session.ID()}
	if codeType == "recovery" {
		detail["recovery_codes_left"] = strconv.Itoa(len(user.TwoFactor.RecoveryHashes))
	}
	if lastStepInFuture && codeType == "code" {
		if err := u.event(t, actor, user, "user.second_factor_clock_reset", nil); err != nil {
			return err
		}
	}
	return u.event(t, actor, user, "session.started", detail)
}

var errWrongCode = errors.New("incorrect verification code")

// consumeCode marks a code as used in the user record. It returns the type of the code:
// "code" (six digits) or "recovery". It returns "" if the user has no two-factor
// authentication.
func (u *Users) consumeCode(user *model.User, code string) (kind string, err error) {
	if user.TwoFactor == nil {
		return "", nil
	}
	twoFactor := *user.TwoFactor // copy it, because the record may be shared
	if secret.IsTOTPCode(code) {
		totpSecret, err := u.auth.secrets.Decrypt(totpPurpose, model.RecordRef("user", user.ID), twoFactor.EncryptedSecret)
		if err != nil {
			return "", fmt.Errorf("decrypt two-factor secret of user %d: %w", user.ID, err)
		}
		now, last := u.auth.Now(), twoFactor.LastStep
		if secret.TOTPStepInFuture(now, last) {
			last = 0 // the clock was set back; logSignIn adds an audit entry
		}
		step, ok := secret.VerifyTOTP(totpSecret, code, now, last)
		if !ok {
			return "", errWrongCode
		}
		twoFactor.LastStep, user.TwoFactor = step, &twoFactor
		return "code", nil
	}
	hash, ok := u.auth.secrets.HashRecoveryCode(code)
	i := slices.Index(twoFactor.RecoveryHashes, hash)
	if !ok || i < 0 {
		return "", errWrongCode
	}
	twoFactor.RecoveryHashes = slices.Delete(slices.Clone(twoFactor.RecoveryHashes), i, i+1)
	user.TwoFactor = &twoFactor
	return "recovery", nil
}
