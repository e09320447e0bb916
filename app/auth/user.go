package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Users creates and changes users, and signs them in. This file contains the changes by
// administrators.
type Users struct {
	auth       *Auth
	passwords  *secret.Passwords
	throttle   *loginThrottle
	failures   *failedSignIns
	first      firstLink
	challenges challenges
}

// UserRules are the settings for sign-ins. Those for sessions are in txn.DB.
type UserRules struct {
	KnownAddress func() time.Duration // how long an address stays known after a sign-in; 0 disables it
	Queue        secret.QueueLimits   // limits of the password hashing queue
	Host         string               // host name in public_url; passwords must not be based on it
}

var (
	errLastAdmin = &errs.Error{Kind: errs.Conflict, Message: "This is the only administrator. Make another user an administrator first."}
	errDisabled  = &errs.Error{Kind: errs.Conflict, Message: "This user is disabled. Enable the user first."}
)

// Create creates a user. If the draft has no password, it returns the token of a one-time
// link for setting one. The token is not stored. An Invalid error lists the invalid
// fields.
func (u *Users) Create(ctx context.Context, actor model.Actor, draft model.UserDraft) (token string, user model.User, err error) {
	user, problems := draft.Check(u.auth.Now())
	err = problems.Err()
	if draft.Password != nil {
		err = u.checkPasswordStrength(problems, draft.Name, *draft.Password)
	}
	if err != nil {
		return "", user, err
	}
	if draft.Password != nil {
		user.Password, err = u.hashPassword(ctx, actor.Address, *draft.Password)
	} else {
		token, user.PasswordLink, err = u.newPasswordLink(false)
	}
	if err != nil {
		return "", user, err
	}
	err = u.auth.UpdateAsAdmin(ctx, actor, func(t *store.Tx) error {
		return u.checkNameAvailable(t, user.Name, 0)
	}, func(t *store.Tx) (err error) {
		if user.ID, err = t.NewUserID(); err != nil {
			return err
		}
		if err := t.PutUser(user); err != nil {
			return err
		}
		return u.auth.AddEntry(t, model.Event{At: u.auth.Now(), Actor: actor, Kind: "user.created", Record: model.RecordRef("user", user.ID),
			Changes: model.User{}.Changes(user), Detail: map[string]string{"name": user.Name, "role": string(user.Role)}})
	})
	return token, user, err
}

// checkNameAvailable returns Invalid if a user other than except has the name.
func (u *Users) checkNameAvailable(t *store.Tx, name string, except uint64) error {
	other, taken, err := t.UserByName(name)
	if err == nil && taken && other.ID != except {
		return errs.InvalidField("name", errs.Taken)
	}
	return err
}

// newPasswordLink generates a one-time link and its token. Only a hash of the token is
// stored.
func (u *Users) newPasswordLink(reset bool) (token string, link *model.PasswordLink, err error) {
	if token, err = secret.NewToken(u.auth.Rand); err != nil {
		return "", nil, err
	}
	return token, &model.PasswordLink{Hash: tokenHash(token), Reset: reset, ExpiresAt: u.auth.Now().Add(model.PasswordLinkTTL)}, nil
}

// tokenHash returns the hash of a token in hexadecimal, or "" if the token is invalid.
func tokenHash(token string) string {
	hash, ok := secret.HashToken(token)
	if !ok {
		return ""
	}
	return hex.EncodeToString(hash[:])
}

func (u *Users) event(t *store.Tx, actor model.Actor, user model.User, kind string, detail map[string]string) error {
	return u.auth.AddEvent(t, u.auth.Now(), actor, kind, model.RecordRef("user", user.ID), detail)
}

// List returns all users sorted by ID, including disabled ones.
func (u *Users) List(ctx context.Context) ([]model.User, error) {
	return store.Read(ctx, u.auth.Store, (*store.Tx).Users)
}

// Get returns a user by ID, or NotFound.
func (u *Users) Get(ctx context.Context, id uint64) (model.User, error) {
	return store.Read(ctx, u.auth.Store, func(t *store.Tx) (model.User, error) { return t.User(id) })
}

