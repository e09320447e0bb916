package postings

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func FuzzManifest(f *testing.F) {
	few, many := newGone(100), newGone(100)
	few.add(7)
	for d := range uint32(60) {
		many.add(d + 40)
	}
	full := manifest{next: 9, mark: []byte("mark"), segments: []listed{
		{number: 3, size: 900, sum: 5, docs: 100, gone: few},
		{number: 8, size: 901, sum: 6, docs: 100, gone: many},
		{number: 5, size: 902, sum: 7, docs: 64},
	}}
	f.Add(full.encode())
	f.Add((&manifest{}).encode())
	f.Add([]byte(manifestMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = slices.Clone(raw)
		if len(raw) >= 4 { // else the sum alone would be tried
			binary.LittleEndian.PutUint32(raw[len(raw)-4:], checksum(raw[:len(raw)-4]))
		}
		m, err := parseManifest(raw)
		if err != nil {
			return
		}
		again, err := parseManifest(m.encode())
		if err != nil || !bytes.Equal(again.encode(), m.encode()) {
			t.Errorf("%+v became %+v, %v", m, again, err)
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(9), uint32(100))
	f.Add([]byte{0x81, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(10), uint32(1<<20))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f}, uint8(2), uint32(1000))
	f.Add([]byte{0xff}, uint8(1), uint32(1000))
	f.Fuzz(func(t *testing.T, raw []byte, n uint8, most uint32) {
		docs := make([]uint32, min(n, blockDocs))
		if _, err := decodeNumbers(raw, docs); err == nil {
			again := make([]uint32, len(docs))
			if rest, err := decodeNumbers(appendNumbers(nil, docs), again); err != nil || len(rest) > 0 || !slices.Equal(docs, again) {
				t.Errorf("numbers %v became %v, %v", docs, again, err)
			}
		}
		if _, err := decodeGaps(raw, none, docs, most); err != nil {
			return
		}
		for i, d := range docs {
			if d >= most || i > 0 && d <= docs[i-1] {
				t.Fatalf("documents %v of %d", docs, most)
			}
		}
		again := make([]uint32, len(docs))
		rest, err := decodeGaps(appendGaps(nil, none, docs), none, again, most)
		if err != nil || len(rest) > 0 || !slices.Equal(docs, again) {
			t.Errorf("%v became %v, %v", docs, again, err)
		}
	})
}

// FuzzSegment changes a segment and makes its sums right again: what reads it may say
// that it is damaged or answer anything, but it ends, and does not panic.
func FuzzSegment(f *testing.F) {
	raw, size := fuzzSegment(f)
	f.Add(uint32(0), []byte{})
	for at := 0; at < len(raw); at += 1 + len(raw)/40 {
		f.Add(uint32(at), []byte{0xff, 0xff, 0xff, 0x7f})
		f.Add(uint32(at), []byte{0})
	}
	f.Add(uint32(len(raw)-footerSize+20), []byte{200})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		changed := slices.Clone(raw)
		copy(changed[int(at)%size:], change)
		l, ok := reseal(changed)
		if !ok {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(0)), changed, 0o600); err != nil {
			t.Fatal(err)
		}
		m := manifest{next: 1, segments: []listed{l}}
		if err := os.WriteFile(filepath.Join(dir, manifestName), m.encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		readAll(t, dir)
	})
}

func fuzzSegment(f *testing.F) (raw []byte, size int) {
	dir := f.TempDir()
	x, err := open(dir, Options{}, unsynced{})
	if err != nil {
		f.Fatal(err)
	}
	b, r := x.Batch(), scene{rand.New(rand.NewPCG(1, 1))}
	for range 400 {
		d := r.doc(100_000)
		d.into(b)
	}
	if err := x.Apply(f.Context(), b, nil); err != nil {
		f.Fatal(err)
	}
	if err := x.Close(); err != nil {
		f.Fatal(err)
	}
	if raw, err = os.ReadFile(filepath.Join(dir, segmentName(0))); err != nil {
		f.Fatal(err)
	}
	return raw, len(raw)
}

// reseal makes the sums of a segment's file right; false where the footer tells lengths
// that the file cannot have.
func reseal(raw []byte) (listed, bool) {
	var p pageFile
	end := len(raw) - footerSize
	copy(raw[end:], footerMagic)
	binary.LittleEndian.PutUint32(raw[end+8:], footerFormat)
	binary.LittleEndian.PutUint64(raw[end+12:], 0)
	p.parse(raw[end:])
	full, _, size, ok := p.layout(int64(len(raw)))
	if !ok || p.docs == 0 {
		return listed{}, false
	}
	table := raw[full<<pageBits+int(size) : end]
	at, sum := 0, table[full:]
	put := func(n int) {
		binary.LittleEndian.PutUint32(sum, checksum(raw[at:at+n]))
		at, sum = at+n, sum[4:]
	}
	for range full {
		put(pageSize)
	}
	for _, n := range p.lengths {
		if rest := int(n & pageMask); rest > 0 {
			put(rest)
		}
	}
	binary.LittleEndian.PutUint32(raw[len(raw)-8:], checksum(table))
	last := checksum(raw[end : len(raw)-4])
	binary.LittleEndian.PutUint32(raw[len(raw)-4:], last)
	return listed{number: 0, size: int64(len(raw)), sum: last, docs: p.docs}, true
}

// readAll reads everything there is to read.
func readAll(t *testing.T, dir string) {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, unsynced{})
	if err != nil {
		return
	}
	defer func() { _ = x.Close() }()
	r := scene{rand.New(rand.NewPCG(2, 2))}
	for range 10 {
		_, _ = x.Search(t.Context(), r.query())
	}
	_, _ = x.Known(t.Context(), []string{"f00", "f01", "f99", "w00", "w11"})
	_, _ = x.Terms(t.Context(), "w", 5)
	b := x.Batch()
	for range 3 {
		d := r.doc(100_000)
		d.into(b)
	}
	if err := x.Apply(t.Context(), b, nil); err == nil {
		_ = mergeAll(t, x)
	}
}
