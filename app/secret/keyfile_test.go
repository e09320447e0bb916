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

func TestLoadCreatesOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret.key")
	first, created, err := LoadKeys(path, chance(1))
	if err != nil || !created {
		t.Fatalf("first load: created %v, %v", created, err)
	}
	again, created, err := LoadKeys(path, noChance{})
	if err != nil || created {
		t.Fatalf("second load: created %v, %v", created, err)
	}
	if first.Fingerprint() != again.Fingerprint() {
		t.Error("another secret came back")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestLoadInParallelGivesOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	const loaders = 8
	var prints [loaders]string
	var wait sync.WaitGroup
	for i := range loaders {
		wait.Go(func() {
			ring, _, err := LoadKeys(path, chance(byte(i)))
			if err != nil {
				t.Error(err)
				return
			}
			prints[i] = ring.Fingerprint()
		})
	}
	wait.Wait()
	for _, fingerprint := range prints {
		if fingerprint != prints[0] {
			t.Fatalf("different keys in use: %v", prints)
		}
	}
}

func TestLoadFailures(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := LoadKeys(filepath.Join(dir, "secret.key"), noChance{}); !errors.Is(err, errNoChance) {
		t.Errorf("without chance: %v", err)
	}
	if _, _, err := LoadKeys(filepath.Join(dir, "absent", "secret.key"), chance(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
	if _, _, err := LoadKeys(dir, chance(1)); err == nil {
		t.Error("a directory is taken for a key file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestKeyFileVector(t *testing.T) {
	const line = "deedkeep-secret-1 MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY 9c7d7855\n"
	if got := keyLine([]byte("0123456789abcdef0123456789abcdef")); got != line {
		t.Errorf("key line = %q, want %q", got, line)
	}
	path := filepath.Join(t.TempDir(), "secret.key")
	for name, text := range map[string]string{"as written": line, "Windows line end": strings.TrimSpace(line) + "\r\n", "no line end": strings.TrimSpace(line)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ring, created, err := LoadKeys(path, noChance{})
		if err != nil || created || ring.Fingerprint() != "59ebdef9022467ee" {
			t.Errorf("%s: %v, created %v, %v", name, ring, created, err)
		}
	}
}

func TestDamagedKeyFileIsRefused(t *testing.T) {
	good := keyLine([]byte("0123456789abcdef0123456789abcdef"))
	path := filepath.Join(t.TempDir(), "secret.key")
	for _, row := range []struct{ name, text, reason string }{
		{"empty", "", "it is empty"},
		{"blanks", " \n", "it is empty"},
		{"another file", "-----BEGIN PRIVATE KEY-----\n", `it does not begin with "deedkeep-secret-1"`},
		{"newer format", "deedkeep-secret-2" + good[17:], `it does not begin with "deedkeep-secret-1"`},
		{"cut in the key", good[:30], "its checksum is missing"},
		{"cut in the checksum", good[:len(good)-3], "its checksum does not match"},
		{"changed key", strings.Replace(good, "MDEy", "MDEz", 1), "its checksum does not match"},
		{"short key", strings.Replace(good, "MDEy", "", 1), "the key in it is not 43 characters of base64"},
		{"upper-case checksum", good[:len(good)-9] + strings.ToUpper(good[len(good)-9:]), "its checksum does not match"},
		{"two lines", good + good, "its checksum does not match"},
		{"huge", good + strings.Repeat(" ", keyFileMax), "it is too long"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			ring, created, err := LoadKeys(path, chance(1))
			if ring != nil || created || !errors.Is(err, ErrKeyFileDamaged) {
				t.Fatalf("ring %v, created %v, error %v", ring, created, err)
			}
			want := "the key file is damaged: " + path + ": " + row.reason + "; put the file back from a backup (a new one would make every id and link that was handed out void)"
			if err.Error() != want {
				t.Errorf("error:\n%s\nwant:\n%s", err, want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != row.text {
				t.Errorf("the file was touched: %q, %v", after, err)
			}
		})
	}
}

func FuzzKeyFile(f *testing.F) {
	f.Add(keyLine([]byte("0123456789abcdef0123456789abcdef")))
	f.Add("deedkeep-secret-1 ")
	f.Add("deedkeep-secret-1 AAAA 00000000")
	f.Fuzz(func(t *testing.T, text string) {
		secret, err := parseKeyLine(text)
		if err == nil && keyLine(secret) != strings.TrimRight(text, " \t\r\n")+"\n" {
			t.Errorf("%q is a second spelling", text)
		}
	})
}
