package blobstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"deedkeep/app/blob/disk"
	"deedkeep/app/durable"
)

// OCRFiles is the directory of OCR results, keyed by the digest of the document:
//
//	text/ab/ab12…    results of the pages that were read (ocr_file.go)
//
// The OCR results of a document take minutes of CPU time. For this reason, they are part of the
// data, like blobs. Append returns after they are on the disk. A file that is missing,
// damaged, or from another version can be rebuilt by reading the pages again.
//
// OCRFiles is safe for concurrent use. Two processes must not write to a directory.
type OCRFiles struct {
	dir string
	mu  sync.Mutex // held while a file is changed
}

// OCRDirName is the name of the directory of OCRFiles in the data directory.
const OCRDirName = "text"

// NewOCRFiles returns the OCR results in a directory. Append creates the directory if it
// doesn't exist.
func NewOCRFiles(dir string) *OCRFiles { return &OCRFiles{dir: dir} }

func (o *OCRFiles) path(d Digest) string {
	name := d.String()
	return filepath.Join(o.dir, name[:2], name)
}

// Append adds the results of pages and returns after they are on the disk. If the end of the
// file is torn or damaged, Append cuts it off first. If the disk is full, it returns an error
// for which durable.IsFullWrite is true, and keeps the earlier results.
func (o *OCRFiles) Append(digest string, pages ...OCRPage) error {
	d, err := ParseDigest(digest)
	if err != nil || len(pages) == 0 {
		return err
	}
	var records []byte
	for _, p := range pages {
		if records, err = appendOCRRecord(records, p); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.append(d, records)
}

func (o *OCRFiles) append(d Digest, records []byte) error {
	path := o.path(d)
	f, err := os.OpenFile(path, os.O_RDWR, 0o600) // #nosec G304 -- the name is a digest
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the name is a digest
		}
	}
	if err != nil {
		return err
	}
	err = errors.Join(writeOCRRecords(f, d, records), f.Close())
	if err == nil && isNew {
		for _, dir := range []string{filepath.Dir(path), o.dir, filepath.Dir(o.dir)} { // each of them may be new
			err = errors.Join(err, durable.SyncDir(dir))
		}
	}
	if err != nil && isNew { // otherwise, the next append would not sync the folders
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// writeOCRRecords writes records after the last intact record of f and syncs the file.
func writeOCRRecords(f *os.File, d Digest, records []byte) error {
	layout, err := scanOCR(f, d)
	if err != nil {
		return err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if end > layout.end {
		if err := f.Truncate(layout.end); err != nil {
			return err
		}
	}
	if layout.end == 0 {
		records = append(ocrHeader(d), records...)
	}
	_, err = f.WriteAt(records, layout.end)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(layout.end))
	}
	return nil
}

// OCRReader reads the results of one document. Results that are added while it is open aren't
// seen.
type OCRReader struct {
	Pages []int // the pages that have a result, in order

	file   *os.File
	layout ocrLayout
}

// Open opens the results of a document. It skips everything after the first damaged record. If
// there are no results, the error wraps fs.ErrNotExist. The caller must close the reader.
func (o *OCRFiles) Open(digest string) (*OCRReader, error) {
	r, err := o.open(digest)
	if err == nil && r.layout.end == 0 {
		return nil, errors.Join(r.layout.err, r.Close())
	}
	return r, err
}

func (o *OCRFiles) open(digest string) (*OCRReader, error) {
	d, err := ParseDigest(digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(o.path(d))
	if err != nil {
		return nil, err
	}
	layout, err := scanOCR(f, d)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &OCRReader{slices.Sorted(maps.Keys(layout.pages)), f, layout}, nil
}

// Close closes the file.
func (r *OCRReader) Close() error { return r.file.Close() }

// Result returns the result of a page. If there is none, the error wraps fs.ErrNotExist.
func (r *OCRReader) Result(page int) ([]byte, error) {
	record, found := r.layout.pages[page]
	if !found {
		return nil, fmt.Errorf("no OCR result of page %d: %w", page, fs.ErrNotExist)
	}
	result, err := inflateOCR(r.file, record)
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", page, err)
	}
	return result, nil
}

