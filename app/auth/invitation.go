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

// firstLink is the one-time link that creates the first administrator. It is kept in
// memory only; the server creates a new one at each start without an administrator.
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
	errLink      = &errs.Error{Kind: errs.NotFound, Message: "This link does not work, or not any more."}
	errHasAdmins = &errs.Error{Kind: errs.Conflict, Message: "There is an administrator already."}
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

// HasAdmin reports whether an administrator can sign in. A positive result is cached until
// the next start: the last administrator cannot be removed.
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

// Invitation describes the purpose of a one-time link.
type Invitation struct {
	Name  string // of the user who chooses a password; "" for the first administrator, who chooses a name too
	First bool
	Reset bool // the user had a password before
}

// Invitation returns the invitation of a token without using the token. It returns
// NotFound for an invalid or expired token.
func (u *Users) Invitation(ctx context.Context, token string) (in Invitation, err error) {
	err = u.auth.Store.View(ctx, func(t *store.Tx) error {
		user, first, err := u.findInvited(t, tokenHash(token))
		in = Invitation{Name: user.Name, First: first, Reset: user.PasswordLink != nil && user.PasswordLink.Reset}
		return err
	})
	if err != nil {
		return Invitation{}, err
	}
	return in, nil
}

// findInvited returns the user of a link. It scans all users; a firm has few.
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

// AcceptDraft is the form of a one-time link. Name is used only for the first
// administrator.
type AcceptDraft struct{ Name, Password, Address string }

// Accept sets the password of the user of a one-time link and invalidates the link. It
// returns NotFound for an invalid link, and Invalid for a password or name that breaks a
// rule; the link then stays valid.
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
	err = u.auth.Store.Update(ctx, func(t *store.Tx) (err error) {
		var first bool
		if user, first, err = u.findInvited(t, hash); err != nil || !first {
			return err
		}
		user = admin
		return u.checkNameAvailable(t, user.Name, 0)
	}, func(t *store.Tx) error { return u.saveAccepted(t, &user, password, draft.Address) })
	if err != nil {
		return model.User{}, err
	}
	if in.First {
		u.first.set(nil)
	}
	return user, nil
}

// saveAccepted stores the password of an invited user, and creates the first
// administrator.
func (u *Users) saveAccepted(t *store.Tx, user *model.User, password, address string) (err error) {
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
	actor.Address = address
	return u.event(t, actor, *user, kind, detail)
}
