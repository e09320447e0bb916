//go:build scale && linux

// This test measures an honest client, first alone and then while clients with other keys
// and addresses abuse the server. They upload PDFs that take until their deadline to
// process, stall in the middle of a request body, try wrong passwords, and upload documents
// that the server rejects.
//
//	go test -tags scale -run TestHonestClientDuringAbuse -timeout 60m -v ./cmd
//
//	DEEDKEEP_TEST_ABUSE   total duration, a quarter of it without abuse; default 30s
//
// It prints how long the honest client's uploads, lists, and processing took in each part,
// and how often the server returned each status. The test fails if an honest request
// doesn't get a 2xx status or if an honest document isn't processed. It doesn't check
// times, because they depend on the machine. The server doesn't limit connections from
// 127.0.0.0/8.
package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// abuse holds the state of one test run.
type abuse struct {
	t        *testing.T
	p        *serverProcess
	mu       sync.Mutex
	statuses map[string]map[int]int // number of responses by client and status; 0 means no response
}

// clientFrom returns an HTTP client that connects from the local IP address host.
func clientFrom(host string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// count counts a response with the given status for a client.
func (a *abuse) count(client string, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.statuses[client] == nil {
		a.statuses[client] = map[int]int{}
	}
	a.statuses[client][status]++
}

// do sends a request, counts the response, and returns its status and body. The status is 0
// if there was no response.
func (a *abuse) do(
	ctx context.Context, client string, c *http.Client, method, target, key, contentType string, content io.Reader,
) (int, []byte) {
	status, text := 0, []byte(nil)
	request, err := http.NewRequestWithContext(ctx, method, a.p.url+target, content)
	if err != nil {
		a.t.Errorf("create request: %v", err)
		return 0, nil
	}
	request.Header.Set("Content-Type", contentType)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if response, err := c.Do(request); err == nil {
		text, err = io.ReadAll(response.Body)
		if closeErr := response.Body.Close(); err == nil && closeErr == nil {
			status = response.StatusCode
		}
	}
	if status > 0 || ctx.Err() == nil {
		a.count(client, status)
	}
	return status, text
}

// upload uploads a document and returns the status and body of the response.
func (a *abuse) upload(ctx context.Context, client string, c *http.Client, key, name string, content []byte) (int, []byte) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("files[]", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil || form.Close() != nil {
		a.t.Errorf("build form: %v", err)
	}
	return a.do(ctx, client, c, http.MethodPost, "/v1/file-vault/upload", key, form.FormDataContentType(), &b)
}

// runHonestClient uploads a document every second for the given duration. After each
// upload, it lists the documents and waits until the new one is processed.
func (a *abuse) runHonestClient(part, key string, duration time.Duration) {
	c := clientFrom("127.0.0.1")
	var upload, list, processing latencies
	timed := func(s *latencies, name string, call func() (int, []byte)) []byte {
		start := time.Now()
		status, text := call()
		s.add(time.Since(start))
		if status/100 != 2 {
			a.t.Errorf("%s: honest %s: got %d, want 2xx: %.200s", part, name, status, text)
		}
		return text
	}
	ctx := context.Background()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	n := 0
	for end := time.Now().Add(duration); time.Now().Before(end); <-tick.C {
		n++
		content := strings.Repeat(fmt.Sprintf("Lot %d, Block B, %s\n", n, part), 50<<10/24)
		start := time.Now()
		text := timed(&upload, "upload", func() (int, []byte) {
			return a.upload(ctx, "honest", c, key, "deed.txt", []byte(content))
		})
		timed(&list, "list", func() (int, []byte) {
			return a.do(ctx, "honest", c, http.MethodGet, "/v1/file-vault/files", key, "", http.NoBody)
		})
		var uploaded struct{ Files []struct{ ID int64 } }
		if err := json.Unmarshal(text, &uploaded); err != nil || len(uploaded.Files) != 1 {
			a.t.Errorf("%s: upload: got %.300s, %v, want one file", part, text, err)
			continue
		}
		var file struct {
			Data struct {
				IsProcessing bool `json:"is_processing"`
			}
		}
		for file.Data.IsProcessing = true; file.Data.IsProcessing; time.Sleep(20 * time.Millisecond) {
			if time.Since(start) > 5*time.Minute {
				a.t.Errorf("%s: honest document is not processed after 5 minutes", part)
				break
			}
			target := fmt.Sprint("/v1/file-vault/files/", uploaded.Files[0].ID)
			status, text := a.do(ctx, "honest", c, http.MethodGet, target, key, "", http.NoBody)
			if err := json.Unmarshal(text, &file); err != nil || status != http.StatusOK {
				a.t.Errorf("%s: get honest document: got %d, %v, want 200", part, status, err)
				break
			}
		}
		processing.add(time.Since(start))
	}
	fmt.Printf("| %s | upload | %s\n| %[1]s | list | %[3]s\n| %[1]s | until processed | %[4]s\n", part, &upload, &list, &processing)
}

// stallBody sends 60,000 bytes of a 64,000-byte body and then waits until ctx is done
// without sending the rest.
func (a *abuse) stallBody(ctx context.Context, key string) {
	c := clientFrom("127.0.0.3")
	content, rest := io.Pipe()
	defer context.AfterFunc(ctx, func() { _ = rest.Close() })()
	go func() { _, _ = rest.Write(bytes.Repeat([]byte(" "), 60_000)) }() // fails when the server closes the connection
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.p.url+"/v1/orders", content)
	if err != nil {
		a.t.Errorf("create request: %v", err)
		return
	}
	request.ContentLength = 64_000
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key)
	status := 0
	if response, err := c.Do(request); err == nil {
		status = response.StatusCode
		_ = response.Body.Close() // only the status matters
	}
	_ = rest.Close()
	c.CloseIdleConnections()
	if ctx.Err() == nil {
		a.count("stalled", status)
	}
}

