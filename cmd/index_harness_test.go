//go:build harness

// This test repeatedly kills a server while it builds or updates the search index. In the end,
// the index must be the same as one built without interruptions.
//
//	go test -tags harness ./cmd -run TestIndexKilled
package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

const (
	indexRecords   = 1000            // number of abstracts, and also of orders; there are twice as many files
	indexKills     = 4               // maximum number of kills while the index is built
	updateKills    = 2               // number of kills while the index is updated
	maxSearchDelay = 2 * time.Second // maximum time from the response to a write until a search finds the record
)

func TestIndexKilled(t *testing.T) {
	h := newHarness(t)
	var err error
	if h.dir, err = os.MkdirTemp("", "dk"); err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(h.dir) })
	firm := vaulttest.Firm{Abstracts: indexRecords, Orders: indexRecords, Files: 2 * indexRecords, Documents: 50, Until: time.Now()}
	if err := firm.Fill(t.Context(), h.dir, func(int, int) {}); err != nil {
		t.Fatalf("fill vault: %v", err)
	}
	h.key = strings.TrimSpace(string(h.command("keys", "create", "harness", "--quiet")))

	midway := 0
	for range indexKills {
		s := h.start()
		time.Sleep(time.Duration(10+h.rng.IntN(60)) * time.Millisecond)
		s.kill()
		if _, err := os.Stat(filepath.Join(h.dir, "search", "current")); err == nil {
			break
		}
		midway++
	}
	s := h.start()
	took := h.waitIndexed(s)
	t.Logf("killed %d times during the build; complete %v after the last start", midway, took)
	if midway == 0 {
		t.Error("no kill happened during the build of the index")
	}
	h.waitFound(s, "abstract", "F0000017")

	var orders []string
	for i := range updateKills {
		for deadline := time.Now().Add(time.Duration(h.rng.IntN(200)) * time.Millisecond); ; {
			number := fmt.Sprintf("KILL%d-%d", i, len(orders))
			if _, err := s.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: number}); err != nil {
				t.Fatalf("create order: %v", err)
			}
			if orders = append(orders, number); time.Now().After(deadline) {
				break
			}
		}
		s.kill()
		s = h.start()
	}
	start := time.Now()
	for _, number := range orders {
		h.waitFound(s, "order", number)
	}
	t.Logf("all %d acknowledged orders are found %v after the last start", len(orders), time.Since(start))
	number := "LAST-1"
	if _, err := s.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: number}); err != nil {
		t.Fatalf("create order: %v", err)
	}
	start = time.Now()
	h.waitFound(s, "order", number)
	if took := time.Since(start); took > maxSearchDelay {
		t.Errorf("order found %v after it was created, want at most %v", took, maxSearchDelay)
	} else {
		t.Logf("order found %v after it was created", took)
	}
	h.waitIndexed(s)
	before := h.status().Search.Records
	var rebuilt apitypes.SearchIndex
	if err := json.Unmarshal(h.command("reindex", "--json"), &rebuilt); err != nil || rebuilt.Records != before {
		t.Errorf("reindex: got %+v, %v, want %d records as in the index that was killed", rebuilt, err, before)
	}
	if report := h.verify(); !report.OK {
		t.Errorf("verify: got %+v, want no findings", report)
	}
	s.kill()
}

// status returns the decoded output of `deedkeep status --json`.
func (h *harness) status() (status apitypes.Status) {
	h.t.Helper()
	if err := json.Unmarshal(h.command("status", "--json"), &status); err != nil {
		h.t.Fatalf("decode status: %v", err)
	}
	return status
}

// waitIndexed waits until the index is complete and up to date. It returns how long that took.
func (h *harness) waitIndexed(s *serverProcess) time.Duration {
	h.t.Helper()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if i := h.status().Search; i.Ready && !i.Building && i.Behind == 0 {
			return time.Since(start)
		} else if i.Error != nil || time.Since(start) > time.Minute {
			h.t.Fatalf("search index after %v: got %+v, want it complete", time.Since(start), i)
		}
	}
}

// waitFound repeats a search until it finds a record of the given type.
func (h *harness) waitFound(s *serverProcess, kind, text string) {
	h.t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		query := url.Values{"q": {text}, "kind": {kind}}.Encode()
		req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, s.baseURL+"/v1/search?"+query, nil)
		if err != nil {
			h.t.Fatalf("create request: %v", err)
		}
		req.Header.Set("Authorization", "Bearer "+h.key)
		resp, err := (&http.Client{Transport: s.transport}).Do(req)
		if err != nil {
			h.t.Fatalf("send request: %v", err)
		}
		var page struct{ Data []json.RawMessage }
		err = json.NewDecoder(resp.Body).Decode(&page)
		_ = resp.Body.Close() // the body was only read
		if err == nil && resp.StatusCode == http.StatusOK && len(page.Data) > 0 {
			return
		}
		if time.Since(start) > time.Minute {
			h.t.Fatalf("search for %q after a minute: got status %d, %v, want a result", text, resp.StatusCode, err)
		}
	}
}
