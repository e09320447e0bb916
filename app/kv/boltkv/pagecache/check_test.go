package pagecache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fakePageCache simulates a file whose content in the page cache and on disk can differ.
type fakePageCache struct {
	memory, disk       []byte
	remaining          []extent // ranges that are still cached after Drop
	dropErr, directErr error
	writeErr           error
	syncErrs           []error // results of successive calls of Sync
	log                []string
}

func (c *fakePageCache) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(c.memory).ReadAt(p, at)
}

func (c *fakePageCache) ReadDisk(p []byte, at int64) (int, error) {
	if c.directErr != nil {
		return 0, c.directErr
	}
	return bytes.NewReader(c.disk).ReadAt(p, at)
}

func (c *fakePageCache) WriteAt(p []byte, at int64) (int, error) {
	same := at+int64(len(p)) <= int64(len(c.memory)) && bytes.Equal(p, c.memory[at:at+int64(len(p))])
	c.log = append(c.log, fmt.Sprintf("write %d+%d %v", at, len(p), same))
	return len(p), c.writeErr
}

func (c *fakePageCache) Sync() error {
	c.log = append(c.log, "sync")
	if len(c.syncErrs) == 0 {
		return nil
	}
	err := c.syncErrs[0]
	c.syncErrs = c.syncErrs[1:]
	return err
}

// Drop replaces the content in memory with the content on disk, except for the remaining ranges.
func (c *fakePageCache) Drop() ([]extent, error) {
	c.log = append(c.log, "drop")
	if c.dropErr != nil {
		return nil, c.dropErr
	}
	before := c.memory
	c.memory = slices.Clone(c.disk)
	for _, s := range c.remaining {
		copy(c.memory[s.offset:s.offset+s.size], before[s.offset:])
	}
	return c.remaining, nil
}

func (c *fakePageCache) Close() error { return nil }

// metaPagesFile returns a file of eight pages. Its meta pages have the given transaction IDs. If an
// ID is negative, the checksum of its page is invalid.
func metaPagesFile(size int, first, second int64) []byte {
	file := make([]byte, 8*size)
	for i := range file {
		file[i] = byte(i / size)
	}
	for i, transaction := range []int64{first, second} {
		meta := file[i*size+PageHeader : i*size+PageHeader+MetaSize]
		clear(meta)
		binary.NativeEndian.PutUint32(meta, MetaMagic)
		binary.NativeEndian.PutUint32(meta[8:], uint32(size))
		binary.NativeEndian.PutUint64(meta[48:], uint64(max(transaction, -transaction)))
		sum := fnv.New64a()
		if _, err := sum.Write(meta[:56]); err != nil {
			panic(err)
		}
		binary.NativeEndian.PutUint64(meta[56:], sum.Sum64())
		if transaction < 0 {
			meta[56] ^= 1
		}
	}
	return file
}

