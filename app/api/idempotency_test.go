package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

const idempotencyHeader = "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324"

// doTwice sends two calls with the same idempotency key and checks that both get the same
// response.
func (srv *testServer) doTwice(t *testing.T, first, again call) reply {
	t.Helper()
	first.header = append(first.header[:len(first.header):len(first.header)], idempotencyHeader)
	again.header = append(again.header[:len(again.header):len(again.header)], idempotencyHeader)
	got := srv.do(t, first)
	if got.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("headers of the first response = %v, want it not replayed", got.Header)
	}
	srv.clock.Advance(time.Second)
	again.status, again.want, again.has = first.status, "", nil
	again.headers = map[string]string{"Idempotent-Replayed": "true", "ETag": got.Header.Get("ETag")}
	if second := srv.do(t, again); string(second.body) != string(got.body) {
		t.Errorf("second body = %s, want %s", second.body, got.body)
	}
	return got
}

// checkCounts checks how many abstracts, orders, and files are stored.
func (srv *testServer) checkCounts(t *testing.T, abstracts, orders, files int) {
	t.Helper()
	s, err := srv.vault.Status(t.Context())
	if err != nil || int(s.Abstracts) != abstracts || int(s.Orders) != orders || int(s.Files) != files {
		t.Errorf("Status() = %d abstracts, %d orders, %d files, %v, want %d, %d, %d", s.Abstracts, s.Orders, s.Files, err, abstracts,
			orders, files)
	}
}

