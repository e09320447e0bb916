//go:build scale && linux

// An honest client alone, and then beside abuse of all kinds that comes from other keys
// and addresses: PDFs that take until their deadline, bodies that stall, wrong passwords,
// and documents that are made to be rejected.
//
//	go test -tags scale -run TestHonestClientDuringAbuse -timeout 60m -v ./cmd
//
//	DEEDKEEP_TEST_ABUSE   how long both parts take together, a quarter of it alone; 30s when not set
//
// It prints how long the honest client's uploads, lists, and processing took in each part,
// and how often each status was given. Times depend on the machine and decide nothing:
// the test fails when an honest request is not 2xx, or an honest document isn't processed.
// Addresses of 127.0.0.0/8 are not limited in their number of connections.
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

// abuse is one run of the test.
type abuse struct {
	t        *testing.T
	p        *serverProcess
	mu       sync.Mutex
	statuses map[string]map[int]int // statuses by who was given them; 0: no answer
}

// clientFrom is a client with an address of its own.
func clientFrom(host string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// do sends a request, counts its status, and returns it with the body.
func (a *abuse) do(ctx context.Context, who string, c *http.Client, method, target, key, kind string, content io.Reader) (int, []byte) {
	status, text := 0, []byte(nil)
	request, err := http.NewRequestWithContext(ctx, method, a.p.url+target, content)
	if err != nil {
		a.t.Error(err)
		return 0, nil
	}
	request.Header.Set("Content-Type", kind)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if answer, err := c.Do(request); err == nil {
		text, err = io.ReadAll(answer.Body)
		if closed := answer.Body.Close(); err == nil && closed == nil {
			status = answer.StatusCode
		}
	}
	if status > 0 || ctx.Err() == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.statuses[who] == nil {
			a.statuses[who] = map[int]int{}
		}
		a.statuses[who][status]++
	}
	return status, text
}

func (a *abuse) upload(ctx context.Context, who string, c *http.Client, key, name string, content []byte) (int, []byte) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("files[]", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil || form.Close() != nil {
		a.t.Error("form", err)
	}
	return a.do(ctx, who, c, http.MethodPost, "/v1/file-vault/upload", key, form.FormDataContentType(), &b)
}

// runHonestClient uploads a document every second, lists, and waits until it is processed.
func (a *abuse) runHonestClient(part, key string, until time.Duration) {
	c := clientFrom("127.0.0.1")
	var upload, list, processing latencies
	timed := func(s *latencies, want string, call func() (int, []byte)) []byte {
		begun := time.Now()
		status, text := call()
		s.add(time.Since(begun))
		if status/100 != 2 {
			a.t.Errorf("%s: honest %s: got %d, want 2xx: %.200s", part, want, status, text)
		}
		return text
	}
	ctx := context.Background()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	n := 0
	for end := time.Now().Add(until); time.Now().Before(end); <-tick.C {
		n++
		content := strings.Repeat(fmt.Sprintf("Lot %d, Block B, %s\n", n, part), 50<<10/24)
		begun := time.Now()
		text := timed(&upload, "upload", func() (int, []byte) { return a.upload(ctx, "honest", c, key, "deed.txt", []byte(content)) })
		timed(&list, "list", func() (int, []byte) {
			return a.do(ctx, "honest", c, http.MethodGet, "/v1/file-vault/files", key, "", http.NoBody)
		})
		var up struct{ Files []struct{ ID int64 } }
		if err := json.Unmarshal(text, &up); err != nil || len(up.Files) != 1 {
			a.t.Errorf("%s: upload: %v: %.300s", part, err, text)
			continue
		}
		var one struct {
			Data struct {
				IsProcessing bool `json:"is_processing"`
			}
		}
		for one.Data.IsProcessing = true; one.Data.IsProcessing; time.Sleep(20 * time.Millisecond) {
			if time.Since(begun) > 5*time.Minute {
				a.t.Errorf("%s: honest document is not processed after 5 minutes", part)
				break
			}
			status, text := a.do(ctx, "honest", c, http.MethodGet, fmt.Sprint("/v1/file-vault/files/", up.Files[0].ID), key, "", http.NoBody)
			if err := json.Unmarshal(text, &one); err != nil || status != http.StatusOK {
				a.t.Errorf("%s: honest look: %d, %v", part, status, err)
				break
			}
		}
		processing.add(time.Since(begun))
	}
	fmt.Printf("| %s | upload | %s\n| %[1]s | list | %[3]s\n| %[1]s | until processed | %[4]s\n", part, &upload, &list, &processing)
}

