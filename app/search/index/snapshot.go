package index

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"deedkeep/app/search/index/segment"
)

// snapshot is an immutable state of the index. A search uses the same snapshot from start to end.
type snapshot struct {
	*manifest
	views []view // oldest segment first
	log   *slog.Logger
}

// view is a segment with its tombstones in one snapshot.
type view struct {
	segment    *openSegment
	tombstones *segment.Tombstones
}

// openSegment is a segment that counts the snapshots and searches that use it. When the last reference is released, its file is
// closed. If the segment has been replaced, the file is also removed.
type openSegment struct {
	*segment.Segment
	segment.Meta
	path       string
	files      fileSystem
	refs       atomic.Int64
	removeFile atomic.Bool // remove the file after closing it
}

// openSegment opens a segment. The caller holds the first reference to it.
func (in *Index) openSegment(meta segment.Meta) (*openSegment, error) {
	path := filepath.Join(in.dir, segmentName(meta.Number))
	opened, err := segment.Open(path, meta, in.cache)
	if err != nil {
		return nil, err
	}
	s := &openSegment{Segment: opened, Meta: meta, path: path, files: in.files}
	s.refs.Store(1)
	return s, nil
}

func (s *openSegment) release() error {
	if s.refs.Add(-1) > 0 {
		return nil
	}
	// Close the file first because Windows can't remove an open file.
	err := s.Close()
	if s.removeFile.Load() {
		// If this fails, the next Open removes the file because no manifest lists it.
		if rmErr := s.files.Remove(s.path); !errors.Is(rmErr, os.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}
	return err
}

// acquire returns the current snapshot. The caller must release it.
func (in *Index) acquire() (*snapshot, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current == nil {
		return nil, ErrClosed
	}
	in.current.acquire()
	return in.current, nil
}

func (s *snapshot) acquire() {
	for _, v := range s.views {
		v.segment.refs.Add(1)
	}
}

// release drops a reference to each segment. An error when closing or removing a segment file does not
// affect searches, so it is only logged.
func (s *snapshot) release() {
	for _, v := range s.views {
		if err := v.segment.release(); err != nil {
			s.log.Warn("search index segment not released", "error", err)
		}
	}
}

// load opens the segments that the manifest lists.
func (in *Index) load(m *manifest) (*snapshot, error) {
	loaded := &snapshot{manifest: m, log: in.options.Log}
	for _, l := range m.segments {
		s, err := in.openSegment(l.Meta)
		if err != nil {
			loaded.release()
			return nil, err
		}
		loaded.views = append(loaded.views, view{s, l.tombstones})
	}
	return loaded, nil
}

// install durably replaces the current snapshot. The caller must hold in.writeMu. Segments that are not
// in views are removed when the last search that uses them ends. added is the new segment in views, or
// nil. If the snapshot is not installed, the file of that segment is removed, unless the manifest on disk
// may refer to it.
func (in *Index) install(current *snapshot, views []view, added *openSegment, checkpoint []byte) error {
	m := &manifest{nextSegment: in.nextSegment.Load(), checkpoint: checkpoint}
	kept := make(map[*openSegment]bool)
	for _, v := range views {
		kept[v.segment] = true
		m.segments = append(m.segments, listedSegment{v.segment.Meta, v.tombstones})
	}
	maybeWritten, err := in.writeManifest(m)
	if err == nil {
		next := &snapshot{manifest: m, views: views, log: in.options.Log}
		next.acquire()
		in.mu.Lock()
		in.current = next
		in.mu.Unlock()
		for _, v := range current.views {
			if !kept[v.segment] {
				v.segment.removeFile.Store(true)
			}
		}
		current.release()
	}
	if added != nil {
		added.removeFile.Store(err != nil && !maybeWritten)
		err = errors.Join(err, added.release())
	}
	return err
}
