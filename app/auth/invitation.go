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

// firstLink is the link under which the first administrator is made. It is kept in
// memory alone: a start without an administrator makes a new one.
type firstLink struct {
	mu       sync.Mutex
	link     *model.PasswordLink
	hasAdmin atomic.Bool // there was an administrator already
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

// NewFirstLink gives the token of a one-time link under which the first administrator
// is made, with a name of his choice; the one before ends. Conflict when there is an
// administrator who can sign in.
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

// checkNoAdmins is Conflict when an administrator can sign in.
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

// HasAdmin reports whether there is an administrator who can sign in. Once there was
// one it costs nothing more: the last one may be given a new link, but is not taken
// away, and only another start may find another database.
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

// Invitation is what a one-time link is for.
type Invitation struct {
	Name  string // of the user who chooses a password; "" for the first administrator, who chooses a name too
	First bool
	Reset bool // there was a password before
}

// Invitation says what a token opens and uses nothing up; NotFound when that is nothing.
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

// findInvited finds who a link is for. A firm has few users; all are looked at.
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

// AcceptDraft is what whoever has a one-time link fills in. Name counts for the first
// administrator alone.
type AcceptDraft struct{ Name, Password, Address string }

// Accept uses a one-time link up: its user gets the password, and may sign in.
// NotFound for a link that opens nothing, Invalid for a password or name that breaks
// a rule, after which the link still works.
func (u *Users) Accept(ctx context.Context, token string, draft AcceptDraft) (user model.User, err error) {
	in, err := u.Invitation(ctx, token)
	if err != nil {
		return user, err
	}
	made, refused := model.UserDraft{Name: draft.Name, Role: model.RoleAdmin, Password: &draft.Password}.Check(u.auth.Now())
	name := draft.Name
	if !in.First {
		name, refused = in.Name, model.CheckPassword(draft.Password)
	}
	if err := u.checkPasswordStrength(refused, name, draft.Password); err != nil {
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
		user = made
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

// saveAccepted writes a user who has chosen a password.
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
