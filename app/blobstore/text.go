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

// The text of a document is a gzip stream of its pages in order, pages without text
// left out:
//
//	"deedkeep-text-3\n"
//	page number   uvarint
//	length        uvarint, bytes
//	checksum      CRC-32C of the text, big-endian
//	text          UTF-8
//	…             until the end of the stream
//
// The checksum of gzip comes after the last page, when the first ones have long
// been given away.
const textMagic = "deedkeep-text-3\n"

// textStem begins every form of textMagic. A text of another form is rebuilt.
const textStem = "deedkeep-text-"

func checksum(text []byte) uint32 { return crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)) }

// mostText bounds what is believed of a length.
const mostText = 64 << 20

// TextWriter writes the text of a document, page by page.
type TextWriter struct {
	zip   *gzip.Writer
	pages int
	bytes int64
}

// NewTextWriter begins a text; Close ends it.
func NewTextWriter(w io.Writer) (*TextWriter, error) {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(z, textMagic)
	return &TextWriter{zip: z}, err
}

// Page writes the text of a page; an empty one is left out.
func (t *TextWriter) Page(page int, text string) error {
	if text == "" {
		return nil
	}
	head := binary.AppendUvarint(nil, uint64(page)) // #nosec G115 -- pages count from 1
	head = binary.AppendUvarint(head, uint64(len(text)))
	head = binary.BigEndian.AppendUint32(head, checksum([]byte(text)))
	if _, err := t.zip.Write(head); err != nil {
		return err
	}
	t.pages, t.bytes = t.pages+1, t.bytes+int64(len(text))
	_, err := io.WriteString(t.zip, text)
	return err
}

// Bytes is how much text was written.
func (t *TextWriter) Bytes() int64 { return t.bytes }

// Close ends the text; the writer below stays open.
func (t *TextWriter) Close() error { return t.zip.Close() }

// ReadText calls fn for each page with text, in order, until fn returns an error.
// fs.ErrNotExist when there is no text file, and with it ErrPreviewDamaged or ErrPreviewVersion when
// there is one of no use.
func (s *Previews) ReadText(digest string, fn func(page int, text string) error) error {
	f, err := s.open(digest, TextFile)
	if err != nil {
		return err
	}
	return errors.Join(readText(f, fn), f.Close())
}

// CheckText is ReadText without the pages: nil where all of the text is there, or where
// it is known that there can be none.
func (s *Previews) CheckText(digest string) error {
	err := s.ReadText(digest, func(int, string) error { return nil })
	if errors.Is(err, fs.ErrNotExist) && s.Has(digest, NoTextFile) {
		return nil
	}
	return err
}

func readText(f io.Reader, fn func(page int, text string) error) error {
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return damaged(err)
	}
	r := bufio.NewReader(z)
	magic := make([]byte, len(textMagic))
	if _, err := io.ReadFull(r, magic); err != nil {
		return damaged(err)
	}
	switch {
	case string(magic) == textMagic:
	case strings.HasPrefix(string(magic), textStem):
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
			return damaged(err)
		}
		length, err := binary.ReadUvarint(r)
		if err != nil || length > mostText || page > 1<<31 {
			return damaged(err)
		}
		var sum [4]byte
		if _, err := io.ReadFull(r, sum[:]); err != nil {
			return damaged(err)
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(r, text); err != nil {
			return damaged(err)
		}
		if checksum(text) != binary.BigEndian.Uint32(sum[:]) {
			return ErrPreviewDamaged
		}
		if err := fn(int(page), string(text)); err != nil { // #nosec G115 -- bounded above
			return err
		}
	}
}
