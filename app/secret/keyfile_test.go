package secret

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestLoadKeysCreatesOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret.key")
	first, created, err := LoadKeys(path, testRand(1))
	if err != nil || !created {
		t.Fatalf("first LoadKeys: created = %v, %v, want true", created, err)
	}
	again, created, err := LoadKeys(path, failingRand{})
	if err != nil || created {
		t.Fatalf("second LoadKeys: created = %v, %v, want false", created, err)
	}
	if first.Fingerprint() != again.Fingerprint() {
		t.Errorf("fingerprint of the second LoadKeys = %s, want %s", again.Fingerprint(), first.Fingerprint())
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatalf("stat: %v", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("entries of the directory = %v, %v, want only the key file", entries, err)
	}
}

func TestConcurrentLoadKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	const loaders = 8
	var fingerprints [loaders]string
	var wait sync.WaitGroup
	for i := range loaders {
		wait.Go(func() {
			keys, _, err := LoadKeys(path, testRand(byte(i)))
			if err != nil {
				t.Errorf("LoadKeys: %v", err)
				return
			}
			fingerprints[i] = keys.Fingerprint()
		})
	}
	wait.Wait()
	for _, fingerprint := range fingerprints {
		if fingerprint != fingerprints[0] {
			t.Fatalf("got the fingerprints %v, want the same ones", fingerprints)
		}
	}
}

func TestLoadKeysErrors(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := LoadKeys(filepath.Join(dir, "secret.key"), failingRand{}); !errors.Is(err, errRand) {
		t.Errorf("LoadKeys with a failing rand = %v, want %v", err, errRand)
	}
	if _, _, err := LoadKeys(filepath.Join(dir, "absent", "secret.key"), testRand(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LoadKeys without a directory = %v, want fs.ErrNotExist", err)
	}
	if _, _, err := LoadKeys(dir, testRand(1)); err == nil {
		t.Error("LoadKeys of a directory: got no error")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("entries of the directory = %v, %v, want none", entries, err)
	}
}

func TestKeyFileVector(t *testing.T) {
	const line = "deedkeep-secret-1 MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY 9c7d7855\n"
	if got := encodeKeyLine([]byte("0123456789abcdef0123456789abcdef")); got != line {
		t.Errorf("key line = %q, want %q", got, line)
	}
	path := filepath.Join(t.TempDir(), "secret.key")
	for name, text := range map[string]string{"as written": line, "Windows line end": strings.TrimSpace(line) + "\r\n",
		"no line end": strings.TrimSpace(line)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		keys, created, err := LoadKeys(path, failingRand{})
		if err != nil || created || keys.Fingerprint() != "59ebdef9022467ee" {
			t.Errorf("%s: LoadKeys = %v, %v, %v, want the existing keys", name, keys, created, err)
		}
	}
}

func TestDamagedKeyFileIsRejected(t *testing.T) {
	good := encodeKeyLine([]byte("0123456789abcdef0123456789abcdef"))
	path := filepath.Join(t.TempDir(), "secret.key")
	for _, row := range []struct{ name, text, reason string }{
		{"empty", "", "file is empty"},
		{"blanks", " \n", "file is empty"},
		{"another file", "-----BEGIN PRIVATE KEY-----\n", `file doesn't start with "deedkeep-secret-1"`},
		{"newer format", "deedkeep-secret-2" + good[17:], `file doesn't start with "deedkeep-secret-1"`},
		{"truncated in the key", good[:30], "checksum is missing"},
		{"truncated in the checksum", good[:len(good)-3], "checksum mismatch"},
		{"changed key", strings.Replace(good, "MDEy", "MDEz", 1), "checksum mismatch"},
		{"short key", strings.Replace(good, "MDEy", "", 1), "key is not 43 base64 characters"},
		{"upper-case checksum", good[:len(good)-9] + strings.ToUpper(good[len(good)-9:]), "checksum mismatch"},
		{"two lines", good + good, "checksum mismatch"},
		{"huge", good + strings.Repeat(" ", maxKeyFileSize), "file is too long"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			keys, created, err := LoadKeys(path, testRand(1))
			if keys != nil || created || !errors.Is(err, ErrKeyFileDamaged) {
				t.Fatalf("LoadKeys = %v, %v, %v, want %v", keys, created, err, ErrKeyFileDamaged)
			}
			want := "the key file is damaged: " + path + ": " + row.reason +
				"; restore the file from a backup (with a new key file, existing IDs and links stop working)"
			if err.Error() != want {
				t.Errorf("error:\n%s\nwant:\n%s", err, want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != row.text {
				t.Errorf("key file = %q, %v, want %q", after, err, row.text)
			}
		})
	}
}

func FuzzKeyFile(f *testing.F) {
	f.Add(encodeKeyLine([]byte("0123456789abcdef0123456789abcdef")))
	f.Add("deedkeep-secret-1 ")
	f.Add("deedkeep-secret-1 AAAA 00000000")
	f.Fuzz(func(t *testing.T, text string) {
		secret, err := parseKeyLine(text)
		if err == nil && encodeKeyLine(secret) != strings.TrimRight(text, " \t\r\n")+"\n" {
			t.Errorf("parseKeyLine accepted %q, want only the canonical line", text)
		}
	})
}
