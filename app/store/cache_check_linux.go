package store

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

// lockFile takes the lock that bbolt takes right after it, on the same open file, and
// waits as long for it.
func lockFile(file *os.File, wait time.Duration) error {
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

// linuxPageCache is a file of this system.
type linuxPageCache struct {
	*os.File
	direct *os.File // past the cache; nil where the file system can't
	buffer []byte   // at the start of a page, as O_DIRECT wants it
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
		return nil, errors.Join(fmt.Errorf("memory to read %s: %w", file.Name(), err), c.closeDirect())
	}
	return c, nil
}

// Close leaves the file itself open.
func (c *linuxPageCache) Close() error { return errors.Join(unix.Munmap(c.buffer), c.closeDirect()) }

func (c *linuxPageCache) closeDirect() error {
	if c.direct == nil {
		return nil
	}
	return c.direct.Close()
}

func isNotSupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}

func (c *linuxPageCache) ReadDisk(p []byte, at int64) (int, error) {
	if c.direct == nil {
		return 0, fmt.Errorf("its file system can't be read past the page cache (O_DIRECT): %w", errNotSupported)
	}
	n, err := c.direct.ReadAt(c.buffer[:len(p)], at)
	if err != nil && !errors.Is(err, io.EOF) && isNotSupported(err) {
		return 0, fmt.Errorf("its file system can't be read past the page cache (O_DIRECT): %w", errNotSupported)
	}
	return copy(p, c.buffer[:n]), err
}

// dropAttempts: another process that reads a page at that moment keeps it from being dropped.
const dropAttempts = 3

func (c *linuxPageCache) Drop() (stayed []extent, err error) {
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(c.Fd()), &system); err != nil {
		return nil, fmt.Errorf("file system of %s: %w", c.Name(), err)
	}
	if system.Type == unix.TMPFS_MAGIC || system.Type == unix.RAMFS_MAGIC {
		return nil, fmt.Errorf("its file system is in memory and has no disk: %w", errNotSupported)
	}
	for range dropAttempts {
		if err := unix.Fadvise(int(c.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			return nil, fmt.Errorf("drop %s from memory: %w", c.Name(), err)
		}
		if stayed, err = c.residentExtents(); err != nil || len(stayed) == 0 {
			return nil, err
		}
	}
	return stayed, nil
}

// residentChunk is how much of a file is mapped to ask for its pages, in bytes.
const residentChunk = 1 << 28

// residentExtents gives the parts of the file that are in memory.
func (c *linuxPageCache) residentExtents() (all []extent, err error) {
	info, err := c.Stat()
	if err != nil {
		return nil, err
	}
	for at := int64(0); at < info.Size(); at += residentChunk {
		if all, err = c.appendResident(all, at, int(min(residentChunk, info.Size()-at))); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *linuxPageCache) appendResident(all []extent, at int64, size int) (_ []extent, err error) {
	mapped, err := unix.Mmap(int(c.Fd()), at, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("pages of %s in memory: %w", c.Name(), err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()
	page := os.Getpagesize()
	pages := make([]byte, (size+page-1)/page)
	if _, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(size), uintptr(unsafe.Pointer(&pages[0]))); failed != 0 { // #nosec G103 -- mincore wants addresses
		return nil, fmt.Errorf("pages of %s in memory: %w", c.Name(), failed)
	}
	for i, in := range pages {
		if in&1 == 0 {
			continue
		}
		from := at + int64(i)*int64(page)
		if n := len(all); n > 0 && all[n-1].offset+all[n-1].size == from {
			all[n-1].size += int64(page)
			continue
		}
		all = append(all, extent{from, int64(page)})
	}
	return all, nil
}
