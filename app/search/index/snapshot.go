package index

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"deedkeep/app/search/index/segment"
)

// snapshot is one state of the index: what a search sees from beginning to end.
type snapshot struct {
	views      []view // the earliest segment first
	checkpoint []byte
	refs       atomic.Int64
	log        *slog.Logger
}

// view is a segment as one state has it.
type view struct {
	segment    *openSegment
	tombstones *segment.Tombstones
}

// openSegment is a segment of the index, for as long as somebody uses it; its file is
// then removed where it has been replaced.
type openSegment struct {
	*segment.Segment
	segment.Meta
	path       string
	files      fileSystem
	refs       atomic.Int64
	removeFile atomic.Bool // remove the file at the end
}

// openSegment opens a segment that the manifest lists, or is to list; the caller is its
// first user.
func (x *Index) openSegment(stamp segment.Meta) (*openSegment, error) {
	path := filepath.Join(x.dir, segmentName(stamp.Number))
	opened, err := segment.Open(path, stamp, x.cache)
	if err != nil {
		return nil, err
	}
	s := &openSegment{Segment: opened, Meta: stamp, path: path, files: x.files}
	s.refs.Store(1)
	return s, nil
}

func (s *openSegment) acquire() { s.refs.Add(1) }

func (s *openSegment) release() error {
	if s.refs.Add(-1) > 0 {
		return nil
	}
	// Close before remove: Windows removes nothing that is open.
	err := s.Close()
	if s.removeFile.Load() {
		// What stays is removed by the next Open, since no manifest lists it.
		if removed := s.files.Remove(s.path); !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// newSnapshot makes a state, of which the caller is the first user; the segments are
// used by it besides.
func newSnapshot(views []view, mark []byte, log *slog.Logger) *snapshot {
	s := &snapshot{views: views, checkpoint: mark, log: log}
	s.refs.Store(1)
	for _, v := range views {
		v.segment.acquire()
	}
	return s
}

// acquire returns the state of now; the caller releases it.
func (x *Index) acquire() (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, ErrClosed
	}
	x.current.refs.Add(1)
	return x.current, nil
}

// release lets go of the state. That a file which was only read is not closed, or one
// that was replaced not removed, harms no answer: it is logged.
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

// load opens what the manifest lists.
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

// install makes a state the current one, durably. The caller holds x.writing; the
// segments of old that are not in views are removed when nobody uses them any more.
// Where it fails, inDoubt tells whether the next Open may find it all the same.
func (x *Index) install(views []view, mark []byte) (inDoubt bool, err error) {
	m := &manifest{nextSegment: x.nextSegment.Load(), checkpoint: mark}
	kept := make(map[*openSegment]bool)
	for _, v := range views {
		s := v.segment
		kept[s] = true
		m.segments = append(m.segments, listedSegment{s.Meta, v.tombstones})
	}
	if inDoubt, err := x.writeManifest(m); err != nil {
		return inDoubt, err
	}
	fresh := newSnapshot(views, mark, x.options.Log)
	x.mu.Lock()
	old := x.current
	x.current = fresh
	x.mu.Unlock()
	for _, v := range old.views {
		if !kept[v.segment] {
			v.segment.removeFile.Store(true)
		}
	}
	old.release()
	return false, nil
}
