package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// twoCopies is a file whose bytes in memory and on the disk may differ.
type twoCopies struct {
	memory, disk []byte
	stays        []extent // after a Drop
	drop, direct error
	write        error
	syncs        []error // of one Sync after the other
	log          []string
}

func (c *twoCopies) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(c.memory).ReadAt(p, at)
}

func (c *twoCopies) ReadDisk(p []byte, at int64) (int, error) {
	if c.direct != nil {
		return 0, c.direct
	}
	return bytes.NewReader(c.disk).ReadAt(p, at)
}

func (c *twoCopies) WriteAt(p []byte, at int64) (int, error) {
	same := at+int64(len(p)) <= int64(len(c.memory)) && bytes.Equal(p, c.memory[at:at+int64(len(p))])
	c.log = append(c.log, fmt.Sprintf("write %d+%d %v", at, len(p), same))
	return len(p), c.write
}

func (c *twoCopies) Sync() error {
	c.log = append(c.log, "sync")
	if len(c.syncs) == 0 {
		return nil
	}
	err := c.syncs[0]
	c.syncs = c.syncs[1:]
	return err
}

// Drop makes memory what the disk has, but for what stays.
func (c *twoCopies) Drop() ([]extent, error) {
	c.log = append(c.log, "drop")
	if c.drop != nil {
		return nil, c.drop
	}
	before := c.memory
	c.memory = slices.Clone(c.disk)
	for _, s := range c.stays {
		copy(c.memory[s.offset:s.offset+s.size], before[s.offset:])
	}
	return c.stays, nil
}

func (c *twoCopies) Close() error { return nil }

