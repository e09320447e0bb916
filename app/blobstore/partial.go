package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Partials are documents that arrive in several requests. They lie in a folder of
// their own, on the file system of the blobs, and outlast a restart:
//
//	uploads/          0700
//	  NAME.part       0600   the bytes so far, and perhaps more behind them that count for nothing
//	  NAME.note       0600   what its owner wrote down, and how many bytes are settled (note.go)
//	  NAME.note.new          a note that is being made
//
// It promises: the offset that is told after a restart, or a power cut, is one of
// bytes that were synced before it was written down.
type Partials struct {
	store *Store
	dir   string
	now   func() time.Time
}

const (
	partEnd  = ".part"
	noteEnd  = ".note"
	freshEnd = ".note.new"
)

// How much may arrive, and how long, before what is there is settled.
const (
	settleBytes = 16 << 20
	settleTime  = 2 * time.Second
)

// Partial is one of them. Its methods but Offset and Touched are for one goroutine at
// a time.
type Partial struct {
	in        *Partials
	name      string
	OwnerData []byte // what its owner wrote down

	mu      sync.Mutex
	last    settled // the last that was settled
	offset  int64   // bytes that arrived; settled, unless all are there
	entered bool    // its names are durable
	adopted *Staged // by the last Adopt, whose sync may have failed; nil: none
}

// OpenPartials opens the folder, and makes it (0700); it gives what an earlier run left
// there that can go on, and removes the rest. now is when bytes arrive.
func (s *Store) OpenPartials(dir string, now func() time.Time) (*Partials, []*Partial, error) {
	if s.readOnly {
		return nil, nil, ErrReadOnly
	}
	p := &Partials{store: s, dir: filepath.Clean(dir), now: now}
	if within(p.dir, s.dir) || within(p.dir, s.tmp) {
		return nil, nil, fmt.Errorf("open uploads: %s lies inside another folder of ours", p.dir)
	}
	if err := s.mkdir(p.dir); err != nil {
		return nil, nil, fmt.Errorf("open uploads: %w", mark(err))
	}
	left, err := p.left()
	if err != nil {
		return nil, nil, fmt.Errorf("open uploads: %w", err)
	}
	return p, left, nil
}

// left are the partials of an earlier run.
func (p *Partials) left() (list []*Partial, err error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), noteEnd)
		if !is || !e.Type().IsRegular() {
			continue
		}
		x, err := p.read(name)
		if err != nil {
			p.store.log.Warn("an upload that cannot go on is removed", "error", err)
			continue
		}
		kept[name] = true
		list = append(list, x)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		ours := strings.HasSuffix(e.Name(), partEnd) || strings.HasSuffix(e.Name(), noteEnd) || strings.HasSuffix(e.Name(), freshEnd)
		if !ours || !e.Type().IsRegular() || kept[name] && !strings.HasSuffix(e.Name(), freshEnd) {
			continue
		}
		if err := p.store.files.Remove(filepath.Join(p.dir, e.Name())); err != nil {
			p.store.log.Warn("what is left of an upload is not removed", "error", err)
		}
	}
	return list, nil
}

// read reads one of an earlier run. Where the disk has less than was settled, nothing
// of it is trusted.
func (p *Partials) read(name string) (*Partial, error) {
	raw, err := os.ReadFile(filepath.Join(p.dir, name+noteEnd))
	if err != nil {
		return nil, err
	}
	done, note, err := parseNote(raw)
	if err != nil {
		return nil, err
	}
	x := &Partial{in: p, name: name, OwnerData: note, last: done, offset: done.offset}
	// One that was being kept when the power failed is read-only.
	if err := os.Chmod(x.path(partEnd), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.store.log.Debug("mode of an upload", "error", err)
	}
	info, err := os.Stat(x.path(partEnd))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Size() < x.offset:
		x.offset, x.last.offset = 0, 0
	case err != nil:
		return nil, err
	}
	return x, nil
}

// Create begins one of a name, which the caller draws: letters and digits. It is not
// durable before bytes of it are.
func (p *Partials) Create(name string, note []byte) (*Partial, error) {
	x := &Partial{in: p, name: name, OwnerData: note, last: settled{turn: 1, at: p.now()}}
	if name == "" || strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, fmt.Errorf("create upload: %.80q is no name: %w", name, fs.ErrInvalid)
	}
	err := x.create()
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create upload: %w", err) // it is another's
	}
	if err != nil {
		return nil, fmt.Errorf("create upload: %w", mark(errors.Join(err, x.Remove())))
	}
	return x, nil
}

func (x *Partial) create() error {
	files := x.in.store.files
	f, err := files.Create(x.path(partEnd))
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if f, err = files.Create(x.path(freshEnd)); err != nil {
		return err
	}
	_, err = f.Write(x.last.note(x.OwnerData))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return files.Rename(x.path(freshEnd), x.path(noteEnd))
}

func (x *Partial) path(end string) string { return filepath.Join(x.in.dir, x.name+end) }

// Name is what it was called by Create.
func (x *Partial) Name() string { return x.name }

// Offset is how many bytes have arrived; of those that are not all, every one was
// synced.
func (x *Partial) Offset() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.offset
}

// FlushedOffset is how many of the bytes that arrived are durable: after a power cut the
// upload resumes there.
func (x *Partial) FlushedOffset() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last.offset
}

// UpdatedAt is when bytes were settled last; when it began, before that.
func (x *Partial) UpdatedAt() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last.at
}

