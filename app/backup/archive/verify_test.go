package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// damage is one way to damage an archive in dir.
type damage struct {
	name string
	do   func(t *testing.T, dir string)
}

// firstFile returns the first file that matches the pattern.
func firstFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("Glob(%s) = %v, %v, want a file", pattern, found, err)
	}
	return found[0]
}

// lastFile returns the last file that matches the pattern.
func lastFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("Glob(%s) = %v, %v, want a file", pattern, found, err)
	}
	return found[len(found)-1]
}

// rewriteFile changes the content of a file.
func rewriteFile(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(raw), 0o600)
	}
	if err != nil {
		t.Fatalf("write file: %v", err)
	}
}

// renameFile renames a file or directory.
func renameFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatalf("rename: %v", err)
	}
}

// filePatterns maps each type of file in an archive to a pattern.
var filePatterns = map[string]string{
	"header": headerName, "manifest": "snapshots/*.manifest", "database": "snapshots/*.db", "document": "blobs/*/*", "key": keyName,
}

// flipBit returns a function that flips a bit in one byte. Given the length of the
// content, at returns the position of the byte.
func flipBit(at func(n int) int) func([]byte) []byte {
	return func(raw []byte) []byte {
		raw = bytes.Clone(raw)
		raw[at(len(raw))] ^= 0x10
		return raw
	}
}

// fileChanges are ways to damage a single file.
var fileChanges = map[string]func([]byte) []byte{
	"first byte":             flipBit(func(int) int { return 0 }),
	"bit in the first half":  flipBit(func(n int) int { return n / 4 }),
	"bit in the middle":      flipBit(func(n int) int { return n / 2 }),
	"bit in the second half": flipBit(func(n int) int { return n - n/4 }),
	"last byte":              flipBit(func(n int) int { return n - 1 }),
	"truncated to half":      func(raw []byte) []byte { return raw[:len(raw)/2] },
	"last byte missing":      func(raw []byte) []byte { return raw[:len(raw)-1] },
	"empty":                  func([]byte) []byte { return nil },
	"extra byte":             func(raw []byte) []byte { return append(bytes.Clone(raw), '\n') },
	"zeros":                  func(raw []byte) []byte { return make([]byte, len(raw)) },
	"repeated":               func(raw []byte) []byte { return append(bytes.Clone(raw), raw...) },
	"halves swapped":         func(raw []byte) []byte { return append(bytes.Clone(raw[len(raw)/2:]), raw[:len(raw)/2]...) },
}

// allDamage returns every way to damage an archive.
func allDamage(encrypted bool) (list []damage) {
	for _, kind := range slices.Sorted(maps.Keys(filePatterns)) {
		if kind == "key" && !encrypted {
			continue
		}
		pattern := filePatterns[kind]
		list = append(list, damage{kind + " missing", func(t *testing.T, dir string) {
			if err := os.Remove(firstFile(t, dir, pattern)); err != nil {
				t.Fatalf("remove file: %v", err)
			}
		}})
		for _, label := range slices.Sorted(maps.Keys(fileChanges)) {
			list = append(list, damage{kind + ": " + label,
				func(t *testing.T, dir string) { rewriteFile(t, firstFile(t, dir, pattern), fileChanges[label]) }})
		}
	}
	swap := func(pattern string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			a, b := firstFile(t, dir, pattern), lastFile(t, dir, pattern)
			renameFile(t, a, a+".x")
			renameFile(t, b, a)
			renameFile(t, a+".x", b)
		}
	}
	return append(list,
		damage{"two documents swapped", swap("blobs/*/*")},
		damage{"two manifests swapped", swap("snapshots/*.manifest")},
		damage{"two databases swapped", swap("snapshots/*.db")},
		damage{"older manifest with a newer name", func(t *testing.T, dir string) {
			older, newer := firstFile(t, dir, "snapshots/*.manifest"), lastFile(t, dir, "snapshots/*.manifest")
			_, sum, _ := strings.Cut(filepath.Base(older), ".")
			name, _, _ := strings.Cut(filepath.Base(newer), ".")
			if err := os.Remove(newer); err != nil {
				t.Fatalf("remove file: %v", err)
			}
			renameFile(t, older, filepath.Join(filepath.Dir(newer), name+"."+sum))
		}},
		damage{"second manifest of a snapshot", func(t *testing.T, dir string) {
			path := firstFile(t, dir, "snapshots/*.manifest")
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), name+"."+strings.Repeat("0", 64)+manifestExt), []byte("x"), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		}},
		damage{"document folder missing", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, blobsDir)); err != nil {
				t.Fatalf("remove directory: %v", err)
			}
		}},
		damage{"snapshot folder missing", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, snapsDir)); err != nil {
				t.Fatalf("remove directory: %v", err)
			}
		}})
}

