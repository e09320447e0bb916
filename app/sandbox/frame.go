package sandbox

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// blockSize is how much of a document travels at once.
const blockSize = 64 << 10

// What one frame carries at most of a picture and of text.
const (
	imageChunkSize = 256 << 10
	maxTextSize    = 1 << 20
)

// Types of frames.
const (
	frameHello      = 'h' // child: build id
	frameSetup      = 's' // parent: what the child runs with
	frameReady      = 'r' // child: its sandbox is closed
	frameTask       = 't' // parent: a document
	frameRead       = 'a' // child: wants parts of the document
	frameData       = 'b' // parent: the parts, one after another
	frameUnreadable = 'l' // parent: they cannot be had
	frameImage      = 'i' // child: what picture comes
	frameImageChunk = 'p' // child: bytes of the picture
	frameText       = 'x' // child: the text of a page
	frameSizes      = 'z' // child: sizes of pages
	frameMarks      = 'm' // child: where a phrase stands on a page
	frameDone       = 'd' // child: the verdict, or the end
	frameError      = 'f' // child: no verdict
)

// maxContent is the greatest content of each type, in bytes. Types that are not
// here do not exist.
var maxContent = map[byte]int{
	frameHello:      1 << 10,
	frameSetup:      8 << 10,
	frameReady:      8 << 10,
	frameTask:       8 << 10,
	frameRead:       rangeSize * maxRanges,
	frameData:       blockSize,
	frameUnreadable: 0,
	frameImage:      1 << 10,
	frameImageChunk: imageChunkSize,
	frameText:       pageNumberSize + maxTextSize,
	frameSizes:      pageSizeSize * maxSizesPerFrame,
	frameMarks:      2 + rectSize*maxRectsPerFrame,
	frameDone:       4 << 10,
	frameError:      4 << 10,
}

// errProtocol says that the other side did not keep to the protocol.
var errProtocol = errors.New("breach of protocol")

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, args...))
}

const headerSize = 5

// readFrame reads one frame. The content is valid until the next call with the
// same buf, which grows as needed. Between frames the end is io.EOF.
func readFrame(r *bufio.Reader, buf *[]byte) (kind byte, content []byte, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	length, kind := int64(binary.BigEndian.Uint32(header[:]))-1, header[4]
	most, known := maxContent[kind]
	if !known {
		return 0, nil, protocolError("frame of type %#x", kind)
	}
	if length < 0 || length > int64(most) {
		return 0, nil, protocolError("frame %q of %d bytes", kind, length)
	}
	if int64(cap(*buf)) < length {
		*buf = make([]byte, length)
	}
	content = (*buf)[:length]
	if _, err := io.ReadFull(r, content); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return kind, content, nil
}

// putHeader writes the header into the first bytes of frame, the rest of which
// is the content.
func putHeader(frame []byte, kind byte) []byte {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-headerSize+1))
	frame[4] = kind
	return frame
}

// writeFrame writes a frame in one piece.
func writeFrame(w io.Writer, kind byte, content []byte) error {
	_, err := w.Write(putHeader(append(make([]byte, headerSize), content...), kind))
	return err
}

func writeMessage(w io.Writer, kind byte, message any) error {
	content, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(content) > maxContent[kind] {
		return protocolError("frame %q of %d bytes", kind, len(content))
	}
	return writeFrame(w, kind, content)
}

// pageNumberSize is the page number, 32 bit, big-endian, that text begins with.
const pageNumberSize = 4

// An ask is for up to 16 parts, each an offset of 64 bit and a length of 32 bit,
// big-endian, and together for at most a block.
const (
	rangeSize = 12
	maxRanges = 16
)

// byteRange is a stretch of a document.
type byteRange struct {
	offset int64
	length int
}

func encodeRead(parts ...byteRange) []byte {
	content := make([]byte, 0, rangeSize*len(parts))
	for _, p := range parts {
		content = binary.BigEndian.AppendUint64(content, uint64(p.offset))
		content = binary.BigEndian.AppendUint32(content, uint32(p.length))
	}
	return content
}

// decodeRead returns the parts of an ask, each of which lies within a document of
// size bytes, and their sum.
func decodeRead(content []byte, size int64) (parts []byteRange, sum int, err error) {
	if len(content) == 0 || len(content)%rangeSize != 0 || len(content) > rangeSize*maxRanges {
		return nil, 0, protocolError("ask of %d bytes", len(content))
	}
	parts = make([]byteRange, 0, maxRanges)
	for ; len(content) > 0; content = content[rangeSize:] {
		at, n := binary.BigEndian.Uint64(content), binary.BigEndian.Uint32(content[8:])
		if n == 0 || n > blockSize || at >= uint64(size) || uint64(n) > uint64(size)-at {
			return nil, 0, protocolError("ask for %d bytes at %d of %d", n, at, size)
		}
		parts = append(parts, byteRange{int64(at), int(n)})
		sum += int(n)
	}
	if sum > blockSize {
		return nil, 0, protocolError("ask for %d bytes", sum)
	}
	return parts, sum, nil
}
