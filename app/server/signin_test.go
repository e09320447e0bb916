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

// Two hundred addresses sign in at the same time, and use up their tries beside: a person
// gets in from another address, and from one that is known.
func TestSignInDuringAFlood(t *testing.T) {
	const password = "a long walk to the courthouse"
	set := vaulttest.Options(t)
	set.Dir, set.Now, set.Passwords = shortDir(t), time.Now, secret.Argon2Params{Memory: 256, Passes: 2, Lanes: 1}
	c := config.Default()
	c.Data, c.Listen, c.TrustedProxies = set.Dir, "127.0.0.1:0", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	r := serveWith(t, server.Options{Config: c, Vault: vaulttest.Open(t, set), Build: control.Build{Version: "test"}, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	first := password
	if _, _, err := r.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, model.UserDraft{Name: "owner", Role: model.RoleAdmin, Password: &first}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	signIn := func(name, password, address string) int {
		ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.address+"/sign-in", strings.NewReader(url.Values{"name": {name}, "password": {password}}.Encode()))
		if err != nil {
			t.Error(err)
			return 0
		}
		ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		ask.Header.Set("X-Forwarded-For", address)
		answer, err := transport.RoundTrip(ask)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer answer.Body.Close() //nolint:errcheck // read below
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Error(err)
		}
		return answer.StatusCode
	}
	const office = "192.0.2.7:4711"
	if got := signIn("owner", password, office); got != http.StatusSeeOther {
		t.Fatalf("the first sign-in: got %d, want 303", got)
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
			t.Errorf("try %d from the office: got %d, want 422", i, got)
		}
	}
	if got := signIn("owner", password, "192.0.2.7:99"); got != http.StatusSeeOther {
		t.Errorf("the owner from the office: got %d, want 303", got)
	}
	if got := signIn("owner", password, "198.51.100.9"); got != http.StatusSeeOther {
		t.Errorf("the owner from elsewhere: got %d, want 303", got)
	}
	if got := signIn("other", password, "192.0.2.7"); got != http.StatusTooManyRequests {
		t.Errorf("another name from the office: got %d, want 429", got)
	}
	flood.Wait()
}
