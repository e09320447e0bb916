package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"deedkeep/app/certificate"
	"deedkeep/app/config"
)

// listeners holds the public listener and, with TLS, the listeners that redirect plain HTTP requests to it.
type listeners struct {
	address     string
	redirect    string
	certificate certificate.Source // nil without TLS
	open        []net.Listener
	drain       *drainer
	services    []service
}

// openListeners opens the configured listeners. If one can't be opened, it closes the others and returns an error that
// names the setting.
func openListeners(ctx context.Context, opts Options, public http.Handler, limiter *connLimiter) (f listeners, err error) {
	c := opts.Config
	f.drain = newDrainer()
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	listener, err := f.listen(ctx, c.Listen, listenSetting, limiter)
	if err != nil {
		return f, err
	}
	f.address = listener.Addr().String()
	if !c.TLS.Enabled() {
		f.add(opts, listener, public)
		return f, nil
	}
	var plain *limitedListener // nil if no other port redirects
	if c.TLS.RedirectListen != "" {
		if plain, err = f.listen(ctx, c.TLS.RedirectListen, redirectSetting, limiter); err != nil {
			return f, err
		}
		f.redirect = plain.Addr().String()
	}
	if f.certificate, err = f.openCertificate(opts); err != nil {
		return f, err
	}
	both := newTLSMux(listener, tlsConfig(f.certificate))
	redirectHandler := redirect(c, f.address, f.isOwn)
	if automatic, ok := f.certificate.(*certificate.Automatic); ok {
		redirectHandler = automatic.Challenges(redirectHandler)
	}
	f.add(opts, both.plain, redirectHandler) // first, so that shutdown stops it before the listener that owns the port
	f.add(opts, both, withHSTS(public, c.TLS))
	if plain != nil {
		f.add(opts, plain, redirectHandler)
	}
	return f, nil
}

func (li *listeners) add(opts Options, l net.Listener, h http.Handler) {
	li.services = append(li.services, service{l, newServer(opts, li.drain.wrap(h))})
}

// listen opens a listener that close closes.
func (li *listeners) listen(ctx context.Context, address, setting string, limiter *connLimiter) (*limitedListener, error) {
	l, err := listen(ctx, address, setting, limiter)
	if err == nil {
		li.open = append(li.open, l)
	}
	return l, err
}

// close closes listeners that no server uses.
func (li *listeners) close() (err error) {
	for _, l := range li.open {
		err = errors.Join(err, l.Close())
	}
	return err
}

// certificateInfo returns details of the current certificate, or nil without TLS.
func (li *listeners) certificateInfo() *certificate.Info {
	if li.certificate == nil {
		return nil
	}
	return new(li.certificate.Info())
}

// certificateExpires returns when the current certificate expires, or the zero time without TLS.
func (li *listeners) certificateExpires() time.Time {
	if li.certificate == nil {
		return time.Time{}
	}
	return li.certificate.Info().NotAfter
}

func (li *listeners) addresses() Addresses {
	return Addresses{Address: li.address, Redirect: li.redirect, Certificate: li.certificateInfo()}
}

func (li *listeners) openCertificate(opts Options) (certificate.Source, error) {
	c := opts.Config
	set := certificate.Options{Cert: c.TLS.Cert, Key: c.TLS.Key, Now: opts.Now, Rand: rand.Reader, Log: opts.Log}
	if c.TLS.SelfSigned || c.TLS.Automatic {
		set.Dir, set.Names = certificate.SelfSignedDir(opts.App.Dir), certificate.LocalNames(c.PublicURL)
		if address, err := url.Parse(c.PublicURL); err == nil {
			set.RequiredName = address.Hostname()
		}
	}
	live, err := li.openSource(c.TLS, set)
	if err != nil {
		return nil, fmt.Errorf("settings tls.*: %w", err)
	}
	return live, nil
}

func (li *listeners) openSource(t config.TLS, set certificate.Options) (certificate.Source, error) {
	if !t.Automatic {
		return certificate.Open(set)
	}
	from := certificate.Authority{Directory: t.ACMEDirectory, Email: t.Email}
	var err error
	if from.Listen, err = netip.ParseAddrPort(li.address); err != nil {
		return nil, err
	}
	if li.redirect != "" {
		plain, err := netip.ParseAddrPort(li.redirect)
		if err != nil {
			return nil, err
		}
		from.HTTPPort = int(plain.Port())
	}
	return certificate.OpenAutomatic(set.RequiredName, from, set)
}

// tlsConfig returns a configuration that requires TLS 1.2 and disables HTTP/2. HTTP/2 shares a connection between
// requests, but the server applies the minimum upload rate, deadlines, and connection slots per connection.
func tlsConfig(live certificate.Source) *tls.Config {
	protocols := []string{"http/1.1"}
	if _, ok := live.(*certificate.Automatic); ok {
		protocols = append(protocols, certificate.ProtocolALPN)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: live.GetCertificate, NextProtos: protocols}
}

// CheckAddresses returns an error that names the setting if the server can't listen on an address of c, for example
// because another program uses the port.
func CheckAddresses(ctx context.Context, c config.Config) error {
	limiter := newConnLimiter(c.Limits, c.Timeouts, c.TrustedProxies)
	public, err := listen(ctx, c.Listen, listenSetting, limiter)
	if err != nil {
		return err
	}
	defer public.Close() //nolint:errcheck // no connection was accepted
	if !c.TLS.Enabled() || c.TLS.RedirectListen == "" {
		return nil
	}
	plain, err := listen(ctx, c.TLS.RedirectListen, redirectSetting, limiter)
	if err != nil {
		return err
	}
	return plain.Close()
}

// The settings that listen names in its errors.
const (
	listenSetting   = "listen (--listen)"
	redirectSetting = "tls.redirect_listen"
)

// listen listens on a TCP address. Its error names the setting that configures the address.
func listen(ctx context.Context, address, setting string, limiter *connLimiter) (*limitedListener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with the setting %s", err, setting)
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(fmt.Errorf("listen on %s: not a TCP address", address), listener.Close())
	}
	return newLimitedListener(tcp, limiter), nil
}
