//go:build harness && linux

package cmd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// maxResident is the maximum resident memory of a server, in bytes, regardless of the request
// bodies that it receives.
const maxResident = 256 << 20

// peakMemory returns the peak resident memory of a process, in bytes, since the previous call.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no VmHWM in the status of process %d:\n%s", pid, status)
	}
	kb, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatalf("parse number: %v", err)
	}
	const reset = "5" // see the man page proc_pid_clear_refs(5)
	if err := os.WriteFile(filepath.Join(dir, "clear_refs"), []byte(reset), 0); err != nil {
		t.Fatalf("write file: %v", err)
	}
	return kb << 10
}

// The server uses a bounded amount of memory to decode request bodies. The test sends 50
// concurrent requests with two keys. Their bodies need the most memory relative to their size.
func TestMemoryOfRequestBodies(t *testing.T) {
	server := startServer(t, shortDataDir(t))
	keys := []string{server.createKey(t, "one"), server.createKey(t, "two")}
	before := peakMemory(t, server.process.Process.Pid)
	const size = 79 << 20 / 10
	fill := func(prefix, suffix string, count int, item func(int) string) string {
		var b strings.Builder
		b.WriteString(prefix)
		for i := range count {
			text := item(i)
			if b.Len()+len(text)+len(suffix) > size {
				break
			}
			b.WriteString(text)
		}
		return strings.TrimSuffix(strings.TrimSuffix(b.String(), ","), "&") + suffix
	}
	member := func(i int) string { return fmt.Sprintf(`"k%06d":"%s",`, i, strings.Repeat("v", 105)) }
	rows := []struct{ name, path, media, body string }{
		{"more than 65,536 members", "orders", "application/json",
			fill(`{`, `}`, size, func(i int) string { return fmt.Sprintf(`"k%06d":1,`, i) })},
		{"65,000 members", "orders", "application/json", fill(`{`, `}`, 65_000, member)},
		{"65,000 custom fields", "orders", "application/json", fill(`{"custom_fields":{`, `}}`, 64_990, member)},
		{"65,000 custom fields of a form", "abstracts", "application/x-www-form-urlencoded", fill(`custom_fields={`, `}`, 64_990, member)},
		{"one long string", "orders", "application/json", `{"order_number":"` + strings.Repeat("x", size-100) + `"}`},
		{"one long escaped string", "orders", "application/json", `{"order_number":"` + strings.Repeat(`\u00e9`, size/6-100) + `"}`},
		{"deep arrays", "orders", "application/json", fill(`{"x":[`, `]}`, 65_000/31, func(int) string {
			return strings.Repeat("[", 30) + strings.Repeat(" ", 3800) + strings.Repeat("]", 30) + ","
		})},
		{"flat arrays", "orders", "application/json",
			fill(`{"custom_fields":[`, `]}`, 65_500, func(int) string { return "0" + strings.Repeat(" ", 119) + "," })},
		{"name and value pairs", "abstracts", "application/x-www-form-urlencoded",
			fill(``, ``, 65_000, func(i int) string { return fmt.Sprintf("k%06d=%s+&", i, strings.Repeat("v", 110)) })},
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[string]int{}
	for i := range 50 {
		row := rows[i%len(rows)]
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+"/v1/"+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Errorf("create request: %v", err)
				return
			}
			req.Header.Set("Content-Type", row.media)
			req.Header.Set("Authorization", "Bearer "+keys[i%2])
			status := "cut" // the server closed the connection before reading the entire body
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				status = fmt.Sprint(resp.StatusCode)
				if err = errors.Join(err, resp.Body.Close()); err != nil {
					t.Errorf("%s: read response: %v", row.name, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	wg.Wait()
	peak := peakMemory(t, server.process.Process.Pid)
	t.Logf("%d MB before, peak of %d MB, responses %v", before>>20, peak>>20, statuses)
	if peak > maxResident {
		t.Errorf("peak of %d MB, want at most %d MB", peak>>20, maxResident>>20)
	}
	if statuses["201"]+statuses["400"]+statuses["422"] < 10 {
		t.Errorf("got responses %v, want at least 10 of 201, 400, or 422", statuses)
	}
}
