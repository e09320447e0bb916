package pagecache

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	berrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// Lock acquires the same flock that bbolt acquires afterward on the same open file. It
// waits no longer than wait.
func Lock(file *os.File, wait time.Duration) error {
	const pause = 50 * time.Millisecond
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if time.Now().Add(pause).After(end) {
			return berrors.ErrTimeout
		}
	}
}

// linuxPageCache implements pageCache with posix_fadvise, mincore, and O_DIRECT.
type linuxPageCache struct {
	*os.File
	direct *os.File // opened with O_DIRECT; nil if the file system doesn't support it
	buffer []byte   // page-aligned, as O_DIRECT requires
}

func newPageCache(file *os.File) (pageCache, error) {
	c := &linuxPageCache{File: file}
	disk, err := os.OpenFile(file.Name(), os.O_RDONLY|unix.O_DIRECT, 0)
	switch {
	case err == nil:
		c.direct = disk
	case !isNotSupported(err):
		return nil, err
	}
	if c.buffer, err = unix.Mmap(-1, 0, compareChunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
		return nil, errors.Join(fmt.Errorf("allocate memory to read %s: %w", file.Name(), err), c.closeDirect())
	}
	return c, nil
}

// Close releases the buffer and the O_DIRECT handle but leaves the file itself open.
func (c *linuxPageCache) Close() error { return errors.Join(unix.Munmap(c.buffer), c.closeDirect()) }

func (c *linuxPageCache) closeDirect() error {
	if c.direct == nil {
		return nil
	}
	return c.direct.Close()
}

// isNotSupported reports whether err means that the file system doesn't support O_DIRECT.
func isNotSupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}

func (c *linuxPageCache) ReadDisk(p []byte, at int64) (int, error) {
	if c.direct == nil {
		return 0, fmt.Errorf("file system can't bypass the page cache (O_DIRECT): %w", errNotSupported)
	}
	n, err := c.direct.ReadAt(c.buffer[:len(p)], at)
	if err != nil && !errors.Is(err, io.EOF) && isNotSupported(err) {
		return 0, fmt.Errorf("file system can't bypass the page cache (O_DIRECT): %w", errNotSupported)
	}
	return copy(p, c.buffer[:n]), err
}

// dropAttempts is how often Drop tries to drop the file. An attempt doesn't drop pages that
// another process is reading.
const dropAttempts = 3

func (c *linuxPageCache) Drop() (cached []extent, err error) {
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(c.Fd()), &system); err != nil {
		return nil, fmt.Errorf("get file system of %s: %w", c.Name(), err)
	}
	if system.Type == unix.TMPFS_MAGIC || system.Type == unix.RAMFS_MAGIC {
		return nil, fmt.Errorf("file system is in memory: %w", errNotSupported)
	}
	for range dropAttempts {
		if err := unix.Fadvise(int(c.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return nil, fmt.Errorf("drop %s from the page cache: %w", c.Name(), err)
		}
		if cached, err = c.residentExtents(); err != nil || len(cached) == 0 {
			return nil, err
		}
	}
	return cached, nil
}

// residentChunk is the number of bytes that are mapped at a time to find the cached pages.
const residentChunk = 1 << 28

// residentExtents returns the cached ranges of the file.
func (c *linuxPageCache) residentExtents() (list []extent, err error) {
	info, err := c.Stat()
	if err != nil {
		return nil, err
	}
	for offset := int64(0); offset < info.Size(); offset += residentChunk {
		if list, err = c.appendResident(list, offset, int(min(residentChunk, info.Size()-offset))); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// appendResident appends to list the cached ranges between offset and offset+size.
func (c *linuxPageCache) appendResident(list []extent, offset int64, size int) (_ []extent, err error) {
	mapped, err := unix.Mmap(int(c.Fd()), offset, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("list cached pages of %s: %w", c.Name(), err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()
	page := os.Getpagesize()
	pages := make([]byte, (size+page-1)/page)
	// #nosec G103 -- mincore takes addresses
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(size), uintptr(unsafe.Pointer(&pages[0])))
	if failed == unix.EPERM { // a unit of systemd without mincore in its SystemCallFilter
		return nil, fmt.Errorf("listing cached pages is denied (mincore): %w", errNotSupported)
	}
	if failed != 0 {
		return nil, fmt.Errorf("list cached pages of %s: %w", c.Name(), failed)
	}
	for i, in := range pages {
		if in&1 == 0 {
			continue
		}
		from := offset + int64(i)*int64(page)
		if n := len(list); n > 0 && list[n-1].offset+list[n-1].size == from {
			list[n-1].size += int64(page)
			continue
		}
		list = append(list, extent{from, int64(page)})
	}
	return list, nil
}
