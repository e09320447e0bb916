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

// pageSize is that of the databases which the tests make.
func pageSize(t *testing.T) int {
	t.Helper()
	return os.Getpagesize()
}

// damages are what a disk does to a page.
var damages = map[string]func(page []byte){
	"a flipped bit at its head": func(p []byte) { p[8] ^= 1 },
	"a flipped bit in its data": func(p []byte) { p[len(p)-20] ^= 4 },
	"nothing but ones":          func(p []byte) { copy(p, bytes.Repeat([]byte{0xff}, len(p))) },
	"nothing but zeros":         func(p []byte) { clear(p) },
}

// Whatever happens to a page of the database, verify says that it is damaged or that
// all is well (a page may be free), and never breaks down.
func TestVerifyDamagedPages(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "vault.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := pageSize(t)
	found := 0
	for name, damage := range damages {
		for page := 0; page < len(whole)/size; page++ {
			content := bytes.Clone(whole)
			damage(content[page*size : (page+1)*size])
			// A new file: bbolt keeps the lock of one that it could not open.
			if err := errors.Join(os.Remove(path), os.WriteFile(path, content, 0o600)); err != nil {
				t.Fatal(err)
			}
			got := runCLI(t.Context(), t, nil, "verify", "--data", data)
			switch {
			case got.code == exitDamage:
				found++
			case got.code != exitDone, strings.Contains(got.messages, "goroutine"):
				t.Errorf("page %d of %d, %s: %+v", page, len(whole)/size, name, got)
			}
		}
	}
	if found < 10 {
		t.Errorf("damage was found %d times", found)
	}
}

// The same under a server, which goes on answering.
func TestVerifyDamagedPagesWithServer(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, data)
	path := filepath.Join(data, "vault.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size := pageSize(t)
	found := 0
	for name, damage := range damages {
		for page := 0; page < len(whole)/size; page++ {
			at := int64(page * size)
			content := bytes.Clone(whole[at : at+int64(size)])
			damage(content)
			if _, err := file.WriteAt(content, at); err != nil {
				t.Fatal(err)
			}
			got := runCLI(t.Context(), t, nil, "verify", "--data", data)
			if _, err := file.WriteAt(whole[at:at+int64(size)], at); err != nil {
				t.Fatal(err)
			}
			where := fmt.Sprintf("page %d of %d, %s", page, len(whole)/size, name)
			select {
			case <-p.done:
				t.Fatalf("%s: the server ended\n%s", where, p.messages)
			default:
			}
			switch got.code {
			case exitDamage:
				found++
			case exitDone:
			default:
				t.Errorf("%s: %+v", where, got)
			}
		}
	}
	if found < 10 {
		t.Errorf("damage was found %d times", found)
	}
	if got := runCLI(t.Context(), t, nil, "verify", "--data", data); got.code != exitDone {
		t.Errorf("put back: %+v", got)
	}
}

// Where the database cannot even be opened, verify says so as it says all damage, and
// every other command fails with the same sentence.
func TestUnreadableDatabase(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "vault.db")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, bytes.Repeat([]byte("not a database"), 5000), 0o600)); err != nil {
		t.Fatal(err)
	}
	sentence := "vault.db is damaged (invalid database): restore a backup"
	got := runCLI(t.Context(), t, nil, "verify", "--data", data)
	if got.code != exitDamage || !strings.HasPrefix(got.out, "database vault.db: ") || !strings.Contains(got.out, sentence) {
		t.Errorf("verify: %+v", got)
	}
	got = runCLI(t.Context(), t, nil, "verify", "--json", "--data", data)
	if got.code != exitDamage || !strings.Contains(got.out, `"ok": false`) || !strings.Contains(got.out, sentence) {
		t.Errorf("verify --json: %+v", got)
	}
	for _, args := range [][]string{{"status"}, {"keys", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		got := runCLI(t.Context(), t, nil, append(args, "--data", data)...)
		if got.code != exitFailed || got.out != "" || strings.Count(got.messages, "\n") != 1 || !strings.Contains(got.messages, sentence) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// Of a damaged search index verify says each thing once: that, where, and what to do.
func TestVerifyDamagedIndex(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatal(err)
	}
	if got := runCLI(t.Context(), t, nil, "reindex", "--data", data); got.code != exitDone {
		t.Fatalf("reindex: %+v", got)
	}
	if got := runCLI(t.Context(), t, nil, "verify", "--data", data); got.code != exitDone ||
		!strings.Contains(got.out, "events, the search index (") {
		t.Errorf("whole: %+v", got)
	}
	segments, err := filepath.Glob(filepath.Join(data, "search", "*", "*.segment"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	for _, path := range segments {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := runCLI(t.Context(), t, nil, "verify", "--data", data)
	for word, want := range map[string]int{"damaged": 1, "DAMAGED": 1, "reindex": 1, "checksum": 1, "segment": 1,
		"search index: no document is lost": 1, "--repair": 0} {
		if n := strings.Count(got.out, word); n != want || got.code != exitDamage {
			t.Errorf("%q stands there %d times, want %d: %+v", word, n, want, got)
		}
	}
}
