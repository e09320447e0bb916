//go:build !windows

package archive

import (
	"errors"
	"syscall"
)

// notWaiting opens a pipe or a device without waiting for its other end.
const notWaiting = syscall.O_NONBLOCK

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// isNoLocks tells a file system without locks from a lock that is held.
func isNoLocks(err error) bool {
	for _, no := range []error{syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.EINVAL} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
