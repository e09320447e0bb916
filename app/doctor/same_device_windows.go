package doctor

import (
	"path/filepath"
	"strings"
)

// sameDevice reports whether two paths are on the same drive or share.
func sameDevice(a, b string) (bool, error) {
	if _, _, err := statBoth(a, b); err != nil {
		return false, err
	}
	one, err := filepath.Abs(a)
	if err != nil {
		return false, err
	}
	two, err := filepath.Abs(b)
	return strings.EqualFold(filepath.VolumeName(one), filepath.VolumeName(two)), err
}
