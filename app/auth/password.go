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

// confirmPassword wants the password of the user who acts once more, before something that a
// stolen session must not do. Tries count as those of signing in. Invalid for a
// wrong one, *SignInError for too many. Those of others at the address, or for other
// names, hold up no one who is signed in.
func (u *Users) confirmPassword(ctx context.Context, actor model.Actor, password string) (user model.User, err error) {
	err = u.auth.Store.View(ctx, func(t *store.Tx) (err error) {
		user, err = u.auth.CurrentUser(t, actor)
		return err
	})
	if err != nil {
		return user, err
	}
	now, mine := u.auth.Now(), byAccount(user.Name, actor.Address)
	if wait := u.throttle.acquire(now, mine); wait > 0 {
		return user, &SignInError{Reason: TooManyAttempts, Wait: seconds(wait)}
	}
	if len(password) > model.MaxPasswordLength {
		password = ""
	}
	fits, _, err := u.passwords.Verify(ctx, network(actor.Address), user.Password, password)
	switch {
	case errors.Is(err, secret.ErrBusy):
		err = &SignInError{Reason: TooBusy, Wait: busyWait}
	case err == nil && !fits:
		return user, errs.InvalidField("current_password", "The current password is wrong.")
	}
	u.throttle.refund(now, mine)
	return user, err
}

// updateSelf changes the record of the user who acts. Where the password was shown again,
// it must still be the same.
func (u *Users) updateSelf(ctx context.Context, actor model.Actor, password string,
	judge func(model.User) error, apply func(*store.Tx, *model.User) error,
) error {
	var user model.User
	return u.auth.Store.Update(ctx, func(t *store.Tx) (err error) {
		if user, err = u.auth.CurrentUser(t, actor); err != nil {
			return err
		}
		if password != "" && user.Password != password {
			return txn.ErrUnauthenticated
		}
		if judge == nil {
			return nil
		}
		return judge(user)
	}, func(t *store.Tx) error {
		user.Version++
		if err := apply(t, &user); err != nil {
			return err
		}
		return t.PutUser(user)
	})
}

// ChangePassword gives the user who acts another password and ends the other
// sessions. Invalid when the present one is wrong or the new one breaks a rule.
func (u *Users) ChangePassword(ctx context.Context, actor model.Actor, present, fresh string) error {
	user, err := u.confirmPassword(ctx, actor, present)
	if err != nil {
		return err
	}
	if err := u.checkPasswordStrength(model.CheckPassword(fresh), user.Name, fresh); err != nil {
		return err
	}
	hash, err := u.hashPassword(ctx, actor.Address, fresh)
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

// weakPassword says what to do about a password that is found in few guesses.
const weakPassword = "This password is too easy to guess. Choose four or more words that don't belong together, or a longer mix of letters, digits, and marks, without names and dates."

// checkPasswordStrength gives what was refused before as an error, and else refuses a password that is
// too easy to guess for a user of that name.
func (u *Users) checkPasswordStrength(refused errs.Fields, name, password string) error {
	if len(refused) == 0 && secret.IsWeakPassword(password, name, u.auth.rules.Host) {
		refused.Add("password", weakPassword)
	}
	return refused.Err()
}

// hashPassword is Passwords.Hash with a refusal for people when everything is busy.
func (u *Users) hashPassword(ctx context.Context, address, password string) (string, error) {
	hash, err := u.passwords.Hash(ctx, network(address), password)
	if errors.Is(err, secret.ErrBusy) {
		err = &SignInError{Reason: TooBusy, Wait: busyWait}
	}
	return hash, err
}
