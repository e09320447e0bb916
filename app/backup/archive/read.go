package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Info returns the description of a snapshot, which is the first line of its manifest. It
// returns ErrNotFound if there is no such snapshot.
func (a *Archive) Info(name string) (Info, error) { return a.Manifest(name, nil) }

// Choose returns the description of a snapshot. If name is Latest, it is the newest one whose
// database has at most the schema maxSchema, and skipped contains the names of newer ones,
// newest first. If all snapshots are from a newer version of deedkeep, it returns
// ErrNewerVersion.
func (a *Archive) Choose(name string, maxSchema int) (info Info, skipped []string, err error) {
	names := []string{name}
	if name == Latest {
		if names, err = a.Snapshots(); err != nil {
			return info, nil, err
		}
		slices.Reverse(names)
	}
	for _, n := range names {
		info, err = a.Info(n)
		if err == nil && info.Schema > maxSchema {
			err = fmt.Errorf("backup %s: %w (version %s, schema %d; this version reads up to schema %d)", n, ErrNewerVersion,
				cmp.Or(info.Version, "unknown"), info.Schema, maxSchema)
		}
		if name != Latest || !errors.Is(err, ErrNewerVersion) {
			return info, skipped, err
		}
		skipped = append(skipped, n)
	}
	if err == nil {
		_, _, err = a.findSnapshot(name) // returns that there are no snapshots
	}
	return info, skipped, err
}

// Manifest reads and verifies the manifest of a snapshot, and calls visit for every entry
// in the order of the manifest. If visit is nil, it reads only the first line. name may be
// Latest. It returns ErrNotFound, ErrDamaged, ErrDecrypt, ErrNewerVersion, or an error from
// visit.
func (a *Archive) Manifest(name string, visit func(Entry) error) (Info, error) {
	name, file, err := a.findSnapshot(name)
	if err != nil {
		return Info{}, err
	}
	_, sum, _ := parseManifestFile(file)
	// A manifest fits into memory (about 100 bytes per document), so verify its checksum
	// before parsing it.
	raw, err := readLimited(a.path(snapsDir, file), maxManifestSize)
	if err != nil {
		return Info{}, fmt.Errorf("backup %s: %w", name, missingAsDamaged(err))
	}
	if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != sum {
		return Info{}, fmt.Errorf("backup %s: %w: wrong manifest checksum", name, ErrDamaged)
	}
	decoded, err := a.format.newReader(bytes.NewReader(raw), true)
	if err != nil {
		return Info{}, fmt.Errorf("backup %s: %w", name, asDamaged(err))
	}
	if visit != nil {
		inner := visit
		visit = func(e Entry) error {
			if err := a.completeEntry(&e); err != nil {
				return err
			}
			return inner(e)
		}
	}
	info, err := readManifest(decoded, visit)
	if err != nil {
		return info, fmt.Errorf("backup %s: %w", name, err)
	}
	switch {
	case info.Archive != a.header.Archive || info.Vault != a.header.Vault:
		err = fmt.Errorf("backup %s: %w: the manifest belongs to another backup", name, ErrDamaged)
	case info.Snapshot != name:
		err = fmt.Errorf("backup %s: %w: the manifest belongs to backup %s", name, ErrDamaged, info.Snapshot)
	}
	return info, err
}

// completeEntry sets the fields that the plain format omits, and validates the others.
func (a *Archive) completeEntry(e *Entry) error {
	if !a.Encrypted() {
		if e.File != "" || e.Stored != 0 {
			return fmt.Errorf("%w: manifest entry has an unknown format", ErrDamaged)
		}
		e.File, e.Stored = e.Digest, e.Size
		return nil
	}
	if _, ok := a.parseBlobFile(e.File); !ok {
		return fmt.Errorf("%w: manifest entry has no valid file name", ErrDamaged)
	}
	if e.Size > maxBlobSize || e.Stored != a.format.storedSize(e.Size) {
		return fmt.Errorf("%w: manifest entry has inconsistent sizes: %d bytes, %d bytes stored", ErrDamaged, e.Size, e.Stored)
	}
	return nil
}

// maxBlobSize is larger than any document, but small enough that the stored size can't
// overflow.
const maxBlobSize = 1 << 60

func missingAsDamaged(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: file is missing: %w", ErrDamaged, err)
	}
	return err
}

