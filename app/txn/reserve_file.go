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

// ReserveFile is the name of the file that reserves disk space. Without it, no record could
// be deleted if the disk is full, because bbolt writes new pages even for that. The content
// of the file has no meaning.
const ReserveFile = "spare"

// Reserve lends the space of the reserve file to deletions if the disk is full, and then
// reclaims what is left.
type Reserve struct {
	path string
	Size int64 // in bytes; 0 disables the reserve
	rand io.Reader
	mu   sync.Mutex
}

// Lend frees the reserved space, calls do, and refills the file with the remaining space.
// Concurrent calls run one at a time.
func (r *Reserve) Lend(log *slog.Logger, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.release(); err != nil {
		log.Warn("reserve file can't be truncated", "error", err)
	}
	err := do()
	// Claim all free space before another program uses it.
	r.refill(log, 0)
	return err
}

// Fill extends the file to its configured size if at least the same amount of disk space
// remains free. If the configured size is 0, it removes the file.
func (r *Reserve) Fill(log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Size > 0 {
		r.refill(log, r.Size)
		return
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("reserve file can't be deleted", "error", err)
	}
}

// release truncates the file. The freed blocks can't be used until the file system commits
// its transaction, so release also syncs the file.
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

// refill extends the file toward its configured size but leaves keepFree bytes of disk
// space free.
func (r *Reserve) refill(log *slog.Logger, keepFree int64) {
	err := r.grow(keepFree)
	// If the disk is full, the file keeps the size it has reached.
	if err != nil && !durable.IsDiskFull(err) {
		log.Warn("reserve file can't be written", "error", err)
	}
}

// grow resizes the file. If the file can't reach its configured size with keepFree bytes of
// disk space left, it does nothing. If keepFree is 0, it uses all free space.
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
		return fmt.Errorf("get free disk space: %w", err)
	}
	available := int64(min(free, 1<<62)) - keepFree
	growth := min(r.Size-size, available)
	if growth <= 0 || keepFree > 0 && growth < r.Size-size {
		return nil // a partial reserve helps only if the disk is full
	}
	return errors.Join(r.writeBlocks(f, size, growth), f.Sync())
}

// writeBlocks allocates n bytes at an offset. If the file system doesn't support
// allocation, it writes random data, which the file system can't compress or deduplicate.
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