// For each POST operation in the API description, a retry gets the response of the first
// request.
func TestIdempotencyOfEveryPOST(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstractID := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, abstractCall(201, ""))).Data.ID
	orderID := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-0"}`, 201, ""))).Data.ID
	srv.do(t, uploadCall("full", 201, filePart("files", "t.pdf", pdf(1))))
	for _, path := range []string{"/v1/abstracts/" + abstractID, "/v1/orders/" + orderID, "/v1/file-vault/files/1"} {
		srv.do(t, call{as: "full", method: "DELETE", path: path, status: 204})
	}
	form := formBody(fieldPart("city", "Salem"), filePart("files[]", "a.pdf", pdf(2)), filePart("files[]", "b.exe", "MZ"))
	rows := map[string]call{
		"/abstracts": {header: []string{asForm}, body: form, status: 201},
		"/abstracts/bulk": {header: []string{asJSON}, status: 200,
			body: `{"ids":["` + abstractID + `"],"action":"restore"}`},
		"/orders/bulk":                         {header: []string{asJSON}, body: `{"ids":["` + orderID + `"],"action":"restore"}`, status: 200},
		"/file-vault/files/bulk":               {header: []string{asJSON}, body: `{"ids":[1],"set":{"filename":"b.pdf"}}`, status: 200},
		"/file-vault/files/pages":              {header: []string{asJSON}, body: `{"name":"Split","parts":[{"file_id":1}]}`, status: 202},
		"/instruments/bulk":                    {header: []string{asJSON}, body: `{"ids":[1,2],"set":{"book":"9"}}`, status: 200},
		"/abstracts/{id}/restore":              {status: 200},
		"/views":                               {header: []string{asJSON}, body: `{"name":"x","record":"orders"}`, status: 201},
		"/abstracts/{id}/files":                {header: []string{asForm}, body: form, status: 201},
		"/orders":                              {header: []string{asJSON}, body: `{"order_number":"T-1"}`, status: 201},
		"/orders/{id}/restore":                 {status: 200, header: []string{asJSON}, body: `{}`},
		"/file-vault/folders":                  {header: []string{asJSON}, body: `{"name":"Deeds"}`, status: 201},
		"/file-vault/upload":                   {header: []string{asForm}, body: form, status: 201},
		"/file-vault/files/{n}/restore":        {status: 200},
		"/abstracts/{id}/instruments":          {header: []string{asJSON}, body: `{"book":"1"}`, status: 201},
		"/abstracts/{id}/notes":                {header: []string{asJSON}, body: `{"text":"x"}`, status: 201},
		"/orders/{id}/notes":                   {header: []string{asJSON}, body: `{"text":"x"}`, status: 201},
		"/file-vault/files/{n}/notes":          {header: []string{asJSON}, body: `{"text":"x"}`, status: 201},
		"/instruments/{n}/restore":             {status: 200},
		"/notes/{n}/restore":                   {status: 200},
		"/abstracts/{id}/certificate":          {header: []string{asJSON}, body: `{"effective_date":"2026-05-01"}`, status: 201},
		"/abstracts/{id}/bring-down":           {status: 201},
		"/abstracts/{id}/certificate/{n}/void": {header: []string{asJSON}, body: `{"reason":"Wrong date"}`, status: 200},
	}
	paths := []string{"/abstracts/{id}/restore", "/abstracts", "/abstracts/{id}/files", "/orders", "/orders/{id}/restore",
		"/file-vault/folders", "/file-vault/upload", "/file-vault/files/{n}/restore", "/abstracts/{id}/instruments", "/abstracts/{id}/notes",
		"/orders/{id}/notes", "/file-vault/files/{n}/notes", "/instruments/{n}/restore", "/notes/{n}/restore",
		"/views", "/abstracts/bulk", "/orders/bulk", "/file-vault/files/bulk", "/file-vault/files/pages", "/instruments/bulk",
		"/abstracts/{id}/certificate", "/abstracts/{id}/certificate/{n}/void", "/abstracts/{id}/bring-down"}
	for path, item := range loadDescription(t).Paths.Map() {
		if path == "/uploads" || path == "/abstracts/{id}/runsheet" {
			continue // these operations have no idempotency key because they store no record
		}
		if _, ok := rows[path]; item.Post != nil && !ok {
			t.Errorf("POST %s has no row in this test", path)
		}
	}
	for _, path := range paths {
		r := rows[path]
		id := abstractID
		if strings.HasPrefix(path, "/orders") {
			id = orderID
		}
		r.as, r.method, r.path = "full", "POST", "/v1"+strings.NewReplacer("{id}", id, "{n}", "1").Replace(path)
		srv.doTwice(t, r, r)
	}
	srv.checkCounts(t, 3, 2, 6)
	// If all files are rejected, the response is stored without any records.
	r := uploadCall("full", 200, filePart("files", "x.exe", "MZ"))
	r.header = append(r.header, "Idempotency-Key: another")
	srv.do(t, r)
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	srv.do(t, r)
	srv.checkCounts(t, 3, 2, 6)
}

