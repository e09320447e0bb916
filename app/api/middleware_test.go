package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, valid := range []string{"a", "A-b_c.9", strings.Repeat("x", 128)} {
		srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields", header: []string{"X-Request-Id: " + valid}, status: 200,
			headers: map[string]string{"X-Request-Id": valid}})
		srv.do(t, call{method: "GET", path: "/v1/nowhere", header: []string{"X-Request-Id: " + valid}, status: 401,
			headers: map[string]string{"X-Request-Id": valid}})
	}
	seen := map[string]bool{}
	for _, replaced := range []string{"", "two words", strings.Repeat("x", 129), "é", "a/b", `a"b`} {
		id := srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields", header: []string{"X-Request-Id: " + replaced},
			status: 200}).Header.Get("X-Request-Id")
		if id == replaced || seen[id] {
			t.Errorf("X-Request-Id %q is replaced by %q, want a new one", replaced, id)
		}
		seen[id] = true
	}
	two := srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields",
		header: []string{"X-Request-Id: one", "X-Request-Id: two"}, status: 200})
	if id := two.Header.Get("X-Request-Id"); id == "one" || id == "two" {
		t.Errorf("X-Request-Id of a request with two = %s, want a new one", id)
	}
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "Canary of the heirs.pdf", pdf(1))))
	srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/files/1?secret-of-the-query=1",
		header: []string{"X-Request-Id: r-17"}, status: 200})
	log := srv.log.String()
	for _, secret := range []string{"Canary", "secret-of-the-query", "heirs"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log contains %s", secret)
		}
	}
	at := slices.IndexFunc(strings.Split(log, "\n"), func(line string) bool { return strings.Contains(line, "r-17") })
	if at < 0 {
		t.Fatal("the log has no line with the request ID r-17 of the client")
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(strings.Split(log, "\n")[at]), &line); err != nil {
		t.Fatalf("json.Unmarshal: %v", err)
	}
	for name, want := range map[string]any{"method": "GET", "route": "/v1/file-vault/files/:n", "status": 200.0, "key": 1.0,
		"address": "127.0.0.1", "client_request_id": "r-17"} {
		t.Run(name, func(t *testing.T) {
			if line[name] != want {
				t.Errorf("%s = %v, want %v", name, line[name], want)
			}
		})
	}
	if id, _ := line["request_id"].(string); len(id) != 20 || strings.Contains(id, "r-17") {
		t.Errorf("request_id = %q, want 20 characters that the server chose", id)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	off, on := newTestServer(t), newTestServer(t, func(cfg *testConfig) { cfg.api.Origins = []string{"https://desk.test"} })
	preflight := []string{"Origin: https://desk.test", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"}
	for _, method := range []string{"GET", "OPTIONS"} {
		r := call{as: "full", method: method, path: "/v1/order-fields", header: preflight, status: 200}
		if method == "OPTIONS" {
			r.as, r.status = "", 204
		}
		got := off.do(t, r)
		for name := range got.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("response has the header %s, want none without the setting", name)
			}
		}
		r.headers = map[string]string{"Access-Control-Allow-Origin": "https://desk.test"}
		got = on.do(t, r)
		if got.Header.Get("Access-Control-Allow-Credentials") != "" || !slices.Contains(got.Header.Values("Vary"), "Origin") {
			t.Errorf("headers = %v, want Vary: Origin and no Access-Control-Allow-Credentials", got.Header)
		}
		for _, name := range []string{"ETag", "X-Ignored-Fields", "X-Error-Code", "Idempotent-Replayed", "X-Request-Id", "Retry-After"} {
			if !slices.Contains(strings.Split(got.Header.Get("Access-Control-Expose-Headers"), ", "), name) {
				t.Errorf("Access-Control-Expose-Headers lacks %s: %v", name, got.Header)
			}
		}
		for _, name := range []string{"Authorization", "Idempotency-Key", "If-Match", "Content-Type"} {
			if method == "OPTIONS" && !slices.Contains(strings.Split(got.Header.Get("Access-Control-Allow-Headers"), ", "), name) {
				t.Errorf("Access-Control-Allow-Headers lacks %s: %v", name, got.Header)
			}
		}
		if method == "OPTIONS" && got.Header.Get("Access-Control-Allow-Methods") != "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" {
			t.Errorf("Access-Control-Allow-Methods = %q, want all methods of the API", got.Header.Get("Access-Control-Allow-Methods"))
		}
		for _, other := range []string{"https://evil.test", "https://desk.test.evil.test", "null", "https://DESK.test:444"} {
			r.header, r.headers = []string{"Origin: " + other}, map[string]string{"Access-Control-Allow-Origin": ""}
			if got := on.do(t, r); !slices.Contains(got.Header.Values("Vary"), "Origin") {
				t.Errorf("Vary = %q, want it to contain Origin", got.Header.Values("Vary"))
			}
		}
	}
	// Error responses have CORS headers, so browsers let pages read them.
	on.do(t, call{method: "GET", path: "/v1/order-fields", header: preflight[:1], status: 401,
		headers: map[string]string{"Access-Control-Allow-Origin": "https://desk.test"}})
}

func TestGzip(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, c := range []struct{ accept, encoding string }{
		{"gzip", "gzip"}, {"GZIP, br", "gzip"}, {"br;q=1, gzip;q=0.1", "gzip"}, {"*", "gzip"}, {"gzip;q=0", ""}, {"*;q=0", ""},
		{"gzip;q=0, *", ""}, {"identity", ""}, {"", ""}, {"xgzip", ""},
	} {
		t.Run(c.accept, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				srv.do(t, call{as: "full", method: method, path: "/v1/abstract-templates", header: []string{"Accept-Encoding: " + c.accept},
					status:  200,
					headers: map[string]string{"Content-Encoding": c.encoding, "Vary": "Accept-Encoding"}})
			}
		})
	}
	plain := srv.do(t, call{as: "full", method: "GET", path: "/v1/abstract-templates", status: 200})
	srv.do(t, call{as: "full", method: "GET", path: "/v1/abstract-templates", header: []string{"Accept-Encoding: gzip"}, status: 200,
		want: string(plain.body)})
	srv.do(t, call{method: "GET", path: "/v1/abstract-templates", header: []string{"Accept-Encoding: gzip"}, status: 401,
		want: unauthenticated})
}

// The server ignores the Accept header.
func TestAccept(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, accept := range []string{"text/html", "application/xml;q=1", "nonsense", "application/json"} {
		srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields", header: []string{"Accept: " + accept}, status: 200})
	}
}
