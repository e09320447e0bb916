package config

import (
	"net"
	"net/netip"
)

// Origin is the own address that links for people begin with: the setting public_url,
// else the address that is listened on, as a browser on this machine would reach it.
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
