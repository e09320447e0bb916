package model

import (
	"slices"
	"time"
)

// KnownAddress is a network from which a user signed in, as Network writes it, and when last.
type KnownAddress struct {
	Network string    `json:"network"`
	At      time.Time `json:"at"`
}

// MostKnownAddresses of one user are kept.
const MostKnownAddresses = 10

// SignedIn keeps from where the user signed in; the oldest addresses, and those that are
// not later than since, make room. The list is a new one: the record may be shared.
func (u *User) SignedIn(network string, now, since time.Time) {
	list := []KnownAddress{{network, now}}
	for _, k := range u.Known {
		if k.Network != network && k.At.After(since) {
			list = append(list, k)
		}
	}
	u.Known = list[:min(len(list), MostKnownAddresses)]
}

// KnownAt reports whether the user signed in from the network after since.
func (u User) KnownAt(network string, since time.Time) bool {
	return slices.ContainsFunc(u.Known, func(k KnownAddress) bool { return k.Network == network && k.At.After(since) })
}
