package auth

import (
	"context"
	"slices"
	"time"

	"deedkeep/app/model"
)

// admission is the result of counting a sign-in attempt. If the address has used up its
// attempts, addressWait is the time until it has new ones. Until then, only users known
// at the address can sign in. All others get the same response as for too many attempts,
// after the same amount of work.
//
// An attacker at such an address can find out whether any user signed in from it
// recently, because otherwise an attempt doesn't run Argon2. The attacker can't find out
// which user: the counters, the cost, and the response are the same for every username,
// unless the password is right and the user is known at the address.
//
// known means that any user signed in from the address recently. Such attempts go first in
// the queue of password checks. This doesn't depend on the username either.
type admission struct {
	keys        []throttleKey
	addressWait time.Duration
	known       bool
}

// admit counts an attempt if it is allowed. Otherwise, it returns how long to wait.
func (u *Users) admit(ctx context.Context, now time.Time, draft SignInDraft) (a admission, wait time.Duration, err error) {
	account, address := byAccount(draft.Name, draft.Address), byAddress(draft.Address)
	known, err := u.addressIsKnown(ctx, draft.Address, now)
	if err != nil {
		return admission{}, 0, err
	}
	if wait = u.throttle.acquire(now, account, address); wait == 0 {
		return admission{keys: []throttleKey{account, address}, known: known}, 0, nil
	}
	if !known || u.throttle.acquire(now, account) > 0 {
		return admission{}, wait, nil
	}
	return admission{keys: []throttleKey{account}, addressWait: wait, known: true}, 0, nil
}

// addressIsKnown reports whether any user signed in from the address recently. It scans
// all users, because there are few.
func (u *Users) addressIsKnown(ctx context.Context, address string, now time.Time) (bool, error) {
	list, err := u.List(ctx)
	return slices.ContainsFunc(list, func(user model.User) bool { return u.userKnowsAddress(user, address, now) }), err
}

// userKnowsAddress reports whether the user signed in from the address recently.
func (u *Users) userKnowsAddress(user model.User, address string, now time.Time) bool {
	from, since := network(address), now.Add(-u.auth.rules.KnownAddress())
	return slices.ContainsFunc(user.KnownAddresses, func(k model.KnownAddress) bool { return k.Network == from && k.At.After(since) })
}

// maxKnownAddresses is the maximum number of networks stored per user.
const maxKnownAddresses = 10

// rememberAddress adds the address to user. It drops addresses of too long ago, and then the oldest if there are more
// than maxKnownAddresses. It allocates a new list, because the record may be shared. The caller stores the record.
func (u *Users) rememberAddress(user *model.User, address string, now time.Time) {
	prefix, ttl := network(address), u.auth.rules.KnownAddress()
	if ttl == 0 || prefix == unknownNetwork {
		user.KnownAddresses = nil
		return
	}
	list := []model.KnownAddress{{Network: prefix, At: now}}
	for _, k := range user.KnownAddresses {
		if k.Network != prefix && k.At.After(now.Add(-ttl)) {
			list = append(list, k)
		}
	}
	user.KnownAddresses = list[:min(len(list), maxKnownAddresses)]
}
