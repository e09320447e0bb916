package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Info is what a manifest says of its snapshot. Files, Abstracts, Orders, Folders and
// Events count records; Blobs and Bytes the documents, each once; Stored their bytes as
// they lie in the archive.
type Info struct {
	Manifest  int       `json:"manifest"` // version of the format
	Archive   string    `json:"archive"`
	Snapshot  string    `json:"snapshot"`
	Vault     string    `json:"vault"`
	CreatedAt time.Time `json:"created_at"`
	Version   string    `json:"version,omitempty"` // of the program
	Schema    int       `json:"schema"`            // of the database
	Files     uint64    `json:"files"`
	Abstracts uint64    `json:"abstracts"`
	Orders    uint64    `json:"orders"`
	Folders   uint64    `json:"folders"`
	Events    uint64    `json:"events"`
	Blobs     uint64    `json:"blobs"`
	Bytes     int64     `json:"bytes"`
	Stored    int64     `json:"stored"`
	Database  Database  `json:"database"`
	Secret    string    `json:"secret"` // the line of secret.key
}

// Database is the snapshot's database: its file in the archive with its length there,
// and its length and digest when unpacked.
type Database struct {
	File   string `json:"file"`
	Stored int64  `json:"stored"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// Entry is one document of a snapshot, and its blob.
type Entry struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	File   string `json:"file,omitempty"`   // of blobs/xx; plain form: the digest
	Stored int64  `json:"stored,omitempty"` // bytes of that file; plain form: the size
}

type end struct {
	End   bool   `json:"end"`
	Blobs uint64 `json:"blobs"`
	Sum   string `json:"sum"`
}

const (
	manifestVersion = 1
	lineMost        = 64 << 10
	manifestMost    = 1 << 30 // bytes as it lies there: ten million documents and more
	// windowMost bounds the memory that an unpacking takes, whatever the file says.
	windowMost = 128 << 20
)

// manifestWriter writes the lines of a manifest.
type manifestWriter struct {
	zip   *zstd.Encoder
	sum   hash.Hash
	last  string
	count uint64
}

func newManifestWriter(w io.Writer, info Info) (*manifestWriter, error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	m := &manifestWriter{zip: zip, sum: sha256.New()}
	err = m.line(info)
	return m, err
}

func (m *manifestWriter) line(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	raw = append(raw, '\n')
	m.sum.Write(raw)
	_, err = m.zip.Write(raw)
	return err
}

// add wants ascending digests.
func (m *manifestWriter) add(e Entry) error {
	if e.Digest <= m.last {
		return fmt.Errorf("manifest: %s comes after %s", e.Digest, m.last)
	}
	m.last, m.count = e.Digest, m.count+1
	return m.line(e)
}

func (m *manifestWriter) close() error {
	sum := hex.EncodeToString(m.sum.Sum(nil))
	return errors.Join(m.line(end{End: true, Blobs: m.count, Sum: sum}), m.zip.Close())
}

// readManifest reads the lines of a manifest, whole, and calls each with every
// entry; with a nil each it stops after the first line. What is wrong with the lines
// wraps ErrDamaged or ErrNewerVersion.
func readManifest(r io.Reader, each func(Entry) error) (Info, error) {
	var info Info
	zip, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMost), zstd.WithDecoderLowmem(true))
	if err != nil {
		return info, damaged(err)
	}
	defer zip.Close()
	lines := &lineReader{r: bufio.NewReaderSize(zip, lineMost), sum: sha256.New()}
	first, err := lines.next()
	if err != nil {
		return info, err
	}
	var version struct {
		Manifest int `json:"manifest"`
	}
	if err := json.Unmarshal(first, &version); err != nil {
		return info, damaged(err)
	}
	if version.Manifest > manifestVersion {
		return info, ErrNewerVersion
	}
	if err := strictly(first, &info); err != nil {
		return info, err
	}
	if err := info.check(); err != nil || each == nil {
		return info, err
	}
	return info, lines.entries(info, each)
}

func (i Info) check() error {
	_, named := ParseSnapshot(i.Snapshot)
	digest, digested := parseDigest(i.Database.Digest)
	_, _, db := parseSnapFile(i.Database.File)
	switch {
	case i.Manifest != manifestVersion, !named, i.Archive == "", i.Vault == "", i.Secret == "", i.CreatedAt.IsZero():
		return fmt.Errorf("%w: the manifest does not say what it is of", ErrDamaged)
	case !digested, digest == Digest{}, !db, i.Database.Size < 0, i.Database.Stored < 0, i.Bytes < 0, i.Stored < 0:
		return fmt.Errorf("%w: the manifest names no database", ErrDamaged)
	}
	return nil
}

func damaged(err error) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewerVersion) || errors.Is(err, ErrDecrypt) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

func strictly(line []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("a line of the manifest: %w", damaged(err))
	}
	return nil
}

// lineReader reads lines and keeps their sum up to the one before.
type lineReader struct {
	r    *bufio.Reader
	sum  hash.Hash
	line []byte
}

func (l *lineReader) next() ([]byte, error) {
	l.sum.Write(l.line)
	line, err := l.r.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: the manifest is cut, or is none: %w", ErrDamaged, err)
	}
	l.line = append(l.line[:0], line...)
	return l.line, nil
}

// entries reads all up to the end, which must be the last line.
func (l *lineReader) entries(info Info, each func(Entry) error) error {
	var last string
	left := info.Bytes
	for count := uint64(0); ; count++ {
		line, err := l.next()
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			return l.end(info, line, count)
		}
		var e Entry
		if err := strictly(line, &e); err != nil {
			return err
		}
		if _, ok := parseDigest(e.Digest); !ok || e.Digest <= last || e.Size < 0 || e.Stored < 0 {
			return fmt.Errorf("%w: the manifest has an entry out of order", ErrDamaged)
		}
		// A manifest that goes on beyond what it says would fill memory before its end.
		if left -= e.Size; count >= info.Blobs || left < 0 {
			return fmt.Errorf("%w: the manifest has more entries than it says", ErrDamaged)
		}
		last = e.Digest
		if err := each(e); err != nil {
			return err
		}
	}
}

func (l *lineReader) end(info Info, line []byte, count uint64) error {
	var e end
	if err := strictly(line, &e); err != nil {
		return err
	}
	if !e.End || e.Blobs != count || info.Blobs != count || e.Sum != hex.EncodeToString(l.sum.Sum(nil)) {
		return fmt.Errorf("%w: the manifest does not add up", ErrDamaged)
	}
	if _, err := l.r.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows the end of the manifest", ErrDamaged)
	}
	return nil
}
