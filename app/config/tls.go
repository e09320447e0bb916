package config

import (
	"net"
	"net/netip"
	"strings"
)

// Warnings returns a sentence for each setting that is valid but risky. The sentence includes what to do.
func (c Config) Warnings() (list []string) {
	if c.TLS.Enabled() || c.OnLoopback() {
		return nil
	}
	if len(c.TrustedProxies) > 0 {
		return []string{"listen is " + c.Listen +
			" without TLS: whoever can reach it beside the proxy sends and reads keys and documents in the clear; " +
			"let a firewall admit the proxy alone, or set tls.self_signed: true"}
	}
	return []string{"listen is " + c.Listen + " without TLS: keys, passwords and documents can be read by anybody on the way; " +
		"set tls.self_signed: true (office network) or tls.cert and tls.key, or listen on 127.0.0.1"}
}

// OnLoopback reports whether the listen address can be reached only from this machine.
func (c Config) OnLoopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
