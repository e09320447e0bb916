package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// readManifest reads the manifest in dir and checks the sizes of the segment files. It returns
// ErrDamaged, ErrOtherFormat, or, if there is no manifest, fs.ErrNotExist.
func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, manifestName)
	// Opening a named pipe would block until another process writes to it.
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: not a regular file", errManifest)
	case info.Size() > maxManifestBytes:
		return nil, fmt.Errorf("%w: invalid length of %d bytes", errManifest, info.Size())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseManifest(raw, func(number uint64) (int64, error) { return segmentFileSize(dir, number) })
}

// segmentFileSize returns the size of a segment file.
func segmentFileSize(dir string, number uint64) (int64, error) {
	name := segmentName(number)
	info, err := os.Lstat(filepath.Join(dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%w: %s is missing", ErrDamaged, name)
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: %s is not a regular file", ErrDamaged, name)
	}
	return info.Size(), nil
}

// readOrCreateManifest reads the manifest. If the directory does not contain an index, it writes an
// empty manifest. If there are segments without a manifest, it returns ErrDamaged.
func (in *Index) readOrCreateManifest() (*manifest, error) {
	m, err := readManifest(in.dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	names, err := os.ReadDir(in.dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if strings.HasSuffix(n.Name(), segmentSuffix) {
			return nil, fmt.Errorf("%w: manifest is missing", ErrDamaged)
		}
	}
	m = &manifest{}
	if _, err := in.writeManifest(m); err != nil {
		return nil, err
	}
	return m, in.files.SyncDir(filepath.Dir(in.dir))
}
