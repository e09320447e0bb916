//go:build harness && linux

// This test measures the memory of the server and of its workers while clients create orders, list and search them, and
// upload documents, two of them scans for OCR. After a load of at least 10 minutes, it also waits until OCR is done and
// measures the memory three minutes after the last request.
//
//	go test -tags harness -run TestMemoryOverTime -timeout 0 -v ./cmd
//
//	DEEDKEEP_TEST_MEMORY        duration of the load, such as 1h; default 20s
//	DEEDKEEP_TEST_MEMORY_RATE   orders per second; default 150
package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/memory"
)

const (
	// maxServerMemory is the maximum memory of the server without file pages, in bytes: the limit for the Go runtime with
	// the default settings, and what it doesn't include.
	maxServerMemory = 200 << 20
	// maxPeakMemory is the maximum memory of all processes without the file pages of the server, in bytes.
	maxPeakMemory = 400 << 20
	// maxIdleProcessMemory is the maximum memory of all processes three minutes after the last request, in bytes.
	maxIdleProcessMemory = 80 << 20
	longLoad             = 10 * time.Minute
	memoryClients        = 4
)

func TestMemoryOverTime(t *testing.T) {
	duration := 20 * time.Second
	if set := os.Getenv("DEEDKEEP_TEST_MEMORY"); set != "" {
		var err error
		if duration, err = time.ParseDuration(set); err != nil {
			t.Fatalf("DEEDKEEP_TEST_MEMORY: %v", err)
		}
	}
	rate := envNumber(t, "DEEDKEEP_TEST_MEMORY_RATE", 150)
	h := newHarness(t)
	h.newVault()
	h.env = []string{"DEEDKEEP_OCR_ENABLED=true"}
	s := h.start()
	m := &memoryLoad{t: t, url: s.baseURL + "/v1", key: h.key}
	sample := func(phase string) (server memory.Usage, all int64) {
		server = memory.Of(s.cmd.Process.Pid)
		all = server.Total
		for _, pid := range s.childPIDs() {
			all += memory.Of(pid).Total
		}
		t.Logf("%s: server %d MB and %d MB of files, all processes %d MB, %d orders", phase, server.Anonymous>>20,
			(server.Total-server.Anonymous)>>20, all>>20, m.orders.Load())
		return server, all
	}
	for range 2 {
		if file, reason := s.upload(t, "Scan.pdf", scanOfNames(t, 40)); file == nil {
			t.Fatalf("upload: rejected: %s", reason)
		}
	}
	started := time.Now()
	var clients sync.WaitGroup
	for client := range memoryClients {
		clients.Go(func() { m.run(client, started.Add(duration), time.Second*memoryClients/time.Duration(rate)) })
	}
	tick := time.NewTicker(min(duration/40, 15*time.Second))
	defer tick.Stop()
	for time.Since(started) < duration {
		<-tick.C
		server, all := sample(time.Since(started).Round(time.Second).String())
		if server.Anonymous > maxServerMemory {
			t.Errorf("the server uses %d MB, want at most %d", server.Anonymous>>20, maxServerMemory>>20)
		}
		if own := all - (server.Total - server.Anonymous); own > maxPeakMemory {
			t.Errorf("all processes use %d MB, want at most %d", own>>20, maxPeakMemory>>20)
		}
	}
	clients.Wait()
	if m.orders.Load() == 0 {
		t.Error("no orders were created")
	}
	if duration >= longLoad {
		h.waitIndexed(s)
		idleSince := time.Now()
		for time.Since(idleSince) < 3*time.Minute || len(s.childPIDs()) > 0 && time.Since(idleSince) < 30*time.Minute {
			<-tick.C
			sample("idle for " + time.Since(idleSince).Round(time.Second).String())
		}
		if _, all := sample("idle"); all > maxIdleProcessMemory {
			t.Errorf("all processes use %d MB, want at most %d", all>>20, maxIdleProcessMemory>>20)
		}
	}
}

// memoryLoad sends requests and counts the orders that were created.
type memoryLoad struct {
	t        *testing.T
	url, key string
	orders   atomic.Int64
}

// run creates an order in each interval until end, and sometimes lists or searches orders or uploads a document.
func (m *memoryLoad) run(client int, end time.Time, interval time.Duration) {
	words := []string{"deed", "mortgage", "release", "parcel", "easement", "grantor", "survey", "lease", "heirs", "plat"}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := 1; time.Now().Before(end); n++ {
		<-tick.C
		body, err := json.Marshal(map[string]string{"order_number": fmt.Sprintf("M-%d-%d", client, n), "status": "active",
			"county": words[n%len(words)], "notes": words[n/7%len(words)] + " " + words[n/3%len(words)] + fmt.Sprint(" ", n)})
		if err != nil {
			m.t.Errorf("encode order: %v", err)
			return
		}
		if m.send(http.MethodPost, "/orders", "application/json", body) == http.StatusCreated {
			m.orders.Add(1)
		}
		if n%10 == 0 {
			m.send(http.MethodGet, "/orders?per_page=25", "", nil)
		}
		if n%20 == 0 {
			m.send(http.MethodGet, "/search?q="+words[n/20%len(words)], "", nil)
		}
		if n%200 == 0 {
			file := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"files[]\"; filename=\"n.txt\"\r\n\r\nGrantor %d %d conveys\r\n--b--\r\n", client, n)
			m.send(http.MethodPost, "/file-vault/upload", "multipart/form-data; boundary=b", []byte(file))
		}
	}
}

// send sends a request and returns the status.
func (m *memoryLoad) send(method, path, media string, body []byte) int {
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.url+path, bytes.NewReader(body))
	if err != nil {
		m.t.Errorf("create request: %v", err)
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+m.key)
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Errorf("%s %s: %v", method, path, err)
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := resp.Body.Close(); err != nil {
		m.t.Errorf("%s %s: %v", method, path, err)
	}
	if err != nil || resp.StatusCode >= http.StatusBadRequest && resp.StatusCode != http.StatusServiceUnavailable {
		m.t.Errorf("%s %s: status %d, %v", method, path, resp.StatusCode, err)
	}
	return resp.StatusCode
}
