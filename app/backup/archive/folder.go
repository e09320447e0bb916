package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ownFolders refuses, before anything is written or removed, an archive one of whose
// folders is a link: what it leads to is not ours, and may be live data. Absent ones
// are made when they are needed.
func ownFolders(dir string) error {
	for _, name := range []string{blobsDir, snapsDir, tmpDir} {
		if err := ownFolder(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func ownFolder(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the backup: %w", err)
	case !info.IsDir(): // a link, a junction, a mount point that is a file
		return fmt.Errorf("%s: %w: it is no folder but a link or a file: nothing is written or removed through it", path, ErrDamaged)
	}
	return nil
}

func regularOrAbsent(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the backup: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w: it is no file", path, ErrDamaged)
	}
	return nil
}

// openRegular opens a file for reading; a pipe or a device in its place is ErrDamaged,
// and keeps nobody waiting.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|notWaiting, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: it is no file", path, ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSmall reads a file of at most so many bytes; a longer one is ErrDamaged.
func readSmall(path string, most int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s: %w: it is longer than %d bytes", path, ErrDamaged, most)
	}
	return raw, err
}
