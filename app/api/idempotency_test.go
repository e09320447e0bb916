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

const onceHeader = "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324"

// onceMore asks a row with the key twice and expects the first answer again.
func (h *house) onceMore(t *testing.T, first, again row) reply {
	t.Helper()
	first.header = append(first.header[:len(first.header):len(first.header)], onceHeader)
	again.header = append(again.header[:len(again.header):len(again.header)], onceHeader)
	got := h.ask(t, first)
	if got.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the first answer is replayed: %v", got.Header)
	}
	h.clock.Advance(time.Second)
	again.status, again.want, again.has = first.status, "", nil
	again.headers = map[string]string{"Idempotent-Replayed": "true", "ETag": got.Header.Get("ETag")}
	if second := h.ask(t, again); string(second.body) != string(got.body) {
		t.Errorf("first %s\nthen %s", got.body, second.body)
	}
	return got
}

func (h *house) counts(t *testing.T, abstracts, orders, files int) {
	t.Helper()
	s, err := h.vault.Status(t.Context())
	if err != nil || int(s.Abstracts) != abstracts || int(s.Orders) != orders || int(s.Files) != files {
		t.Errorf("%d abstracts, %d orders, %d files, %v; want %d, %d, %d", s.Abstracts, s.Orders, s.Files, err, abstracts, orders, files)
	}
}

// Every POST of the description, once with the key and once more.
func TestOnceEveryPOST(t *testing.T) {
	t.Parallel()
	h := open(t)
	made := decode[struct{ Data struct{ ID string } }](t, h.ask(t, abstract(201, ""))).Data.ID
	placed := decode[struct{ Data struct{ ID string } }](t, h.ask(t, order(`{"order_number":"T-0"}`, 201, ""))).Data.ID
	h.ask(t, upload("full", 201, file("files", "t.pdf", pdf(1))))
	for _, path := range []string{"/v1/abstracts/" + made, "/v1/orders/" + placed, "/v1/file-vault/files/1"} {
		h.ask(t, row{as: "full", method: "DELETE", path: path, status: 204})
	}
	form := parts(field("city", "Salem"), file("files[]", "a.pdf", pdf(2)), file("files[]", "b.exe", "MZ"))
	rows := map[string]row{
		"/abstracts":                    {header: []string{asForm}, body: form, status: 201},
		"/abstracts/{id}/restore":       {status: 200},
		"/abstracts/{id}/files":         {header: []string{asForm}, body: form, status: 201},
		"/orders":                       {header: []string{asJSON}, body: `{"order_number":"T-1"}`, status: 201},
		"/orders/{id}/restore":          {status: 200, header: []string{asJSON}, body: `{}`},
		"/file-vault/folders":           {header: []string{asJSON}, body: `{"name":"Deeds"}`, status: 201},
		"/file-vault/upload":            {header: []string{asForm}, body: form, status: 201},
		"/file-vault/files/{n}/restore": {status: 200},
	}
	order := []string{"/abstracts/{id}/restore", "/abstracts", "/abstracts/{id}/files", "/orders", "/orders/{id}/restore", "/file-vault/folders", "/file-vault/upload", "/file-vault/files/{n}/restore"}
	for path, item := range description(t).Paths.Map() {
		if path == "/uploads" {
			continue // it takes no such key: beginning stores nothing
		}
		if _, ok := rows[path]; item.Post != nil && !ok {
			t.Errorf("POST %s is missing here", path)
		}
	}
	for _, path := range order {
		r := rows[path]
		id := made
		if strings.HasPrefix(path, "/orders") {
			id = placed
		}
		r.as, r.method, r.path = "full", "POST", "/v1"+strings.NewReplacer("{id}", id, "{n}", "1").Replace(path)
		h.onceMore(t, r, r)
	}
	h.counts(t, 2, 2, 4)
	// All files refused: nothing is stored but the answer.
	r := upload("full", 200, file("files", "x.exe", "MZ"))
	r.header = append(r.header, "Idempotency-Key: another")
	h.ask(t, r)
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	h.ask(t, r)
	h.counts(t, 2, 2, 4)
}

