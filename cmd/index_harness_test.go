//go:build harness

// The search index under the same axe: a server is killed while it makes the index and
// while it follows, over and over, and in the end it answers as one that was made in
// peace.
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
	"deedkeep/app/client"
	"deedkeep/app/vaulttest"
)

const (
	indexRecords   = 1000 // abstracts, orders; twice as many files
	indexKills     = 4    // while it is made, at most
	followKills    = 2
	maxSearchDelay = 2 * time.Second // from the answer to a write to its being found
)

func TestIndexKilled(t *testing.T) {
	t.Setenv("DEEDKEEP_SEARCH_BATCH_SIZE", "64 KB")
	h := newHarness(t, "")
	var err error
	if h.dir, err = os.MkdirTemp("", "dk"); err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(h.dir) })
	firm := vaulttest.Firm{Abstracts: indexRecords, Orders: indexRecords, Files: 2 * indexRecords, Documents: 50, Until: time.Now()}
	if err := firm.Fill(t.Context(), h.dir, func(int, int) {}); err != nil {
		t.Fatalf("firm.Fill: %v", err)
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
	t.Logf("killed %d times while the index was made; whole %v after the last start", midway, took)
	if midway == 0 {
		t.Error("no kill met an index that was being made")
	}
	h.waitFound(s, "abstract", "F0000017")

	var acked []string
	for life := range followKills {
		for end := time.Now().Add(time.Duration(h.rng.IntN(200)) * time.Millisecond); ; {
			number := fmt.Sprintf("KILL%d-%d", life, len(acked))
			if _, err := s.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: number}); err != nil {
				t.Fatalf("create order: %v", err)
			}
			if acked = append(acked, number); time.Now().After(end) {
				break
			}
		}
		s.kill()
		s = h.start()
	}
	begun := time.Now()
	for _, number := range acked {
		h.waitFound(s, "order", number)
	}
	t.Logf("all of %d acknowledged orders are found %v after the last start", len(acked), time.Since(begun))
	number := "LAST-1"
	if _, err := s.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: number}); err != nil {
		t.Fatalf("create order: %v", err)
	}
	begun = time.Now()
	h.waitFound(s, "order", number)
	if took := time.Since(begun); took > maxSearchDelay {
		t.Errorf("an order is found %v after it was taken", took)
	} else {
		t.Logf("an order is found %v after it was taken", took)
	}
	h.waitIndexed(s)
	before := h.status().Search.Records
	var anew apitypes.SearchIndex
	if err := json.Unmarshal(h.command("reindex", "--json"), &anew); err != nil || anew.Records != before {
		t.Errorf("made in pieces it has %d records, made at once %+v, %v", before, anew, err)
	}
	if report := h.verify(); !report.OK {
		t.Errorf("%+v", report)
	}
	s.kill()
}

func (h *harness) status() (status apitypes.Status) {
	h.t.Helper()
	if err := json.Unmarshal(h.command("status", "--json"), &status); err != nil {
		h.t.Fatalf("decode JSON: %v", err)
	}
	return status
}

// waitIndexed waits until the index is whole and behind nothing.
func (h *harness) waitIndexed(s *serverProcess) time.Duration {
	h.t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if i := h.status().Search; i.Ready && !i.Building && i.Behind == 0 {
			return time.Since(begun)
		} else if i.Error != nil || time.Since(begun) > time.Minute {
			h.t.Fatalf("%+v", i)
		}
	}
}

// waitFound asks until a text finds a record of a kind.
func (h *harness) waitFound(s *serverProcess, kind, text string) {
	h.t.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		ask, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, s.baseURL+"/v1/search?"+url.Values{"q": {text}, "kind": {kind}}.Encode(), nil)
		if err != nil {
			h.t.Fatalf("create request: %v", err)
		}
		ask.Header.Set("Authorization", "Bearer "+h.key)
		answer, err := (&http.Client{Transport: s.transport}).Do(ask)
		if err != nil {
			h.t.Fatalf("send request: %v", err)
		}
		var page struct{ Data []json.RawMessage }
		err = json.NewDecoder(answer.Body).Decode(&page)
		_ = answer.Body.Close() // it was only read from
		if err == nil && answer.StatusCode == http.StatusOK && len(page.Data) > 0 {
			return
		}
		if time.Since(begun) > time.Minute {
			h.t.Fatalf("%q finds nothing: %d, %v", text, answer.StatusCode, err)
		}
	}
}
