package index

import (
	"errors"
	"os"
)

var errCut = errors.New("the power is cut")

// unsynced is a disk for tests that cut no power.
type unsynced struct{ osFileSystem }

func (u unsynced) Create(path string) (file, error) {
	f, err := u.osFileSystem.Create(path)
	return unsyncedFile{f}, err
}

func (unsynced) SyncDir(string) error { return nil }

type unsyncedFile struct{ file }

func (unsyncedFile) Sync() error { return nil }

// cutter is the disk of a machine that stops at a step: a write is done by half, and
// nothing after it. It remembers what a power cut may take away. It never syncs.
type cutter struct {
	osFileSystem
	left    int  // steps until the cut; below 0: none
	once    bool // only that step fails
	steps   int
	synced  map[string]int64 // bytes of a file that are safe
	pending []entryChange    // since the folder was last synced
}

// entryChange is a name that was made, moved or removed.
type entryChange struct {
	made, from, to string
	old            []byte // what was at to, or at the name that was removed
	replaced       bool
}

func newCutter(left int) *cutter { return &cutter{left: left, synced: make(map[string]int64)} }

func (c *cutter) step() error {
	c.steps++
	if c.left == 0 {
		if c.once {
			c.left = -1
		}
		return errCut
	}
	c.left--
	return nil
}

func (c *cutter) Mkdir(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	return c.osFileSystem.Mkdir(path)
}

func (c *cutter) Create(path string) (file, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	f, err := c.osFileSystem.Create(path)
	if err != nil {
		return nil, err
	}
	c.synced[path] = 0
	c.pending = append(c.pending, entryChange{made: path})
	return &cutFile{f.(*os.File), c}, nil
}

func (c *cutter) Rename(from, to string) error {
	if err := c.step(); err != nil {
		return err
	}
	old, err := os.ReadFile(to)
	c.pending = append(c.pending, entryChange{from: from, to: to, old: old, replaced: err == nil})
	c.synced[to] = c.synced[from]
	return c.osFileSystem.Rename(from, to)
}

func (c *cutter) SyncDir(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	c.pending = nil
	return nil
}

func (c *cutter) Remove(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	c.pending = append(c.pending, entryChange{to: path, old: old, replaced: err == nil})
	return c.osFileSystem.Remove(path)
}

type cutFile struct {
	*os.File
	c *cutter
}

func (f *cutFile) Write(p []byte) (int, error) {
	if err := f.c.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *cutFile) Sync() error {
	if err := f.c.step(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		f.c.synced[f.Name()] = info.Size()
	}
	return err
}

// What a cut takes away.
const (
	lostNothing = iota // the process was killed
	lostBytes          // what was not synced of the files
	lostNames          // and every name that changed since the folder was synced
	lostMade           // of the names only those that were made
	lostKinds
)

// lose takes it away.
func (c *cutter) lose(kind int) error {
	if kind == lostNothing {
		return nil
	}
	var err error
	for path, safe := range c.synced {
		if info, there := os.Stat(path); there == nil && info.Size() > safe {
			err = errors.Join(err, os.Truncate(path, safe))
		}
	}
	for i := len(c.pending) - 1; i >= 0 && kind != lostBytes; i-- {
		err = errors.Join(err, c.pending[i].undo(kind))
	}
	return err
}

func (e entryChange) undo(kind int) error {
	switch {
	case e.made != "":
		if err := os.Remove(e.made); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	case kind == lostMade:
		return nil
	case e.from != "":
		if err := os.Rename(e.to, e.from); err != nil {
			return err
		}
	}
	if e.replaced {
		return os.WriteFile(e.to, e.old, 0o600)
	}
	return nil
}
