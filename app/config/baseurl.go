package config

import (
	"net"
	"net/netip"
)

// Origin returns the scheme and host of links to this server. This is public_url if it is set, otherwise the listen
// address as a browser on this machine can reach it.
func (c Config) Origin(address string) string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	scheme := "http://"
	if c.TLS.Enabled() {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return scheme + address
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + net.JoinHostPort(host, port)
}
