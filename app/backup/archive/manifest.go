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
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Info describes a snapshot. Files, Abstracts, Orders, Folders, and Events are numbers of
// records. Blobs is the number of documents, and Bytes is their total size; documents
// with the same content count once. Stored is their size in the archive.
type Info struct {
	Manifest  int       `json:"manifest"` // format version
	Archive   string    `json:"archive"`
	Snapshot  string    `json:"snapshot"`
	Vault     string    `json:"vault"`
	CreatedAt time.Time `json:"created_at"`
	Version   string    `json:"version,omitempty"` // version of deedkeep
	Schema    int       `json:"schema"`            // database schema version
	Files     uint64    `json:"files"`
	Abstracts uint64    `json:"abstracts"`
	Orders    uint64    `json:"orders"`
	Folders   uint64    `json:"folders"`
	Events    uint64    `json:"events"`
	Blobs     uint64    `json:"blobs"`
	Bytes     int64     `json:"bytes"`
	Stored    int64     `json:"stored"`
	Database  Database  `json:"database"`
	Secret    string    `json:"secret"` // the content of secret.key
}

// Database describes the database of a snapshot. File and Stored are the name and size of
// its file in the archive. Size and Digest are those of the uncompressed database.
type Database struct {
	File   string `json:"file"`
	Stored int64  `json:"stored"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// Entry describes a document of a snapshot and its blob. If Text is set, the blob contains the
// OCR results of the document that has this digest instead; Digest is the one of the blob.
type Entry struct {
	Text   string `json:"text,omitempty"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	File   string `json:"file,omitempty"`   // name of the file in blobs/xx; "" in the plain format
	Stored int64  `json:"stored,omitempty"` // size of that file; 0 in the plain format
}

type manifestEnd struct {
	End   bool   `json:"end"`
	Blobs uint64 `json:"blobs"`
	Texts uint64 `json:"texts,omitempty"`
	Sum   string `json:"sum"`
}

const (
	manifestVersion = 1
	// textManifestVersion is the version of a manifest that may contain OCR results. Snapshots
	// without them keep manifestVersion, which older versions of deedkeep can read.
	textManifestVersion = 2
	maxLineSize         = 64 << 10
	maxManifestSize     = 1 << 30 // size of the file in bytes; enough for ten million documents
	// maxZstdWindow limits the memory for decompressing any input.
	maxZstdWindow = 128 << 20
)

// manifestWriter writes the lines of a manifest.
type manifestWriter struct {
	zip   *zstd.Encoder
	sum   hash.Hash
	last  string // document
	text  string // document of the last OCR results
	count uint64
	texts uint64
}

func newManifestWriter(w io.Writer, info Info) (*manifestWriter, error) {
	zip, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	m := &manifestWriter{zip: zip, sum: sha256.New()}
	err = m.writeLine(info)
	return m, err
}

func (m *manifestWriter) writeLine(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	raw = append(raw, '\n')
	m.sum.Write(raw)
	_, err = m.zip.Write(raw)
	return err
}

// add writes an entry. Documents must be added in ascending order of digest, and then OCR
// results in ascending order of the document.
func (m *manifestWriter) add(e Entry) error {
	if e.Text != "" {
		if e.Text <= m.text {
			return fmt.Errorf("manifest entries out of order: OCR results of %s after %s", e.Text, m.text)
		}
		m.text, m.texts = e.Text, m.texts+1
		return m.writeLine(e)
	}
	if m.text != "" {
		return fmt.Errorf("manifest entries out of order: document %s after OCR results", e.Digest)
	}
	if e.Digest <= m.last {
		return fmt.Errorf("manifest entries out of order: %s after %s", e.Digest, m.last)
	}
	m.last, m.count = e.Digest, m.count+1
	return m.writeLine(e)
}

func (m *manifestWriter) close() error {
	sum := hex.EncodeToString(m.sum.Sum(nil))
	return errors.Join(m.writeLine(manifestEnd{End: true, Blobs: m.count, Texts: m.texts, Sum: sum}), m.zip.Close())
}

