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
	srv := newTestServer(t)
	key := srv.keys["full"]
	request := func(status int, header ...string) {
		t.Helper()
		r := call{method: "GET", path: "/v1/order-fields", header: header, status: status}
		if status == 401 {
			r.want, r.headers = unauthenticated, map[string]string{"Www-Authenticate": "Bearer"}
		}
		srv.do(t, r)
	}
	for _, good := range []string{"Bearer " + key, "bearer " + key, "BEARER   " + key, "Bearer\t" + key, "bEaReR \t " + key + "  "} {
		request(200, "Authorization: "+good)
	}
	for _, bad := range []string{key, "Bearer", "Bearer ", "Basic " + key, "Bearer" + key, "Bearer " + key + " x",
		"Bearer " + key + "," + key, "Bearer " + key[:len(key)-1],
		"Bearer " + strings.ToLower(key), "Bearer \"" + key + "\"", "Token " + key, "Bearer " + key[:20] + " " + key[20:],
		"Bearer " + strings.Repeat("x", 3000)} {
		request(401, "Authorization: "+bad)
	}
	request(401, "Authorization: Bearer "+key, "Authorization: Bearer "+key)
	request(401, "Authorization: Bearer "+key, "Authorization: Basic eA==")
	request(401, "X-Api-Key: "+key)
	request(401, "Cookie: token="+key)
	request(401, "Proxy-Authorization: Bearer "+key)
	srv.do(t, call{method: "GET", path: "/v1/order-fields?api_key=" + key + "&access_token=" + key, status: 401})
}

// A key stops working at exactly its expiration time.
func TestKeysExpire(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, call{as: "expired", method: "GET", path: "/v1/order-fields", status: 401})
	srv.clock.Advance(-time.Hour - time.Microsecond)
	srv.do(t, call{as: "expired", method: "GET", path: "/v1/order-fields", status: 200})
	srv.clock.Advance(time.Microsecond)
	srv.do(t, call{as: "expired", method: "GET", path: "/v1/order-fields", status: 401})
}

// Each request fails one check and all later ones. The response is for the first failed
// check.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.api.FailingKeys, cfg.api.Requests, cfg.api.Limits.JSON = 1, 3, 40
	})
	bad := strings.Repeat("{", 41)
	srv.runCalls(t, []call{
		{name: "no key", method: "POST", path: "/v1/nowhere", body: bad, status: 401},
		{name: "first failing key", as: "bad", method: "POST", path: "/v1/nowhere", body: bad, status: 401},
		{name: "rate of failing keys", as: "bad", method: "POST", path: "/v1/nowhere", body: bad, status: 429},
		{name: "ability", as: "read", method: "POST", path: "/v1/nowhere", body: bad, status: 403},
		{name: "route", as: "full", method: "POST", path: "/v1/nowhere", body: bad, status: 404},
		{name: "method", as: "full", method: "PUT", path: "/v1/orders", body: bad, status: 405},
		{name: "media type", as: "full", method: "POST", path: "/v1/orders", header: []string{"Content-Type: text/plain"}, body: bad,
			status: 415},
		{name: "rate of the key", as: "full", method: "POST", path: "/v1/nowhere", body: bad, status: 429},
		{name: "size", as: "other", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: bad, status: 413},
		{name: "form", as: "other", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: bad[:40], status: 400},
		{name: "fields", as: "other", method: "POST", path: "/v1/orders", header: []string{asJSON}, body: "{}", status: 422},
	})
}

func TestFailingKeys(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	get := func(as string, status int, header ...string) reply {
		t.Helper()
		return srv.do(t, call{as: as, method: "GET", path: "/v1/order-fields", status: status, header: header})
	}
	for i := range 70 {
		get("", 401) // a request without a key is not a failed key check
		if i < 60 {
			get([]string{"bad", "revoked", "expired"}[i%3], 401)
		}
	}
	srv.clock.Advance(20*time.Second + time.Millisecond)
	got := get("bad", 429)
	if got.Header.Get("Retry-After") != "40" || got.Header.Get("X-Ratelimit-Limit") != "60" || got.Header.Get("X-Ratelimit-Remaining") != "0" {
		t.Errorf("headers = %v, want Retry-After 40, limit 60, remaining 0", got.Header)
	}
	get("full", 200) // failures of other keys do not affect a valid key
	get("read", 200)
	get("", 401)
	get("bad", 429, "X-Forwarded-For: 192.0.2.7") // the header is ignored because it doesn't come from a trusted proxy
	srv.clock.Advance(40 * time.Second)
	get("bad", 401)
}

// With a trusted proxy, a failed key check counts toward the client address that the proxy
// reports. For an IPv6 address, it counts toward the /64 network.
func TestFailingKeysBehindProxy(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.api.FailingKeys, cfg.api.TrustedProxies = 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	from := func(status int, hops string) {
		t.Helper()
		srv.do(t, call{as: "bad", method: "GET", path: "/v1/order-fields", status: status, header: []string{"X-Forwarded-For: " + hops}})
	}
	from(401, "192.0.2.7")
	from(429, "192.0.2.7")
	from(429, "198.51.100.1, 192.0.2.7") // a client can forge the hops before the last untrusted one
	from(429, "192.0.2.7, 10.1.1.1")
	from(401, "192.0.2.8")
	from(401, "2001:db8::1")
	from(429, "2001:db8::ffff:1")
	from(401, "2001:db8:0:1::1")
	from(401, "nonsense") // counts toward the address of the proxy
	from(429, "192.0.2.99, more nonsense")
}

func TestRequestRate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.api.Requests = 2 })
	get := func(as string, status int, left string) {
		t.Helper()
		srv.do(t, call{as: as, method: "GET", path: "/v1/order-fields", status: status,
			headers: map[string]string{"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": left}})
	}
	get("full", 200, "1")
	get("full", 200, "0")
	srv.clock.Advance(time.Second)
	get("full", 429, "0")
	get("other", 200, "1")
	srv.clock.Advance(59 * time.Second)
	get("full", 200, "1")
}

// All unknown keys get the same response.
func TestUnknownKeysGetSameResponse(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.api.FailingKeys = 0 })
	for i := range 30 {
		key, err := secret.NewAPIKey(strings.NewReader(strings.Repeat(strconv.Itoa(i%10), 32+i)))
		if err != nil {
			t.Fatalf("secret.NewAPIKey: %v", err)
		}
		srv.do(t, call{as: fmt.Sprintf("Authorization: Bearer %s", key), method: "GET", path: "/v1/order-fields", status: 401,
			want: unauthenticated})
	}
}
