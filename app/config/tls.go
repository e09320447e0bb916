package config

import (
	"net"
	"net/netip"
	"strings"
)

// Warnings returns a sentence for each setting that is valid but risky. The sentence includes what to do.
func (c Config) Warnings() (list []string) {
	for _, p := range c.ignored {
		list = append(list, "ignored: "+p.String())
	}
	if c.TLS.Enabled() || c.OnLoopback() {
		return list
	}
	if len(c.TrustedProxies) > 0 {
		return append(list, "listen is "+c.Listen+
			" without TLS; anyone who can bypass the proxy can use it without encryption; "+
			"allow only the proxy in the firewall, or set tls.self_signed: true")
	}
	return append(list, "listen is "+c.Listen+" without TLS; anyone on the network can read API keys, passwords, and documents; "+
		"set tls.self_signed: true (office network) or tls.cert and tls.key, or listen on 127.0.0.1")
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
