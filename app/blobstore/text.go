package blobstore

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
)

// The text of a document is a gzip stream of its pages in order, without empty pages:
//
//	"deedkeep-text-3\n"
//	page number   uvarint
//	length        uvarint, bytes
//	checksum      CRC-32C of the text, big-endian
//	text          UTF-8
//	…             until the end of the stream
//
// Each page has its own checksum because readers use the first pages before they reach
// the gzip checksum at the end.
const textMagic = "deedkeep-text-3\n"

// textMagicPrefix is the start of textMagic in every version. Texts of other versions are
// rebuilt.
const textMagicPrefix = "deedkeep-text-"

func checksum(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

// maxPageText is the maximum length of the text of a page, in bytes.
const maxPageText = 64 << 20

// TextWriter writes the text of a document page by page.
type TextWriter struct{ zip *gzip.Writer }

// NewTextWriter starts a text. The caller must call Close at the end.
func NewTextWriter(w io.Writer) (*TextWriter, error) {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(z, textMagic)
	return &TextWriter{zip: z}, err
}

// Page writes the text of a page. It does nothing if the text is empty.
func (t *TextWriter) Page(page int, text string) error {
	if text == "" {
		return nil
	}
	header := binary.AppendUvarint(nil, uint64(page)) // pages count from 1
	header = binary.AppendUvarint(header, uint64(len(text)))
	header = binary.BigEndian.AppendUint32(header, checksum([]byte(text)))
	if _, err := t.zip.Write(header); err != nil {
		return err
	}
	_, err := io.WriteString(t.zip, text)
	return err
}

// Close finishes the text. It doesn't close the underlying writer.
func (t *TextWriter) Close() error { return t.zip.Close() }

// ReadText calls fn for each page with text, in order, until fn returns an error. If
// there is no usable text, the error wraps fs.ErrNotExist. If there is a text that can't
// be used, the error also wraps ErrPreviewDamaged or ErrPreviewVersion.
func (pr *Previews) ReadText(digest string, fn func(page int, text string) error) error {
	f, err := pr.open(digest, TextFile)
	if err != nil {
		return err
	}
	return errors.Join(readText(f, fn), f.Close())
}

// CheckText verifies the text of a document. It returns nil if the text is intact, or if
// the document can't have a text.
func (pr *Previews) CheckText(digest string) error {
	err := pr.ReadText(digest, func(int, string) error { return nil })
	if errors.Is(err, fs.ErrNotExist) && pr.Has(digest, NoTextFile) {
		return nil
	}
	return err
}

func readText(f io.Reader, fn func(page int, text string) error) error {
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return previewDamaged(err)
	}
	r := bufio.NewReader(z)
	magic := make([]byte, len(textMagic))
	if _, err := io.ReadFull(r, magic); err != nil {
		return previewDamaged(err)
	}
	switch {
	case string(magic) == textMagic:
	case strings.HasPrefix(string(magic), textMagicPrefix):
		return ErrPreviewVersion
	default:
		return ErrPreviewDamaged
	}
	for {
		page, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return previewDamaged(err)
		}
		length, err := binary.ReadUvarint(r)
		if err != nil || length > maxPageText || page > 1<<31 {
			return previewDamaged(err)
		}
		var sum [4]byte
		if _, err := io.ReadFull(r, sum[:]); err != nil {
			return previewDamaged(err)
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(r, text); err != nil {
			return previewDamaged(err)
		}
		if checksum(text) != binary.BigEndian.Uint32(sum[:]) {
			return ErrPreviewDamaged
		}
		if err := fn(int(page), string(text)); err != nil { // bounded above
			return err
		}
	}
}