// copyTree copies a directory.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatalf("CopyFS: %v", err)
	}
}

// TestDamage checks that reads reject every type of damage, and that Verify finds it.
func TestDamage(t *testing.T) {
	for name, opts := range allFormats(t) {
		if name == "recipients" {
			continue // same as with a passphrase
		}
		h := newTestVault("the first deed", "the second deed", strings.Repeat("a plat ", 20_000))
		opts.Now = func() time.Time { return h.now }
		intact := filepath.Join(t.TempDir(), "intact")
		h.backUp(t, intact, opts)
		records := h.database
		h.database = []byte("other records")
		h.backUp(t, intact, opts)
		h.database = records
		all := allDamage(name != "plain")
		t.Logf("%s: %d damages", name, len(all))
		for _, damage := range all {
			t.Run(name+"/"+damage.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				copyTree(t, intact, dir)
				damage.do(t, dir)
				h.checkDamageFound(t, dir, opts)
			})
		}
	}
}

// checkDamageFound checks that reading both snapshots fails and that Verify reports
// findings.
func (tv *testVault) checkDamageFound(t *testing.T, dir string, opts Options) {
	t.Helper()
	first := tv.checkSnapshot(dir, opts, "20261121T071500Z")
	later := &testVault{docs: tv.docs, database: []byte("other records")}
	second := later.checkSnapshot(dir, opts, "20261121T071501Z")
	if first == nil && second == nil {
		t.Error("both snapshots can be read, want ErrDamaged")
	}
	for _, err := range []error{first, second} {
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNewerVersion) {
			t.Errorf("checkSnapshot = %v, want ErrDamaged, ErrNotFound, or ErrNewerVersion", err)
		}
	}
	a, err := Open(dir, opts)
	if err != nil {
		return // Open has rejected the archive
	}
	r, err := a.Verify(context.Background(), "", func(int64, int64) {})
	if err == nil && len(r.Findings) == 0 && r.Snapshots == 2 {
		t.Errorf("Verify = %+v, want findings", r)
	}
}

// TestVerifyWithoutKeyFindsDamage checks that Verify, without a key, finds damage in all
// files that it can read.
func TestVerifyWithoutKeyFindsDamage(t *testing.T) {
	opts := allFormats(t)["passphrase"]
	h := newTestVault("the first deed")
	dir := filepath.Join(t.TempDir(), "b")
	h.backUp(t, dir, opts)
	opts.Decryption = Decryption{}
	for _, kind := range []string{"manifest", "database", "document"} {
		path := firstFile(t, dir, filePatterns[kind])
		for at := range 40 {
			at *= 5
			rewriteFile(t, path, flipBit(func(n int) int { return at % n }))
			if r := verifyAll(t, dir, opts); len(r.Findings) != 1 {
				t.Errorf("%s, byte %d: Verify = %+v, want a finding", kind, at, r)
			}
			rewriteFile(t, path, flipBit(func(n int) int { return at % n }))
		}
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 0 {
		t.Errorf("Verify of the restored file = %+v, want no finding", r)
	}
}

// TestSwappedFilesAreDamage checks that files from another archive of the same vault are rejected.
func TestSwappedFilesAreDamage(t *testing.T) {
	for name, opts := range allFormats(t) {
		h := newTestVault("the first deed", "the second deed")
		opts.Now = func() time.Time { return h.now }
		own, other := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "other")
		h.backUp(t, own, opts)
		h.now = h.now.Add(time.Minute)
		otherOpts := opts
		otherOpts.Rand = bytes.NewReader(bytes.Repeat([]byte{9}, 100))
		h.backUp(t, other, otherOpts)
		for _, kind := range slices.Sorted(maps.Keys(filePatterns)) {
			if kind == "key" && name == "plain" || kind == "document" && name == "plain" {
				continue // a plain document is the same in every archive
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				copyTree(t, own, dir)
				from, to := firstFile(t, other, filePatterns[kind]), firstFile(t, dir, filePatterns[kind])
				raw, err := os.ReadFile(from)
				if err != nil {
					t.Fatalf("read file: %v", err)
				}
				if err := os.Remove(to); err != nil {
					t.Fatalf("remove file: %v", err)
				}
				rel, _ := filepath.Rel(other, from)
				to = filepath.Join(dir, rel)
				if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, raw, 0o600)); err != nil {
					t.Fatalf("create directory: %v", err)
				}
				if err := h.checkSnapshot(dir, opts, Latest); !errors.Is(err, ErrDamaged) {
					t.Errorf("checkSnapshot = %v, want ErrDamaged", err)
				}
			})
		}
	}
}