// stallBody sends 60,000 bytes of a body of 64,000, and then nothing until ctx ends.
func (a *abuse) stallBody(ctx context.Context, key string) {
	c := clientFrom("127.0.0.3")
	content, rest := io.Pipe()
	defer context.AfterFunc(ctx, func() { _ = rest.Close() })()
	go func() { _, _ = rest.Write(bytes.Repeat([]byte(" "), 60_000)) }() // it may be cut off
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.p.url+"/v1/orders", content)
	if err != nil {
		a.t.Error(err)
		return
	}
	request.ContentLength = 64_000
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key)
	status := 0
	if answer, err := c.Do(request); err == nil {
		status = answer.StatusCode
		_ = answer.Body.Close() // only the status counts
	}
	_ = rest.Close()
	c.CloseIdleConnections()
	if ctx.Err() == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.statuses["stalled"] == nil {
			a.statuses["stalled"] = map[int]int{}
		}
		a.statuses["stalled"][status]++
	}
}

func TestHonestClientDuringAbuse(t *testing.T) {
	long := 30 * time.Second
	if text := os.Getenv("DEEDKEEP_TEST_ABUSE"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil || long < 4*time.Second {
			t.Fatalf("DEEDKEEP_TEST_ABUSE is %q", text)
		}
	}
	hostile := map[string][]byte{}
	for _, sample := range vaulttest.Samples(t) {
		if strings.HasPrefix(sample.Path, "refuse/") {
			content, err := os.ReadFile(sample.File)
			if err != nil {
				t.Fatal(err)
			}
			hostile[path.Base(sample.Path)] = content
		}
	}
	slow, err := io.ReadAll(slowPDFs(t, 1)[0].Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &abuse{t: t, p: startServer(t, shortDataDir(t)), statuses: map[string]map[int]int{}}
	key, slowKey, stallKey, badKey := a.p.createKey(t, "honest"), a.p.createKey(t, "slow"), a.p.createKey(t, "stalling"), a.p.createKey(t, "hostile")
	fmt.Printf("| part | what | times | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- | --- |\n")
	a.p.signIn(t) // creates a user: before the first one there is no sign-in
	a.runHonestClient("alone", key, long/4)

	ctx, stop := context.WithCancel(t.Context())
	var abusers sync.WaitGroup
	abuser := func(pause time.Duration, again func(n int)) {
		abusers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				again(n)
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
			}
		})
	}
	one := clientFrom("127.0.0.2")
	abuser(time.Second, func(n int) {
		a.upload(ctx, "slow PDFs", one, slowKey, "slow.pdf", fmt.Appendf(slices.Clone(slow), "%% again %d\n", n))
	})
	for range 150 {
		abuser(time.Second, func(int) { a.stallBody(ctx, stallKey) })
	}
	guesser := clientFrom("127.0.0.4")
	abuser(100*time.Millisecond, func(n int) {
		guess := url.Values{"name": {fmt.Sprint("user", n%10)}, "password": {fmt.Sprint("wrong password ", n)}}.Encode()
		a.do(ctx, "wrong passwords", guesser, http.MethodPost, "/sign-in", "", "application/x-www-form-urlencoded", strings.NewReader(guess))
	})
	names, bad := slices.Sorted(maps.Keys(hostile)), clientFrom("127.0.0.5")
	abuser(200*time.Millisecond, func(n int) {
		name := names[n%len(names)]
		a.upload(ctx, "hostile files", bad, badKey, name, hostile[name])
	})
	a.runHonestClient("beside abuse", key, long-long/4)
	stop()
	abusers.Wait()
	for _, who := range slices.Sorted(maps.Keys(a.statuses)) {
		fmt.Printf("%s, by status: %v\n", who, a.statuses[who])
	}
}
