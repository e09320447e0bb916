//go:build !linux

package pagecache

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// Lock does nothing, because bbolt locks the file itself.
func Lock(*os.File, time.Duration) error { return nil }

// uncheckedFile implements pageCache on systems that can't drop a single file from the page
// cache. See Compare.
type uncheckedFile struct{ *os.File }

func newPageCache(file *os.File) (pageCache, error) { return uncheckedFile{file}, nil }

func (uncheckedFile) Drop() ([]extent, error) {
	return nil, fmt.Errorf("%s can't drop a file from the page cache: %w", runtime.GOOS, errNotSupported)
}

func (uncheckedFile) ReadDisk([]byte, int64) (int, error) { return 0, errNotSupported }

// Close leaves the file itself open.
func (uncheckedFile) Close() error { return nil }