// Pages returns the numbers of the pages that have a result. It is empty if there are no
// results.
func (o *OCRFiles) Pages(digest string) (map[int]bool, error) {
	pages := map[int]bool{}
	r, err := o.open(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return pages, nil
	}
	if err != nil {
		return pages, err
	}
	for _, page := range r.Pages {
		pages[page] = true
	}
	return pages, r.Close()
}

// Check verifies the results of a document. The error wraps ErrOCRDamaged or ErrOCRVersion if
// some of them must be read again, and fs.ErrNotExist alone if there are none. A torn end counts
// as damage.
func (o *OCRFiles) Check(digest string) error {
	o.mu.Lock() // the end of a file is torn while a record is written
	defer o.mu.Unlock()
	return o.check(digest)
}

func (o *OCRFiles) check(digest string) error {
	r, err := o.open(digest)
	if err != nil {
		return err
	}
	err = r.layout.err
	for _, page := range r.Pages {
		if err == nil {
			_, err = r.Result(page)
		}
	}
	return errors.Join(err, r.Close())
}

// Repair removes what Check reports as damaged. It reports whether the file was changed.
func (o *OCRFiles) Repair(digest string) (changed bool, err error) {
	d, err := ParseDigest(digest)
	if err != nil {
		return false, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	err = o.check(digest)
	if !errors.Is(err, ErrOCRDamaged) && !errors.Is(err, ErrOCRVersion) {
		return false, ignoreNotExist(err)
	}
	if err := o.append(d, nil); err != nil {
		return false, err
	}
	if o.check(digest) == nil {
		return true, nil
	}
	return true, os.Remove(o.path(d)) // a record with a valid checksum can't be inflated
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Remove deletes the results of a document.
func (o *OCRFiles) Remove(digest string) error {
	d, err := ParseDigest(digest)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return ignoreNotExist(os.Remove(o.path(d)))
}

// Walk calls visit for each document that has a file, in digest order. It calls stray,
// which may be nil, with the path of anything else in the directory.
func (o *OCRFiles) Walk(ctx context.Context, visit func(Entry) error, stray func(path string) error) error {
	if _, err := os.Stat(o.dir); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was read yet
	}
	if err := disk.Walk(ctx, o.dir, visit, stray); err != nil {
		return fmt.Errorf("list OCR results: %w", err)
	}
	return nil
}

// Intact returns the size and SHA-256 of the intact part of a document's file. Appending
// doesn't change that part, so OpenIntact can read it later. The size is 0 if there is no intact
// part. damage is ErrOCRDamaged or ErrOCRVersion if there is something else in the file. A torn
// end counts as damage.
func (o *OCRFiles) Intact(d Digest) (size int64, sum Digest, damage, err error) {
	o.mu.Lock() // the end of a file is torn while a record is written
	defer o.mu.Unlock()
	r, err := o.open(d.String())
	if err != nil {
		return 0, sum, nil, ignoreNotExist(err)
	}
	hash := sha256.New()
	size, err = io.Copy(hash, io.NewSectionReader(r.file, 0, r.layout.end))
	copy(sum[:], hash.Sum(nil))
	return size, sum, r.layout.err, errors.Join(err, r.Close())
}

// OpenIntact opens the first size bytes of a document's file.
func (o *OCRFiles) OpenIntact(d Digest, size int64) (io.ReadCloser, error) {
	f, err := os.Open(o.path(d))
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, size), f}, nil
}

// Restore writes the file of a document from a backup, replacing an existing one. It writes to
// the directory tmp first, and syncs the file but not its folder.
func (o *OCRFiles) Restore(d Digest, src io.Reader, tmp string) error {
	f, err := os.CreateTemp(tmp, "text-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, src)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.MkdirAll(filepath.Dir(o.path(d)), 0o700)
	}
	if err == nil {
		err = os.Rename(f.Name(), o.path(d))
	}
	if err != nil {
		return errors.Join(err, ignoreNotExist(os.Remove(f.Name())))
	}
	return nil
}

// SyncFolders makes the files of Restore durable.
func (o *OCRFiles) SyncFolders() error {
	folders, err := os.ReadDir(o.dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, folder := range folders {
		if folder.IsDir() {
			err = errors.Join(err, durable.SyncDir(filepath.Join(o.dir, folder.Name())))
		}
	}
	return errors.Join(err, durable.SyncDir(o.dir), durable.SyncDir(filepath.Dir(o.dir)))
}
