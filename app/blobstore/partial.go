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

	"deedkeep/app/blob/disk"
)

// Partials is the directory of partial uploads, which are documents that arrive in
// several requests. It is on the same file system as the blobs, and its uploads survive a
// restart:
//
//	uploads/          0700
//	  NAME.part       0600   the bytes so far; bytes beyond the offset don't count
//	  NAME.note       0600   data of the owner, and the number of durable bytes (partial_note.go)
//	  NAME.note.new          a note of an earlier version that was being created
//
// After a restart or a power failure, the offset of an upload covers only bytes that were
// synced before the offset was recorded. It covers all of them until Remove: when Commit
// makes the bytes a blob, the upload keeps them as another name of the same file. Append
// never changes a file with several names; it continues with a copy.
type Partials struct {
	store *Store
	dir   string
	now   func() time.Time
}

const (
	partSuffix    = ".part"
	noteSuffix    = ".note"
	newNoteSuffix = ".note.new"
)

// Append flushes after this number of bytes or after this time, whichever comes first.
const (
	flushBytes    = 16 << 20
	flushInterval = 2 * time.Second
)

// Partial is one partial upload. Offset, FlushedOffset, and UpdatedAt are safe for
// concurrent use. Only one goroutine at a time may call the other methods.
type Partial struct {
	parent    *Partials
	name      string
	OwnerData []byte // the caller's data, as passed to Create

	mu        sync.Mutex
	last      checkpoint // state at the last flush
	offset    int64      // bytes received; all are durable, unless the upload is complete
	dirSynced bool       // the directory entries of its files are durable
	adopted   *Staged    // result of the last Adopt, whose sync may have failed; nil if there is none
}

// OpenPartials opens the directory of partial uploads, and creates it with mode 0700 if
// it doesn't exist. It returns the uploads from an earlier run that can resume, and
// removes all other files. now provides the time of each flush.
func (s *Store) OpenPartials(dir string, now func() time.Time) (*Partials, []*Partial, error) {
	if s.readOnly {
		return nil, nil, ErrReadOnly
	}
	p := &Partials{store: s, dir: filepath.Clean(dir), now: now}
	if isInside(p.dir, s.dir) || isInside(p.dir, s.tmp) {
		return nil, nil, fmt.Errorf("open uploads: %s must not be inside the document or temporary folder", p.dir)
	}
	if err := disk.Mkdir(s.files, p.dir); err != nil {
		return nil, nil, fmt.Errorf("open uploads: %w", disk.MarkFull(err))
	}
	list, err := p.loadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("open uploads: %w", err)
	}
	return p, list, nil
}

// loadAll returns the uploads that can resume, and removes the files of all others.
func (p *Partials) loadAll() (list []*Partial, err error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, err
	}
	loaded := map[string]bool{}
	for _, e := range entries {
		name, isNote := strings.CutSuffix(e.Name(), noteSuffix)
		if !isNote || !e.Type().IsRegular() {
			continue
		}
		x, err := p.load(name)
		if err != nil {
			p.store.log.Warn("removed an upload that can't be resumed", "error", err)
			continue
		}
		loaded[name] = true
		list = append(list, x)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		isNewNote := strings.HasSuffix(e.Name(), newNoteSuffix)
		ours := isNewNote || strings.HasSuffix(e.Name(), partSuffix) || strings.HasSuffix(e.Name(), noteSuffix)
		if !ours || !e.Type().IsRegular() || loaded[name] && !isNewNote {
			continue
		}
		if err := p.store.files.Remove(filepath.Join(p.dir, e.Name())); err != nil {
			p.store.log.Warn("files of a removed upload not deleted", "error", err)
		}
	}
	return list, nil
}

// load reads an upload from an earlier run. If its file is shorter than the recorded
// offset, which only damage explains, the upload starts over at 0.
func (p *Partials) load(name string) (*Partial, error) {
	raw, err := os.ReadFile(filepath.Join(p.dir, name+noteSuffix))
	if err != nil {
		return nil, err
	}
	last, ownerData, err := parseNote(raw)
	if err != nil {
		return nil, err
	}
	x := &Partial{parent: p, name: name, OwnerData: ownerData, last: last, offset: last.offset}
	info, err := os.Stat(x.path(partSuffix))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Size() < x.offset:
		x.offset, x.last.offset = 0, 0
	case err != nil:
		return nil, err
	}
	return x, nil
}

