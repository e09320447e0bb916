package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"
)

// Info reads what a snapshot is of: the first line of its manifest alone. ErrNotFound
// where there is no such snapshot.
func (a *Archive) Info(name string) (Info, error) { return a.manifest(name, nil) }

// Manifest reads and checks the whole manifest of a snapshot (a name or Latest) and
// calls each with every entry, in ascending order of digest. ErrNotFound, ErrDamaged,
// ErrDecrypt, ErrNewerVersion, or the error of each.
func (a *Archive) Manifest(name string, each func(Entry) error) (Info, error) {
	return a.manifest(name, each)
}

func (a *Archive) manifest(name string, each func(Entry) error) (Info, error) {
	name, file, err := a.find(name)
	if err != nil {
		return Info{}, err
	}
	_, sum, _ := parseManifestFile(file)
	// Small enough for memory (a hundred bytes for a document), and so it is checked
	// before a byte of it is believed.
	raw, err := readSmall(a.path(snapsDir, file), manifestMost)
	if err != nil {
		return Info{}, fmt.Errorf("snapshot %s: %w", name, missing(err))
	}
	if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != sum {
		return Info{}, fmt.Errorf("snapshot %s: %w: its manifest is not what was written", name, ErrDamaged)
	}
	opened, err := a.form.open(bytes.NewReader(raw), true)
	if err != nil {
		return Info{}, fmt.Errorf("snapshot %s: %w", name, damaged(err))
	}
	if each != nil {
		inner := each
		each = func(e Entry) error {
			if err := a.fits(&e); err != nil {
				return err
			}
			return inner(e)
		}
	}
	info, err := readManifest(opened, each)
	if err != nil {
		return info, fmt.Errorf("snapshot %s: %w", name, err)
	}
	switch {
	case info.Archive != a.head.Archive || info.Vault != a.head.Vault:
		err = fmt.Errorf("snapshot %s: %w: its manifest is of another backup", name, ErrDamaged)
	case info.Snapshot != name:
		err = fmt.Errorf("snapshot %s: %w: its manifest is that of snapshot %s", name, ErrDamaged, info.Snapshot)
	}
	return info, err
}

// fits fills in what the plain form leaves out, and holds the name of the file
// against the form.
func (a *Archive) fits(e *Entry) error {
	if !a.Encrypted() {
		if e.File != "" || e.Stored != 0 {
			return fmt.Errorf("%w: an entry of another form", ErrDamaged)
		}
		e.File, e.Stored = e.Digest, e.Size
		return nil
	}
	if _, ok := a.parseBlobFile(e.File); !ok {
		return fmt.Errorf("%w: an entry names no file", ErrDamaged)
	}
	if e.Size > sizeMost || e.Stored != a.form.stored(e.Size) {
		return fmt.Errorf("%w: an entry says %d bytes are stored in %d", ErrDamaged, e.Size, e.Stored)
	}
	return nil
}

// sizeMost is beyond every document, so that its stored length is no less.
const sizeMost = 1 << 60

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: a file is missing: %w", ErrDamaged, err)
	}
	return err
}

// Blob gives the bytes of a document. At their end, and not before, it is known
// whether they are the right ones: then reading ends with io.EOF, else with
// ErrDamaged. The caller closes it.
func (a *Archive) Blob(e Entry) (io.ReadCloser, error) {
	b, ok := a.parseBlobFile(e.File)
	if !ok {
		return nil, fmt.Errorf("%w: an entry names no file", ErrDamaged)
	}
	return a.reader(blobPath(e.File), b.sum, e.Stored, e.Digest, e.Size, false)
}

// Database gives the database of a snapshot, unpacked, as Blob gives a document.
func (a *Archive) Database(info Info) (io.ReadCloser, error) {
	_, sum, ok := parseSnapFile(info.Database.File)
	if !ok {
		return nil, fmt.Errorf("%w: the manifest names no database", ErrDamaged)
	}
	d := info.Database
	return a.reader([]string{snapsDir, d.File}, sum, d.Stored, d.Digest, d.Size, true)
}

// checked reads a file through its seal and holds it against all that is known of it.
type checked struct {
	file   *os.File
	path   string
	stored hash.Hash
	tee    io.Reader // the file, into stored
	r      io.Reader
	zip    *zstd.Decoder
	inner  hash.Hash
	n      int64

	sum, digest string
	size        int64
}

func (a *Archive) reader(path []string, sum string, stored int64, digest string, size int64, packed bool) (io.ReadCloser, error) {
	f, err := openRegular(a.path(path...))
	if err != nil {
		return nil, missing(err)
	}
	c := &checked{file: f, path: a.path(path...), stored: sha256.New(), inner: sha256.New(), sum: sum, digest: digest, size: size}
	c.tee = io.TeeReader(f, c.stored)
	if info, err := f.Stat(); err != nil || info.Size() != stored {
		return nil, errors.Join(fmt.Errorf("%s: %w: it has not the %d bytes that were written", c.path, ErrDamaged, stored), err, f.Close())
	}
	if c.r, err = a.form.open(c.tee, false); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.path, damaged(err)), f.Close())
	}
	if packed {
		c.zip, err = zstd.NewReader(c.r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMost), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, errors.Join(damaged(err), f.Close())
		}
		c.r = c.zip
	}
	return c, nil
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.inner.Write(p[:n])
	c.n += int64(n)
	switch {
	case c.n > c.size:
		return 0, fmt.Errorf("%s: %w: it is longer than what was written", c.path, ErrDamaged)
	case errors.Is(err, io.EOF):
		return n, c.judge()
	case err != nil:
		return n, fmt.Errorf("%s: %w", c.path, damaged(err))
	}
	return n, nil
}

func (c *checked) judge() error {
	// A packed file may have bytes behind the end of what is packed in it.
	if _, err := io.Copy(io.Discard, c.tee); err != nil {
		return fmt.Errorf("%s: %w", c.path, damaged(err))
	}
	switch {
	case hex.EncodeToString(c.stored.Sum(nil)) != c.sum:
		return fmt.Errorf("%s: %w: its bytes are not those that were written", c.path, ErrDamaged)
	case c.n != c.size || hex.EncodeToString(c.inner.Sum(nil)) != c.digest:
		return fmt.Errorf("%s: %w: what is in it is another document", c.path, ErrDamaged)
	}
	return io.EOF
}

// Close is io.Closer.
func (c *checked) Close() error {
	if c.zip != nil {
		c.zip.Close()
	}
	return c.file.Close()
}
