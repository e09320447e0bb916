package txn

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"deedkeep/app/blobstore"
	"deedkeep/app/durable"
)

// ReserveFile is the name of a file that reserves disk space. bbolt writes new pages even
// to delete a record, so that nothing could be deleted on a full disk without it. Its
// content has no meaning.
const ReserveFile = "spare"

// Reserve lends the space of the reserve file to deletes on a full disk and reclaims what
// is left.
type Reserve struct {
	path string
	Size int64 // bytes; 0 disables the reserve
	rand io.Reader
	mu   sync.Mutex
}

// Lend frees the reserved space, calls do, and refills the file with the space that is
// left. Concurrent calls run one at a time.
func (r *Reserve) Lend(log *slog.Logger, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.release(); err != nil {
		log.Warn("the spare file cannot be emptied", "error", err)
	}
	err := do()
	// Claim all free space before another program uses it.
	r.refill(log, 0)
	return err
}

// Fill grows the file to its configured size, if at least as much disk space stays free.
// It removes the file if the size is 0.
func (r *Reserve) Fill(log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Size > 0 {
		r.refill(log, r.Size)
		return
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("the spare file cannot be removed", "error", err)
	}
}

// release truncates the file. The sync commits the file system transaction that frees the
// blocks; before that they cannot be used.
func (r *Reserve) release() error {
	f, err := os.OpenFile(r.path, os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(0), f.Sync(), f.Close())
}

// refill grows the file up to its size and leaves keepFree bytes of the disk free.
func (r *Reserve) refill(log *slog.Logger, keepFree int64) {
	err := r.grow(keepFree)
	// On a full disk the file keeps the size it has reached.
	if err != nil && !durable.IsDiskFull(err) {
		log.Warn("the spare file cannot be written", "error", err)
	}
}

// grow resizes the file. It does nothing if the file cannot reach its full size while
// keepFree bytes of the disk stay free. If keepFree is 0, it uses all free space.
func (r *Reserve) grow(keepFree int64) (err error) {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > r.Size {
		return errors.Join(f.Truncate(r.Size), f.Sync())
	}
	free, err := blobstore.FreeSpace(r.path)
	if err != nil {
		return fmt.Errorf("free space: %w", err)
	}
	available := int64(min(free, 1<<62)) - keepFree
	growth := min(r.Size-size, available)
	if growth <= 0 || keepFree > 0 && growth < r.Size-size {
		return nil // a partial reserve is only useful on a full disk
	}
	return errors.Join(r.writeBlocks(f, size, growth), f.Sync())
}

// writeBlocks allocates n bytes at an offset. If the file system cannot allocate, it
// writes random data, which no file system can compress or deduplicate.
func (r *Reserve) writeBlocks(f *os.File, at, n int64) error {
	if err := allocate(f, at, n); err == nil || durable.IsDiskFull(err) {
		return err
	}
	block := make([]byte, 64<<10)
	if _, err := io.ReadFull(r.rand, block); err != nil {
		return err
	}
	for end := at + n; at < end; at += int64(len(block)) {
		for i := range block[:8] {
			block[i] = byte(at >> (8 * i)) // makes each block unique
		}
		if _, err := f.WriteAt(block[:min(int64(len(block)), end-at)], at); err != nil {
			return err
		}
	}
	return nil
}