// Create starts an upload. The caller chooses a random name of digits and lower-case
// letters. The upload is not durable until Sync or its first flush.
func (p *Partials) Create(name string, ownerData []byte) (*Partial, error) {
	x := &Partial{parent: p, name: name, OwnerData: ownerData, last: checkpoint{sequence: 1, at: p.now()}}
	if name == "" || strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, fmt.Errorf("create upload: %.80q is not a valid name: %w", name, fs.ErrInvalid)
	}
	err := x.create()
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create upload: %w", err) // don't remove the file: it belongs to another upload
	}
	if err != nil {
		return nil, fmt.Errorf("create upload: %w", disk.MarkFull(errors.Join(err, x.Remove())))
	}
	return x, nil
}

func (p *Partial) create() error {
	f, err := p.parent.store.files.Create(p.path(noteSuffix))
	if err != nil {
		return err
	}
	_, err = f.Write(p.last.newNote(p.OwnerData))
	return errors.Join(err, f.Close())
}

// Sync makes the upload durable, even if it has no bytes yet.
func (p *Partial) Sync() error {
	note, err := p.parent.store.files.Open(p.path(noteSuffix))
	if err == nil {
		if err = note.Sync(); err != nil {
			err = disk.SyncError(err)
		}
		err = errors.Join(err, note.Close())
	}
	if err == nil {
		err = disk.SyncDir(p.parent.store.files, p.parent.dir)
	}
	if err != nil {
		return fmt.Errorf("sync upload: %w", disk.MarkFull(err))
	}
	return nil
}

func (p *Partial) path(suffix string) string { return filepath.Join(p.parent.dir, p.name+suffix) }

// Name returns the name given to Create.
func (p *Partial) Name() string { return p.name }

// Offset returns the number of bytes received. All of them are durable, unless the upload
// is complete.
func (p *Partial) Offset() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset
}

// FlushedOffset returns the number of durable bytes. After a power failure, the upload
// resumes there.
func (p *Partial) FlushedOffset() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.offset
}

// isConfirmed reports whether a client may rely on received bytes. It returns false for
// nil.
func (p *Partial) isConfirmed() bool { return p != nil && p.FlushedOffset() > 0 }

// UpdatedAt returns the time of the last flush or, before the first flush, the time of
// Create.
func (p *Partial) UpdatedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.at
}

