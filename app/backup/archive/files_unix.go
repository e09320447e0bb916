//go:build !windows

package archive

import (
	"errors"
	"syscall"
)

// openNonblock is the flag that opens a pipe or device without waiting for its other end.
const openNonblock = syscall.O_NONBLOCK

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// isLockUnsupported distinguishes a file system without locks from a lock that is held.
func isLockUnsupported(err error) bool {
	for _, no := range []error{syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.EINVAL} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
