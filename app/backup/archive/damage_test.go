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

// a way of damage; it gets the files of the archive by their kind.
type damage struct {
	name string
	do   func(t *testing.T, dir string)
}

func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func last(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[len(found)-1]
}

func change(t *testing.T, path string, with func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, with(raw), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// kinds of files, and what is done to each of them.
var kinds = map[string]string{
	"head": headName, "manifest": "snapshots/*.manifest", "database": "snapshots/*.db", "document": "blobs/*/*", "key": keyName,
}

func bit(at func(n int) int) func([]byte) []byte {
	return func(raw []byte) []byte {
		raw = bytes.Clone(raw)
		raw[at(len(raw))] ^= 0x10
		return raw
	}
}

var changes = map[string]func([]byte) []byte{
	"first byte":     bit(func(int) int { return 0 }),
	"a bit early":    bit(func(n int) int { return n / 4 }),
	"a bit midway":   bit(func(n int) int { return n / 2 }),
	"a bit late":     bit(func(n int) int { return n - n/4 }),
	"last byte":      bit(func(n int) int { return n - 1 }),
	"cut in half":    func(raw []byte) []byte { return raw[:len(raw)/2] },
	"cut by one":     func(raw []byte) []byte { return raw[:len(raw)-1] },
	"emptied":        func([]byte) []byte { return nil },
	"one byte more":  func(raw []byte) []byte { return append(bytes.Clone(raw), '\n') },
	"zeros":          func(raw []byte) []byte { return make([]byte, len(raw)) },
	"doubled":        func(raw []byte) []byte { return append(bytes.Clone(raw), raw...) },
	"halves swapped": func(raw []byte) []byte { return append(bytes.Clone(raw[len(raw)/2:]), raw[:len(raw)/2]...) },
}

// ways are all ways of damage that one archive can come to.
func ways(encrypted bool) (list []damage) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if kind == "key" && !encrypted {
			continue
		}
		pattern := kinds[kind]
		list = append(list, damage{kind + " missing", func(t *testing.T, dir string) {
			if err := os.Remove(only(t, dir, pattern)); err != nil {
				t.Fatal(err)
			}
		}})
		for _, what := range slices.Sorted(maps.Keys(changes)) {
			list = append(list, damage{kind + ": " + what, func(t *testing.T, dir string) { change(t, only(t, dir, pattern), changes[what]) }})
		}
	}
	swap := func(pattern string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			a, b := only(t, dir, pattern), last(t, dir, pattern)
			move(t, a, a+".x")
			move(t, b, a)
			move(t, a+".x", b)
		}
	}
	return append(list,
		damage{"two documents swapped", swap("blobs/*/*")},
		damage{"two manifests swapped", swap("snapshots/*.manifest")},
		damage{"two databases swapped", swap("snapshots/*.db")},
		damage{"an older manifest under a newer name", func(t *testing.T, dir string) {
			older, newer := only(t, dir, "snapshots/*.manifest"), last(t, dir, "snapshots/*.manifest")
			_, sum, _ := strings.Cut(filepath.Base(older), ".")
			name, _, _ := strings.Cut(filepath.Base(newer), ".")
			if err := os.Remove(newer); err != nil {
				t.Fatal(err)
			}
			move(t, older, filepath.Join(filepath.Dir(newer), name+"."+sum))
		}},
		damage{"a second manifest of one snapshot", func(t *testing.T, dir string) {
			path := only(t, dir, "snapshots/*.manifest")
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), name+"."+strings.Repeat("0", 64)+manifestExt), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		damage{"no folder of documents", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, blobsDir)); err != nil {
				t.Fatal(err)
			}
		}},
		damage{"no folder of snapshots", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, snapsDir)); err != nil {
				t.Fatal(err)
			}
		}})
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// Every way of damage is refused when it is read, and named by a verification.
func TestDamage(t *testing.T) {
	for name, opts := range forms(t) {
		if name == "recipients" {
			continue // the same as under a passphrase
		}
		h := newHouse("the first deed", "the second deed", strings.Repeat("a plat ", 20_000))
		opts.Now = func() time.Time { return h.now }
		whole := filepath.Join(t.TempDir(), "whole")
		h.take(t, whole, opts)
		records := h.database
		h.database = []byte("other records")
		h.take(t, whole, opts)
		h.database = records
		all := ways(name != "plain")
		t.Logf("%s: %d ways", name, len(all))
		for _, way := range all {
			t.Run(name+"/"+way.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				copyTree(t, whole, dir)
				way.do(t, dir)
				h.judge(t, dir, opts)
			})
		}
	}
}

