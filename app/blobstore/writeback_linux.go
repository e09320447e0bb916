package blobstore

import "golang.org/x/sys/unix"

// WriteBack starts writing without waiting, so that the final sync is short.
func (f osFile) WriteBack(off, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return // a hint only
	}
	// Errors are left to Sync: a file system may not know the call, and a
	// failing disk tells Sync as well.
	_ = conn.Control(func(fd uintptr) {
		_ = unix.SyncFileRange(int(fd), off, n, unix.SYNC_FILE_RANGE_WRITE)
	})
}

// uncache drops the file's clean pages, so that the next read asks the disk.
func uncache(fd uintptr) {
	_ = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) // a hint only
}
