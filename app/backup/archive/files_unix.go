//go:build !windows

package archive

import (
	"errors"
	"syscall"
)

// openNonblock is the flag for opening a pipe or device without waiting for its other
// end.
const openNonblock = syscall.O_NONBLOCK

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// isLockUnsupported reports whether a lock failed because the file system doesn't support
// locks, and not because another process holds it.
func isLockUnsupported(err error) bool {
	for _, no := range []error{syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.EINVAL} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
