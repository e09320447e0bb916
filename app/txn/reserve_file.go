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
func (s *Reserve) Lend(log *slog.Logger, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.release(); err != nil {
		log.Warn("the spare file cannot be emptied", "error", err)
	}
	err := do()
	// Claim all free space before another program uses it.
	s.refill(log, 0)
	return err
}

// Fill grows the file to its configured size, if at least as much disk space stays free.
// It removes the file if the size is 0.
func (s *Reserve) Fill(log *slog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Size > 0 {
		s.refill(log, s.Size)
		return
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Warn("the spare file cannot be removed", "error", err)
	}
}

// release truncates the file. The sync commits the file system transaction that frees the
// blocks; before that they cannot be used.
func (s *Reserve) release() error {
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(0), f.Sync(), f.Close())
}

// refill grows the file up to its size and leaves the given number of bytes free.
func (s *Reserve) refill(log *slog.Logger, leave int64) {
	err := s.grow(leave)
	// On a full disk the file keeps the size it has reached.
	if err != nil && !durable.IsDiskFull(err) {
		log.Warn("the spare file cannot be written", "error", err)
	}
}

// grow resizes the file. It does nothing if it cannot reach the full size and leave the
// given number of bytes free; with leave 0 it uses all free space.
func (s *Reserve) grow(leave int64) (err error) {
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	have := info.Size()
	if have > s.Size {
		return errors.Join(f.Truncate(s.Size), f.Sync())
	}
	free, err := blobstore.FreeSpace(s.path)
	if err != nil {
		return fmt.Errorf("free space: %w", err)
	}
	room := int64(min(free, 1<<62)) - leave
	more := min(s.Size-have, room)
	if more <= 0 || leave > 0 && more < s.Size-have {
		return nil // a partial reserve is only useful on a full disk
	}
	return errors.Join(s.writeBlocks(f, have, more), f.Sync())
}

// writeBlocks allocates n bytes at an offset. If the file system cannot allocate, it
// writes random data, which no file system can compress or deduplicate.
func (s *Reserve) writeBlocks(f *os.File, at, n int64) error {
	if err := allocate(f, at, n); err == nil || durable.IsDiskFull(err) {
		return err
	}
	block := make([]byte, 64<<10)
	if _, err := io.ReadFull(s.rand, block); err != nil {
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