func TestHonestClientDuringAbuse(t *testing.T) {
	total := 30 * time.Second
	if text := os.Getenv("DEEDKEEP_TEST_ABUSE"); text != "" {
		var err error
		if total, err = time.ParseDuration(text); err != nil || total < 4*time.Second {
			t.Fatalf("DEEDKEEP_TEST_ABUSE: got %q, want a duration of at least 4s", text)
		}
	}
	hostile := map[string][]byte{}
	for _, sample := range vaulttest.Samples(t) {
		if strings.HasPrefix(sample.Path, "refuse/") {
			content, err := os.ReadFile(sample.File)
			if err != nil {
				t.Fatalf("read sample: %v", err)
			}
			hostile[path.Base(sample.Path)] = content
		}
	}
	slow, err := io.ReadAll(slowPDFs(t, 1)[0].Reader)
	if err != nil {
		t.Fatalf("read slow PDF: %v", err)
	}
	a := &abuse{t: t, p: startServer(t, shortDataDir(t)), statuses: map[string]map[int]int{}}
	key, slowKey, stallKey, badKey := a.p.createKey(t, "honest"), a.p.createKey(t, "slow"), a.p.createKey(t, "stalling"),
		a.p.createKey(t, "hostile")
	fmt.Printf("| part | what | times | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- | --- |\n")
	a.p.signIn(t) // creates the first user; the sign-in page isn't available without one
	a.runHonestClient("alone", key, total/4)

	ctx, stop := context.WithCancel(t.Context())
	var abusers sync.WaitGroup
	abuser := func(pause time.Duration, send func(n int)) {
		abusers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				send(n)
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
			}
		})
	}
	uploader := clientFrom("127.0.0.2")
	abuser(time.Second, func(n int) {
		a.upload(ctx, "slow PDFs", uploader, slowKey, "slow.pdf", fmt.Appendf(slices.Clone(slow), "%% again %d\n", n))
	})
	for range 150 {
		abuser(time.Second, func(int) { a.stallBody(ctx, stallKey) })
	}
	guesser := clientFrom("127.0.0.4")
	abuser(100*time.Millisecond, func(n int) {
		guess := url.Values{"name": {fmt.Sprint("user", n%10)}, "password": {fmt.Sprint("wrong password ", n)}}.Encode()
		const form = "application/x-www-form-urlencoded"
		a.do(ctx, "wrong passwords", guesser, http.MethodPost, "/sign-in", "", form, strings.NewReader(guess))
	})
	names, attacker := slices.Sorted(maps.Keys(hostile)), clientFrom("127.0.0.5")
	abuser(200*time.Millisecond, func(n int) {
		name := names[n%len(names)]
		a.upload(ctx, "hostile files", attacker, badKey, name, hostile[name])
	})
	a.runHonestClient("during abuse", key, total-total/4)
	stop()
	abusers.Wait()
	for _, client := range slices.Sorted(maps.Keys(a.statuses)) {
		fmt.Printf("%s, by status: %v\n", client, a.statuses[client])
	}
}
