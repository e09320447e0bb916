//go:build !windows

package doctor

import (
	"errors"
	"syscall"
)

// sameDevice reports whether two paths are on the same file system.
func sameDevice(a, b string) (bool, error) {
	x, y, err := statBoth(a, b)
	if err != nil {
		return false, err
	}
	first, ok1 := x.Sys().(*syscall.Stat_t)
	second, ok2 := y.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 {
		return false, errors.New("the system doesn't report the disk")
	}
	return first.Dev == second.Dev, nil
}
