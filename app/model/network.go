package model

import "net/netip"

// ClientNetwork is what counts as one address where somebody is counted or held up: with
// IPv6 the /64, which one subscriber has whole (RFC 6177), however the address is
// written. What is no address gives the zero Prefix.
func ClientNetwork(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	return netip.PrefixFrom(ip, min(ip.BitLen(), 64)).Masked()
}