// A request with the same content counts as the same request, even if its body is encoded
// differently.
func TestIdempotencyComparesContent(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	other := invalidField("idempotency_key", "The idempotency key was already used with a different request.")
	first := abstractCall(201, "", fieldPart("city", "Salem"), fieldPart("absent", "x"), filePart("files[]", "a.pdf", pdf(2)))
	again := first
	again.header = []string{`Content-Type: Multipart/Form-Data; boundary="Y Y"`, "Transfer-Encoding: chunked"}
	again.body = chunkedBody("preamble\r\n"+strings.ReplaceAll(first.body, "--XX", "--Y Y"), 7)
	srv.doTwice(t, first, again)
	for name, body := range map[string]string{
		"another value":         formBody(fieldPart("city", "Lynn"), fieldPart("absent", "x"), filePart("files[]", "a.pdf", pdf(2))),
		"another filename":      formBody(fieldPart("city", "Salem"), fieldPart("absent", "x"), filePart("files[]", "b.pdf", pdf(2))),
		"another name":          formBody(fieldPart("city", "Salem"), fieldPart("absent", "x"), filePart("files", "a.pdf", pdf(2))),
		"another file":          formBody(fieldPart("city", "Salem"), fieldPart("absent", "x"), filePart("files[]", "a.pdf", pdf(3))),
		"another order":         formBody(fieldPart("absent", "x"), fieldPart("city", "Salem"), filePart("files[]", "a.pdf", pdf(2))),
		"another ignored value": formBody(fieldPart("city", "Salem"), fieldPart("absent", "y"), filePart("files[]", "a.pdf", pdf(2))),
		"a missing part":        formBody(fieldPart("city", "Salem"), fieldPart("absent", "x")),
		"an extra part": formBody(fieldPart("city", "Salem"), fieldPart("absent", "x"), filePart("files[]", "a.pdf", pdf(2)),
			fieldPart("state", "")),
		"a moved boundary": formBody(fieldPart("city", "Sale"), fieldPart("absent", "mx"), filePart("files[]", "a.pdf", pdf(2))),
	} {
		t.Run(name, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm, idempotencyHeader}, body: body,
				status: 422, want: other})
		})
	}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL, idempotencyHeader}, body: "city=Salem",
		status: 422, want: other})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{idempotencyHeader}, status: 422, want: other})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm, idempotencyHeader},
		body: formBody(fieldPart("city", "x"))[:40], status: 400})
	srv.checkCounts(t, 1, 0, 1)

	pairs := call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL, "Idempotency-Key: pairs"},
		body: "city=Sa%6Cem&a=+", status: 201}
	srv.do(t, pairs)
	pairs.body, pairs.headers = "city=Salem&a=%20", map[string]string{"Idempotent-Replayed": "true"}
	srv.do(t, pairs)
	pairs.body, pairs.headers, pairs.status, pairs.want = "a=+&city=Salem", nil, 422, other
	srv.do(t, pairs)

	json := orderCall(`{"order_number":"T-1"}`, 201, "")
	srv.doTwice(t, json, json)
	json.header, json.status, json.want = append(json.header, idempotencyHeader), 422, other
	for _, body := range []string{`{"order_number":"T-2"}`, `{ "order_number":"T-1"}`, ``, `{`} {
		json.body = body
		srv.do(t, json)
	}
	srv.checkCounts(t, 2, 1, 1)
}

// An idempotency key is valid only for one API key, method, and path. It expires after a
// day.
func TestIdempotencyKeyScope(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	r := orderCall(`{"order_number":"T-1"}`, 201, "")
	srv.doTwice(t, r, r)
	r.header = append(r.header, idempotencyHeader)
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	r.path, r.route = "/api/v1//orders/", "/v1/orders" // this is the same path after normalization
	srv.do(t, r)
	r.path, r.headers = "/v1/orders", map[string]string{"Idempotent-Replayed": ""}
	r.as = "other"
	srv.do(t, r)
	r.as = "full"
	srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON, idempotencyHeader},
		body: `{"name":"x"}`, status: 201, headers: r.headers})
	// Only POST requests use the key.
	srv.do(t, call{as: "full", method: "GET", path: "/v1/orders", header: []string{idempotencyHeader}, status: 200, headers: r.headers})
	srv.clock.Advance(24*time.Hour - 2*time.Second)
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	srv.do(t, r)
	srv.clock.Advance(2 * time.Second)
	r.headers = map[string]string{"Idempotent-Replayed": ""}
	srv.do(t, r)
	srv.checkCounts(t, 0, 3, 0)
}

