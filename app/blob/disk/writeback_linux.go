package disk

import "golang.org/x/sys/unix"

// WriteBack starts writing to the disk without waiting, so that the final sync is fast.
func (f osFile) WriteBack(off, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return // only a hint
	}
	// Ignore errors. The file system may not support the call, and Sync reports a failing
	// disk anyway.
	_ = conn.Control(func(fd uintptr) {
		_ = unix.SyncFileRange(int(fd), off, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}

// dropPageCache drops the clean pages of a file from the page cache, so that the next
// read goes to the disk.
func dropPageCache(fd uintptr) {
	_ = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) // only a hint
}
