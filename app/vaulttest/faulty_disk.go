package vaulttest

import "deedkeep/app/blob/disk"

// FaultyDisk is a file system for the document store that calls a hook for every operation.
type FaultyDisk struct {
	disk.Files
	hook func(operation, path string) error
}

// NewFaultyDisk returns a disk that calls hook for each "create", "write", "sync", "syncdir", and "rename" operation.
// If hook returns an error, the operation fails with it. The hook is called before the operation, so that an error
// prevents it. Only for "rename", it is called afterward.
func NewFaultyDisk(files disk.Files, hook func(operation, path string) error) FaultyDisk {
	return FaultyDisk{files, hook}
}

// Create implements disk.Files.
func (d FaultyDisk) Create(path string) (disk.File, error) {
	if err := d.hook("create", path); err != nil {
		return nil, err
	}
	f, err := d.Files.Create(path)
	if err != nil {
		return nil, err
	}
	return faultyFile{f, d, path}, nil
}

// Open implements disk.Files.
func (d FaultyDisk) Open(path string) (disk.File, error) {
	f, err := d.Files.Open(path)
	if err != nil {
		return nil, err
	}
	return faultyFile{f, d, path}, nil
}

// Rename implements disk.Files.
func (d FaultyDisk) Rename(from, to string) error {
	if err := d.Files.Rename(from, to); err != nil {
		return err
	}
	return d.hook("rename", to)
}

// SyncDir implements disk.Files.
func (d FaultyDisk) SyncDir(path string) error {
	if err := d.hook("syncdir", path); err != nil {
		return err
	}
	return d.Files.SyncDir(path)
}

type faultyFile struct {
	disk.File
	disk FaultyDisk
	path string
}

func (f faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.hook("write", f.path); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f faultyFile) Sync() error {
	if err := f.disk.hook("sync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}
