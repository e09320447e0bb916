package api_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/secret"
)

func TestCredentials(t *testing.T) {
	t.Parallel()
	h := open(t)
	key := h.keys["full"]
	ask := func(status int, header ...string) {
		t.Helper()
		r := row{method: "GET", path: "/v1/order-fields", header: header, status: status}
		if status == 401 {
			r.want, r.headers = unauthenticated, map[string]string{"Www-Authenticate": "Bearer"}
		}
		h.ask(t, r)
	}
	for _, good := range []string{"Bearer " + key, "bearer " + key, "BEARER   " + key, "Bearer\t" + key, "bEaReR \t " + key + "  "} {
		ask(200, "Authorization: "+good)
	}
	for _, bad := range []string{key, "Bearer", "Bearer ", "Basic " + key, "Bearer" + key, "Bearer " + key + " x", "Bearer " + key + "," + key, "Bearer " + key[:len(key)-1],
		"Bearer " + strings.ToLower(key), "Bearer \"" + key + "\"", "Token " + key, "Bearer " + key[:20] + " " + key[20:], "Bearer " + strings.Repeat("x", 3000)} {
		ask(401, "Authorization: "+bad)
	}
	ask(401, "Authorization: Bearer "+key, "Authorization: Bearer "+key)
	ask(401, "Authorization: Bearer "+key, "Authorization: Basic eA==")
	ask(401, "X-Api-Key: "+key)
	ask(401, "Cookie: token="+key)
	ask(401, "Proxy-Authorization: Bearer "+key)
	h.ask(t, row{method: "GET", path: "/v1/order-fields?api_key=" + key + "&access_token=" + key, status: 401})
}

// A key that ends is refused from that second on, and a revoked one at once.
func TestKeysEnd(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ask(t, row{as: "expired", method: "GET", path: "/v1/order-fields", status: 401})
	h.clock.Advance(-time.Hour - time.Microsecond)
	h.ask(t, row{as: "expired", method: "GET", path: "/v1/order-fields", status: 200})
	h.clock.Advance(time.Microsecond)
	h.ask(t, row{as: "expired", method: "GET", path: "/v1/order-fields", status: 401})
}

// The order of checks: each row breaks its rule and all that come later.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) {
		s.api.FailingKeys, s.api.Requests, s.api.Limits.JSON = 1, 3, 40
	})
	bad := strings.Repeat("{", 41)
	h.run(t, []row{
		{name: "no key", method: "POST", path: "/v1/nowhere", body: bad, status: 401},
		{name: "first failing key", as: "bad", method: "POST", path: "/v1/nowhere", body: bad, status: 401},
		{name: "rate of failing keys", as: "bad", method: "POST", path: "/v1/nowhere", body: bad, status: 429},
		{name: "ability", as: "read", method: "POST", path: "/v1/nowhere", body: bad, status: 403},
		{name: "route", as: "full", method: "POST", path: "/v1/nowhere", body: bad, status: 404},
		{name: "method", as: "full", method: "PUT", path: "/v1/orders", body: bad, status: 405},
		{name: "media type", as: "full", method: "POST", path: "/v1/orders", header: []string{"Content-Type: text/plain"}, body: bad, status: 415},
		{name: "rate of the key", as: "full", method: "POST", path: "/v1/nowhere", body: bad, status: 429},
		{name: "size", as: "other", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: bad, status: 413},
		{name: "form", as: "other", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: bad[:40], status: 400},
		{name: "fields", as: "other", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: "{}", status: 422},
	})
}

func TestFailingKeys(t *testing.T) {
	t.Parallel()
	h := open(t)
	get := func(as string, status int, header ...string) reply {
		t.Helper()
		return h.ask(t, row{as: as, method: "GET", path: "/v1/order-fields", status: status, header: header})
	}
	for i := range 70 {
		get("", 401) // a request without a key does not count
		if i < 60 {
			get([]string{"bad", "revoked", "expired"}[i%3], 401)
		}
	}
	h.clock.Advance(20*time.Second + time.Millisecond)
	got := get("bad", 429)
	if got.Header.Get("Retry-After") != "40" || got.Header.Get("X-Ratelimit-Limit") != "60" || got.Header.Get("X-Ratelimit-Remaining") != "0" {
		t.Errorf("headers %v", got.Header)
	}
	get("full", 200) // never refused for another's failures
	get("read", 200)
	get("", 401)
	get("bad", 429, "X-Forwarded-For: 192.0.2.7") // a stranger's word
	h.clock.Advance(40 * time.Second)
	get("bad", 401)
}

// Behind a trusted proxy, failures count for the address that the proxy names; of
// IPv6 for its /64.
func TestFailingKeysBehindProxy(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) {
		s.api.FailingKeys, s.api.TrustedProxies = 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	from := func(status int, hops string) {
		t.Helper()
		h.ask(t, row{as: "bad", method: "GET", path: "/v1/order-fields", status: status, header: []string{"X-Forwarded-For: " + hops}})
	}
	from(401, "192.0.2.7")
	from(429, "192.0.2.7")
	from(429, "198.51.100.1, 192.0.2.7") // what stands before the last stranger is his word
	from(429, "192.0.2.7, 10.1.1.1")
	from(401, "192.0.2.8")
	from(401, "2001:db8::1")
	from(429, "2001:db8::ffff:1")
	from(401, "2001:db8:0:1::1")
	from(401, "nonsense") // the proxy's own address counts
	from(429, "192.0.2.99, more nonsense")
}

func TestRequestRate(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.api.Requests = 2 })
	get := func(as string, status int, left string) {
		t.Helper()
		h.ask(t, row{as: as, method: "GET", path: "/v1/order-fields", status: status, headers: map[string]string{"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": left}})
	}
	get("full", 200, "1")
	get("full", 200, "0")
	h.clock.Advance(time.Second)
	get("full", 429, "0")
	get("other", 200, "1")
	h.clock.Advance(59 * time.Second)
	get("full", 200, "1")
}

// A revoked key ends while requests go on.
func TestUnknownKeysAreAllAlike(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.api.FailingKeys = 0 })
	for i := range 30 {
		key, err := secret.NewAPIKey(strings.NewReader(strings.Repeat(strconv.Itoa(i%10), 32+i)))
		if err != nil {
			t.Fatal(err)
		}
		h.ask(t, row{as: fmt.Sprintf("Authorization: Bearer %s", key), method: "GET", path: "/v1/order-fields", status: 401, want: unauthenticated})
	}
}