// The same parts in other words are the same request; others are not.
func TestOnceComparesContent(t *testing.T) {
	t.Parallel()
	h := open(t)
	other := invalid("idempotency_key", "The idempotency key was used with another request.")
	first := abstract(201, "", field("city", "Salem"), field("nobody", "x"), file("files[]", "a.pdf", pdf(2)))
	again := first
	again.header = []string{`Content-Type: Multipart/Form-Data; boundary="Y Y"`, "Transfer-Encoding: chunked"}
	again.body = chunked("preamble\r\n"+strings.ReplaceAll(first.body, "--XX", "--Y Y"), 7)
	h.onceMore(t, first, again)
	for name, body := range map[string]string{
		"another value":     parts(field("city", "Lynn"), field("nobody", "x"), file("files[]", "a.pdf", pdf(2))),
		"another filename":  parts(field("city", "Salem"), field("nobody", "x"), file("files[]", "b.pdf", pdf(2))),
		"another name":      parts(field("city", "Salem"), field("nobody", "x"), file("files", "a.pdf", pdf(2))),
		"another file":      parts(field("city", "Salem"), field("nobody", "x"), file("files[]", "a.pdf", pdf(3))),
		"another order":     parts(field("nobody", "x"), field("city", "Salem"), file("files[]", "a.pdf", pdf(2))),
		"of an ignored one": parts(field("city", "Salem"), field("nobody", "y"), file("files[]", "a.pdf", pdf(2))),
		"one less":          parts(field("city", "Salem"), field("nobody", "x")),
		"one more":          parts(field("city", "Salem"), field("nobody", "x"), file("files[]", "a.pdf", pdf(2)), field("state", "")),
		"moved":             parts(field("city", "Sale"), field("nobody", "mx"), file("files[]", "a.pdf", pdf(2))),
	} {
		t.Run(name, func(t *testing.T) {
			h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm, onceHeader}, body: body, status: 422, want: other})
		})
	}
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL, onceHeader}, body: "city=Salem", status: 422, want: other})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{onceHeader}, status: 422, want: other})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asForm, onceHeader}, body: parts(field("city", "x"))[:40], status: 400})
	h.counts(t, 1, 0, 1)

	pairs := row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL, "Idempotency-Key: pairs"}, body: "city=Sa%6Cem&a=+", status: 201}
	h.ask(t, pairs)
	pairs.body, pairs.headers = "city=Salem&a=%20", map[string]string{"Idempotent-Replayed": "true"}
	h.ask(t, pairs)
	pairs.body, pairs.headers, pairs.status, pairs.want = "a=+&city=Salem", nil, 422, other
	h.ask(t, pairs)

	json := order(`{"order_number":"T-1"}`, 201, "")
	h.onceMore(t, json, json)
	json.header, json.status, json.want = append(json.header, onceHeader), 422, other
	for _, body := range []string{`{"order_number":"T-2"}`, `{ "order_number":"T-1"}`, ``, `{`} {
		json.body = body
		h.ask(t, json)
	}
	h.counts(t, 2, 1, 1)
}

// A key is of one API key, method and path, and of a day.
func TestOnceSlots(t *testing.T) {
	t.Parallel()
	h := open(t)
	r := order(`{"order_number":"T-1"}`, 201, "")
	h.onceMore(t, r, r)
	r.header = append(r.header, onceHeader)
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	r.path, r.route = "/api/v1//orders/", "/v1/orders" // the same path
	h.ask(t, r)
	r.path, r.headers = "/v1/orders", map[string]string{"Idempotent-Replayed": ""}
	r.as = "other"
	h.ask(t, r)
	r.as = "full"
	h.ask(t, row{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON, onceHeader}, body: `{"name":"x"}`, status: 201, headers: r.headers})
	h.ask(t, row{as: "full", method: "GET", path: "/v1/orders", header: []string{onceHeader}, status: 200, headers: r.headers}) // looked at on a POST alone
	h.clock.Advance(24*time.Hour - 2*time.Second)
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	h.ask(t, r)
	h.clock.Advance(2 * time.Second)
	r.headers = map[string]string{"Idempotent-Replayed": ""}
	h.ask(t, r)
	h.counts(t, 0, 3, 0)
}

// What is no key, and where it is looked at.
func TestOnceRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	say := func(sentence string) string { return invalid("idempotency_key", sentence) }
	for _, c := range []struct{ header, want string }{
		{"Idempotency-Key:", say("The idempotency key field is required.")},
		{"Idempotency-Key:  \t", say("The idempotency key field is required.")},
		{"Idempotency-Key: " + strings.Repeat("k", 256), say("The idempotency key field must not be greater than 255 characters.")},
		{"Idempotency-Key: two words", say("The idempotency key field contains invalid characters.")},
		{"Idempotency-Key: ü", say("The idempotency key field contains invalid characters.")},
		{"Idempotency-Key: a\r\nIdempotency-Key: a", say("The idempotency key field contains invalid characters.")},
	} {
		h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, c.header}, body: `{"order_number":"T"}`, status: 422, want: c.want})
	}
	h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Idempotency-Key: " + strings.Repeat("~", 255)}, body: `{"order_number":"T"}`, status: 201})
	h.ask(t, row{method: "POST", path: "/v1/orders", header: []string{"Idempotency-Key:"}, status: 401})
	h.ask(t, row{as: "read", method: "POST", path: "/v1/orders", header: []string{"Idempotency-Key:"}, status: 403})
	// A refusal keeps nothing: the same key may be used for what was meant.
	for _, c := range []struct {
		body   string
		status int
	}{{`{}`, 422}, {`{`, 400}, {`{"order_number":"T-1"}`, 201}} {
		h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, onceHeader}, body: c.body, status: c.status, headers: map[string]string{"Idempotent-Replayed": ""}})
	}
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{"Content-Type: text/plain", onceHeader}, body: "x", status: 415})
}

