package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// checkFolders returns an error if one of the archive's folders is a link, because a link
// could lead to live data. A folder may be missing, because folders are created when they
// are needed.
func checkFolders(dir string) error {
	for _, name := range []string{blobsDir, snapsDir, tmpDir} {
		if err := checkFolder(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder returns an error if there is a link, a junction, or a file instead of the folder.
func checkFolder(path string) error {
	return checkMode(path, fs.FileMode.IsDir, "expected a folder, found a link or a file; nothing was changed")
}

func checkRegularOrMissing(path string) error {
	return checkMode(path, fs.FileMode.IsRegular, "not a regular file")
}

// checkMode returns ErrDamaged with a problem unless there is nothing, or what is there has a suitable mode.
func checkMode(path string, isSuitable func(fs.FileMode) bool, problem string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read backup directory: %w", err)
	case !isSuitable(info.Mode()):
		return fmt.Errorf("%s: %w: %s", path, ErrDamaged, problem)
	}
	return nil
}

// openRegular opens a file for reading. If the file is a pipe or device, it returns
// ErrDamaged without blocking.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file", path, ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readLimited reads a file of up to limit bytes. It returns ErrDamaged if the file is
// longer.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s: %w: larger than %d bytes", path, ErrDamaged, limit)
	}
	return raw, err
}
