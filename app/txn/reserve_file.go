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

// spareFile takes up space for the time when there is none: bbolt writes new pages even
// to delete a record, so that on a full disk nothing could be deleted. It holds nothing.
const ReserveFile = "spare"

// Reserve gives its space to what makes room on a full disk, and takes it back.
type Reserve struct {
	path string
	Size int64 // 0: there is none
	rand io.Reader
	mu   sync.Mutex
}

// lend gives the space to one after the other; each has what is left of it.
func (s *Reserve) Lend(log *slog.Logger, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.release(); err != nil {
		log.Warn("the spare file cannot be emptied", "error", err)
	}
	err := do()
	// All that is left, so that the next one has it and no other program takes it.
	s.refill(log, 0)
	return err
}

// fill makes the file as large as it should be, where at least as much stays free. One
// that the settings no longer want is removed.
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

// release empties the file. The sync ends the transaction of the file system that frees
// the blocks: before it they could not be used.
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

// refill makes the file larger, up to its size, and leaves so much free.
func (s *Reserve) refill(log *slog.Logger, leave int64) {
	err := s.grow(leave)
	// A disk without room is what the file is for: what it has by now is all there is.
	if err != nil && !durable.IsDiskFull(err) {
		log.Warn("the spare file cannot be written", "error", err)
	}
}

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
		return nil // half of it is for a full disk alone
	}
	return errors.Join(s.writeBlocks(f, have, more), f.Sync())
}

// writeBlocks writes what no file system can make smaller.
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
			block[i] = byte(at >> (8 * i)) // no two blocks are the same
		}
		if _, err := f.WriteAt(block[:min(int64(len(block)), end-at)], at); err != nil {
			return err
		}
	}
	return nil
}
