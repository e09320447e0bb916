package blobstore

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
)

// The OCR results of a document are one file, which only grows:
//
//	"deedkeep-ocr-1\n"
//	digest        SHA-256 of the document, 32 bytes
//	checksum      CRC-32C of the digest, big-endian
//
// A record for each page that was read follows, in the order in which they were read:
//
//	page number   4 bytes, big-endian; pages count from 1
//	length        4 bytes, big-endian, of the result
//	checksum      CRC-32C of the page number, the length, and the result, big-endian
//	result        deflated
//
// If there are several records of a page, the last one counts. The end of the file is torn if a
// write was interrupted. A reader ignores everything from the first record that is incomplete
// or damaged, and the next append cuts it off. The pages in it are read again.
const (
	ocrMagic        = "deedkeep-ocr-1\n"
	ocrHeaderSize   = len(ocrMagic) + 32 + crc32.Size
	ocrRecordHeader = 12
	maxOCRRecord    = 16 << 20 // deflated, in bytes
	maxOCRResult    = 64 << 20 // inflated, in bytes
)

// Errors for OCR results that must be read again. They also match fs.ErrNotExist.
var (
	ErrOCRDamaged error = unusablePreviewError("OCR results are damaged")
	ErrOCRVersion error = unusablePreviewError("OCR results are from another version of deedkeep")
)

// OCRPage is the OCR result of one page in the format that app/pagetext defines.
type OCRPage struct {
	Page   int // counts from 1
	Result []byte
}

// ocrRecord is the position of the result of a page in a file.
type ocrRecord struct {
	offset int64
	length int
}

// ocrLayout is what a file contains.
type ocrLayout struct {
	pages map[int]ocrRecord
	end   int64 // after the last intact record; 0 if the header isn't intact
	err   error // why the rest of the file can't be used; nil if there is no rest
}

func ocrHeader(d Digest) []byte {
	header := append([]byte(ocrMagic), d[:]...)
	return binary.BigEndian.AppendUint32(header, checksum(d[:]))
}

// appendOCRRecord appends the record of a page to raw.
func appendOCRRecord(raw []byte, p OCRPage) ([]byte, error) {
	if p.Page < 1 || p.Page > 1<<31-1 || len(p.Result) > maxOCRResult {
		return raw, fmt.Errorf("OCR result of page %d with %d bytes: %w", p.Page, len(p.Result), fs.ErrInvalid)
	}
	var deflated bytes.Buffer
	z, err := flate.NewWriter(&deflated, flate.DefaultCompression)
	if err != nil {
		return raw, err
	}
	if _, err := z.Write(p.Result); err != nil {
		return raw, err
	}
	if err := z.Close(); err != nil {
		return raw, err
	}
	if deflated.Len() > maxOCRRecord {
		return raw, fmt.Errorf("OCR result of page %d with %d bytes: %w", p.Page, len(p.Result), fs.ErrInvalid)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(p.Page))           // bounded above
	header = binary.BigEndian.AppendUint32(header, uint32(deflated.Len())) // bounded above
	sum := crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, deflated.Bytes())
	raw = binary.BigEndian.AppendUint32(append(raw, header...), sum)
	return append(raw, deflated.Bytes()...), nil
}

// scanOCR finds the intact records of a file that has the digest d. The error is an error of
// the disk.
func scanOCR(r io.Reader, d Digest) (ocrLayout, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	layout := ocrLayout{pages: map[int]ocrRecord{}}
	header := make([]byte, ocrHeaderSize)
	n, err := io.ReadFull(in, header)
	switch {
	case err != nil && !isShortRead(err):
		return layout, err
	case bytes.Equal(header, ocrHeader(d)):
	case bytes.HasPrefix(header[:n], []byte("deedkeep-ocr-")) && n >= len(ocrMagic) && string(header[:len(ocrMagic)]) != ocrMagic:
		layout.err = ErrOCRVersion
		return layout, nil
	default:
		layout.err = ErrOCRDamaged
		return layout, nil
	}
	layout.end = int64(ocrHeaderSize)
	record := make([]byte, ocrRecordHeader)
	for {
		if n, err := io.ReadFull(in, record); err != nil {
			if n > 0 {
				layout.err = ErrOCRDamaged
			}
			return layout, ignoreShortRead(err)
		}
		page, length := binary.BigEndian.Uint32(record), binary.BigEndian.Uint32(record[4:])
		if page == 0 || page > 1<<31-1 || length > maxOCRRecord {
			layout.err = ErrOCRDamaged
			return layout, nil
		}
		sum := crc32.New(castagnoli)
		_, _ = sum.Write(record[:8]) // a hash returns no errors
		if _, err := io.CopyN(sum, in, int64(length)); err != nil {
			layout.err = ErrOCRDamaged
			return layout, ignoreShortRead(err)
		}
		if sum.Sum32() != binary.BigEndian.Uint32(record[8:]) {
			layout.err = ErrOCRDamaged
			return layout, nil
		}
		layout.pages[int(page)] = ocrRecord{layout.end + ocrRecordHeader, int(length)}
		layout.end += ocrRecordHeader + int64(length)
	}
}

func isShortRead(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func ignoreShortRead(err error) error {
	if isShortRead(err) {
		return nil
	}
	return err
}

// inflateOCR returns the result in a record.
func inflateOCR(r io.ReaderAt, at ocrRecord) ([]byte, error) {
	z := flate.NewReader(io.NewSectionReader(r, at.offset, int64(at.length)))
	result, err := io.ReadAll(io.LimitReader(z, maxOCRResult+1))
	if err == nil && len(result) > maxOCRResult {
		err = ErrOCRDamaged
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || isShortRead(err) {
		err = fmt.Errorf("%w: %w", ErrOCRDamaged, err)
	}
	return result, err
}