func TestWrongKeys(t *testing.T) {
	all := allFormats(t)
	h := newTestVault("a deed")
	for _, name := range []string{"passphrase", "recipients"} {
		dir := filepath.Join(t.TempDir(), name)
		h.backUp(t, dir, all[name])
		for i, keys := range []Decryption{{}, {Passphrase: "wrong"}, all["recipients"].Decryption, all["passphrase"].Decryption,
			{Identities: "words"}} {
			if keys == all[name].Decryption {
				continue
			}
			opts := all[name]
			opts.Decryption, opts.ManifestKey = keys, [32]byte{}
			if err := h.checkSnapshot(dir, opts, Latest); !errors.Is(err, ErrDecrypt) {
				t.Errorf("%s, keys %d: checkSnapshot = %v, want ErrDecrypt", name, i, err)
			}
		}
		// Use the manifest key of another secret.
		opts := all[name]
		opts.Decryption, opts.ManifestKey = Decryption{}, [32]byte{77}
		if _, err := openArchive(t, dir, opts).Info(Latest); !errors.Is(err, ErrDecrypt) {
			t.Errorf("%s: Info with another manifest key = %v, want ErrDecrypt", name, err)
		}
	}
}

// TestMaliciousArchiveIsBounded checks that decompression stops at a limit if an archive
// claims false sizes.
func TestMaliciousArchiveIsBounded(t *testing.T) {
	opts := allFormats(t)["plain"]
	h := newTestVault("a deed")
	h.database = make([]byte, 64<<20)
	dir := filepath.Join(t.TempDir(), "b")
	info, _ := h.backUp(t, dir, opts)
	a := openArchive(t, dir, opts)
	info.Database.Size = 1000
	r, err := a.database(context.Background(), info)
	if err := checkContent(r, err, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("database longer than its stated size: got %v, want ErrDamaged", err)
	}
	info.Database.File = "../../vault.db"
	if _, err := a.database(context.Background(), info); !errors.Is(err, ErrDamaged) {
		t.Errorf("database outside the archive: got %v, want ErrDamaged", err)
	}
	for _, file := range []string{"", "..", "../x", "ab/cd", fmt.Sprintf("%064X", 10)} {
		if _, err := a.Blob(context.Background(), Entry{File: file}); !errors.Is(err, ErrDamaged) {
			t.Errorf("Blob(%q) = %v, want ErrDamaged", file, err)
		}
	}
}

// TestFindingNamesRepair follows the instructions in a finding and checks that this
// repairs the archive.
func TestFindingNamesRepair(t *testing.T) {
	for name, opts := range allFormats(t) {
		h := newTestVault("a deed", "another")
		opts.Now = func() time.Time { return h.now }
		dir := filepath.Join(t.TempDir(), "b")
		h.backUp(t, dir, opts)
		path := firstFile(t, dir, filePatterns["document"])
		rewriteFile(t, path, flipBit(func(int) int { return 3 }))
		r := verifyAll(t, dir, opts)
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Problem, "move "+path+" to another directory") {
			t.Fatalf("%s: Verify = %+v, want a finding that says to move %s", name, r, path)
		}
		if err := os.Remove(path); err != nil {
			t.Fatalf("remove file: %v", err)
		}
		h.backUp(t, dir, opts)
		if err := h.checkSnapshot(dir, opts, Latest); err != nil {
			t.Errorf("%s: checkSnapshot after the repair: %v", name, err)
		}
	}
}
