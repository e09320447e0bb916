package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damages contains functions that damage a database page as a faulty disk might.
var damages = map[string]func(page []byte){
	"flipped bit in the header": func(p []byte) { p[8] ^= 1 },
	"flipped bit in the data":   func(p []byte) { p[len(p)-20] ^= 4 },
	"all ones":                  func(p []byte) { copy(p, bytes.Repeat([]byte{0xff}, len(p))) },
	"all zeros":                 func(p []byte) { clear(p) },
}

// usedPages returns the number of pages up to the last one that was ever written. bbolt lets the file
// grow in large steps.
func usedPages(database []byte, size int) int {
	return (len(bytes.TrimRight(database, "\x00")) + size - 1) / size
}

// If any page of the database is damaged, verify reports damage or, because the page may be
// unused, success. It never panics.
func TestVerifyDamagedPages(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	path := filepath.Join(data, "vault.db")
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read database: %v", err)
	}
	size := os.Getpagesize() // bbolt's default
	found := 0
	for name, damage := range damages {
		for page := 0; page < usedPages(intact, size); page++ {
			content := bytes.Clone(intact)
			damage(content[page*size : (page+1)*size])
			// Write a new file, because bbolt keeps its lock on a file that it couldn't open.
			if err := errors.Join(os.Remove(path), os.WriteFile(path, content, 0o600)); err != nil {
				t.Fatalf("replace database: %v", err)
			}
			got := runCLI(t.Context(), t, nil, "verify", "--data", data)
			switch {
			case got.code == exitDamage:
				found++
			case got.code != exitDone, strings.Contains(got.messages, "goroutine"):
				t.Errorf("page %d of %d, %s: got %+v, want exit code %d or %d and no panic",
					page, usedPages(intact, size), name, got, exitDamage, exitDone)
			}
		}
	}
	if found < 10 {
		t.Errorf("damaged pages found: got %d, want at least 10", found)
	}
}

// Verification by a running server also finds damaged pages, and the server continues to run.
func TestVerifyDamagedPagesWithServer(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	p := startServer(t, data)
	path := filepath.Join(data, "vault.db")
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read database: %v", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatalf("open database: %v", err)
	}
	defer file.Close()
	size := os.Getpagesize() // bbolt's default
	found := 0
	for name, damage := range damages {
		for page := 0; page < usedPages(intact, size); page++ {
			at := int64(page * size)
			content := bytes.Clone(intact[at : at+int64(size)])
			damage(content)
			if _, err := file.WriteAt(content, at); err != nil {
				t.Fatalf("damage page: %v", err)
			}
			got := runCLI(t.Context(), t, nil, "verify", "--data", data)
			if _, err := file.WriteAt(intact[at:at+int64(size)], at); err != nil {
				t.Fatalf("repair page: %v", err)
			}
			where := fmt.Sprintf("page %d of %d, %s", page, usedPages(intact, size), name)
			select {
			case <-p.done:
				t.Fatalf("%s: the server exited\n%s", where, p.messages)
			default:
			}
			switch got.code {
			case exitDamage:
				found++
			case exitDone:
			default:
				t.Errorf("%s: got %+v, want exit code %d or %d", where, got, exitDamage, exitDone)
			}
		}
	}
	if found < 10 {
		t.Errorf("damaged pages found: got %d, want at least 10", found)
	}
	if got := runCLI(t.Context(), t, nil, "verify", "--data", data); got.code != exitDone {
		t.Errorf("repaired database: got %+v, want exit code %d", got, exitDone)
	}
}

// If the database can't be opened, verify reports that as damage. All other commands fail
// with the same message.
func TestUnreadableDatabase(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	path := filepath.Join(data, "vault.db")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, bytes.Repeat([]byte("not a database"), 5000), 0o600)); err != nil {
		t.Fatalf("replace database: %v", err)
	}
	sentence := "vault.db is damaged (invalid database); restore a backup"
	got := runCLI(t.Context(), t, nil, "verify", "--data", data)
	if got.code != exitDamage || !strings.HasPrefix(got.out, "database vault.db: ") || !strings.Contains(got.out, sentence) {
		t.Errorf("verify: got %+v, want exit code %d and %q", got, exitDamage, sentence)
	}
	got = runCLI(t.Context(), t, nil, "verify", "--json", "--data", data)
	if got.code != exitDamage || !strings.Contains(got.out, `"ok": false`) || !strings.Contains(got.out, sentence) {
		t.Errorf("verify --json: got %+v, want exit code %d and %q", got, exitDamage, sentence)
	}
	for _, args := range [][]string{{"status"}, {"keys", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		got := runCLI(t.Context(), t, nil, append(args, "--data", data)...)
		if got.code != exitFailed || got.out != "" || strings.Count(got.messages, "\n") != 1 || !strings.Contains(got.messages, sentence) {
			t.Errorf("%v: got %+v, want exit code %d and only %q", args, got, exitFailed, sentence)
		}
	}
}

// If the search index is damaged, verify reports once that it is damaged, where, and what to
// do.
func TestVerifyDamagedIndex(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	if got := runCLI(t.Context(), t, nil, "reindex", "--data", data); got.code != exitDone {
		t.Fatalf("reindex: got %+v, want exit code %d", got, exitDone)
	}
	if got := runCLI(t.Context(), t, nil, "verify", "--data", data); got.code != exitDone ||
		!strings.Contains(got.out, "audit log entries, search index (") {
		t.Errorf("intact index: got %+v, want exit code %d and the search index in the output", got, exitDone)
	}
	segments, err := filepath.Glob(filepath.Join(data, "search", "*", "*.segment"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("list segments: got %q, %v, want at least one", segments, err)
	}
	for _, path := range segments {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("read segment: %v", err)
		}
		content[len(content)/2] ^= 1
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatalf("write segment: %v", err)
		}
	}
	got := runCLI(t.Context(), t, nil, "verify", "--data", data)
	for word, want := range map[string]int{"damaged": 1, "DAMAGED": 1, "reindex": 1, "checksum": 1, "segment": 1,
		"search index: no document is lost": 1, "--repair": 0} {
		if n := strings.Count(got.out, word); n != want || got.code != exitDamage {
			t.Errorf("count of %q: got %d, want %d with exit code %d: %+v", word, n, want, exitDamage, got)
		}
	}
}

// A new vault of a running server has a search index, although nothing of it is on the disk yet.
func TestVerifyBesideNewServer(t *testing.T) {
	p := startServer(t, shortDataDir(t))
	for _, row := range []struct{ command, want string }{
		{"reindex", ""}, // waits until the search index is complete
		{"verify", ", search index (nothing on the disk yet); 0 orphaned files"},
	} {
		got := runCLI(t.Context(), t, nil, row.command, "--data", p.data)
		if got.code != exitDone || !strings.Contains(got.out, row.want) {
			t.Errorf("%s: got %+v, want exit code 0 and %q\n%s", row.command, got, row.want, p.messages)
		}
	}
}
