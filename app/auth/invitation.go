package auth

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// firstLink is the one-time link that creates the first administrator. It is only stored
// in memory. The server creates a new link at each start until there is an administrator.
type firstLink struct {
	mu       sync.Mutex
	link     *model.PasswordLink
	hasAdmin atomic.Bool // cached result of HasAdmin
}

func (f *firstLink) set(link *model.PasswordLink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = link
}

func (f *firstLink) matches(hash string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.link.Active(now) && f.link.Hash == hash
}

var (
	errLink      = &errs.Error{Kind: errs.NotFound, Message: "This link is invalid or has expired."}
	errHasAdmins = &errs.Error{Kind: errs.Conflict, Message: "An administrator account already exists."}
)

// NewFirstLink returns the token of a one-time link that creates the first administrator,
// and invalidates the previous one. It returns Conflict if an administrator can sign in.
func (u *Users) NewFirstLink(ctx context.Context) (token string, err error) {
	if err := u.auth.Store.View(ctx, checkNoAdmins); err != nil {
		return "", err
	}
	token, link, err := u.newPasswordLink(false)
	if err != nil {
		return "", err
	}
	u.first.set(link)
	return token, nil
}

// checkNoAdmins returns Conflict if an administrator can sign in.
func checkNoAdmins(t *store.Tx) error {
	list, err := t.Users()
	if err != nil {
		return err
	}
	for _, user := range list {
		if user.CanSignIn() && user.Role.Can(model.PermAdmin) {
			return errHasAdmins
		}
	}
	return nil
}

// HasAdmin reports whether an administrator can sign in. Once true, the result is cached
// until the next start, because the last administrator can't be removed.
func (u *Users) HasAdmin(ctx context.Context) (bool, error) {
	if u.first.hasAdmin.Load() {
		return true, nil
	}
	err := u.auth.Store.View(ctx, checkNoAdmins)
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, errHasAdmins):
		u.first.hasAdmin.Store(true)
		return true, nil
	}
	return false, err
}

// Invitation describes what a one-time link is for.
type Invitation struct {
	Name  string // name of the user who chooses a password; "" for the first administrator, who also chooses a name
	First bool
	Reset bool // whether the user had a password before
	Admin bool // whether the user is an administrator
}

// Invitation returns the invitation for a token. The token can still be used afterward.
// It returns NotFound if the token is invalid or expired.
func (u *Users) Invitation(ctx context.Context, token string) (in Invitation, err error) {
	err = u.auth.Store.View(ctx, func(t *store.Tx) error {
		user, first, err := u.findInvited(t, tokenHash(token))
		in = Invitation{Name: user.Name, First: first, Reset: user.PasswordLink != nil && user.PasswordLink.Reset,
			Admin: first || user.Role == model.RoleAdmin}
		return err
	})
	if err != nil {
		return Invitation{}, err
	}
	return in, nil
}

// findInvited returns the user that a link belongs to. It scans all users, because there
// are few.
func (u *Users) findInvited(t *store.Tx, hash string) (user model.User, first bool, err error) {
	now := u.auth.Now()
	if hash == "" {
		return user, false, errLink
	}
	if u.first.matches(hash, now) {
		if checkNoAdmins(t) != nil {
			return user, false, errLink
		}
		return user, true, nil
	}
	list, err := t.Users()
	if err != nil {
		return user, false, err
	}
	for _, user := range list {
		if user.Enabled() && user.PasswordLink.Active(now) && user.PasswordLink.Hash == hash {
			return user, false, nil
		}
	}
	return user, false, errLink
}

// AcceptDraft contains the form values submitted from a one-time link. Name is used only
// for the first administrator.
type AcceptDraft struct {
	Name, Password, Address string
}

// Accept sets the password of the user that a one-time link belongs to, and invalidates
// the link. It returns NotFound if the link is invalid. It returns Invalid if the
// password or name breaks a rule, and the link then stays valid.
func (u *Users) Accept(ctx context.Context, token string, draft AcceptDraft) (user model.User, err error) {
	in, err := u.Invitation(ctx, token)
	if err != nil {
		return user, err
	}
	admin, problems := model.UserDraft{Name: draft.Name, Role: model.RoleAdmin, Password: &draft.Password}.Check(u.auth.Now())
	name := draft.Name
	if !in.First {
		name, problems = in.Name, model.CheckPassword(draft.Password)
	}
	if err := u.checkPasswordStrength(problems, name, draft.Password); err != nil {
		return user, err
	}
	password, err := u.hashPassword(ctx, draft.Address, draft.Password)
	if err != nil {
		return user, err
	}
	hash := tokenHash(token)
	err = u.auth.StoreFromReserve(ctx, func(t *store.Tx) (err error) {
		var first bool
		if user, first, err = u.findInvited(t, hash); err != nil || !first {
			return err
		}
		user = admin
		return u.checkNameAvailable(t, user.Name, 0)
	}, func(t *store.Tx) error { return u.saveAccepted(t, &user, password, draft) })
	if err != nil {
		return model.User{}, err
	}
	if in.First {
		u.first.set(nil)
	}
	return user, nil
}

// saveAccepted stores the password of an invited user. For the first administrator, it
// also creates the user.
func (u *Users) saveAccepted(t *store.Tx, user *model.User, password string, draft AcceptDraft) (err error) {
	kind, detail := "user.password_set", map[string]string(nil)
	if user.ID == 0 {
		kind, detail = "user.created", map[string]string{"name": user.Name, "role": string(user.Role), "by": "first link"}
		if user.ID, err = t.NewUserID(); err != nil {
			return err
		}
	} else {
		user.Version++
	}
	user.Password, user.PasswordLink = password, nil
	if err := t.PutUser(*user); err != nil {
		return err
	}
	actor := userActor(*user)
	actor.Address = draft.Address
	err = u.event(t, actor, *user, kind, detail)
	return err
}
