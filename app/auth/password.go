package auth

import (
	"context"
	"errors"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// confirmPassword verifies the password of the signed-in user. It is called before
// changes that must not be possible with a stolen session. An attempt counts as a sign-in
// attempt for the same username and address, but not toward the limit for all users at
// the address. A wrong password returns Invalid. After too many attempts, confirmPassword
// returns *SignInError.
func (u *Users) confirmPassword(ctx context.Context, actor model.Actor, password string) (user model.User, err error) {
	user, err = store.Read(ctx, u.auth.Store, func(t *store.Tx) (model.User, error) { return u.auth.CurrentUser(t, actor) })
	if err != nil {
		return user, err
	}
	now, key := u.auth.Now(), byAccount(user.Name, actor.Address)
	if wait := u.throttle.acquire(now, key); wait > 0 {
		return user, &SignInError{Reason: TooManyAttempts, Wait: seconds(wait)}
	}
	if len(password) > model.MaxPasswordLength {
		password = ""
	}
	ok, _, err := u.passwords.Verify(ctx, trusted(actor.Address), user.Password, password)
	switch {
	case errors.Is(err, secret.ErrBusy):
		err = &SignInError{Reason: TooBusy, Wait: busyWait}
	case err == nil && !ok:
		return user, errs.InvalidField("current_password", "The current password is incorrect.")
	}
	u.throttle.refund(now, key)
	return user, err
}

// updateSelf changes the record of the signed-in user. password is the hash of the
// confirmed password. If the user's hash has changed since, updateSelf fails. "" skips
// this check.
func (u *Users) updateSelf(ctx context.Context, actor model.Actor, password string,
	check func(model.User) error, apply func(*store.Tx, *model.User) error,
) error {
	var user model.User
	return u.auth.StoreFromReserve(ctx, func(t *store.Tx) (err error) {
		if user, err = u.auth.CurrentUser(t, actor); err != nil {
			return err
		}
		if password != "" && user.Password != password {
			return txn.ErrUnauthenticated
		}
		if check == nil {
			return nil
		}
		return check(user)
	}, func(t *store.Tx) error {
		user.Version++
		if err := apply(t, &user); err != nil {
			return err
		}
		return t.PutUser(user)
	})
}

// ChangePassword sets the password of the signed-in user and ends the user's other
// sessions. It returns Invalid if the current password is wrong or the new one breaks a
// rule.
func (u *Users) ChangePassword(ctx context.Context, actor model.Actor, current, replacement string) error {
	user, err := u.confirmPassword(ctx, actor, current)
	if err != nil {
		return err
	}
	if err := u.checkPasswordStrength(model.CheckPassword(replacement), user.Name, replacement); err != nil {
		return err
	}
	hash, err := u.hashPassword(ctx, actor.Address, replacement)
	if err != nil {
		return err
	}
	return u.updateSelf(ctx, actor, user.Password, nil, func(t *store.Tx, user *model.User) error {
		user.Password = hash
		ended, err := u.auth.Sessions.removeAllExcept(t, user.ID, actor.Session)
		if err != nil {
			return err
		}
		return u.event(t, actor, *user, "user.password_changed", map[string]string{"sessions": strconv.Itoa(ended)})
	})
}

// weakPassword is the message for a password that is easy to guess.
const weakPassword = "This password is too easy to guess. Use four or more unrelated words, " +
	"or a longer mix of letters, digits, and symbols. Avoid names and dates."

// checkPasswordStrength returns all problems as an error. If there are none yet, it adds
// one if the password is easy to guess for a user with that name.
func (u *Users) checkPasswordStrength(problems errs.Fields, name, password string) error {
	if len(problems) == 0 && secret.IsWeakPassword(password, name, u.auth.rules.Host) {
		problems.Add("password", weakPassword)
	}
	return problems.Err()
}

// trusted returns the requester for someone who has proved who they are, such as a signed-in
// user. Only sign-ins may have to wait behind others.
func trusted(address string) secret.Requester {
	return secret.Requester{Owner: network(address), Known: true}
}

// hashPassword hashes a password for a user who is signed in or has a one-time link. It
// returns *SignInError if too many passwords are being hashed.
func (u *Users) hashPassword(ctx context.Context, address, password string) (string, error) {
	hash, err := u.passwords.Hash(ctx, trusted(address), password)
	if errors.Is(err, secret.ErrBusy) {
		err = &SignInError{Reason: TooBusy, Wait: busyWait}
	}
	return hash, err
}
