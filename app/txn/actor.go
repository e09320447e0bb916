package txn

import (
	"context"
	"encoding/hex"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Errors for an actor without the required permission.
var (
	ErrUnauthenticated = &errs.Error{Kind: errs.Unauthenticated, Message: "Unauthenticated."}
	ErrRole            = &errs.Error{Kind: errs.Forbidden, Message: "Your role doesn't allow this."}
	ErrMustEnroll      = &errs.Error{Kind: errs.Forbidden, Message: "Set up two-factor authentication first."}
	ErrKeyNotAllowed   = &errs.Error{Kind: errs.Forbidden, Message: "API keys can't do this."}
)

// CheckActor returns an error if the actor's API key has expired or was revoked, or if the
// user of the actor's session isn't allowed to make changes. CLI commands and the server
// itself are always allowed.
func (db *DB) CheckActor(t *store.Tx, actor model.Actor) error {
	switch actor.Kind {
	case model.ActorKey:
	case model.ActorUser:
		return db.Authorize(t, actor, model.PermWrite)
	default:
		return nil
	}
	key, err := t.Key(actor.ID)
	if err == nil && !key.Active(db.Now()) {
		return ErrUnauthenticated
	}
	return err
}

// Authorize returns an error unless the user has the permission according to the records in
// this transaction. Since the request started, the session may have ended, the user may
// have been disabled, or the role may have changed.
func (db *DB) Authorize(t *store.Tx, actor model.Actor, permission model.Permission) error {
	user, err := db.CurrentUser(t, actor)
	switch {
	case err != nil:
		return err
	case db.MustEnroll(user):
		return ErrMustEnroll
	case !user.Role.Can(permission):
		return ErrRole
	}
	return nil
}

// CurrentUser returns the user of the actor's session, or ErrUnauthenticated if the session
// isn't valid.
func (db *DB) CurrentUser(t *store.Tx, actor model.Actor) (user model.User, err error) {
	hash, err := hex.DecodeString(actor.Session)
	if err != nil || actor.Kind != model.ActorUser {
		return user, ErrUnauthenticated
	}
	user, session, err := db.LiveSession(t, hash)
	if err == nil && session.UserID != actor.ID {
		err = ErrUnauthenticated
	}
	return user, err
}

// LiveSession returns the session whose token has this hash, and its user. It returns
// ErrUnauthenticated if the session has expired or the user isn't allowed to sign in.
func (db *DB) LiveSession(t *store.Tx, hash []byte) (user model.User, session model.Session, err error) {
	session, found, err := t.Session(hash)
	if err != nil {
		return user, session, err
	}
	if !found {
		return user, session, ErrUnauthenticated
	}
	session.LastSeenAt = db.LastSeen(session)
	if !session.Active(db.Now(), db.SessionLimits()) {
		return user, session, ErrUnauthenticated
	}
	user, err = t.User(session.UserID)
	if errs.KindOf(err) == errs.NotFound || err == nil && !user.CanSignIn() {
		err = ErrUnauthenticated
	}
	return user, session, err
}

// MustEnroll reports whether the user must set up two-factor authentication because the
// configuration requires it and the user hasn't set it up yet.
func (db *DB) MustEnroll(user model.User) bool {
	return db.RequireTwoFactor() && user.TwoFactor == nil
}

// AuthorizeAdmin returns an error unless the actor is allowed to administer the vault. CLI
// commands, the server itself, and users with that permission are.
func (db *DB) AuthorizeAdmin(t *store.Tx, actor model.Actor) error {
	switch actor.Kind {
	case model.ActorUser:
		return db.Authorize(t, actor, model.PermAdmin)
	case model.ActorKey:
		return ErrKeyNotAllowed
	}
	return nil
}

// UpdateAsAdmin is like UpdateFromReserve but returns an error unless the actor is allowed to
// administer the vault.
func (db *DB) UpdateAsAdmin(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	return db.StoreFromReserve(ctx, func(t *store.Tx) error {
		if err := db.AuthorizeAdmin(t, actor); err != nil || check == nil {
			return err
		}
		return check(t)
	}, write)
}

// WriteAsAdmin is like Write but returns an error unless the actor is allowed to administer
// the vault.
func (db *DB) WriteAsAdmin(ctx context.Context, actor model.Actor, check, write func(*store.Tx) error) error {
	if err := db.CheckSpace(); err != nil {
		return err
	}
	return db.UpdateAsAdmin(ctx, actor, check, write)
}

// ViewAsAdmin runs read in a read transaction. It returns an error unless the actor is
// allowed to administer the vault.
func (db *DB) ViewAsAdmin(ctx context.Context, actor model.Actor, read func(*store.Tx) error) error {
	return db.Store.View(ctx, func(t *store.Tx) error {
		if err := db.AuthorizeAdmin(t, actor); err != nil || read == nil {
			return err
		}
		return read(t)
	})
}
