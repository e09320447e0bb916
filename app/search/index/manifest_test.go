package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/search/index/segment"
)

// singleSegmentIndex creates an index with one segment and returns its manifest.
func singleSegmentIndex(t *testing.T) (dir string, m *manifest) {
	t.Helper()
	dir = t.TempDir()
	x, err := open(dir, Options{}, noSyncDisk{})
	if err != nil {
		t.Fatalf("open index: %v", err)
	}
	b := x.NewBatch()
	b.StartDocument(1, 0, 0)
	b.AddTerm([]byte("aa"))
	if err := x.Apply(t.Context(), b, []byte("mark")); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if m, err = readManifest(dir); err != nil {
		t.Fatalf("readManifest: %v", err)
	}
	return dir, m
}

// If a manifest is not a regular file or contradicts the segment files, Inspect and Open report
// damage, even if the checksum is valid. They don't allocate much memory.
func TestInvalidManifests(t *testing.T) {
	var deleted *segment.Tombstones
	deleted = deleted.With(100, []uint32{7})
	for _, row := range []struct {
		name, text string
		change     func(m *manifest)
	}{
		{"more documents than bytes", "manifest: search index is damaged", func(m *manifest) {
			m.segments[0].Docs, m.segments[0].tombstones = segment.MaxDocs, deleted
		}},
		{"larger file than on disk", "size of", func(m *manifest) {
			m.segments[0].Size, m.segments[0].Docs, m.segments[0].tombstones = 1<<40, segment.MaxDocs, deleted
		}},
		{"duplicate segment", "manifest: search index is damaged", func(m *manifest) { m.segments = append(m.segments, m.segments[0]) }},
		{"missing segment", "missing", func(m *manifest) { m.nextSegment, m.segments[0].Number = 9, 8 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, m := singleSegmentIndex(t)
			row.change(m)
			if err := os.WriteFile(filepath.Join(dir, manifestName), m.encode(), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			requireDamaged(t, dir, row.text)
		})
	}
	t.Run("very large file", func(t *testing.T) {
		dir, _ := singleSegmentIndex(t)
		if err := os.Truncate(filepath.Join(dir, manifestName), maxManifestBytes+1); err != nil {
			t.Fatalf("truncate file: %v", err)
		}
		requireDamaged(t, dir, "67108865 bytes")
	})
	t.Run("directory instead of a segment", func(t *testing.T) {
		dir, m := singleSegmentIndex(t)
		path := filepath.Join(dir, segmentName(m.segments[0].Number))
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatalf("remove file: %v", err)
		}
		requireDamaged(t, dir, "not a regular file")
	})
}

// requireDamaged checks that Inspect and Open return an ErrDamaged that contains the given text.
func requireDamaged(t *testing.T, dir, text string) {
	t.Helper()
	for name, do := range map[string]func() error{
		"Inspect": func() error { _, _, err := Inspect(dir); return err },
		"Open": func() error {
			x, err := open(dir, Options{}, noSyncDisk{})
			if err == nil {
				err = x.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if allocated := allocatedBytes(func() { err = do() }); allocated > 1<<20 {
				t.Errorf("%s allocated %d bytes, want at most %d", name, allocated, 1<<20)
			}
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), text) {
				t.Errorf("%s = %v, want %v with %q", name, err, ErrDamaged, text)
			}
		})
	}
}
