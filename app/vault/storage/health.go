package storage

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"deedkeep/app/errs"
)

// health counts file system errors, such as a failed rename, that abort an upload
// but don't make the vault read-only.
type health struct {
	mu          sync.Mutex
	failures    int // consecutive errors since a document was last stored
	lastFailure time.Time
	err         error
}

// After maxStorageFailures consecutive failures, the vault is not ready until a document
// is stored or storageRecovery has passed without another failure.
const (
	maxStorageFailures = 3
	storageRecovery    = time.Minute
)

// RecordFailure counts err if it is a file system error.
func (h *health) RecordFailure(now time.Time, err error) {
	var path *fs.PathError
	var link *os.LinkError
	if !errors.As(err, &path) && !errors.As(err, &link) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.lastFailure, h.err = h.failures+1, now, err
}

// RecordSuccess resets the count of failures.
func (h *health) RecordSuccess() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures = 0
}

// Err returns Unavailable while documents repeatedly can't be written to the disk.
func (h *health) Err(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures < maxStorageFailures || now.Sub(h.lastFailure) >= storageRecovery {
		return nil
	}
	return errs.NotNow(errs.ReadOnly,
		"Storing documents failed repeatedly because of disk errors. Check the disk and the server log.", h.err)
}

// spaceCheckInterval is the number of bytes read between two checks of the free disk
// space.
const spaceCheckInterval = 8 << 20

// DiskGuardReader fails when the free disk space falls below the reserve. This prevents
// concurrent uploads from using up the reserve together.
type DiskGuardReader struct {
	io.Reader
	Storage    *Storage
	sinceCheck int64
}

// Read reads from the underlying reader and regularly checks the free disk space.
func (r *DiskGuardReader) Read(p []byte) (int, error) {
	if r.sinceCheck >= spaceCheckInterval {
		if err := r.Storage.CheckSpace(); err != nil {
			return 0, err
		}
		r.sinceCheck = 0
	}
	n, err := r.Reader.Read(p)
	r.sinceCheck += int64(n)
	return n, err
}
