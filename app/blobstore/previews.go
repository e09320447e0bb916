// Package derived keeps what can be made again from a document's bytes: pictures of
// its pages, and its text. The folder may be deleted at any time; what is missing is
// made again.
//
//	previews/ab/ab12…/text         text by page, see text.go
//	previews/ab/ab12…/no-text      in place of a text: documents of this kind have none
//	previews/ab/ab12…/thumbnail    a small picture of the first page
//	previews/ab/ab12…/sizes        the size of each page, JSON
//	previews/ab/ab12…/page-3-1200  a picture of page 3, 1200 pixels wide
//	previews/tmp/                  what is being made; emptied at start
//
// Promise: a file is intact or absent, for readers of any moment; one that is empty,
// damaged, or from another version is absent (file.go). Pictures of pages are dropped,
// the longest unused first, when together they outgrow the limit. Nothing is synced: a
// power cut costs work, never a document.
package blobstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Previews is an open folder of derived files. It is safe for many goroutines.
type Previews struct {
	dir, tmp string
	limit    int64 // bytes of pictures of pages
	now      func() time.Time

	mu   sync.Mutex
	used int64 // bytes of pictures of pages, as far as is known
}

// The names of what every document may have.
const (
	TextFile      = "text"
	NoTextFile    = "no-text"
	ThumbnailFile = "thumbnail"
	PageSizesFile = "sizes"
)

// PageImageFile is the name of a picture of a page, of that many pixels' width.
func PageImageFile(page, width int) string { return fmt.Sprintf("%s%d-%d", pagePrefix, page, width) }

const pagePrefix = "page-"

// OpenPreviews opens the folder, and makes it; what was being made in it is removed.
func OpenPreviews(dir string, limit int64, now func() time.Time) (*Previews, error) {
	s := &Previews{dir: dir, tmp: filepath.Join(dir, "tmp"), limit: limit, now: now}
	if err := os.RemoveAll(s.tmp); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.tmp, 0o700); err != nil {
		return nil, err
	}
	pages, err := s.pages(context.Background())
	for _, p := range pages {
		s.used += p.size
	}
	return s, err
}

// OpenPreviewsReadOnly opens the folder on a disk that can't be written to.
func OpenPreviewsReadOnly(dir string, now func() time.Time) *Previews {
	return &Previews{dir: dir, tmp: filepath.Join(dir, "tmp"), now: now}
}

// folder refuses what is no digest, so that no caller's text becomes a path.
func (s *Previews) folder(digest string) (string, error) {
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.80q is no digest: %w", digest, fs.ErrInvalid)
	}
	return filepath.Join(s.dir, digest[:2], digest), nil
}

// Open opens a derived file and checks it, and the caller closes it; fs.ErrNotExist when
// it is to be made: ErrPreviewDamaged or ErrPreviewVersion is in the chain where there is one of no use.
func (s *Previews) Open(digest, name string) (*PreviewFile, error) {
	f, err := s.open(digest, name)
	if err == nil && strings.HasPrefix(name, pagePrefix) {
		// When it was last used; that it cannot be noted costs an early removal at worst.
		_ = os.Chtimes(f.file.Name(), time.Time{}, s.now())
	}
	return f, err
}

func (s *Previews) open(digest, name string) (*PreviewFile, error) {
	folder, err := s.folder(digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(folder, name)) // #nosec G304 -- a digest, and a name of ours
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		// What a power cut leaves of a name whose bytes were not synced.
		return nil, errors.Join(cmp.Or(err, fs.ErrNotExist), f.Close())
	}
	body := io.NewSectionReader(f, 0, info.Size())
	if sealed(name) {
		if body, err = unseal(f, info.Size()); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &PreviewFile{body, f}, nil
}

// Put makes a derived file, in the place of one that may be there.
func (s *Previews) Put(digest, name string, write func(io.Writer) error) error {
	folder, err := s.folder(digest)
	if err != nil {
		return err
	}
	f, err := s.temporary()
	if err != nil {
		return err
	}
	if sealed(name) {
		err = seal(f, write)
	} else {
		err = write(f)
	}
	size, sized := f.Seek(0, io.SeekEnd)
	if err = errors.Join(err, sized, f.Close()); err == nil {
		err = place(f.Name(), folder, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("derive %s: %w", name, err), os.Remove(f.Name()))
	}
	if strings.HasPrefix(name, pagePrefix) {
		s.mu.Lock()
		s.used += size
		s.mu.Unlock()
	}
	return nil
}

// temporary makes its folder again where somebody has deleted it.
func (s *Previews) temporary() (*os.File, error) {
	f, err := os.CreateTemp(s.tmp, "*")
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(s.tmp, 0o700); err != nil {
			return nil, err
		}
		return os.CreateTemp(s.tmp, "*")
	}
	return f, err
}

// Has reports whether a derived file is there and, but for a text, is what was written.
func (s *Previews) Has(digest, name string) bool {
	f, err := s.open(digest, name)
	if err != nil {
		return false
	}
	_ = f.Close() // only read
	return true
}

func place(from, folder, name string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.Rename(from, filepath.Join(folder, name))
}

// Remove removes everything derived from a document.
func (s *Previews) Remove(digest string) error {
	folder, err := s.folder(digest)
	if err != nil {
		return err
	}
	return os.RemoveAll(folder)
}

// picture is a picture of a page on disk.
type picture struct {
	path string
	size int64
	used time.Time
}

func (s *Previews) pages(ctx context.Context) ([]picture, error) {
	var list []picture
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // dropped meanwhile
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), pagePrefix) {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // dropped meanwhile
		}
		if err != nil {
			return err
		}
		list = append(list, picture{path, info.Size(), info.ModTime()})
		return nil
	})
	return list, err
}

// Evict drops pictures of pages, the longest unused first, until a tenth below the
// limit; nothing while they are within it.
func (s *Previews) Evict(ctx context.Context) error {
	s.mu.Lock()
	within := s.used <= s.limit
	s.mu.Unlock()
	if within {
		return nil
	}
	list, err := s.pages(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b picture) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	total := int64(0)
	for _, p := range list {
		total += p.size
	}
	var failed error
	for _, p := range list {
		if total <= s.limit-s.limit/10 {
			break
		}
		if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err) // held open on Windows: another time
			continue
		}
		total -= p.size
	}
	s.mu.Lock()
	s.used = total
	s.mu.Unlock()
	return failed
}
