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

// Previews is the directory of page images and texts, keyed by the digest of the
// document. All of its files can be rebuilt from the documents, so the directory may be
// deleted at any time. Previews is safe for concurrent use.
//
//	previews/ab/ab12…/text         text by page (text.go)
//	previews/ab/ab12…/no-text      replaces text for documents that can't have any
//	previews/ab/ab12…/thumbnail    small image of the first page
//	previews/ab/ab12…/sizes        size of each page, JSON
//	previews/ab/ab12…/page-3-1200  image of page 3, 1200 pixels wide
//	previews/tmp/                  files being written; emptied at start
//
// Readers see either a complete file or no file. A file that is empty, damaged, or
// written by another version counts as missing (preview_file.go). If the total size of
// page images exceeds the limit, the least recently used ones are evicted. Files are
// never synced. After a power failure, missing files are rebuilt.
type Previews struct {
	dir, tmp string
	limit    int64 // maximum total size of page images in bytes
	now      func() time.Time

	mu   sync.Mutex
	used int64 // estimated bytes of page images
}

// Names of the files of a document. Page images are named by PageImageFile.
const (
	TextFile      = "text"
	NoTextFile    = "no-text"
	ThumbnailFile = "thumbnail"
	PageSizesFile = "sizes"
)

// PageImageFile returns the name of the image of a page with the given width in pixels.
func PageImageFile(page, width int) string { return fmt.Sprintf("%s%d-%d", pagePrefix, page, width) }

const pagePrefix = "page-"

// OpenPreviews opens the directory, creates it if it doesn't exist, and removes
// unfinished files. limit is the maximum total size of page images in bytes.
func OpenPreviews(dir string, limit int64, now func() time.Time) (*Previews, error) {
	s := &Previews{dir: dir, tmp: filepath.Join(dir, "tmp"), limit: limit, now: now}
	if err := os.RemoveAll(s.tmp); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.tmp, 0o700); err != nil {
		return nil, err
	}
	pages, err := s.pageImages(context.Background())
	for _, p := range pages {
		s.used += p.size
	}
	return s, err
}

// OpenPreviewsReadOnly opens the directory on a read-only disk.
func OpenPreviewsReadOnly(dir string, now func() time.Time) *Previews {
	return &Previews{dir: dir, tmp: filepath.Join(dir, "tmp"), now: now}
}

// dirOf returns the directory of a document. It returns an error if digest is not a valid
// digest, so text from clients never becomes part of a path.
func (pr *Previews) dirOf(digest string) (string, error) {
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.80q is not a valid digest: %w", digest, fs.ErrInvalid)
	}
	return filepath.Join(pr.dir, digest[:2], digest), nil
}

// Open opens and verifies a file. The caller closes it. If the file must be rebuilt, the
// error wraps fs.ErrNotExist. If the file exists but can't be used, the error also wraps
// ErrPreviewDamaged or ErrPreviewVersion.
func (pr *Previews) Open(digest, name string) (*PreviewFile, error) {
	f, err := pr.open(digest, name)
	if err == nil && strings.HasPrefix(name, pagePrefix) {
		// The modification time is the time of last use. If it can't be set, the image may be
		// evicted too early.
		_ = os.Chtimes(f.file.Name(), time.Time{}, pr.now())
	}
	return f, err
}

func (pr *Previews) open(digest, name string) (*PreviewFile, error) {
	folder, err := pr.dirOf(digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(folder, name)) // #nosec G304 -- the digest is validated, the name is a constant
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		// The file is empty because it wasn't synced before a power failure.
		return nil, errors.Join(cmp.Or(err, fs.ErrNotExist), f.Close())
	}
	body := io.NewSectionReader(f, 0, info.Size())
	if hasHeader(name) {
		if body, err = verifyHeader(f, info.Size()); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &PreviewFile{body, f}, nil
}

// Put writes a file, replacing an existing one.
func (pr *Previews) Put(digest, name string, write func(io.Writer) error) error {
	folder, err := pr.dirOf(digest)
	if err != nil {
		return err
	}
	f, err := pr.createTemp()
	if err != nil {
		return err
	}
	if hasHeader(name) {
		err = writeWithHeader(f, write)
	} else {
		err = write(f)
	}
	size, seekErr := f.Seek(0, io.SeekEnd)
	if err = errors.Join(err, seekErr, f.Close()); err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder, name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create preview file %s: %w", name, err), os.Remove(f.Name()))
	}
	if strings.HasPrefix(name, pagePrefix) {
		pr.mu.Lock()
		pr.used += size
		pr.mu.Unlock()
	}
	return nil
}

// createTemp creates a temporary file. It also creates the directory if it was deleted.
func (pr *Previews) createTemp() (*os.File, error) {
	f, err := os.CreateTemp(pr.tmp, "*")
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(pr.tmp, 0o700); err != nil {
			return nil, err
		}
		return os.CreateTemp(pr.tmp, "*")
	}
	return f, err
}

// Has reports whether a file exists and is intact. It doesn't verify texts; see
// CheckText.
func (pr *Previews) Has(digest, name string) bool {
	f, err := pr.open(digest, name)
	if err != nil {
		return false
	}
	_ = f.Close() // only read
	return true
}

// Remove deletes all files of a document.
func (pr *Previews) Remove(digest string) error {
	folder, err := pr.dirOf(digest)
	if err != nil {
		return err
	}
	return os.RemoveAll(folder)
}

// pageImage is a page image on disk.
type pageImage struct {
	path string
	size int64
	used time.Time
}

func (pr *Previews) pageImages(ctx context.Context) ([]pageImage, error) {
	var list []pageImage
	err := filepath.WalkDir(pr.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), pagePrefix) {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		if err != nil {
			return err
		}
		list = append(list, pageImage{path, info.Size(), info.ModTime()})
		return nil
	})
	return list, err
}

// Evict removes page images if their total size exceeds the limit. It removes the least
// recently used ones until the size is 10% below the limit.
func (pr *Previews) Evict(ctx context.Context) error {
	pr.mu.Lock()
	isWithinLimit := pr.used <= pr.limit
	pr.mu.Unlock()
	if isWithinLimit {
		return nil
	}
	list, err := pr.pageImages(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b pageImage) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	total := int64(0)
	for _, p := range list {
		total += p.size
	}
	var failed error
	for _, p := range list {
		if total <= pr.limit-pr.limit/10 {
			break
		}
		if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err) // the file is open on Windows; a later run removes it
			continue
		}
		total -= p.size
	}
	pr.mu.Lock()
	pr.used = total
	pr.mu.Unlock()
	return failed
}
