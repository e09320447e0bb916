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

// maxResident is the memory that a server may have, however hard its bodies are to read.
const maxResident = 256 << 20

// peakMemory is the peak of a process's memory since it was last asked for.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in\n%s", status)
	}
	kb, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatalf("parse number: %v", err)
	}
	const reset = "5" // proc_pid_clear_refs(5)
	if err := os.WriteFile(filepath.Join(dir, "clear_refs"), []byte(reset), 0); err != nil {
		t.Fatalf("write file: %v", err)
	}
	return kb << 10
}

// What decoding makes of bodies is bounded: 50 at the same time, of two keys, of the kinds
// that become the most.
func TestMemoryOfBodies(t *testing.T) {
	server := startServer(t, shortDataDir(t))
	keys := []string{server.createKey(t, "one"), server.createKey(t, "two")}
	begun := peakMemory(t, server.process.Process.Pid)
	const size = 79 << 20 / 10
	fill := func(open, shut string, most int, item func(int) string) string {
		var b strings.Builder
		b.WriteString(open)
		for i := range most {
			text := item(i)
			if b.Len()+len(text)+len(shut) > size {
				break
			}
			b.WriteString(text)
		}
		return strings.TrimSuffix(strings.TrimSuffix(b.String(), ","), "&") + shut
	}
	member := func(i int) string { return fmt.Sprintf(`"k%06d":"%s",`, i, strings.Repeat("v", 105)) }
	kinds := []struct{ name, path, media, body string }{
		{"more than 65,536 members", "orders", "application/json", fill(`{`, `}`, size, func(i int) string { return fmt.Sprintf(`"k%06d":1,`, i) })},
		{"65,000 members", "orders", "application/json", fill(`{`, `}`, 65_000, member)},
		{"65,000 custom fields", "orders", "application/json", fill(`{"custom_fields":{`, `}}`, 64_990, member)},
		{"65,000 custom fields of a form", "abstracts", "application/x-www-form-urlencoded", fill(`custom_fields={`, `}`, 64_990, member)},
		{"one long string", "orders", "application/json", `{"order_number":"` + strings.Repeat("x", size-100) + `"}`},
		{"one long escaped string", "orders", "application/json", `{"order_number":"` + strings.Repeat(`\u00e9`, size/6-100) + `"}`},
		{"deep arrays", "orders", "application/json", fill(`{"x":[`, `]}`, 65_000/31, func(int) string {
			return strings.Repeat("[", 30) + strings.Repeat(" ", 3800) + strings.Repeat("]", 30) + ","
		})},
		{"flat arrays", "orders", "application/json", fill(`{"custom_fields":[`, `]}`, 65_500, func(int) string { return "0" + strings.Repeat(" ", 119) + "," })},
		{"pairs", "abstracts", "application/x-www-form-urlencoded", fill(``, ``, 65_000, func(i int) string { return fmt.Sprintf("k%06d=%s+&", i, strings.Repeat("v", 110)) })},
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	said := map[string]int{}
	for i := range 50 {
		kind := kinds[i%len(kinds)]
		all.Go(func() {
			ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+"/v1/"+kind.path, strings.NewReader(kind.body))
			if err != nil {
				t.Errorf("create request: %v", err)
				return
			}
			ask.Header.Set("Content-Type", kind.media)
			ask.Header.Set("Authorization", "Bearer "+keys[i%2])
			status := "cut" // told to come back, and still sending
			if answer, err := http.DefaultClient.Do(ask); err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				status = fmt.Sprint(answer.StatusCode)
				if err = errors.Join(err, answer.Body.Close()); err != nil {
					t.Errorf("%s: %v", kind.name, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			said[status]++
		})
	}
	all.Wait()
	peak := peakMemory(t, server.process.Process.Pid)
	t.Logf("%d MB before, %d MB at most, answers %v", begun>>20, peak>>20, said)
	if peak > maxResident {
		t.Errorf("%d MB at most, want no more than %d MB", peak>>20, maxResident>>20)
	}
	if said["201"]+said["400"]+said["422"] < 10 {
		t.Errorf("answers are %v, want most of them read", said)
	}
}
