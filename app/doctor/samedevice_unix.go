//go:build !windows

package doctor

import (
	"errors"
	"syscall"
)

// sameDevice reports whether two paths are on one file system.
func sameDevice(a, b string) (bool, error) {
	x, y, err := statBoth(a, b)
	if err != nil {
		return false, err
	}
	one, fine := x.Sys().(*syscall.Stat_t)
	two, also := y.Sys().(*syscall.Stat_t)
	if !fine || !also {
		return false, errors.New("the system does not say")
	}
	return one.Dev == two.Dev, nil
}
