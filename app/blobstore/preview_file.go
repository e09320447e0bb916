package blobstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Page images, thumbnails, and page sizes begin with a header:
//
//	"deedkeep-derived-1\n"
//	checksum   CRC-32C of the rest of the file, big-endian
//
// Texts have their own checksums (text.go), and no-text is empty. Files written by
// earlier versions have no header and no checksum, so damage to them would go unnoticed.
// They count as missing and are rebuilt on demand.
const previewMagic = "deedkeep-derived-1\n"

// previewMagicPrefix is the start of previewMagic in every version.
const previewMagicPrefix = "deedkeep-derived-"

const previewHeaderSize = len(previewMagic) + crc32.Size

// unusablePreviewError is the error for a file that can't be used. errors.Is also matches
// it with fs.ErrNotExist, so callers rebuild the file as if it were missing.
type unusablePreviewError string

func (u unusablePreviewError) Error() string { return string(u) }

func (u unusablePreviewError) Is(target error) bool { return target == fs.ErrNotExist }

// Errors for a file that must be rebuilt. They always match fs.ErrNotExist, too.
var (
	ErrPreviewDamaged error = unusablePreviewError("preview or text file is damaged")
	ErrPreviewVersion error = unusablePreviewError("preview or text file is from another version of deedkeep")
)

func previewDamaged(err error) error {
	if err == nil {
		return ErrPreviewDamaged
	}
	return fmt.Errorf("%w: %w", ErrPreviewDamaged, err)
}

// hasHeader reports whether a file of this name has a header.
func hasHeader(name string) bool { return name != TextFile && name != NoTextFile }

// PreviewFile is an open page image, thumbnail, or list of page sizes. Open verified all
// of its bytes.
type PreviewFile struct {
	*io.SectionReader // the content, without the header
	file              *os.File
}

// Close closes the file.
func (f *PreviewFile) Close() error { return f.file.Close() }

// verifyHeader verifies the header of a file and the checksum in it. It returns the
// content after the header.
func verifyHeader(f *os.File, size int64) (*io.SectionReader, error) {
	header := make([]byte, previewHeaderSize)
	n, err := f.ReadAt(header, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, previewDamaged(err)
	}
	switch {
	case bytes.HasPrefix(header, []byte(previewMagic)) && n == previewHeaderSize:
	case bytes.HasPrefix(header, []byte(previewMagicPrefix)), predatesHeader(header[:n]):
		return nil, ErrPreviewVersion
	default:
		return nil, ErrPreviewDamaged
	}
	body := io.NewSectionReader(f, int64(previewHeaderSize), size-int64(previewHeaderSize))
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, body); err != nil {
		return nil, previewDamaged(err)
	}
	if sum.Sum32() != binary.BigEndian.Uint32(header[len(previewMagic):]) {
		return nil, ErrPreviewDamaged
	}
	_, err = body.Seek(0, io.SeekStart)
	return body, err
}

// predatesHeader reports whether a file was written by a version that didn't write
// headers. Such a file starts like an image, or like page sizes in JSON.
func predatesHeader(start []byte) bool {
	for _, prefix := range []string{"\x89PNG", "\xff\xd8\xff", "[{"} {
		if bytes.HasPrefix(start, []byte(prefix)) {
			return true
		}
	}
	return false
}

// writeWithHeader writes a header, followed by the output of write.
func writeWithHeader(f *os.File, write func(io.Writer) error) error {
	if _, err := f.Write(make([]byte, previewHeaderSize)); err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	if err := write(io.MultiWriter(f, sum)); err != nil {
		return err
	}
	_, err := f.WriteAt(binary.BigEndian.AppendUint32([]byte(previewMagic), sum.Sum32()), 0)
	return err
}

// PreviewHealth counts the files of a document that must be rebuilt.
type PreviewHealth struct {
	OtherVersion, Damaged int  // number of files
	TextAffected          bool // the text must be rebuilt
}

// Check reads all files of a document and counts those that must be rebuilt. It returns
// an error if a file can't be read, but not if its content is damaged.
func (pr *Previews) Check(digest string) (h PreviewHealth, err error) {
	folder, err := pr.dirOf(digest)
	if err != nil {
		return h, err
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	var failed error
	for _, e := range entries {
		err := pr.check(digest, e.Name())
		var disk *fs.PathError
		switch {
		case errors.As(err, &disk) && !errors.Is(disk, fs.ErrNotExist):
			failed = errors.Join(failed, fmt.Errorf("%s: %w", filepath.Join(folder, e.Name()), disk.Err))
			continue
		case errors.Is(err, ErrPreviewVersion):
			h.OtherVersion++
		case errors.Is(err, ErrPreviewDamaged):
			h.Damaged++
		default: // intact, empty, or removed
			continue
		}
		h.TextAffected = h.TextAffected || e.Name() == TextFile
	}
	return h, failed
}

func (pr *Previews) check(digest, name string) error {
	switch {
	case name == TextFile:
		return pr.ReadText(digest, func(int, string) error { return nil })
	case name == ThumbnailFile, name == PageSizesFile, strings.HasPrefix(name, pagePrefix):
		f, err := pr.open(digest, name)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return nil
}
