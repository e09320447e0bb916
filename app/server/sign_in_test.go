package server_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
)

// During a flood of failed sign-ins from 200 addresses, a user can sign in from a new address.
// The user can also sign in from an address that has used up its attempts, because the user has
// signed in from there before.
func TestSignInDuringAFlood(t *testing.T) {
	const password = "a long walk to the courthouse"
	vaultOpts := vaulttest.Options(t)
	vaultOpts.Dir, vaultOpts.Now, vaultOpts.Passwords = shortDir(t), time.Now, secret.Argon2Params{Memory: 256, Passes: 2, Lanes: 1}
	vaultOpts.Settings.Users.Queue.MaxWait = time.Minute // a slow machine delays answers, but changes none
	c := config.Default()
	c.Data, c.Listen, c.TrustedProxies = vaultOpts.Dir, "127.0.0.1:0", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	r := serveWith(t, server.Options{
		Config: c, App: vaulttest.Open(t, vaultOpts), Build: control.Build{Version: "test"}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	ownerPassword := password
	owner := model.UserDraft{Name: "owner", Role: model.RoleAdmin, Password: &ownerPassword}
	if _, _, err := r.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, owner); err != nil {
		t.Fatalf("create user: %v", err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	signIn := func(name, password, address string) int {
		form := url.Values{"name": {name}, "password": {password}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.address+"/sign-in", strings.NewReader(form.Encode()))
		if err != nil {
			t.Errorf("create request: %v", err)
			return 0
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", address)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Errorf("send request: %v", err)
			return 0
		}
		defer resp.Body.Close() //nolint:errcheck // read below
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("read body: %v", err)
		}
		return resp.StatusCode
	}
	const office = "192.0.2.7:4711"
	if got := signIn("owner", password, office); got != http.StatusSeeOther {
		t.Fatalf("first sign-in: got %d, want 303", got)
	}
	var flood sync.WaitGroup
	for i := range 200 {
		flood.Go(func() {
			if got := signIn("x", "wrong password", fmt.Sprintf("[2001:db8:%x::1]:9", i)); got != http.StatusUnprocessableEntity {
				t.Errorf("address %d: got %d, want 422", i, got)
			}
		})
	}
	for i := range 61 {
		if got := signIn(fmt.Sprint("random ", i), "wrong password", "192.0.2.7"); got != http.StatusUnprocessableEntity && i < 60 {
			t.Errorf("attempt %d from the office: got %d, want 422", i, got)
		}
	}
	if got := signIn("owner", password, "192.0.2.7:99"); got != http.StatusSeeOther {
		t.Errorf("owner from the office: got %d, want 303", got)
	}
	if got := signIn("owner", password, "198.51.100.9"); got != http.StatusSeeOther {
		t.Errorf("owner from a new address: got %d, want 303", got)
	}
	if got := signIn("other", password, "192.0.2.7"); got != http.StatusTooManyRequests {
		t.Errorf("other username from the office: got %d, want 429", got)
	}
	flood.Wait()
}