// Malformed idempotency keys are rejected. Authentication is checked first.
func TestIdempotencyKeyRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	invalidKey := func(sentence string) string { return invalidField("idempotency_key", sentence) }
	for _, c := range []struct{ header, want string }{
		{"Idempotency-Key:", invalidKey("The idempotency key field is required.")},
		{"Idempotency-Key:  \t", invalidKey("The idempotency key field is required.")},
		{"Idempotency-Key: " + strings.Repeat("k", 256), invalidKey("The idempotency key field must not be greater than 255 characters.")},
		{"Idempotency-Key: two words", invalidKey("The idempotency key field contains invalid characters.")},
		{"Idempotency-Key: ü", invalidKey("The idempotency key field contains invalid characters.")},
		{"Idempotency-Key: a\r\nIdempotency-Key: a", invalidKey("The idempotency key field contains invalid characters.")},
	} {
		t.Run(c.header, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, c.header}, body: `{"order_number":"T"}`,
				status: 422, want: c.want})
		})
	}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/orders",
		header: []string{asJSON, "Idempotency-Key: " + strings.Repeat("~", 255)}, body: `{"order_number":"T"}`, status: 201})
	srv.do(t, call{method: "POST", path: "/v1/orders", header: []string{"Idempotency-Key:"}, status: 401})
	srv.do(t, call{as: "read", method: "POST", path: "/v1/orders", header: []string{"Idempotency-Key:"}, status: 403})
	// Error responses are not stored, so the client can correct the request and reuse the
	// key.
	for _, c := range []struct {
		body   string
		status int
	}{{`{}`, 422}, {`{`, 400}, {`{"order_number":"T-1"}`, 201}} {
		t.Run(c.body, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, idempotencyHeader}, body: c.body,
				status: c.status, headers: map[string]string{"Idempotent-Replayed": ""}})
		})
	}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts",
		header: []string{"Content-Type: text/plain", idempotencyHeader}, body: "x", status: 415})
}

// While a request is running, other requests with the same idempotency key get a 409.
func TestIdempotencyWhileRunning(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	body := formBody(filePart("files", "a.pdf", pdf(1)))
	conn := srv.dial(t)
	defer conn.Close()
	slow := call{as: "full", method: "POST", path: "/v1/file-vault/upload",
		header: []string{asForm, idempotencyHeader, fmt.Sprintf("Content-Length: %d", len(body)), "Expect: 100-continue"}, status: 201}
	if _, err := io.WriteString(conn, srv.requestText(slow)); err != nil {
		t.Fatalf("write request: %v", err)
	}
	reader := bufio.NewReader(conn)
	if line, err := reader.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" { // 100 Continue means that the server is ready for the body
		t.Fatalf("status line = %q, %v, want 100 Continue", line, err)
	}
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatalf("read empty line: %v", err)
	}
	quick := uploadCall("full", 409, filePart("files", "a.pdf", pdf(1)))
	quick.header = append(quick.header, idempotencyHeader)
	quick.want, quick.headers = messageBody("A request with this idempotency key is still running."), map[string]string{"Retry-After": "1"}
	srv.do(t, quick)
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatalf("write request: %v", err)
	}
	srv.readReply(t, slow, reader)
	quick.status, quick.want, quick.headers = 201, "", map[string]string{"Idempotent-Replayed": "true"}
	srv.do(t, quick)
	srv.checkCounts(t, 0, 0, 1)
}

// Of several concurrent requests with the same key, only one runs. The others get a 409 or
// the response of the one that runs.
func TestIdempotencyOfConcurrentRequests(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	var wait sync.WaitGroup
	bodies := make(chan string, 20)
	for range cap(bodies) {
		wait.Go(func() {
			request, err := http.NewRequest(http.MethodPost, srv.server.URL+"/v1/orders", strings.NewReader(`{"order_number":"T-1"}`))
			if err != nil {
				t.Errorf("new request: %v", err)
				return
			}
			for name, value := range map[string]string{"Authorization": "Bearer " + srv.keys["full"], "Content-Type": "application/json",
				"Idempotency-Key": "concurrent"} {
				request.Header.Set(name, value)
			}
			for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
				response, err := http.DefaultClient.Do(request.Clone(t.Context()))
				if err != nil {
					t.Errorf("send request: %v", err)
					return
				}
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				if request.Body, _ = request.GetBody(); err != nil || response.StatusCode == http.StatusConflict {
					continue
				}
				bodies <- fmt.Sprint(response.StatusCode, string(body))
				return
			}
		})
	}
	wait.Wait()
	if len(bodies) < cap(bodies) {
		t.Fatalf("responses = %d, want %d", len(bodies), cap(bodies))
	}
	first := <-bodies
	for range len(bodies) {
		if again := <-bodies; again != first {
			t.Errorf("response = %s, want %s", again, first)
		}
	}
	srv.checkCounts(t, 0, 1, 0)
}