// Append goes on with what r gives, to its end; size is how many bytes there are to
// be. However it ends, what arrived counts: it is settled, unless it is all, which the
// caller adopts or settles. Errors are those of Stage; ErrTooLarge when r has more.
func (x *Partial) Append(ctx context.Context, r io.Reader, size int64) error {
	f, err := x.in.store.files.Open(x.path(partEnd))
	if errors.Is(err, fs.ErrNotExist) && x.Offset() == 0 {
		f, err = x.in.store.files.Create(x.path(partEnd))
	}
	if err != nil {
		return fmt.Errorf("append: %w", mark(err))
	}
	// What stands behind the offset was never told to be there.
	if err = f.Truncate(x.Offset()); err == nil {
		err = x.append(ctx, f, r, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append: %w", mark(err))
	}
	return nil
}

func (x *Partial) append(ctx context.Context, f File, r io.Reader, size int64) error {
	c := newChunk()
	defer chunks.Put(c)
	at, last := x.Offset(), x.in.now()
	for settled := at; ; {
		end, err := c.fill(ctx, r)
		if exceeds(c.n, at, size) {
			return errors.Join(ErrTooLarge, x.settleAt(f, at))
		}
		if n, failed := f.WriteAt(c.bytes(), at); failed != nil {
			return errors.Join(failed, x.settleAt(f, at+int64(n)))
		}
		f.WriteBack(at, int64(c.n))
		at += int64(c.n)
		switch {
		case err == nil && end && at == size:
			x.arrived(at)
			return nil
		case err != nil || end:
			return errors.Join(err, x.settleAt(f, at))
		case at-settled >= settleBytes || x.in.now().Sub(last) >= settleTime:
			if err := x.settleAt(f, at); err != nil {
				return err
			}
			settled, last = at, x.in.now()
		}
	}
}

func (x *Partial) arrived(offset int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.offset = offset
}

// settleAt makes the bytes up to at durable, and then that they are.
func (x *Partial) settleAt(f File, at int64) error {
	next := settled{turn: x.last.turn + 1, offset: at, at: x.in.now()}
	if at == x.last.offset {
		return nil
	}
	if err := f.Sync(); err != nil {
		return syncError(err)
	}
	if !x.entered {
		if err := x.in.store.syncDir(x.in.dir); err != nil {
			return err
		}
	}
	note, err := x.in.store.files.Open(x.path(noteEnd))
	if err != nil {
		return err
	}
	_, err = note.WriteAt(next.slot(), next.place())
	if err == nil {
		if err = note.Sync(); err != nil {
			err = syncError(err)
		}
	}
	if err := errors.Join(err, note.Close()); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last, x.offset, x.entered = next, at, true
	return nil
}

// Flush makes all that arrived durable, where it does not become a blob at once. Of
// what became one all the same nothing is here any more: it begins again. With an
// error only what was settled before counts. Where a sync of Adopt failed, so does
// Settle: a later sync that succeeds proves nothing.
func (x *Partial) Flush() error {
	err := x.settle()
	if err == nil {
		return nil
	}
	x.arrived(x.last.offset)
	return fmt.Errorf("settle: %w", mark(err))
}

func (x *Partial) settle() error {
	if st := x.adopted; st != nil {
		if <-st.synced; errors.Is(st.syncErr, ErrSync) {
			return st.syncErr
		}
	}
	f, err := x.in.store.files.Open(x.path(partEnd))
	if errors.Is(err, fs.ErrNotExist) {
		x.last.offset = 0
		x.arrived(0)
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(x.settleAt(f, x.Offset()), f.Close())
}

// Adopt makes a staged file of what has arrived, without copying it: hashed, read-only
// and being synced. Keep makes it a blob; Discard leaves it here as it was. The error
// is the context's, or one of the operating system.
func (x *Partial) Adopt(ctx context.Context) (*Staged, error) {
	f, err := x.in.store.files.Open(x.path(partEnd))
	if err != nil {
		return nil, fmt.Errorf("adopt: %w", mark(err))
	}
	st, err := x.adopt(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("adopt: %w", mark(errors.Join(err, f.Close())))
	}
	return st, nil
}

func (x *Partial) adopt(ctx context.Context, f File) (*Staged, error) {
	size := x.Offset()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	digest, err := hashAt(ctx, f, size)
	if err != nil {
		return nil, err
	}
	if err := x.in.store.readOnlyMode(f); err != nil {
		return nil, err
	}
	x.adopted = x.in.store.staged(f, x.path(partEnd), digest, size, true)
	return x.adopted, nil
}

// hashAt reads the first size bytes.
func hashAt(ctx context.Context, f io.ReaderAt, size int64) (d Digest, err error) {
	c := newChunk()
	defer chunks.Put(c)
	h := sha256.New()
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		n, err := f.ReadAt(c.data[:min(chunkSize, size-at)], at)
		h.Write(c.data[:n])
		if at += int64(n); err != nil && at < size {
			return d, err
		}
	}
	h.Sum(d[:0])
	return d, nil
}

// Remove forgets it; that there is nothing to remove is no error.
func (x *Partial) Remove() (err error) {
	// The note last: with it gone, nobody would know of the rest.
	for _, end := range []string{freshEnd, partEnd, noteEnd} {
		if e := x.in.store.files.Remove(x.path(end)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove upload: %w", e))
		}
	}
	return err
}