// pagesOf makes a file of eight pages whose meta pages are of these transactions; a
// negative one doesn't match its checksum.
func pagesOf(size int, first, second int64) []byte {
	file := make([]byte, 8*size)
	for i := range file {
		file[i] = byte(i / size)
	}
	for i, transaction := range []int64{first, second} {
		meta := file[i*size+pageHeader : i*size+pageHeader+metaSize]
		clear(meta)
		binary.NativeEndian.PutUint32(meta, metaMagic)
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

// After a stop that was not clean, what is in memory and not on the disk is dropped, or
// Open refuses; and only the meta page that is not in force is written.
func TestReread(t *testing.T) {
	const page = 4096
	lost := pagesOf(page, 8, 7) // transaction 8 never reached the disk
	disk := pagesOf(page, 6, 7)
	file := func(b []byte) *twoCopies { return &twoCopies{memory: slices.Clone(b), disk: slices.Clone(b)} }
	full := &fs.PathError{Op: "write", Path: "vault.db", Err: syscall.ENOSPC}
	done := []string{"sync", "drop", "write 0+4096 true", "sync"}
	for _, row := range []struct {
		name   string
		file   *twoCopies
		change func(*twoCopies)
		log    []string
		want   string // of the error
		unsure bool
		lost   error
		failed error
	}{
		{name: "the same", file: file(disk), log: done},
		{name: "a commit that the disk never got", file: &twoCopies{memory: slices.Clone(lost), disk: slices.Clone(disk)}, log: done},
		{name: "the newer is the first", file: file(lost), log: []string{"sync", "drop", "write 4096+4096 true", "sync"}},
		{name: "larger pages", file: file(pagesOf(16384, 4, 5)), log: []string{"sync", "drop", "write 0+16384 true", "sync"}},
		{name: "only the older one is sound", file: file(pagesOf(page, 6, -7)), log: []string{"sync", "drop", "write 4096+4096 true", "sync"}},
		{name: "only the newer one is sound", file: file(pagesOf(page, -6, 7)), log: done},
		{name: "none is sound", file: file(pagesOf(page, -6, -7)), log: []string{"sync", "drop"}},
		{name: "one page", file: file(disk[:page]), log: []string{"sync", "drop"}},
		{name: "less than a page", file: file(disk[:60]), log: []string{"sync", "drop"}},
		{name: "no meta page", file: file(make([]byte, 8*page)), log: []string{"sync", "drop"}},
		{name: "what was left can't be written", file: file(disk), change: func(c *twoCopies) { c.syncs = []error{syscall.EIO} }, log: done, lost: syscall.EIO},
		{name: "nothing can be written", file: file(disk), change: func(c *twoCopies) { c.syncs = []error{syscall.EIO, syscall.EIO} }, log: done, lost: syscall.EIO, failed: syscall.EIO},
		{name: "the write fails", file: file(disk), change: func(c *twoCopies) { c.write = syscall.EIO }, log: done[:3], failed: syscall.EIO},
		{name: "the disk is full", file: file(disk), change: func(c *twoCopies) { c.write = full }, log: done[:3]},
		{name: "pages stay, as the disk has them", file: file(disk), change: func(c *twoCopies) { c.stays = []extent{{2 * page, 3 * page}} }, log: done},
		{name: "a meta page stays, and the disk has another",
			file: &twoCopies{memory: slices.Clone(lost), disk: slices.Clone(disk), stays: []extent{{0, page}}}, log: done[:2], want: "restart the machine"},
		{name: "another page stays, and the disk has another",
			file: &twoCopies{memory: slices.Concat(disk[:6*page], make([]byte, 2*page)), disk: slices.Clone(disk), stays: []extent{{5 * page, page}, {7 * page, page}}},
			log:  done[:2], want: "near byte 28672"},
		{name: "pages stay, and the disk can't be read directly", file: file(disk),
			change: func(c *twoCopies) { c.stays, c.direct = []extent{{0, page}}, fmt.Errorf("direct: %w", errNotSupported) }, log: done, unsure: true},
		{name: "the disk can't be read directly", file: file(disk), change: func(c *twoCopies) { c.direct = fmt.Errorf("direct: %w", errNotSupported) }, log: done, unsure: true},
		{name: "the disk can't be read", file: file(disk), change: func(c *twoCopies) { c.direct = syscall.EIO }, log: done[:2], want: "Check the disk"},
		{name: "nothing can be dropped", file: file(disk), change: func(c *twoCopies) { c.drop = fmt.Errorf("memory: %w", errNotSupported) }, log: done[:2], unsure: true},
		{name: "the drop fails", file: file(disk), change: func(c *twoCopies) { c.drop = syscall.EBADF }, log: done[:2], want: "bad file descriptor"},
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
				t.Errorf("it did %q, want %q", row.file.log, row.log)
			}
			if (got.SkipReason != "") != row.unsure || !errors.Is(got.LostWrites, row.lost) || !errors.Is(got.WriteError, row.failed) || got.Clean {
				t.Errorf("got %+v, want unsure %v, lost %v, failed %v", got, row.unsure, row.lost, row.failed)
			}
			if err == nil && !row.unsure && !bytes.Equal(row.file.memory, row.file.disk) {
				t.Error("memory and disk differ still")
			}
		})
	}
}

// A part of a file that is longer than what is read for one comparison is compared to
// its end, and so is one that reaches past the end of the file.
func TestCompareLargeParts(t *testing.T) {
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
		c := &twoCopies{memory: make([]byte, size), disk: make([]byte, size)}
		if row.differs >= 0 {
			c.disk[row.differs] = 1
		}
		if err := compareRange(c, extent{4096, row.length - 4096}, "vault.db"); (err == nil) != row.same {
			t.Errorf("%s: got %v, want the same %v", row.name, err, row.same)
		}
	}
	if _, err := readFull(func([]byte, int64) (int, error) { return 3, io.ErrUnexpectedEOF }, nil, 0); err == nil {
		t.Error("got no error of a read that broke off")
	}
}

