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

// A picture, and the sizes of the pages, follow a head:
//
//	"deedkeep-derived-1\n"
//	checksum   CRC-32C of all that follows, big-endian
//
// A text has checksums of its own (text.go), and no-text says all by its name. Pictures
// of versions before this form have no head. They carry no checksum either, so that
// nothing tells a damaged one: they count as absent, and are rebuilt when they are needed.
const fileMagic = "deedkeep-derived-1\n"

// magicStem begins every form of fileMagic.
const magicStem = "deedkeep-derived-"

const headSize = len(fileMagic) + crc32.Size

// absent is the error of a derived file that is of no use. It is fs.ErrNotExist too: the
// file is to be rebuilt as if it were missing.
type absent string

func (a absent) Error() string { return string(a) }

func (a absent) Is(target error) bool { return target == fs.ErrNotExist }

// Both are in the chain of an error about a derived file that is to be rebuilt, and so is
// fs.ErrNotExist.
var (
	ErrPreviewDamaged error = absent("derived file is damaged")
	ErrPreviewVersion error = absent("derived file is from another version")
)

func damaged(err error) error {
	if err == nil {
		return ErrPreviewDamaged
	}
	return fmt.Errorf("%w: %w", ErrPreviewDamaged, err)
}

// sealed reports whether a file of the name has a head.
func sealed(name string) bool { return name != TextFile && name != NoTextFile }

// PreviewFile is an open derived file, of which every byte was checked when it was opened.
type PreviewFile struct {
	*io.SectionReader // what was written, without the head
	file              *os.File
}

// Close ends the use of the file.
func (f *PreviewFile) Close() error { return f.file.Close() }

// unseal checks a file against its head and gives what follows that.
func unseal(f *os.File, size int64) (*io.SectionReader, error) {
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, damaged(err)
	}
	switch {
	case bytes.HasPrefix(head, []byte(fileMagic)) && n == headSize:
	case bytes.HasPrefix(head, []byte(magicStem)), unheaded(head[:n]):
		return nil, ErrPreviewVersion
	default:
		return nil, ErrPreviewDamaged
	}
	body := io.NewSectionReader(f, int64(headSize), size-int64(headSize))
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(sum, body); err != nil {
		return nil, damaged(err)
	}
	if sum.Sum32() != binary.BigEndian.Uint32(head[len(fileMagic):]) {
		return nil, ErrPreviewDamaged
	}
	_, err = body.Seek(0, io.SeekStart)
	return body, err
}

// unheaded reports the beginning of a file from before there were heads: a picture as it
// was sent, or the sizes as JSON.
func unheaded(head []byte) bool {
	for _, begin := range []string{"\x89PNG", "\xff\xd8\xff", "[{"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	return false
}

// seal writes a head and then what write does.
func seal(f *os.File, write func(io.Writer) error) error {
	if _, err := f.Write(make([]byte, headSize)); err != nil {
		return err
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if err := write(io.MultiWriter(f, sum)); err != nil {
		return err
	}
	_, err := f.WriteAt(binary.BigEndian.AppendUint32([]byte(fileMagic), sum.Sum32()), 0)
	return err
}

// PreviewHealth tells of the derived files of a document that are there and are to be rebuilt.
type PreviewHealth struct {
	OtherVersion, Damaged int  // files from another version, and damaged ones
	TextAffected          bool // its text is among them
}

// Check reads all derived files of a document. The error is of reading them, never about
// what they hold.
func (s *Previews) Check(digest string) (h PreviewHealth, err error) {
	folder, err := s.folder(digest)
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
		err := s.check(digest, e.Name())
		var disk *fs.PathError
		switch {
		case errors.As(err, &disk) && !errors.Is(disk, fs.ErrNotExist):
			failed = errors.Join(failed, fmt.Errorf("%s: %w", filepath.Join(folder, e.Name()), disk.Err))
			continue
		case errors.Is(err, ErrPreviewVersion):
			h.OtherVersion++
		case errors.Is(err, ErrPreviewDamaged):
			h.Damaged++
		default: // it is sound, empty, or was dropped
			continue
		}
		h.TextAffected = h.TextAffected || e.Name() == TextFile
	}
	return h, failed
}

func (s *Previews) check(digest, name string) error {
	switch {
	case name == TextFile:
		return s.ReadText(digest, func(int, string) error { return nil })
	case name == ThumbnailFile, name == PageSizesFile, strings.HasPrefix(name, pagePrefix):
		f, err := s.open(digest, name)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return nil
}
