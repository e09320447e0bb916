package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"

	"deedkeep/app/blob"
	"deedkeep/app/durable"
)

// Rename clears the read-only attribute of the file at to, because Windows doesn't
// replace read-only files. If the rename fails, it sets the attribute again.
func (osFiles) Rename(from, to string) error {
	err := durable.Rename(from, to)
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return markInUse(err)
	}
	if chmodErr := os.Chmod(to, 0o600); chmodErr != nil {
		return markInUse(err)
	}
	if err = durable.Rename(from, to); err == nil {
		return nil
	}
	return markInUse(errors.Join(err, os.Chmod(to, 0o400)))
}

func (osFiles) Remove(path string) error { return markInUse(os.Remove(path)) }

// markInUse wraps err with blob.ErrInUse if it means that a process has the file open.
func markInUse(err error) error {
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return fmt.Errorf("%w: %w", blob.ErrInUse, err)
	}
	return err
}

// IsLinked reports whether a file has several names.
func IsLinked(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	var raw windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &raw)
	return raw.NumberOfLinks > 1, errors.Join(err, f.Close())
}
