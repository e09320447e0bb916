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

// MaxKnownAddresses of one user are kept.
const MaxKnownAddresses = 10

// RememberAddress keeps from where the user signed in; the oldest addresses, and those that are
// not later than since, make room. The list is a new one: the record may be shared.
func (u *User) RememberAddress(network string, now, since time.Time) {
	list := []KnownAddress{{network, now}}
	for _, k := range u.KnownAddresses {
		if k.Network != network && k.At.After(since) {
			list = append(list, k)
		}
	}
	u.KnownAddresses = list[:min(len(list), MaxKnownAddresses)]
}

// KnowsAddress reports whether the user signed in from the network after since.
func (u User) KnowsAddress(network string, since time.Time) bool {
	return slices.ContainsFunc(u.KnownAddresses, func(k KnownAddress) bool { return k.Network == network && k.At.After(since) })
}