// After an unclean stop, data that is in memory but not on disk is dropped, or the check fails. The
// only page that the check writes is the meta page that isn't current.
func TestCheckPageCache(t *testing.T) {
	const page = 4096
	lostCommit := metaPagesFile(page, 8, 7) // transaction 8 didn't reach the disk
	disk := metaPagesFile(page, 6, 7)
	file := func(b []byte) *fakePageCache { return &fakePageCache{memory: slices.Clone(b), disk: slices.Clone(b)} }
	full := &fs.PathError{Op: "write", Path: "vault.db", Err: syscall.ENOSPC}
	done := []string{"sync", "drop", "write 0+4096 true", "sync"}
	for _, row := range []struct {
		name       string
		file       *fakePageCache
		change     func(*fakePageCache)
		log        []string
		want       string // substring of the error
		skipped    bool
		lostWrites error
		writeErr   error
	}{
		{name: "the same", file: file(disk), log: done},
		{name: "commit lost by the disk", file: &fakePageCache{memory: slices.Clone(lostCommit), disk: slices.Clone(disk)}, log: done},
		{name: "newer meta page first", file: file(lostCommit), log: []string{"sync", "drop", "write 4096+4096 true", "sync"}},
		{name: "larger pages", file: file(metaPagesFile(16384, 4, 5)), log: []string{"sync", "drop", "write 0+16384 true", "sync"}},
		{name: "only the older is valid", file: file(metaPagesFile(page, 6, -7)), log: []string{"sync", "drop", "write 4096+4096 true", "sync"}},
		{name: "only the newer is valid", file: file(metaPagesFile(page, -6, 7)), log: done},
		{name: "neither is valid", file: file(metaPagesFile(page, -6, -7)), log: []string{"sync", "drop"}},
		{name: "one page", file: file(disk[:page]), log: []string{"sync", "drop"}},
		{name: "less than a page", file: file(disk[:60]), log: []string{"sync", "drop"}},
		{name: "no meta page", file: file(make([]byte, 8*page)), log: []string{"sync", "drop"}},
		{name: "first sync fails", file: file(disk), change: func(c *fakePageCache) { c.syncErrs = []error{syscall.EIO} }, log: done,
			lostWrites: syscall.EIO},
		{name: "both syncs fail", file: file(disk), change: func(c *fakePageCache) { c.syncErrs = []error{syscall.EIO, syscall.EIO} },
			log: done, lostWrites: syscall.EIO, writeErr: syscall.EIO},
		{name: "write fails", file: file(disk), change: func(c *fakePageCache) { c.writeErr = syscall.EIO }, log: done[:3],
			writeErr: syscall.EIO},
		{name: "the disk is full", file: file(disk), change: func(c *fakePageCache) { c.writeErr = full }, log: done[:3]},
		{name: "equal pages remain cached", file: file(disk), change: func(c *fakePageCache) { c.remaining = []extent{{2 * page, 3 * page}} },
			log: done},
		{name: "different meta page remains cached",
			file: &fakePageCache{memory: slices.Clone(lostCommit), disk: slices.Clone(disk),
				remaining: []extent{{0, page}}}, log: done[:2], want: "restart the machine"},
		{name: "different page remains cached",
			file: &fakePageCache{memory: slices.Concat(disk[:6*page], make([]byte, 2*page)), disk: slices.Clone(disk),
				remaining: []extent{{5 * page, page}, {7 * page, page}}},
			log: done[:2], want: "near byte 28672"},
		{name: "pages remain cached, no direct reads", file: file(disk),
			change: func(c *fakePageCache) {
				c.remaining, c.directErr = []extent{{0, page}}, fmt.Errorf("direct: %w", errNotSupported)
			}, log: done, skipped: true},
		{name: "no direct reads", file: file(disk), change: func(c *fakePageCache) { c.directErr = fmt.Errorf("direct: %w", errNotSupported) },
			log: done, skipped: true},
		{name: "disk read fails", file: file(disk), change: func(c *fakePageCache) { c.directErr = syscall.EIO }, log: done[:2],
			want: "Check the disk"},
		{name: "dropping not supported", file: file(disk),
			change: func(c *fakePageCache) { c.dropErr = fmt.Errorf("memory: %w", errNotSupported) }, log: done[:2], skipped: true},
		{name: "drop fails", file: file(disk), change: func(c *fakePageCache) { c.dropErr = syscall.EBADF }, log: done[:2],
			want: "bad file descriptor"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.change != nil {
				row.change(row.file)
			}
			got, err := checkPageCache(row.file, "vault.db")
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Fatalf("got error %v, want %q", err, row.want)
			}
			if !slices.Equal(row.file.log, row.log) {
				t.Errorf("got calls %q, want %q", row.file.log, row.log)
			}
			if (got.SkipReason != "") != row.skipped || !errors.Is(got.LostWrites, row.lostWrites) || !errors.Is(got.WriteError, row.writeErr) ||
				got.Clean {
				t.Errorf("got %+v, want skipped %v, lost %v, write error %v", got, row.skipped, row.lostWrites, row.writeErr)
			}
			if err == nil && !row.skipped && !bytes.Equal(row.file.memory, row.file.disk) {
				t.Error("memory and disk still differ, want equal bytes")
			}
		})
	}
}

// compareRange compares ranges longer than one chunk completely. A range may extend beyond the end
// of the file.
func TestCompareRangeInChunks(t *testing.T) {
	const size = 2*compareChunk + 8192
	for _, row := range []struct {
		name    string
		differs int
		length  int64
		same    bool
	}{
		{"the same", -1, size, true},
		{"past the end", -1, size + 65536, true},
		{"the last byte", size - 1, size, false},
		{"a byte in the middle", compareChunk + 7, size, false},
		{"a byte outside", 4000, size, true},
	} {
		c := &fakePageCache{memory: make([]byte, size), disk: make([]byte, size)}
		if row.differs >= 0 {
			c.disk[row.differs] = 1
		}
		if err := compareRange(c, extent{4096, row.length - 4096}, "vault.db"); (err == nil) != row.same {
			t.Errorf("%s: got %v, want the same %v", row.name, err, row.same)
		}
	}
	if _, err := ReadFull(func([]byte, int64) (int, error) { return 3, io.ErrUnexpectedEOF }, nil, 0); err == nil {
		t.Error("got no error of a read that broke off")
	}
}