// judge wants the damage found: by whoever reads both snapshots, and by Verify.
func (h *house) judge(t *testing.T, dir string, opts Options) {
	t.Helper()
	first := h.back(dir, opts, "20261121T071500Z")
	later := &house{docs: h.docs, database: []byte("other records")}
	second := later.back(dir, opts, "20261121T071501Z")
	if first == nil && second == nil {
		t.Error("both snapshots are read as if nothing were")
	}
	for _, err := range []error{first, second} {
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNewerVersion) {
			t.Errorf("it is no damage: %v", err)
		}
	}
	a, err := Open(dir, opts)
	if err != nil {
		return // refused as a whole
	}
	r, err := a.Verify(context.Background(), "", func(int64, int64) {})
	if err == nil && len(r.Findings) == 0 && r.Snapshots == 2 {
		t.Errorf("verify found nothing: %+v", r)
	}
}

// What a verification reads without a key, it finds all the same.
func TestDamageWithoutAKey(t *testing.T) {
	opts := forms(t)["passphrase"]
	h := newHouse("the first deed")
	dir := filepath.Join(t.TempDir(), "b")
	h.take(t, dir, opts)
	opts.Decryption = Decryption{}
	for _, kind := range []string{"manifest", "database", "document"} {
		path := only(t, dir, kinds[kind])
		for at := range 40 {
			at *= 5
			change(t, path, bit(func(n int) int { return at % n }))
			if r := verifyAll(t, dir, opts); len(r.Findings) != 1 {
				t.Errorf("%s, byte %d: %+v", kind, at, r)
			}
			change(t, path, bit(func(n int) int { return at % n }))
		}
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 0 {
		t.Errorf("put back: %+v", r)
	}
}

// Files of another archive of the same vault, in their own places.
func TestMixedUp(t *testing.T) {
	for name, opts := range forms(t) {
		h := newHouse("the first deed", "the second deed")
		opts.Now = func() time.Time { return h.now }
		mine, other := filepath.Join(t.TempDir(), "mine"), filepath.Join(t.TempDir(), "other")
		h.take(t, mine, opts)
		h.now = h.now.Add(time.Minute)
		strange := opts
		strange.Rand = bytes.NewReader(bytes.Repeat([]byte{9}, 100))
		h.take(t, other, strange)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			if kind == "key" && name == "plain" || kind == "document" && name == "plain" {
				continue // a plain document is the same everywhere
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "b")
				copyTree(t, mine, dir)
				from, to := only(t, other, kinds[kind]), only(t, dir, kinds[kind])
				raw, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(to); err != nil {
					t.Fatal(err)
				}
				rel, _ := filepath.Rel(other, from)
				to = filepath.Join(dir, rel)
				if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, raw, 0o600)); err != nil {
					t.Fatal(err)
				}
				if err := h.back(dir, opts, Latest); !errors.Is(err, ErrDamaged) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func TestWrongKeys(t *testing.T) {
	all := forms(t)
	h := newHouse("a deed")
	for _, name := range []string{"passphrase", "recipients"} {
		dir := filepath.Join(t.TempDir(), name)
		h.take(t, dir, all[name])
		for i, keys := range []Decryption{{}, {Passphrase: "wrong"}, all["recipients"].Decryption, all["passphrase"].Decryption, {Identities: "words"}} {
			if keys == all[name].Decryption {
				continue
			}
			opts := all[name]
			opts.Decryption, opts.ManifestKey = keys, [32]byte{}
			if err := h.back(dir, opts, Latest); !errors.Is(err, ErrDecrypt) {
				t.Errorf("%s, keys %d: %v", name, i, err)
			}
		}
		// The subkey of another secret.
		opts := all[name]
		opts.Decryption, opts.ManifestKey = Decryption{}, [32]byte{77}
		if _, err := openArchive(t, dir, opts).Info(Latest); !errors.Is(err, ErrDecrypt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A bundle that claims more than it is: what is unpacked is bounded.
func TestAnArchiveMadeToHarm(t *testing.T) {
	opts := forms(t)["plain"]
	h := newHouse("a deed")
	h.database = make([]byte, 64<<20)
	dir := filepath.Join(t.TempDir(), "b")
	info, _ := h.take(t, dir, opts)
	a := openArchive(t, dir, opts)
	info.Database.Size = 1000
	r, err := a.Database(info)
	if err := same(r, err, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("a database that is longer than it says: %v", err)
	}
	info.Database.File = "../../vault.db"
	if _, err := a.Database(info); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file elsewhere: %v", err)
	}
	for _, file := range []string{"", "..", "../x", "ab/cd", fmt.Sprintf("%064X", 10)} {
		if _, err := a.Blob(Entry{File: file}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// What a finding says to do with a damaged document mends the archive.
func TestAFindingSaysWhatMendsIt(t *testing.T) {
	for name, opts := range forms(t) {
		h := newHouse("a deed", "another")
		opts.Now = func() time.Time { return h.now }
		dir := filepath.Join(t.TempDir(), "b")
		h.take(t, dir, opts)
		path := only(t, dir, kinds["document"])
		change(t, path, bit(func(int) int { return 3 }))
		r := verifyAll(t, dir, opts)
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Problem, "remove "+path+" by hand") {
			t.Fatalf("%s: %+v", name, r)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		h.take(t, dir, opts)
		if err := h.back(dir, opts, Latest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
