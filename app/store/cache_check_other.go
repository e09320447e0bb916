//go:build !linux

package store

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// lockFile leaves the file to bbolt, which locks it itself.
func lockFile(*os.File, time.Duration) error { return nil }

// uncheckedFile is a file of a system that can't drop one file from memory; see reread.go.
type uncheckedFile struct{ *os.File }

func newPageCache(file *os.File) (pageCache, error) { return uncheckedFile{file}, nil }

func (uncheckedFile) Drop() ([]extent, error) {
	return nil, fmt.Errorf("%s can't drop a file from memory: %w", runtime.GOOS, errNotSupported)
}

func (uncheckedFile) ReadDisk([]byte, int64) (int, error) { return 0, errNotSupported }

// Close leaves the file itself open.
func (uncheckedFile) Close() error { return nil }
