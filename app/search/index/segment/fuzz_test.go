package segment

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func FuzzBlock(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0}, uint8(9), uint32(100))
	f.Add([]byte{0x81, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(10), uint32(1<<20))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f}, uint8(2), uint32(1000))
	f.Add([]byte{0xff}, uint8(1), uint32(1000))
	f.Fuzz(func(t *testing.T, raw []byte, n uint8, most uint32) {
		docs := make([]uint32, min(n, blockSize))
		if _, err := decodeUvarints(raw, docs); err == nil {
			again := make([]uint32, len(docs))
			if rest, err := decodeUvarints(appendUvarints(nil, docs), again); err != nil || len(rest) > 0 || !slices.Equal(docs, again) {
				t.Errorf("numbers %v became %v, %v", docs, again, err)
			}
		}
		if _, err := decodeGaps(raw, NoMoreDocs, docs, most); err != nil {
			return
		}
		for i, d := range docs {
			if d >= most || i > 0 && d <= docs[i-1] {
				t.Fatalf("documents %v of %d", docs, most)
			}
		}
		again := make([]uint32, len(docs))
		rest, err := decodeGaps(appendGaps(nil, NoMoreDocs, docs), NoMoreDocs, again, most)
		if err != nil || len(rest) > 0 || !slices.Equal(docs, again) {
			t.Errorf("%v became %v, %v", docs, again, err)
		}
	})
}

// FuzzGone: what is read is written again as it was, or at least read as the same; and
// reading takes memory for the bytes that are there, and for the documents where it ends
// well.
func FuzzGone(f *testing.F) {
	var few, many *Tombstones
	few = few.With(100, []uint32{7, 99})
	for d := range uint32(60) {
		many = many.With(100, []uint32{d + 40})
	}
	f.Add(few.Append(nil, 100), uint32(100))
	f.Add(many.Append(nil, 100), uint32(100))
	f.Add([]byte{0}, uint32(1))
	f.Add([]byte{1}, uint32(0))
	f.Add([]byte{1}, uint32(MaxDocs))
	f.Add([]byte{1, 7}, uint32(MaxDocs))
	f.Add([]byte{2, 7, 0xff, 0xff, 0xff, 0xff, 0x0f}, uint32(MaxDocs))
	f.Add(binary.AppendUvarint(nil, MaxDocs/10), uint32(MaxDocs))
	f.Add(binary.AppendUvarint(nil, MaxDocs), uint32(MaxDocs))
	f.Fuzz(func(t *testing.T, raw []byte, docs uint32) {
		docs %= MaxDocs + 1
		var g *Tombstones
		var err error
		took := allocated(func() { g, _, err = ParseTombstones(raw, docs) })
		most := 4*uint64(len(raw)) + 1<<20
		if err == nil {
			most += uint64(docs) / 8
		}
		if took > most {
			t.Errorf("%d bytes of %d documents take %d bytes, %v", len(raw), docs, took, err)
		}
		if err != nil {
			return
		}
		again, rest, err := ParseTombstones(g.Append(nil, docs), docs)
		if err != nil || len(rest) > 0 || again.Count() != g.Count() {
			t.Fatalf("%d became %d, %v", g.Count(), again.Count(), err)
		}
		g.forEach(func(doc uint32) {
			if doc >= docs || !again.Has(doc) {
				t.Fatalf("document %d of %d", doc, docs)
			}
		})
	})
}

// allocated is how many bytes something takes, whether it gives them back or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzSegment changes a segment and makes its sums right again: what reads it may say
// that it is damaged or read anything, but it ends, and does not panic.
func FuzzSegment(f *testing.F) {
	path := filepath.Join(f.TempDir(), "7")
	write(f, path, chance(1, 400))
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{})
	for at := 0; at < len(raw); at += 1 + len(raw)/40 {
		f.Add(uint32(at), []byte{0xff, 0xff, 0xff, 0x7f})
		f.Add(uint32(at), []byte{0})
	}
	f.Add(uint32(len(raw)-footerSize+20), []byte{200})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		changed := slices.Clone(raw)
		copy(changed[int(at)%len(raw):], change)
		stamp, ok := reseal(changed)
		if !ok {
			return
		}
		path := filepath.Join(t.TempDir(), "7")
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, stamp, NewCache(1))
		if err != nil {
			return
		}
		defer func() { _ = s.Close() }()
		_, _ = back(t.Context(), s, nil)
		_, _, _, _ = s.FindKey(20, 0)
		watch := NewBudget(t.Context())
		if e, found, err := s.Find([]byte("w0"), &TermIterator{}); err == nil && found {
			var c Cursor
			c.Open(s, e, &watch)
			for d := uint32(0); c.Advance(d) != NoMoreDocs; d += 150 {
				_ = c.Freq()
			}
		}
		g := NewMerge(t.Context(), []Source{{s, nil}})
		_ = g.Write(NewWriter(nowhere{}))
	})
}

// nowhere is a file that keeps nothing.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Sync() error                 { return nil }

// reseal makes the sums of a segment's file right; false where the footer tells lengths
// that the file cannot have.
func reseal(raw []byte) (Meta, bool) {
	var p pageFile
	end := len(raw) - footerSize
	copy(raw[end:], footerMagic)
	binary.LittleEndian.PutUint32(raw[end+8:], footerFormat)
	p.parse(raw[end:])
	full, _, size, ok := p.layout(int64(len(raw)))
	if !ok || p.docs == 0 {
		return Meta{}, false
	}
	table := raw[full<<pageBits+int(size) : end]
	at, sum := 0, table[full:]
	put := func(n int) {
		binary.LittleEndian.PutUint32(sum, Checksum(raw[at:at+n]))
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
	binary.LittleEndian.PutUint32(raw[len(raw)-8:], Checksum(table))
	last := Checksum(raw[end : len(raw)-4])
	binary.LittleEndian.PutUint32(raw[len(raw)-4:], last)
	return Meta{Number: p.number, Size: int64(len(raw)), Sum: last, Docs: p.docs}, true
}
