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

	"deedkeep/app/kv/boltkv/pagecache"
	"deedkeep/app/model"
)

// -flips=N sets the number of bits that each damage test flips. With 0, the tests flip every bit,
// which takes minutes.
var flips = flag.Int("flips", 400, "bits to flip in each test of damage; 0 for all")

// The format of pages, which app/kv/boltkv describes.
const (
	pageHeader    = pagecache.PageHeader
	elementSize   = 16
	bucketHeader  = 16
	branchPage    = 0x01
	bucketElement = 0x01
)

func u16(b []byte) uint16 { return binary.NativeEndian.Uint16(b) }

func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }

func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// newestMeta returns the current meta page of a database file.
func newestMeta(t *testing.T, content []byte) pagecache.Meta {
	t.Helper()
	valid, err := pagecache.ReadMetas(bytes.NewReader(content))
	if err != nil || len(valid) == 0 {
		t.Fatalf("read meta pages: %d, %v", len(valid), err)
	}
	return pagecache.NewestMeta(valid)
}

// byteRange is a labeled part of a database file.
type byteRange struct {
	label    string
	from, to int
}

// fileLayout lists the parts of an intact file: its records, page headers, and page elements.
type fileLayout struct{ records, headers, elements []byteRange }

// parseLayout returns the layout of a database file.
func parseLayout(t *testing.T, content []byte) (a fileLayout) {
	t.Helper()
	meta := newestMeta(t, content)
	a.walk(content, int(meta.Root)*int(meta.PageSize), int(meta.PageSize), "", "page")
	return a
}

func (f *fileLayout) walk(content []byte, at, size int, bucket, kind string) {
	page := content[at:]
	f.headers = append(f.headers, byteRange{kind + " header of " + bucket, at, at + pageHeader})
	for i := range int(u16(page[10:])) {
		from := at + pageHeader + i*elementSize
		e := content[from:]
		f.elements = append(f.elements, byteRange{"element of " + bucket, from, from + elementSize})
		if u16(page[8:]) == branchPage {
			f.walk(content, int(u64(e[8:]))*size, size, bucket, "page")
			continue
		}
		key := from + int(u32(e[4:]))
		value := key + int(u32(e[8:]))
		end := value + int(u32(e[12:]))
		switch {
		case u32(e) == 0:
			f.records = append(f.records, byteRange{"record in " + bucket, key, end})
		case u64(content[value:]) == 0:
			f.walk(content, value+bucketHeader, size, string(content[key:value]), "inline")
		default:
			f.walk(content, int(u64(content[value:]))*size, size, string(content[key:value]), "page")
		}
	}
}

// snapshotBytes fills a store with n records of each type and returns the content of its snapshot.
func snapshotBytes(t *testing.T, n int) []byte {
	t.Helper()
	s := openNew(t)
	fill(t, s, n)
	path := filepath.Join(t.TempDir(), "copy.db")
	c, err := s.Snapshot(t.Context(), path)
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	content := readFile(t, path)
	if err := c.Close(); err != nil {
		t.Fatalf("close copy: %v", err)
	}
	return content
}

// checkBytes writes content to path, opens it as a copy, and checks it.
func checkBytes(t *testing.T, path string, content []byte) (findings []Finding, err error) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	c, err := openCopy(path)
	if err != nil {
		return nil, err
	}
	c.fingerprint = "fp"
	_, err = c.Check(context.Background(), func(f Finding) { findings = append(findings, f) })
	if digests := c.EachDigest(func([32]byte, []model.File) error { return nil }); digests != nil && len(findings) == 0 {
		t.Errorf("EachDigest = %v without a finding of Check, want a finding", digests)
	}
	return findings, errors.Join(err, c.Close())
}

