//go:build !linux

package store

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// lock leaves the file to bbolt, which locks it itself.
func lock(*os.File, time.Duration) error { return nil }

// unchecked is a file of a system that can't drop one file from memory; see reread.go.
type unchecked struct{ *os.File }

func newPageCache(file *os.File) (pageCache, error) { return unchecked{file}, nil }

func (unchecked) Drop() ([]extent, error) {
	return nil, fmt.Errorf("%s can't drop a file from memory: %w", runtime.GOOS, errNoWay)
}

func (unchecked) ReadDisk([]byte, int64) (int, error) { return 0, errNoWay }

// Close leaves the file itself open.
func (unchecked) Close() error { return nil }