// A session counts as cleanly ended only when all it wrote was synced, and a mark means
// nothing beside another state of the file.
func TestCleanEnd(t *testing.T) {
	marked := func(path string) bool {
		_, err := os.Stat(path + cleanMarkSuffix)
		return !errors.Is(err, fs.ErrNotExist)
	}
	write := func(s *Store) error { return s.Update(context.Background(), nil, putAbstract) }
	for _, row := range []struct {
		name    string
		session func(t *testing.T, s *Store, path string)
		clean   bool
	}{
		{"it was only read", func(t *testing.T, s *Store, _ string) { view(t, s, func(*Tx) error { return nil }) }, true},
		{"it was written", func(t *testing.T, s *Store, _ string) { update(t, s, putAbstract) }, true},
		{"it was rebuilt", func(t *testing.T, s *Store, path string) {
			if err := s.Rebuild(t.Context(), func(Finding) {}); err != nil || marked(path) {
				t.Errorf("got %v, marked %v", err, marked(path))
			}
		}, true},
		{"it was killed", func(t *testing.T, s *Store, path string) {
			update(t, s, putAbstract)
			t.Cleanup(func() {
				if err := os.Remove(path + cleanMarkSuffix); err != nil {
					t.Error(err)
				}
			})
		}, false},
		{"a commit failed", func(t *testing.T, s *Store, _ string) {
			s.commitTx = func(*bolt.Tx) error { return syscall.EIO }
			if err := write(s); err == nil {
				t.Error("got no error")
			}
		}, false},
		{"a document's sync failed", func(t *testing.T, s *Store, _ string) {
			update(t, s, putAbstract)
			s.Fail(syscall.EIO)
		}, false},
		{"a document's sync failed, and nothing was written", func(_ *testing.T, s *Store, _ string) { s.Fail(syscall.EIO) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			end := func(s *Store) {
				t.Helper()
				if err := errors.Join(s.Close(), s.Close()); err != nil {
					t.Error(err)
				}
			}
			session := func() *Store {
				t.Helper()
				s, err := Open(t.Context(), path, testOptions())
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := session()
			if !s.CacheCheck().Clean || s.CacheCheck().Elapsed != 0 {
				t.Errorf("a new file: got %+v", s.CacheCheck())
			}
			end(s)
			s = session()
			if !s.CacheCheck().Clean || !marked(path) {
				t.Errorf("after a clean end: got %+v, marked %v", s.CacheCheck(), marked(path))
			}
			commit := s.commitTx
			s.commitTx = func(tx *bolt.Tx) error {
				if marked(path) {
					t.Error("the mark is still there at the first commit")
				}
				return commit(tx)
			}
			t.Run("session", func(t *testing.T) { row.session(t, s, path); s.commitTx = commit; end(s) })
			s = session()
			if got := s.CacheCheck(); got.Clean != row.clean || got.LostWrites != nil || got.WriteError != nil {
				t.Errorf("the next start: got %+v, want clean %v", got, row.clean)
			}
			if err := write(s); err != nil {
				t.Errorf("a write at the next start: %v", err)
			}
			end(s)
			if s = session(); !s.CacheCheck().Clean {
				t.Errorf("the start after it: got %+v", s.CacheCheck())
			}
			end(s)
		})
	}
}

// A mark of another vault.db, or one that was cut, is none.
func TestForeignCleanMark(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one", "vault.db"), filepath.Join(dir, "two", "vault.db")
	for i, path := range []string{one, two} {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		for range i + 1 {
			update(t, s, putAbstract)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mark, err := os.ReadFile(two + cleanMarkSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, text string
		clean      bool
	}{
		{"its own", string(mark), true}, {"cut", string(mark[:20]), false}, {"empty", "", false}, {"of a state before", "0000000000000002 0000000000000000\n", false},
	} {
		if err := os.WriteFile(two+cleanMarkSuffix, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(two)
		if err != nil {
			t.Fatal(err)
		}
		if got := endedCleanly(file); got != row.clean {
			t.Errorf("%s: got clean %v, want %v", row.name, got, row.clean)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Rename(one, two); err != nil { // an older one that was put back
		t.Fatal(err)
	}
	if err := os.WriteFile(two+cleanMarkSuffix, mark, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, two)
	if s.CacheCheck().Clean {
		t.Error("the mark of another file counts")
	}
}

// A database that another process has is left alone: nothing of it is read or written.
func TestRereadTakesTheLock(t *testing.T) {
	s := openNew(t)
	update(t, s, putAbstract)
	if other, err := Open(t.Context(), s.file.Name(), testOptions()); err == nil {
		t.Errorf("two have it, the second with %+v", other.CacheCheck())
	}
	if _, err := os.Stat(s.file.Name() + cleanMarkSuffix); err == nil {
		t.Error("there is a mark while it is in use")
	}
}
