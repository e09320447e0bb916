//go:build !windows

package store

import (
	"errors"
	"syscall"
)

func isQuotaExceeded(err error) bool { return errors.Is(err, syscall.EDQUOT) }