// GetByName returns a user by username, or NotFound.
func (u *Users) GetByName(ctx context.Context, name string) (model.User, error) {
	return store.Read(ctx, u.auth.Store, func(t *store.Tx) (model.User, error) {
		user, found, err := t.UserByName(name)
		if err == nil && !found {
			err = errs.RecordNotFound("user", strconv.Quote(name))
		}
		return user, err
	})
}

// update changes a user on behalf of an administrator. check and apply may be called
// twice. If check returns false, update writes nothing.
func (u *Users) update(ctx context.Context, actor model.Actor, id uint64,
	check func(*store.Tx, model.User) (bool, error), apply func(*store.Tx, *model.User) error,
) (user model.User, err error) {
	err = u.auth.UpdateAsAdmin(ctx, actor, func(t *store.Tx) (err error) {
		if user, err = t.User(id); err != nil {
			return err
		}
		changed, err := check(t, user)
		if err == nil && !changed {
			err = txn.ErrNoChange
		}
		return err
	}, func(t *store.Tx) error {
		user.Version++
		if err := apply(t, &user); err != nil {
			return err
		}
		return t.PutUser(user)
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return user, err
}

// Rename changes the username of a user.
func (u *Users) Rename(ctx context.Context, actor model.Actor, id uint64, name string) (model.User, error) {
	name, problems := model.CheckUserName(name)
	if err := problems.Err(); err != nil {
		return model.User{}, err
	}
	return u.update(ctx, actor, id, func(t *store.Tx, user model.User) (bool, error) {
		return user.Name != name, u.checkNameAvailable(t, name, id)
	}, func(t *store.Tx, user *model.User) error {
		detail := map[string]string{"from": user.Name, "to": name}
		user.Name = name
		return u.event(t, actor, *user, "user.renamed", detail)
	})
}

// SetProfile changes the full name and the title of a user. Users can't change their own, so that no one
// certifies a search under the name of another person.
func (u *Users) SetProfile(ctx context.Context, actor model.Actor, id uint64, patch model.ProfilePatch) (model.User, error) {
	return u.update(ctx, actor, id, func(_ *store.Tx, user model.User) (bool, error) {
		profile, rejected := patch.Check(user.Profile)
		return profile != user.Profile, rejected.Err()
	}, func(t *store.Tx, user *model.User) error {
		old := *user
		user.Profile, _ = patch.Check(old.Profile)
		return u.auth.AddEntry(t, model.Event{At: u.auth.Now(), Actor: actor, Kind: "user.profile_changed",
			Record: model.RecordRef("user", user.ID), Changes: old.Changes(*user)})
	})
}

// SetAway says until when a user is away, or that the user isn't away if until is blank. Users set it for themselves,
// and administrators for anyone. today is the date in the office's time zone (YYYY-MM-DD).
func (u *Users) SetAway(ctx context.Context, actor model.Actor, id uint64, until model.Input, today string) (user model.User, err error) {
	day, rejected := model.CheckAwayUntil(until, today)
	set := func(t *store.Tx, user *model.User) error {
		old := *user
		user.AwayUntil = day
		return u.auth.AddEntry(t, model.Event{At: u.auth.Now(), Actor: actor, Kind: "user.away_changed",
			Record: model.RecordRef("user", user.ID), Changes: old.Changes(*user)})
	}
	check := func(_ *store.Tx, user model.User) (bool, error) { return user.AwayUntil != day, rejected.Err() }
	if actor.Kind != model.ActorUser || actor.ID != id {
		return u.update(ctx, actor, id, check, set)
	}
	err = u.updateSelf(ctx, actor, "", func(now model.User) error {
		user = now
		changed, err := check(nil, now)
		if err == nil && !changed {
			err = txn.ErrNoChange
		}
		return err
	}, func(t *store.Tx, now *model.User) error {
		defer func() { user = *now }()
		return set(t, now)
	})
	if errors.Is(err, txn.ErrNoChange) {
		err = nil
	}
	return user, err
}

// SetOrdersSeen stores that the signed-in user has seen the orders created before a time.
func (u *Users) SetOrdersSeen(ctx context.Context, actor model.Actor, at time.Time) error {
	return u.updateSelf(ctx, actor, "", nil, func(_ *store.Tx, user *model.User) error {
		user.OrdersSeenAt = &at
		return nil
	})
}

// SetStartView stores the saved view that the signed-in user starts with. 0 means the desk.
func (u *Users) SetStartView(ctx context.Context, actor model.Actor, view uint64) error {
	return u.updateSelf(ctx, actor, "", nil, func(_ *store.Tx, user *model.User) error {
		user.StartView = view
		return nil
	})
}

// SetRole changes the role of a user. The new role takes effect with the next request.
// SetRole returns Conflict if the user is the last administrator.
func (u *Users) SetRole(ctx context.Context, actor model.Actor, id uint64, role model.Role) (model.User, error) {
	if !role.Can(model.PermRead) {
		return model.User{}, errs.InvalidField("role", "The selected role is invalid.")
	}
	return u.update(ctx, actor, id, func(t *store.Tx, user model.User) (bool, error) {
		if role.Can(model.PermAdmin) {
			return user.Role != role, nil
		}
		return user.Role != role, u.checkNotLastAdmin(t, user)
	}, func(t *store.Tx, user *model.User) error {
		detail := map[string]string{"from": string(user.Role), "to": string(role)}
		user.Role = role
		return u.event(t, actor, *user, "user.role_changed", detail)
	})
}

// checkNotLastAdmin returns Conflict if there would be no administrator without this
// user, or none with a password.
func (u *Users) checkNotLastAdmin(t *store.Tx, user model.User) error {
	if !user.Enabled() || !user.Role.Can(model.PermAdmin) {
		return nil
	}
	list, err := t.Users()
	if err != nil {
		return err
	}
	admins, withPassword := 0, 0
	for _, other := range list {
		if other.ID == user.ID || !other.Enabled() || !other.Role.Can(model.PermAdmin) {
			continue
		}
		admins++
		if other.CanSignIn() {
			withPassword++
		}
	}
	if admins == 0 || withPassword == 0 && user.CanSignIn() {
		return errLastAdmin
	}
	return nil
}

// Disable ends the sessions of a user and prevents new ones. It does nothing if the user
// is already disabled. It returns Conflict if the user is the last administrator.
func (u *Users) Disable(ctx context.Context, actor model.Actor, id uint64) (model.User, error) {
	return u.update(ctx, actor, id, func(t *store.Tx, user model.User) (bool, error) {
		return user.Enabled(), u.checkNotLastAdmin(t, user)
	}, func(t *store.Tx, user *model.User) error {
		now := u.auth.Now()
		user.DisabledAt, user.PasswordLink, user.PendingTwoFactor = &now, nil, nil
		ended, err := u.auth.Sessions.removeAllExcept(t, id, "")
		if err != nil {
			return err
		}
		return u.event(t, actor, *user, "user.disabled", map[string]string{"sessions": strconv.Itoa(ended)})
	})
}

// Enable allows a disabled user to sign in again with the same password and two-factor
// authentication.
func (u *Users) Enable(ctx context.Context, actor model.Actor, id uint64) (model.User, error) {
	return u.update(ctx, actor, id, func(_ *store.Tx, user model.User) (bool, error) {
		return !user.Enabled(), nil
	}, func(t *store.Tx, user *model.User) error {
		user.DisabledAt = nil
		return u.event(t, actor, *user, "user.enabled", nil)
	})
}

// Reset removes the password and two-factor authentication of a user and ends the user's
// sessions. It returns the token of a one-time link for setting a new password. Any
// previous link becomes invalid. Reset returns Conflict if the user is disabled.
func (u *Users) Reset(ctx context.Context, actor model.Actor, id uint64) (token string, user model.User, err error) {
	token, link, err := u.newPasswordLink(true)
	if err != nil {
		return "", user, err
	}
	user, err = u.update(ctx, actor, id, func(_ *store.Tx, user model.User) (bool, error) {
		if !user.Enabled() {
			return false, errDisabled
		}
		return true, nil
	}, func(t *store.Tx, user *model.User) error {
		newLink := *link
		newLink.Reset = user.Password != "" || user.PasswordLink != nil && user.PasswordLink.Reset
		user.Password, user.TwoFactor, user.PendingTwoFactor, user.PasswordLink = "", nil, nil, &newLink
		ended, err := u.auth.Sessions.removeAllExcept(t, id, "")
		if err != nil {
			return err
		}
		return u.event(t, actor, *user, "user.reset", map[string]string{"sessions": strconv.Itoa(ended)})
	})
	if err != nil {
		return "", user, err
	}
	return token, user, nil
}