// While a request runs its key is taken, known to this process alone.
func TestOnceRunning(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := parts(file("files", "a.pdf", pdf(1)))
	conn := h.dial(t)
	defer conn.Close()
	slow := row{as: "full", method: "POST", path: "/v1/file-vault/upload", header: []string{asForm, onceHeader, fmt.Sprintf("Content-Length: %d", len(body)), "Expect: 100-continue"}, status: 201}
	if _, err := io.WriteString(conn, h.text(slow)); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(conn)
	if line, err := from.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" { // it reads the body
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := from.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	quick := upload("full", 409, file("files", "a.pdf", pdf(1)))
	quick.header = append(quick.header, onceHeader)
	quick.want, quick.headers = says("A request with this idempotency key is still running."), map[string]string{"Retry-After": "1"}
	h.ask(t, quick)
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	h.hear(t, slow, from)
	quick.status, quick.want, quick.headers = 201, "", map[string]string{"Idempotent-Replayed": "true"}
	h.ask(t, quick)
	h.counts(t, 0, 0, 1)
}

// Of many at once one is done; the others are told to wait, or get its answer.
func TestOnceOfMany(t *testing.T) {
	t.Parallel()
	h := open(t)
	var wait sync.WaitGroup
	bodies := make(chan string, 20)
	for range cap(bodies) {
		wait.Go(func() {
			request, err := http.NewRequest(http.MethodPost, h.server.URL+"/v1/orders", strings.NewReader(`{"order_number":"T-1"}`))
			if err != nil {
				t.Error(err)
				return
			}
			for name, value := range map[string]string{"Authorization": "Bearer " + h.keys["full"], "Content-Type": "application/json", "Idempotency-Key": "many"} {
				request.Header.Set(name, value)
			}
			for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
				answer, err := http.DefaultClient.Do(request.Clone(t.Context()))
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if request.Body, _ = request.GetBody(); err != nil || answer.StatusCode == http.StatusConflict {
					continue
				}
				bodies <- fmt.Sprint(answer.StatusCode, string(body))
				return
			}
		})
	}
	wait.Wait()
	if len(bodies) < cap(bodies) {
		t.Fatalf("%d of %d were answered", len(bodies), cap(bodies))
	}
	first := <-bodies
	for range len(bodies) {
		if again := <-bodies; again != first {
			t.Errorf("%s, and %s", first, again)
		}
	}
	h.counts(t, 0, 1, 0)
}

// A connection that is cut while the answer goes out: the retry makes no second
// record, of JSON as of a form.
func TestOnceAfterACut(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, r := range []row{order(`{"order_number":"T-1"}`, 201, ""), abstract(201, "", field("city", "Salem"), file("files", "a.pdf", pdf(1)))} {
		r.header = append(r.header, onceHeader)
		conn := h.dial(t)
		if _, err := io.WriteString(conn, h.text(r)); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil { // nobody hears it
			t.Fatal(err)
		}
		got := h.untilDone(t, r)
		if got.StatusCode != 201 {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
		h.onceAgain(t, r, got)
	}
	h.counts(t, 1, 1, 1)
}

// untilDone asks again while an earlier request runs, for a while.
func (h *house) untilDone(t *testing.T, r row) reply {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; {
		if got := h.retry(t, r); got.StatusCode != http.StatusConflict || time.Now().After(until) {
			return got
		}
	}
}

// retry asks a row whose status may be 409.
func (h *house) retry(t *testing.T, r row) reply {
	t.Helper()
	conn := h.dial(t)
	defer conn.Close()
	if _, err := io.WriteString(conn, h.text(r)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer, body}
}

func (h *house) onceAgain(t *testing.T, r row, first reply) {
	t.Helper()
	r.headers = map[string]string{"Idempotent-Replayed": "true"}
	if again := h.ask(t, r); string(again.body) != string(first.body) {
		t.Errorf("first %s\nthen %s", first.body, again.body)
	}
}

// A body that broke off was no request: the same key does it.
func TestOnceAfterABrokenBody(t *testing.T) {
	t.Parallel()
	h := open(t)
	r := abstract(201, "", file("files", "a.pdf", pdf(1)))
	r.header = append(r.header, onceHeader)
	conn := h.dial(t)
	text := h.text(r)
	if _, err := io.WriteString(conn, text[:len(text)-20]); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	got := h.untilDone(t, r)
	if got.StatusCode != 201 || got.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
	h.counts(t, 1, 0, 1)
}

// What was kept outlives the process, however it ended: the directory as it stands
// is opened by another.
func TestOnceAfterARestart(t *testing.T) {
	t.Parallel()
	h := open(t)
	r := abstract(201, "", field("city", "Salem"), file("files", "a.pdf", pdf(1)))
	r.header = append(r.header, onceHeader)
	first := h.ask(t, r)
	again := open(t, func(s *setup) {
		h.must(os.CopyFS(s.vault.Dir, os.DirFS(h.dir)))
		s.keys = h.keys
	})
	again.onceAgain(t, r, first)
	again.counts(t, 1, 0, 1)
}
