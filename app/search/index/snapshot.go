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
	views      []view // oldest segment first
	checkpoint []byte
	refs       atomic.Int64
	log        *slog.Logger
}

// view is a segment with its tombstones in one snapshot.
type view struct {
	segment    *openSegment
	tombstones *segment.Tombstones
}

// openSegment is a reference-counted segment. When the last reference is released, its file is
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
func (x *Index) openSegment(meta segment.Meta) (*openSegment, error) {
	path := filepath.Join(x.dir, segmentName(meta.Number))
	opened, err := segment.Open(path, meta, x.cache)
	if err != nil {
		return nil, err
	}
	s := &openSegment{Segment: opened, Meta: meta, path: path, files: x.files}
	s.refs.Store(1)
	return s, nil
}

func (s *openSegment) acquire() { s.refs.Add(1) }

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

// newSnapshot returns a snapshot with one reference, which the caller holds. The snapshot holds
// references to the segments.
func newSnapshot(views []view, checkpoint []byte, log *slog.Logger) *snapshot {
	s := &snapshot{views: views, checkpoint: checkpoint, log: log}
	s.refs.Store(1)
	for _, v := range views {
		v.segment.acquire()
	}
	return s
}

// acquire returns the current snapshot. The caller must release it.
func (x *Index) acquire() (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, ErrClosed
	}
	x.current.refs.Add(1)
	return x.current, nil
}

// release drops a reference. An error when closing or removing a segment file does not affect
// searches, so it is only logged.
func (s *snapshot) release() {
	if s.refs.Add(-1) > 0 {
		return
	}
	for _, v := range s.views {
		if err := v.segment.release(); err != nil {
			s.log.Warn("search index: let go of a segment", "error", err)
		}
	}
}

// load opens the segments that the manifest lists.
func (x *Index) load(m *manifest) (*snapshot, error) {
	var views []view
	var err error
	for _, l := range m.segments {
		var s *openSegment
		if s, err = x.openSegment(l.Meta); err != nil {
			break
		}
		views = append(views, view{s, l.tombstones})
	}
	loaded := newSnapshot(views, m.checkpoint, x.options.Log)
	for _, v := range views {
		err = errors.Join(err, v.segment.release())
	}
	if err != nil {
		loaded.release()
		return nil, err
	}
	return loaded, nil
}

// install durably makes a new snapshot the current one. The caller must hold x.writeMu. Segments
// that are not in views are removed when the last search that uses them ends. If install returns an
// error, maybeWritten reports whether the next Open may find the new state.
func (x *Index) install(views []view, checkpoint []byte) (maybeWritten bool, err error) {
	m := &manifest{nextSegment: x.nextSegment.Load(), checkpoint: checkpoint}
	kept := make(map[*openSegment]bool)
	for _, v := range views {
		s := v.segment
		kept[s] = true
		m.segments = append(m.segments, listedSegment{s.Meta, v.tombstones})
	}
	if maybeWritten, err := x.writeManifest(m); err != nil {
		return maybeWritten, err
	}
	next := newSnapshot(views, checkpoint, x.options.Log)
	x.mu.Lock()
	old := x.current
	x.current = next
	x.mu.Unlock()
	for _, v := range old.views {
		if !kept[v.segment] {
			v.segment.removeFile.Store(true)
		}
	}
	old.release()
	return false, nil
}
