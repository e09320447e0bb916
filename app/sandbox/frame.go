package sandbox

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// blockSize is the maximum number of document bytes in one frame.
const blockSize = 64 << 10

// Maximum number of image or text bytes in one frame.
const (
	imageChunkSize = 256 << 10
	maxTextSize    = 1 << 20
)

// Frame types. The comments name the sender.
const (
	frameHello      = 'h' // worker: build ID
	frameSetup      = 's' // parent: settings of the worker
	frameReady      = 'r' // worker: protections are in place
	frameTask       = 't' // parent: task for one document
	frameRead       = 'a' // worker: requests ranges of the document
	frameData       = 'b' // parent: the requested ranges, one after another
	frameUnreadable = 'l' // parent: the requested ranges can't be read
	frameImage      = 'i' // worker: header of an image
	frameImageChunk = 'p' // worker: bytes of the image
	frameText       = 'x' // worker: text of a page
	frameSizes      = 'z' // worker: page sizes
	frameMarks      = 'm' // worker: rectangles of a phrase on one page
	frameRows       = 'w' // worker: rows of a runsheet
	frameWords      = 'o' // worker: words of one page
	frameFile       = 'c' // worker: bytes of a file
	frameDone       = 'd' // worker: report, or end of the result
	frameError      = 'f' // worker: the task failed
)

// maxContent is the maximum content size of each frame type, in bytes. Types that aren't listed are
// invalid.
var maxContent = map[byte]int{
	frameHello:      1 << 10,
	frameSetup:      8 << 10,
	frameReady:      64 << 10,
	frameTask:       512 << 10, // with the pages of the parts of a new document
	frameRead:       rangeSize * maxRanges,
	frameData:       blockSize,
	frameUnreadable: 0,
	frameImage:      1 << 10,
	frameImageChunk: imageChunkSize,
	frameText:       pageNumberSize + maxTextSize,
	frameSizes:      512 << 10,
	frameMarks:      512 << 10,
	frameRows:       maxRowsFrame,
	frameWords:      512 << 10,
	frameFile:       fileChunkSize,
	frameDone:       4 << 10,
	frameError:      4 << 10,
}

// errProtocol reports that the other side violated the protocol.
var errProtocol = errors.New("worker protocol violation")

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, args...))
}

const headerSize = 5

// readFrame reads one frame. The content is stored in buf, which grows as needed, so it is valid
// only until the next call with the same buf. If the input ends between two frames, the error is
// io.EOF.
func readFrame(r *bufio.Reader, buf *[]byte) (kind byte, content []byte, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	length, kind := int64(binary.BigEndian.Uint32(header[:]))-1, header[4]
	limit, known := maxContent[kind]
	if !known {
		return 0, nil, protocolError("invalid frame type %#x", kind)
	}
	if length < 0 || length > int64(limit) {
		return 0, nil, protocolError("frame %q has an invalid size of %d bytes", kind, length)
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

// putHeader writes a header into the first bytes of frame and returns frame. The rest of frame is
// the content.
func putHeader(frame []byte, kind byte) []byte {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-headerSize+1))
	frame[4] = kind
	return frame
}

// writeFrame writes a frame with a single call to Write.
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
		return protocolError("frame %q has an invalid size of %d bytes", kind, len(content))
	}
	return writeFrame(w, kind, content)
}

// readMessage reads a frame of the wanted type into buf and decodes its content, which is JSON.
func readMessage(r *bufio.Reader, buf *[]byte, want byte, message any) error {
	kind, content, err := readFrame(r, buf)
	if err != nil {
		return err
	}
	if kind != want {
		return protocolError("got frame %q, expected %q", kind, want)
	}
	return decode(content, message)
}

// pageNumberSize is the size of the page number that precedes a page's text: 32 bits, big-endian.
const pageNumberSize = 4

// A read requests up to 16 ranges, each a 64-bit offset and a 32-bit length, big-endian. Together
// they cover at most blockSize bytes.
const (
	rangeSize = 12
	maxRanges = 16
)

// byteRange is a range of bytes in a document.
type byteRange struct {
	offset int64
	length int
}

func encodeRead(ranges ...byteRange) []byte {
	content := make([]byte, 0, rangeSize*len(ranges))
	for _, p := range ranges {
		content = binary.BigEndian.AppendUint64(content, uint64(p.offset))
		content = binary.BigEndian.AppendUint32(content, uint32(p.length))
	}
	return content
}

// decodeRead returns the ranges of a read and their total length. It returns an error if a range
// extends beyond the document, which has size bytes.
func decodeRead(content []byte, size int64) (ranges []byteRange, sum int, err error) {
	if len(content) == 0 || len(content)%rangeSize != 0 || len(content) > rangeSize*maxRanges {
		return nil, 0, protocolError("read request has an invalid size of %d bytes", len(content))
	}
	ranges = make([]byteRange, 0, maxRanges)
	for ; len(content) > 0; content = content[rangeSize:] {
		at, n := binary.BigEndian.Uint64(content), binary.BigEndian.Uint32(content[8:])
		if n == 0 || n > blockSize || at >= uint64(size) || uint64(n) > uint64(size)-at {
			return nil, 0, protocolError("invalid read request: %d bytes at offset %d of %d", n, at, size)
		}
		ranges = append(ranges, byteRange{int64(at), int(n)})
		sum += int(n)
	}
	if sum > blockSize {
		return nil, 0, protocolError("read request for too many bytes: %d", sum)
	}
	return ranges, sum, nil
}
