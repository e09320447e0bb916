package auth

import (
	"context"
	"slices"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// admission is what a try to sign in counts for. Where its address has had its tries,
// crowd is how long that lasts: then only a person known at the address gets in, and
// everyone else gets the response to too many tries, after the same work.
//
// What someone at a crowded address can learn: whether anyone signed in from that address
// lately, since elsewhere such a try costs no argon2. Not who: for a known name, for
// another user's, and for no one's, the same counters rise, argon2 runs once, and the
// response is the same, unless the password is right and the name known.
type admission struct {
	keys        []throttleKey
	addressWait time.Duration
}

// admit counts a try of an account from an address, or gives how long to wait.
func (u *Users) admit(ctx context.Context, now time.Time, draft SignInDraft) (a admission, wait time.Duration, err error) {
	account, address := byAccount(draft.Name, draft.Address), byAddress(draft.Address)
	if wait = u.throttle.acquire(now, account, address); wait == 0 {
		return admission{keys: []throttleKey{account, address}}, 0, nil
	}
	home, err := u.addressIsKnown(ctx, draft.Address, now)
	if err != nil || !home || u.throttle.acquire(now, account) > 0 {
		return admission{}, wait, err
	}
	return admission{keys: []throttleKey{account}, addressWait: wait}, 0, nil
}

// addressIsKnown reports whether anyone signed in from the address lately. A firm has few users;
// all are looked at.
func (u *Users) addressIsKnown(ctx context.Context, address string, now time.Time) (home bool, err error) {
	err = u.auth.Store.View(ctx, func(t *store.Tx) error {
		list, err := t.Users()
		home = slices.ContainsFunc(list, func(user model.User) bool { return u.userKnowsAddress(user, address, now) })
		return err
	})
	return home, err
}

// userKnowsAddress reports whether the user signed in from the address lately.
func (u *Users) userKnowsAddress(user model.User, address string, now time.Time) bool {
	return user.KnowsAddress(network(address), now.Add(-u.auth.rules.KnownAddress))
}

// rememberAddress keeps in the user's record, which signing in writes anyway, from where that was.
func (u *Users) rememberAddress(user *model.User, address string, now time.Time) {
	place, keep := network(address), u.auth.rules.KnownAddress
	if keep == 0 || place == unknownNetwork {
		user.KnownAddresses = nil
		return
	}
	user.RememberAddress(place, now, now.Add(-keep))
}
