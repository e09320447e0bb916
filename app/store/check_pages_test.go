package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/model"
)

// -flips=N flips so many bits in each test of damage, -flips=0 every one there is
// (minutes).
var flips = flag.Int("flips", 400, "bits to flip in a test of damage; 0 for every one")

// span is a part of a database file, in bytes from its beginning.
type span struct {
	what     string
	from, to int
}

// anatomy of a sound file: what its records lie in, and what only leads to them.
type anatomy struct{ records, headers, elements []span }

func dissect(t *testing.T, content []byte) (a anatomy) {
	t.Helper()
	r := &pageChecker{file: bytes.NewReader(content), report: func(subject, problem string) { t.Fatalf("%s: %s", subject, problem) }}
	root, _, err := r.checkMeta(int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	a.walk(content, int(root)*int(r.pageSize), int(r.pageSize), "", "page")
	return a
}

func (a *anatomy) walk(content []byte, at, size int, bucket, kind string) {
	page := content[at:]
	a.headers = append(a.headers, span{kind + " header of " + bucket, at, at + pageHeader})
	for i := range int(u16(page[10:])) {
		from := at + pageHeader + i*elementSize
		e := content[from:]
		a.elements = append(a.elements, span{"element of " + bucket, from, from + elementSize})
		if u16(page[8:]) == branchPage {
			a.walk(content, int(u64(e[8:]))*size, size, bucket, "page")
			continue
		}
		key := from + int(u32(e[4:]))
		value := key + int(u32(e[8:]))
		end := value + int(u32(e[12:]))
		switch {
		case u32(e) == 0:
			a.records = append(a.records, span{"record in " + bucket, key, end})
		case u64(content[value:]) == 0:
			a.walk(content, value+bucketHeader, size, string(content[key:value]), "inline")
		default:
			a.walk(content, int(u64(content[value:]))*size, size, string(content[key:value]), "page")
		}
	}
}

// copied fills a store and gives the bytes of its snapshot.
func copied(t *testing.T, n int) []byte {
	t.Helper()
	s := openNew(t)
	fill(t, s, n)
	path := filepath.Join(t.TempDir(), "copy.db")
	c, err := s.Snapshot(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	content := read(t, path)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return content
}

// checkBytes opens and checks a copy with this content, as Verify does.
func checkBytes(t *testing.T, path string, content []byte) (findings []Finding, err error) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := openCopy(path)
	if err != nil {
		return nil, err
	}
	c.fingerprint = "fp"
	_, err = c.Check(context.Background(), func(f Finding) { findings = append(findings, f) })
	if digests := c.EachDigest(func([32]byte, []model.File) error { return nil }); digests != nil && len(findings) == 0 {
		t.Errorf("digests: %v", digests)
	}
	return findings, errors.Join(err, c.Close())
}

// flipped calls fn with a file in which one bit differs, for bits of the spans.
func flipped(t *testing.T, content []byte, spans []span, limit int, fn func(where string)) {
	t.Helper()
	bits := 0
	for _, s := range spans {
		bits += 8 * (s.to - s.from)
	}
	flip := func(n int) {
		for _, s := range spans {
			if width := 8 * (s.to - s.from); n >= width {
				n -= width
				continue
			}
			content[s.from+n/8] ^= 1 << (n % 8)
			fn(fmt.Sprintf("bit %d of the %s at %d", n, s.what, s.from))
			content[s.from+n/8] ^= 1 << (n % 8)
			return
		}
	}
	if limit == 0 || limit >= bits {
		for n := range bits {
			flip(n)
		}
		return
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range limit {
		flip(chance.IntN(bits))
	}
}

func TestEveryFlippedBitOfARecordIsFound(t *testing.T) {
	content := copied(t, 1)
	path := filepath.Join(t.TempDir(), "flipped.db")
	if findings, err := checkBytes(t, path, content); len(findings) > 0 || err != nil {
		t.Fatalf("without a flip: %v, %v", findings, err)
	}
	count, named := 0, 0
	flipped(t, content, dissect(t, content).records, *flips, func(where string) {
		count++
		findings, err := checkBytes(t, path, content)
		if len(findings) == 0 || err != nil {
			t.Errorf("%s: %v, %v", where, findings, err)
		}
		for _, f := range findings {
			if f.Kind != "database" {
				named++
				break
			}
		}
	})
	t.Logf("%d flips, %d findings name a record", count, named)
}

// Numbers that lead to records: a flip is found, or harmless, and takes nobody down.
func TestAFlippedBitOfAPageIsSurvived(t *testing.T) {
	for _, row := range []struct {
		name  string
		fill  int
		share int // of the flips: a larger file takes longer
	}{{"small", 1, 1}, {"with branches", 60, 5}} {
		t.Run(row.name, func(t *testing.T) {
			content := copied(t, row.fill)
			path := filepath.Join(t.TempDir(), "flipped.db")
			a := dissect(t, content)
			var pages []span
			for _, h := range a.headers {
				if h.what[:4] == "page" {
					pages = append(pages, h)
				}
			}
			flipped(t, content, pages, *flips/row.share, func(where string) {
				if findings, err := checkBytes(t, path, content); len(findings) == 0 && err == nil {
					t.Errorf("%s is not found", where)
				}
			})
			found, harmless := 0, 0
			size := os.Getpagesize()
			rest := append(a.elements, span{"meta", 0, pageHeader + metaSize}, span{"second meta", size, size + pageHeader + metaSize})
			flipped(t, content, rest, *flips/row.share, func(string) {
				if findings, err := checkBytes(t, path, content); len(findings) == 0 && err == nil {
					harmless++
				} else {
					found++
				}
			})
			t.Logf("elements and meta pages: %d found, %d harmless", found, harmless)
			if found < 9*harmless {
				t.Errorf("only %d of %d are found", found, found+harmless)
			}
		})
	}
}

// Damage that bbolt's own check does not survive.
func TestPagesThatBboltMustNotWalk(t *testing.T) {
	content := copied(t, 60)
	a := dissect(t, content)
	size := os.Getpagesize()
	branch := -1
	for _, h := range a.headers {
		if u16(content[h.from+8:]) == branchPage {
			branch = h.from
		}
	}
	if branch < 0 {
		t.Fatal("there is no branch")
	}
	_, freelist, err := (&pageChecker{file: bytes.NewReader(content), report: func(string, string) {}}).checkMeta(int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	free := int(freelist) * size
	record := a.records[len(a.records)/2]
	for _, row := range []struct {
		name   string
		change func([]byte)
	}{
		{"a branch that leads to itself", func(b []byte) { put64(b[branch+pageHeader+8:], uint64(branch/size)) }},
		{"a branch that leads nowhere", func(b []byte) { put64(b[branch+pageHeader+8:], 1<<40) }},
		{"a branch that leads to a first page", func(b []byte) { put64(b[branch+pageHeader+8:], 0) }},
		{"a branch whose key is far away", func(b []byte) { put32(b[branch+pageHeader:], 1<<31) }},
		{"a branch of nothing", func(b []byte) { copy(b[branch+10:], []byte{0, 0}) }},
		{"a page that overflows for ever", func(b []byte) { put32(b[branch+12:], 1<<32-1) }},
		{"a list of free pages that overflows", func(b []byte) { put32(b[free+12:], 1<<32-1) }},
		{"a list of free pages without end", func(b []byte) { copy(b[free+10:], []byte{0xff, 0xff}); put64(b[free+16:], 1<<50) }},
		{"a list of free pages in use", func(b []byte) { copy(b[free+10:], []byte{1, 0}); put64(b[free+16:], uint64(branch/size)) }},
		{"a record that says it is a bucket", func(b []byte) { put32(b[elementOf(t, a, b, record):], bucketElement) }},
		{"a value of gigabytes", func(b []byte) { put32(b[elementOf(t, a, b, record)+12:], 1<<31) }},
		{"a cut file", func(b []byte) { clear(b[len(b)-size:]) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			damaged := bytes.Clone(content)
			row.change(damaged)
			if bytes.Equal(damaged, content) {
				t.Fatal("nothing was changed")
			}
			findings, err := checkBytes(t, filepath.Join(t.TempDir(), "damaged.db"), damaged)
			if len(findings) == 0 || err != nil {
				t.Errorf("findings %v, %v", findings, err)
			}
		})
	}
	for length := 0; length < len(content); length += size/2 + 1 {
		if findings, err := checkBytes(t, filepath.Join(t.TempDir(), "cut.db"), content[:length]); length > 0 && len(findings) == 0 && err == nil {
			t.Errorf("cut to %d bytes: nothing is found", length)
		}
	}
}

func put32(b []byte, n uint32) { binary.NativeEndian.PutUint32(b, n) }
func put64(b []byte, n uint64) { binary.NativeEndian.PutUint64(b, n) }

func elementOf(t *testing.T, a anatomy, content []byte, record span) int {
	t.Helper()
	for _, e := range a.elements {
		if u32(content[e.from:]) == 0 && e.from+int(u32(content[e.from+4:])) == record.from {
			return e.from
		}
	}
	t.Fatal("the record has no element")
	return 0
}

func FuzzCheckPages(f *testing.F) {
	content := make([]byte, 5*4096)
	f.Add(content)
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "seed.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: 1024})
	if err != nil {
		f.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range byte(100) {
			err = errors.Join(err, b.Put([]byte{'k', i}, make([]byte, i)))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		f.Fatal(err)
	}
	if content, err = os.ReadFile(path); err != nil {
		f.Fatal(err)
	}
	f.Add(content[:16*1024])
	f.Fuzz(func(t *testing.T, content []byte) {
		found := 0
		sound, err := checkPages(bytes.NewReader(content), int64(len(content)), func(string, string) { found++ })
		if err != nil {
			t.Errorf("memory cannot be read: %v", err)
		}
		if !sound && found == 0 {
			t.Error("broken, and nobody says why")
		}
	})
}