// eachFlippedBit calls fn for up to limit bits in the ranges. During each call, one bit of content
// is flipped.
func eachFlippedBit(t *testing.T, content []byte, ranges []byteRange, limit int, fn func(where string)) {
	t.Helper()
	bits := 0
	for _, s := range ranges {
		bits += 8 * (s.to - s.from)
	}
	flip := func(n int) {
		for _, s := range ranges {
			if width := 8 * (s.to - s.from); n >= width {
				n -= width
				continue
			}
			content[s.from+n/8] ^= 1 << (n % 8)
			fn(fmt.Sprintf("bit %d of the %s at %d", n, s.label, s.from))
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
	rng := rand.New(rand.NewPCG(1, 2))
	for range limit {
		flip(rng.IntN(bits))
	}
}

func TestCheckFindsFlippedBitsInRecords(t *testing.T) {
	content := snapshotBytes(t, 1)
	path := filepath.Join(t.TempDir(), "flipped.db")
	if findings, err := checkBytes(t, path, content); len(findings) > 0 || err != nil {
		t.Fatalf("intact file: got %v, %v; want no findings", findings, err)
	}
	count, withRecord := 0, 0
	eachFlippedBit(t, content, parseLayout(t, content).records, *flips, func(where string) {
		count++
		findings, err := checkBytes(t, path, content)
		if len(findings) == 0 || err != nil {
			t.Errorf("%s: got %v, %v; want findings", where, findings, err)
		}
		for _, f := range findings {
			if f.Kind != "database" {
				withRecord++
				break
			}
		}
	})
	t.Logf("%d flips, %d findings name a record", count, withRecord)
}

// If a bit is flipped in one of the numbers that bbolt follows to find records, Check either finds
// the damage or isn't affected by it. The process never crashes.
func TestCheckSurvivesFlippedBitsInPages(t *testing.T) {
	for _, row := range []struct {
		name  string
		fill  int
		share int // divides the number of flips, because checking a larger file takes longer
	}{{"small", 1, 1}, {"with branches", 60, 5}} {
		t.Run(row.name, func(t *testing.T) {
			content := snapshotBytes(t, row.fill)
			path := filepath.Join(t.TempDir(), "flipped.db")
			a := parseLayout(t, content)
			var pages []byteRange
			for _, h := range a.headers {
				if h.label[:4] == "page" {
					pages = append(pages, h)
				}
			}
			eachFlippedBit(t, content, pages, *flips/row.share, func(where string) {
				if findings, err := checkBytes(t, path, content); len(findings) == 0 && err == nil {
					t.Errorf("%s: got no findings, want some", where)
				}
			})
			found, harmless := 0, 0
			size := os.Getpagesize()
			ranges := append(a.elements, byteRange{"meta", 0, pageHeader + pagecache.MetaSize},
				byteRange{"second meta", size, size + pageHeader + pagecache.MetaSize})
			eachFlippedBit(t, content, ranges, *flips/row.share, func(string) {
				if findings, err := checkBytes(t, path, content); len(findings) == 0 && err == nil {
					harmless++
				} else {
					found++
				}
			})
			t.Logf("elements and meta pages: %d found, %d harmless", found, harmless)
			if found < 9*harmless {
				t.Errorf("got %d of %d flips found, want at least 90%%", found, found+harmless)
			}
		})
	}
}

// Check finds damage that makes bbolt's own check crash.
func TestCheckPagesFindsDamageThatCrashesBbolt(t *testing.T) {
	content := snapshotBytes(t, 60)
	a := parseLayout(t, content)
	size := os.Getpagesize()
	branch := -1
	for _, h := range a.headers {
		if u16(content[h.from+8:]) == branchPage {
			branch = h.from
		}
	}
	if branch < 0 {
		t.Fatal("got no branch page, want one")
	}
	free := int(newestMeta(t, content).Freelist) * size
	record := a.records[len(a.records)/2]
	for _, row := range []struct {
		name   string
		change func([]byte)
	}{
		{"a branch that points to itself", func(b []byte) { put64(b[branch+pageHeader+8:], uint64(branch/size)) }},
		{"a branch that points to a missing page", func(b []byte) { put64(b[branch+pageHeader+8:], 1<<40) }},
		{"a branch that points to a meta page", func(b []byte) { put64(b[branch+pageHeader+8:], 0) }},
		{"a branch whose key is outside of the page", func(b []byte) { put32(b[branch+pageHeader:], 1<<31) }},
		{"an empty branch", func(b []byte) { copy(b[branch+10:], []byte{0, 0}) }},
		{"a page with too many overflow pages", func(b []byte) { put32(b[branch+12:], 1<<32-1) }},
		{"a freelist with too many overflow pages", func(b []byte) { put32(b[free+12:], 1<<32-1) }},
		{"a freelist with too many entries", func(b []byte) { copy(b[free+10:], []byte{0xff, 0xff}); put64(b[free+16:], 1<<50) }},
		{"a freelist with a page in use", func(b []byte) { copy(b[free+10:], []byte{1, 0}); put64(b[free+16:], uint64(branch/size)) }},
		{"a record marked as a bucket", func(b []byte) { put32(b[findElement(t, a, b, record):], bucketElement) }},
		{"a value of gigabytes", func(b []byte) { put32(b[findElement(t, a, b, record)+12:], 1<<31) }},
		{"a file with a zeroed last page", func(b []byte) { clear(b[len(b)-size:]) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			damaged := bytes.Clone(content)
			row.change(damaged)
			if bytes.Equal(damaged, content) {
				t.Fatal("the row didn't change the content, want damage")
			}
			findings, err := checkBytes(t, filepath.Join(t.TempDir(), "damaged.db"), damaged)
			if len(findings) == 0 || err != nil {
				t.Errorf("got findings %v, %v; want some", findings, err)
			}
		})
	}
	for length := 0; length < len(content); length += size/2 + 1 {
		if findings, err := checkBytes(t, filepath.Join(t.TempDir(), "cut.db"), content[:length]); length > 0 && len(findings) == 0 &&
			err == nil {
			t.Errorf("truncated to %d bytes: got no findings, want some", length)
		}
	}
}

func put32(b []byte, n uint32) { binary.NativeEndian.PutUint32(b, n) }

func put64(b []byte, n uint64) { binary.NativeEndian.PutUint64(b, n) }

// findElement returns the offset of the page element that refers to a record.
func findElement(t *testing.T, a fileLayout, content []byte, record byteRange) int {
	t.Helper()
	for _, e := range a.elements {
		if u32(content[e.from:]) == 0 && e.from+int(u32(content[e.from+4:])) == record.from {
			return e.from
		}
	}
	t.Fatal("the record has no page element")
	return 0
}
