package index

import (
	"errors"
	"os"
)

var errPowerFailure = errors.New("simulated power failure")

// noSyncDisk is a disk that does not sync. Tests without power failures use it.
type noSyncDisk struct{ osFileSystem }

func (n noSyncDisk) Create(path string) (file, error) {
	f, err := n.osFileSystem.Create(path)
	return noSyncFile{f}, err
}

func (noSyncDisk) SyncDir(string) error { return nil }

// noSyncFile is a file on a noSyncDisk.
type noSyncFile struct{ file }

func (noSyncFile) Sync() error { return nil }

// faultyDisk simulates a machine that stops at a given step. At that step, it writes only half of
// the data, and then nothing more. It records which data a power failure may lose. It never
// actually syncs.
type faultyDisk struct {
	osFileSystem
	left    int  // steps left before the failure; negative if there is no failure
	once    bool // only that step fails
	steps   int
	synced  map[string]int64 // size of each file at its last sync
	pending []entryChange    // changes since the last sync of the directory
}

// entryChange is the creation, renaming, or removal of a file.
type entryChange struct {
	created, from, to string
	previous          []byte // previous content of to, or of the removed file
	existed           bool
}

// newFaultyDisk returns a disk that fails after the given number of steps. If left is negative, it
// never fails.
func newFaultyDisk(left int) *faultyDisk {
	return &faultyDisk{left: left, synced: make(map[string]int64)}
}

// step counts a step. From the failure on, it returns an error.
func (d *faultyDisk) step() error {
	d.steps++
	if d.left == 0 {
		if d.once {
			d.left = -1
		}
		return errPowerFailure
	}
	d.left--
	return nil
}

func (d *faultyDisk) Mkdir(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osFileSystem.Mkdir(path)
}

func (d *faultyDisk) Create(path string) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.osFileSystem.Create(path)
	if err != nil {
		return nil, err
	}
	d.synced[path] = 0
	d.pending = append(d.pending, entryChange{created: path})
	return &faultyFile{f.(*os.File), d}, nil
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	old, err := os.ReadFile(to)
	d.pending = append(d.pending, entryChange{from: from, to: to, previous: old, existed: err == nil})
	d.synced[to] = d.synced[from]
	return d.osFileSystem.Rename(from, to)
}

func (d *faultyDisk) SyncDir(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.pending = nil
	return nil
}

func (d *faultyDisk) Remove(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	d.pending = append(d.pending, entryChange{to: path, previous: old, existed: err == nil})
	return d.osFileSystem.Remove(path)
}

// faultyFile is a file on a faultyDisk.
type faultyFile struct {
	*os.File
	disk *faultyDisk
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		f.disk.synced[f.Name()] = info.Size()
	}
	return err
}

// Types of data that a power failure can lose.
const (
	lostNothing = iota // nothing, because only the process was killed
	lostBytes          // only file contents that were not synced
	lostNames          // also all directory changes since the last sync of the directory
	lostCreated        // of the directory changes, only new files
	lostKinds
)

// loseUnsynced discards unsynced data as a power failure would.
func (d *faultyDisk) loseUnsynced(kind int) error {
	if kind == lostNothing {
		return nil
	}
	var err error
	for path, size := range d.synced {
		if info, statErr := os.Stat(path); statErr == nil && info.Size() > size {
			err = errors.Join(err, os.Truncate(path, size))
		}
	}
	for i := len(d.pending) - 1; i >= 0 && kind != lostBytes; i-- {
		err = errors.Join(err, d.pending[i].undo(kind))
	}
	return err
}

// undo reverts the change if a power failure of this type loses it.
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
