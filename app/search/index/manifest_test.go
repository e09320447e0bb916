package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/search/index/segment"
)

// lone is the folder of an index with one segment, and its manifest.
func lone(t *testing.T) (dir string, m *manifest) {
	t.Helper()
	dir = t.TempDir()
	x, err := open(dir, Options{}, unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBatch()
	b.StartDocument(1, 0, 0)
	b.AddTerm([]byte("aa"))
	if err := x.Apply(t.Context(), b, []byte("mark")); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err = readManifest(dir); err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// What lies in the place of a manifest, or what it says that is not so, is damage to
// whoever looks as to whoever opens, whatever the sums say, and takes little memory.
func TestManifestsThatCannotBe(t *testing.T) {
	var gone *segment.Tombstones
	gone = gone.With(100, []uint32{7})
	for _, row := range []struct {
		name, says string
		spoil      func(m *manifest)
	}{
		{"more documents than bytes", "manifest: index damaged", func(m *manifest) {
			m.segments[0].Docs, m.segments[0].tombstones = segment.MaxDocs, gone
		}},
		{"a larger file than there is", "bytes long", func(m *manifest) {
			m.segments[0].Size, m.segments[0].Docs, m.segments[0].tombstones = 1<<40, segment.MaxDocs, gone
		}},
		{"a segment twice", "manifest: index damaged", func(m *manifest) { m.segments = append(m.segments, m.segments[0]) }},
		{"a segment that is missing", "missing", func(m *manifest) { m.nextSegment, m.segments[0].Number = 9, 8 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, m := lone(t)
			row.spoil(m)
			if err := os.WriteFile(filepath.Join(dir, manifestName), m.encode(), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, dir, row.says)
		})
	}
	t.Run("a file without an end", func(t *testing.T) {
		dir, _ := lone(t)
		if err := os.Truncate(filepath.Join(dir, manifestName), maxManifestBytes+1); err != nil {
			t.Fatal(err)
		}
		refused(t, dir, "67108865 bytes")
	})
	t.Run("a folder in the place of a segment", func(t *testing.T) {
		dir, m := lone(t)
		path := filepath.Join(dir, segmentName(m.segments[0].Number))
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		refused(t, dir, "no file")
	})
}

// refused looks at an index and opens it, and is told that it is damaged.
func refused(t *testing.T, dir, says string) {
	t.Helper()
	for name, do := range map[string]func() error{
		"look": func() error { _, _, err := Inspect(dir); return err },
		"open": func() error {
			x, err := open(dir, Options{}, unsynced{})
			if err == nil {
				err = x.Close()
			}
			return err
		},
	} {
		var err error
		if took := allocated(func() { err = do() }); took > 1<<20 {
			t.Errorf("%s takes %d bytes", name, took)
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
