package index

import (
	"errors"
	"os"
)

var errPowerFailure = errors.New("simulated power failure")

// noSyncDisk is a disk for tests without power failures.
type noSyncDisk struct{ osFileSystem }

func (u noSyncDisk) Create(path string) (file, error) {
	f, err := u.osFileSystem.Create(path)
	return noSyncFile{f}, err
}

func (noSyncDisk) SyncDir(string) error { return nil }

type noSyncFile struct{ file }

func (noSyncFile) Sync() error { return nil }

// faultyDisk simulates a machine that stops at a given step. It writes half of the data at that
// step and nothing after it. It records what a power failure may lose. It never syncs.
type faultyDisk struct {
	osFileSystem
	left    int  // steps before the failure; negative for none
	once    bool // fail only that step
	steps   int
	synced  map[string]int64 // size of a file at its last sync
	pending []entryChange    // since the last sync of the directory
}

// entryChange is the creation, renaming, or removal of a file.
type entryChange struct {
	created, from, to string
	previous          []byte // previous content of to, or of the removed file
	existed           bool
}

func newFaultyDisk(left int) *faultyDisk {
	return &faultyDisk{left: left, synced: make(map[string]int64)}
}

func (c *faultyDisk) step() error {
	c.steps++
	if c.left == 0 {
		if c.once {
			c.left = -1
		}
		return errPowerFailure
	}
	c.left--
	return nil
}

func (c *faultyDisk) Mkdir(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	return c.osFileSystem.Mkdir(path)
}

func (c *faultyDisk) Create(path string) (file, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	f, err := c.osFileSystem.Create(path)
	if err != nil {
		return nil, err
	}
	c.synced[path] = 0
	c.pending = append(c.pending, entryChange{created: path})
	return &faultyFile{f.(*os.File), c}, nil
}

func (c *faultyDisk) Rename(from, to string) error {
	if err := c.step(); err != nil {
		return err
	}
	old, err := os.ReadFile(to)
	c.pending = append(c.pending, entryChange{from: from, to: to, previous: old, existed: err == nil})
	c.synced[to] = c.synced[from]
	return c.osFileSystem.Rename(from, to)
}

func (c *faultyDisk) SyncDir(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	c.pending = nil
	return nil
}

func (c *faultyDisk) Remove(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	c.pending = append(c.pending, entryChange{to: path, previous: old, existed: err == nil})
	return c.osFileSystem.Remove(path)
}

type faultyFile struct {
	*os.File
	c *faultyDisk
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.c.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultyFile) Sync() error {
	if err := f.c.step(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		f.c.synced[f.Name()] = info.Size()
	}
	return err
}

// Kinds of data that a power failure can lose.
const (
	lostNothing = iota // the process was killed
	lostBytes          // file contents that were not synced
	lostNames          // also all changes of names since the last sync of the directory
	lostCreated        // of the names, only created ones
	lostKinds
)

// loseUnsynced discards data as a power failure would.
func (c *faultyDisk) loseUnsynced(kind int) error {
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
	case e.created != "":
		if err := os.Remove(e.created); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	case kind == lostCreated:
		return nil
	case e.from != "":
		if err := os.Rename(e.to, e.from); err != nil {
			return err
		}
	}
	if e.existed {
		return os.WriteFile(e.to, e.previous, 0o600)
	}
	return nil
}
