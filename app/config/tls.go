package config

import (
	"net"
	"net/netip"
	"strings"
)

// tlsConflicts reports TLS settings that contradict each other.
func (c Config) tlsConflicts() (problems Problems) {
	t := c.TLS
	reject := func(key, reason string) { problems = append(problems, Problem{Key: key, Reason: reason}) }
	switch {
	case t.Cert == "" && t.Key != "":
		reject("tls.key", "is a key without a certificate; set tls.cert too")
	case t.Cert != "" && t.Key == "":
		reject("tls.cert", "is a certificate without a key; set tls.key too")
	case t.Cert != "" && t.SelfSigned:
		reject("tls.self_signed", "there is a certificate in tls.cert already; set one of the two")
	}
	if !t.Enabled() && t.RedirectListen != "" {
		reject("tls.redirect_listen", "there is no https to send anybody to; set tls.cert and tls.key, or tls.self_signed")
	}
	if t.Enabled() && t.RedirectListen == c.Listen {
		reject("tls.redirect_listen", "is the address of listen, which does that already; leave it out")
	}
	if t.Enabled() && strings.HasPrefix(c.PublicURL, "http://") {
		reject("public_url", "must begin with https://, since tls is set")
	}
	return problems
}

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
