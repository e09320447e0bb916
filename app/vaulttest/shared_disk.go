package vaulttest

import (
	"io/fs"

	"deedkeep/app/blobstore"
)

// disk is the system's disk under the documents, with a say before each step.
type FaultyDisk struct {
	blobstore.Files
	before func(step, path string) error
}

func (d FaultyDisk) Create(path string) (blobstore.File, error) {
	if err := d.before("create", path); err != nil {
		return nil, err
	}
	f, err := d.Files.Create(path)
	if err != nil {
		return nil, err
	}
	return faultyFile{f, d, path}, nil
}

func (d FaultyDisk) Open(path string) (blobstore.File, error) {
	f, err := d.Files.Open(path)
	if err != nil {
		return nil, err
	}
	return faultyFile{f, d, path}, nil
}

// Rename has its say afterward: the document has its name then.
func (d FaultyDisk) Rename(from, to string) error {
	if err := d.Files.Rename(from, to); err != nil {
		return err
	}
	return d.before("rename", to)
}

func (d FaultyDisk) SyncDir(path string) error {
	if err := d.before("syncdir", path); err != nil {
		return err
	}
	return d.Files.SyncDir(path)
}

type faultyFile struct {
	blobstore.File
	disk FaultyDisk
	path string
}

func (f faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.before("write", f.path); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f faultyFile) Chmod(mode fs.FileMode) error { return f.File.Chmod(mode) }

func (f faultyFile) Sync() error {
	if err := f.disk.before("sync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

// NewFaultyDisk returns a disk that calls before ahead of each step; an error of it fails the step.
func NewFaultyDisk(files blobstore.Files, before func(step, path string) error) FaultyDisk {
	return FaultyDisk{files, before}
}