// A retry after a lost response doesn't create a second record. This works for JSON bodies
// and forms.
func TestIdempotencyAfterDisconnect(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, r := range []call{orderCall(`{"order_number":"T-1"}`, 201, ""),
		abstractCall(201, "", fieldPart("city", "Salem"), filePart("files", "a.pdf", pdf(1)))} {
		r.header = append(r.header, idempotencyHeader)
		conn := srv.dial(t)
		if _, err := io.WriteString(conn, srv.requestText(r)); err != nil {
			t.Fatalf("write request: %v", err)
		}
		if err := conn.Close(); err != nil { // disconnect before the response arrives
			t.Fatalf("close connection: %v", err)
		}
		got := srv.retryUntilDone(t, r)
		if got.StatusCode != 201 {
			t.Errorf("status = %d, want 201: %s", got.StatusCode, got.body)
		}
		srv.checkReplayed(t, r, got)
	}
	srv.checkCounts(t, 1, 1, 1)
}

// retryUntilDone sends a call again as long as an earlier request is still running, for up
// to 10 seconds.
func (srv *testServer) retryUntilDone(t *testing.T, r call) reply {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; {
		if got := srv.doOnce(t, r); got.StatusCode != http.StatusConflict || time.Now().After(until) {
			return got
		}
	}
}

// doOnce sends a call without checking its response.
func (srv *testServer) doOnce(t *testing.T, r call) reply {
	t.Helper()
	conn := srv.dial(t)
	defer conn.Close()
	if _, err := io.WriteString(conn, srv.requestText(r)); err != nil {
		t.Fatalf("write request: %v", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read response body: %v", err)
	}
	return reply{response, body}
}

// checkReplayed sends a call again and checks that the server replays the first response.
func (srv *testServer) checkReplayed(t *testing.T, r call, first reply) {
	t.Helper()
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	if again := srv.do(t, r); string(again.body) != string(first.body) {
		t.Errorf("replayed body = %s, want %s", again.body, first.body)
	}
}

// A request with a truncated body doesn't use up its idempotency key, so the client can
// retry.
func TestIdempotencyAfterTruncatedBody(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	r := abstractCall(201, "", filePart("files", "a.pdf", pdf(1)))
	r.header = append(r.header, idempotencyHeader)
	conn := srv.dial(t)
	text := srv.requestText(r)
	if _, err := io.WriteString(conn, text[:len(text)-20]); err != nil {
		t.Fatalf("write request: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatalf("close connection: %v", err)
	}
	got := srv.retryUntilDone(t, r)
	if got.StatusCode != 201 || got.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("status %d with the headers %v, want 201, not replayed", got.StatusCode, got.Header)
	}
	srv.checkCounts(t, 1, 0, 1)
}

// Stored responses survive a crash. The test starts another server on a copy of the data
// directory.
func TestIdempotencyAfterRestart(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	r := abstractCall(201, "", fieldPart("city", "Salem"), filePart("files", "a.pdf", pdf(1)))
	r.header = append(r.header, idempotencyHeader)
	first := srv.do(t, r)
	again := newTestServer(t, func(cfg *testConfig) {
		srv.must(os.CopyFS(cfg.vault.Dir, os.DirFS(srv.dir)))
		cfg.keys = srv.keys
	})
	again.checkReplayed(t, r, first)
	again.checkCounts(t, 1, 0, 1)
}