// Blob returns the content of an entry. The caller closes it. Reading ends with io.EOF
// if all bytes are correct, and with ErrDamaged otherwise, so the content is verified
// only when the end is reached. Reading fails when ctx ends.
func (a *Archive) Blob(ctx context.Context, e Entry) (io.ReadCloser, error) {
	b, ok := a.parseBlobFile(e.File)
	if !ok {
		return nil, fmt.Errorf("%w: manifest entry has no valid file name", ErrDamaged)
	}
	return a.newVerifiedReader(ctx, blobPath(e.File), b.sum, e.Stored, e.Digest, e.Size, false)
}

// ExtractDatabase writes the uncompressed database of a snapshot to path, replacing any
// existing file, and syncs the file. After an error, it removes the file.
func (a *Archive) ExtractDatabase(ctx context.Context, info Info, path string) error {
	src, err := a.database(ctx, info)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read from
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, src)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// database returns the uncompressed database of a snapshot like Blob.
func (a *Archive) database(ctx context.Context, info Info) (io.ReadCloser, error) {
	_, sum, ok := parseDatabaseFile(info.Database.File)
	if !ok {
		return nil, fmt.Errorf("%w: manifest has no database entry", ErrDamaged)
	}
	d := info.Database
	return a.newVerifiedReader(ctx, []string{snapsDir, d.File}, sum, d.Stored, d.Digest, d.Size, true)
}

// verifiedReader decodes a file and verifies its size, its checksum, and the digest of
// the content.
type verifiedReader struct {
	ctx         context.Context //nolint:containedctx // ends the reading
	file        *os.File
	path        string
	fileHash    hash.Hash
	tee         io.Reader // reads the file and writes to fileHash
	r           io.Reader
	zip         *zstd.Decoder
	contentHash hash.Hash
	n           int64

	sum, digest string
	size        int64
}

func (a *Archive) newVerifiedReader(
	ctx context.Context, path []string, sum string, stored int64, digest string, size int64, compressed bool,
) (io.ReadCloser, error) {
	f, err := openRegular(a.path(path...))
	if err != nil {
		return nil, missingAsDamaged(err)
	}
	c := &verifiedReader{
		ctx: ctx, file: f, path: a.path(path...), fileHash: sha256.New(), contentHash: sha256.New(),
		sum: sum, digest: digest, size: size,
	}
	c.tee = io.TeeReader(f, c.fileHash)
	if info, err := f.Stat(); err != nil || info.Size() != stored {
		return nil, errors.Join(fmt.Errorf("%s: %w: size is not %d bytes", c.path, ErrDamaged, stored), err, f.Close())
	}
	if c.r, err = a.format.newReader(c.tee, false); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.path, asDamaged(err)), f.Close())
	}
	if compressed {
		c.zip, err = zstd.NewReader(c.r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, errors.Join(asDamaged(err), f.Close())
		}
		c.r = c.zip
	}
	return c, nil
}

func (v *verifiedReader) Read(p []byte) (int, error) {
	if err := v.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := v.r.Read(p)
	v.contentHash.Write(p[:n])
	v.n += int64(n)
	switch {
	case v.n > v.size:
		return 0, fmt.Errorf("%s: %w: file is too large", v.path, ErrDamaged)
	case errors.Is(err, io.EOF):
		return n, v.verify()
	case err != nil:
		return n, fmt.Errorf("%s: %w", v.path, asDamaged(err))
	}
	return n, nil
}

func (v *verifiedReader) verify() error {
	// A compressed file can have bytes after the end of the compressed stream.
	if _, err := io.Copy(io.Discard, v.tee); err != nil {
		return fmt.Errorf("%s: %w", v.path, asDamaged(err))
	}
	switch {
	case hex.EncodeToString(v.fileHash.Sum(nil)) != v.sum:
		return fmt.Errorf("%s: %w: wrong checksum", v.path, ErrDamaged)
	case v.n != v.size || hex.EncodeToString(v.contentHash.Sum(nil)) != v.digest:
		return fmt.Errorf("%s: %w: file contains another document", v.path, ErrDamaged)
	}
	return io.EOF
}

// Close implements io.Closer.
func (v *verifiedReader) Close() error {
	if v.zip != nil {
		v.zip.Close()
	}
	return v.file.Close()
}