// readManifest reads a complete manifest and calls visit for every entry. If visit is
// nil, it stops after the first line. If the content is invalid, the error wraps
// ErrDamaged or ErrNewerVersion.
func readManifest(r io.Reader, visit func(Entry) error) (Info, error) {
	var info Info
	zip, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return info, asDamaged(err)
	}
	defer zip.Close()
	lines := &lineReader{r: bufio.NewReaderSize(zip, maxLineSize), sum: sha256.New()}
	first, err := lines.next()
	if err != nil {
		return info, err
	}
	var version struct {
		Manifest int `json:"manifest"`
	}
	if err := json.Unmarshal(first, &version); err != nil {
		return info, asDamaged(err)
	}
	if version.Manifest > textManifestVersion {
		return info, ErrNewerVersion
	}
	if err := decodeStrict(first, &info); err != nil {
		return info, err
	}
	if err := info.check(); err != nil || visit == nil {
		return info, err
	}
	return info, lines.entries(info, visit)
}

func (i Info) check() error {
	_, named := ParseSnapshot(i.Snapshot)
	_, _, db := parseDatabaseFile(i.Database.File)
	switch {
	case i.Manifest != manifestVersion && i.Manifest != textManifestVersion, !named,
		i.Archive == "", i.Vault == "", i.Secret == "", i.CreatedAt.IsZero():
		return fmt.Errorf("%w: manifest has no snapshot name", ErrDamaged)
	case !isDigest(i.Database.Digest), strings.Trim(i.Database.Digest, "0") == "", !db, i.Database.Size < 0, i.Database.Stored < 0, i.Bytes < 0, i.Stored < 0:
		return fmt.Errorf("%w: manifest has no database entry", ErrDamaged)
	}
	return nil
}

func asDamaged(err error) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewerVersion) || errors.Is(err, ErrDecrypt) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

func decodeStrict(line []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("read manifest line: %w", asDamaged(err))
	}
	return nil
}

// lineReader reads lines. It computes the checksum of all lines before the last one that
// it read.
type lineReader struct {
	r    *bufio.Reader
	sum  hash.Hash
	line []byte
}

func (l *lineReader) next() ([]byte, error) {
	l.sum.Write(l.line)
	line, err := l.r.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: manifest is incomplete or invalid: %w", ErrDamaged, err)
	}
	l.line = append(l.line[:0], line...)
	return l.line, nil
}

// entries reads the entries and the end marker, which must be the last line.
func (l *lineReader) entries(info Info, visit func(Entry) error) error {
	var last, lastText string
	var count, texts uint64
	remaining := info.Bytes
	for {
		line, err := l.next()
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			return l.end(info, line, count, texts)
		}
		var e Entry
		if err := decodeStrict(line, &e); err != nil {
			return err
		}
		isText := e.Text != ""
		switch {
		case !isDigest(e.Digest), e.Size < 0, e.Stored < 0,
			isText && (info.Manifest != textManifestVersion || !isDigest(e.Text) || e.Text <= lastText),
			!isText && (e.Digest <= last || texts > 0):
			return fmt.Errorf("%w: manifest entries out of order", ErrDamaged)
		}
		// Stop early. A manifest with more entries than its first line says could fill the
		// memory. A document has at most one file of OCR results.
		if isText {
			lastText, texts = e.Text, texts+1
		} else {
			last, count, remaining = e.Digest, count+1, remaining-e.Size
		}
		if count > info.Blobs || texts > info.Blobs || remaining < 0 {
			return fmt.Errorf("%w: manifest has too many entries", ErrDamaged)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
}

func (l *lineReader) end(info Info, line []byte, count, texts uint64) error {
	var e manifestEnd
	if err := decodeStrict(line, &e); err != nil {
		return err
	}
	if !e.End || e.Blobs != count || e.Texts != texts || info.Blobs != count || e.Sum != hex.EncodeToString(l.sum.Sum(nil)) {
		return fmt.Errorf("%w: manifest totals are wrong", ErrDamaged)
	}
	if _, err := l.r.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: unexpected data after the end of the manifest", ErrDamaged)
	}
	return nil
}