// Append appends the bytes of r, up to its end. size is the size of the complete
// document. Append counts the received bytes even if it returns an error. It flushes them
// unless the document is complete. In that case, the caller calls Adopt or Flush. The
// errors are the same as for Stage. ErrTooLarge means that r would make the document
// larger than size.
func (p *Partial) Append(ctx context.Context, r io.Reader, size int64) error {
	err := p.unshare()
	var f disk.File
	if err == nil {
		f, err = p.openPart()
	}
	if errors.Is(err, fs.ErrNotExist) && p.Offset() == 0 {
		f, err = p.parent.store.files.Create(p.path(partSuffix))
	}
	if err != nil {
		return fmt.Errorf("append to upload: %w", disk.MarkFull(err))
	}
	// Bytes after the offset were never acknowledged to the client.
	if err = f.Truncate(p.Offset()); err == nil {
		err = p.append(ctx, f, r, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append to upload: %w", disk.MarkFull(err))
	}
	return nil
}

// openPart opens the file of the upload for writing, which is read-only after Adopt.
func (p *Partial) openPart() (disk.File, error) {
	path := p.path(partSuffix)
	f, err := p.parent.store.files.Open(path)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	return p.parent.store.files.Open(path)
}

// unshare replaces the file of the upload with a copy if Commit has also made it a blob
// whose record was not committed. The blob may belong to another record by now.
func (p *Partial) unshare() error {
	linked, err := disk.IsLinked(p.path(partSuffix))
	if err != nil || !linked {
		return err
	}
	f, err := p.openPart()
	if err != nil {
		return err
	}
	s := p.parent.store
	path, err := s.copyToTmp(f, p.Offset())
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if err = errors.Join(s.makeReadOnly(f), f.Close()); err == nil {
		err = s.files.Rename(path, p.path(partSuffix))
	}
	if err != nil {
		return errors.Join(err, s.removeTmp(path))
	}
	s.disown(path)
	return disk.SyncDir(s.files, p.parent.dir)
}

func (p *Partial) append(ctx context.Context, f disk.File, r io.Reader, size int64) error {
	c := newChunk()
	defer chunks.Put(c)
	offset, flushedAt := p.Offset(), p.parent.now()
	for flushed := offset; ; {
		end, err := c.fill(ctx, r)
		if exceeds(c.n, offset, size) {
			return errors.Join(ErrTooLarge, p.flushAt(f, offset))
		}
		if n, writeErr := f.WriteAt(c.bytes(), offset); writeErr != nil {
			return errors.Join(writeErr, p.flushAt(f, offset+int64(n)))
		}
		f.WriteBack(offset, int64(c.n))
		offset += int64(c.n)
		switch {
		case err == nil && end && offset == size:
			p.setOffset(offset)
			return nil
		case err != nil || end:
			return errors.Join(err, p.flushAt(f, offset))
		case offset-flushed >= flushBytes || p.parent.now().Sub(flushedAt) >= flushInterval:
			if err := p.flushAt(f, offset); err != nil {
				return err
			}
			flushed, flushedAt = offset, p.parent.now()
		}
	}
}

func (p *Partial) setOffset(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offset = offset
}

// flushAt makes the bytes up to offset durable and then records the offset in the note.
func (p *Partial) flushAt(f disk.File, offset int64) error {
	next := checkpoint{sequence: p.last.sequence + 1, offset: offset, at: p.parent.now()}
	if offset == p.last.offset {
		return nil
	}
	if err := f.Sync(); err != nil {
		return disk.SyncError(err)
	}
	if !p.dirSynced {
		if err := disk.SyncDir(p.parent.store.files, p.parent.dir); err != nil {
			return err
		}
	}
	note, err := p.parent.store.files.Open(p.path(noteSuffix))
	if err != nil {
		return err
	}
	_, err = note.WriteAt(next.encode(), next.slotOffset())
	if err == nil {
		if err = note.Sync(); err != nil {
			err = disk.SyncError(err)
		}
	}
	if err := errors.Join(err, note.Close()); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.offset, p.dirSynced = next, offset, true
	return nil
}

// Flush makes all received bytes durable. Call it for a complete upload that doesn't
// become a blob right away. If the file has already become a blob and no bytes were
// confirmed, the upload starts over at 0. After an error, the offset is that of the last
// successful flush. Flush fails if a sync started by Adopt failed, because even if a
// later sync succeeds, the data may be lost.
func (p *Partial) Flush() error {
	err := p.flush()
	if err == nil {
		return nil
	}
	p.setOffset(p.last.offset)
	return fmt.Errorf("flush upload: %w", disk.MarkFull(err))
}

func (p *Partial) flush() error {
	if st := p.adopted; st != nil {
		if <-st.synced; errors.Is(st.syncErr, ErrSync) {
			return st.syncErr
		}
	}
	f, err := p.openPart()
	if errors.Is(err, fs.ErrNotExist) && !p.isConfirmed() {
		p.setOffset(0)
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(p.flushAt(f, p.Offset()), f.Close())
}

// Adopt returns the received bytes as a staged file without copying them. It hashes the
// file, makes it read-only, and starts its sync. Commit turns the staged file into a
// blob; Discard returns it to the upload. The error is a context error or an operating
// system error.
func (p *Partial) Adopt(ctx context.Context) (*Staged, error) {
	f, err := p.openPart()
	if err != nil {
		return nil, fmt.Errorf("stage upload: %w", disk.MarkFull(err))
	}
	st, err := p.adopt(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("stage upload: %w", disk.MarkFull(errors.Join(err, f.Close())))
	}
	return st, nil
}

func (p *Partial) adopt(ctx context.Context, f disk.File) (*Staged, error) {
	size := p.Offset()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	digest, err := hashFile(ctx, f, size)
	if err != nil {
		return nil, err
	}
	if err := p.parent.store.makeReadOnly(f); err != nil {
		return nil, err
	}
	p.adopted = p.parent.store.newStaged(f, p.path(partSuffix), digest, size, p)
	return p.adopted, nil
}

// hashFile returns the SHA-256 of the first size bytes of f.
func hashFile(ctx context.Context, f io.ReaderAt, size int64) (d Digest, err error) {
	c := newChunk()
	defer chunks.Put(c)
	h := sha256.New()
	for offset := int64(0); offset < size; {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		n, err := f.ReadAt(c.data[:min(chunkSize, size-offset)], offset)
		h.Write(c.data[:n])
		if offset += int64(n); err != nil && offset < size {
			return d, err
		}
	}
	h.Sum(d[:0])
	return d, nil
}

// Remove deletes the files of the upload. Missing files are not an error.
func (p *Partial) Remove() (err error) {
	// Remove the note last. Without it, a later run couldn't find the other files.
	for _, suffix := range []string{newNoteSuffix, partSuffix, noteSuffix} {
		if e := p.parent.store.files.Remove(p.path(suffix)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove upload: %w", e))
		}
	}
	return err
}
