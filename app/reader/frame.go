package reader

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

// Types of frames.
const (
	frameHello = 'h' // child: build id
	frameSetup = 's' // parent: what the child runs with
	frameTask  = 't' // parent: a document
	frameAsk   = 'a' // child: wants a block
	frameBlock = 'b' // parent: the block
	frameLost  = 'l' // parent: the block cannot be had
	frameDone  = 'd' // child: the verdict
	frameFault = 'f' // child: no verdict
)

// longest is the greatest content of each type, in bytes. Types that are not
// here do not exist.
var longest = map[byte]int{
	frameHello: 1 << 10,
	frameSetup: 8 << 10,
	frameTask:  8 << 10,
	frameAsk:   askSize,
	frameBlock: blockSize,
	frameLost:  0,
	frameDone:  4 << 10,
	frameFault: 4 << 10,
}

// errBreach says that the other side did not keep to the protocol.
var errBreach = errors.New("breach of protocol")

func breach(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errBreach, fmt.Sprintf(format, args...))
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
	most, known := longest[kind]
	if !known {
		return 0, nil, breach("frame of type %#x", kind)
	}
	if length < 0 || length > int64(most) {
		return 0, nil, breach("frame %q of %d bytes", kind, length)
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

// sealFrame writes the header into the first bytes of frame, the rest of which
// is the content.
func sealFrame(frame []byte, kind byte) []byte {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-headerSize+1))
	frame[4] = kind
	return frame
}

// writeFrame writes a frame in one piece.
func writeFrame(w io.Writer, kind byte, content []byte) error {
	_, err := w.Write(sealFrame(append(make([]byte, headerSize), content...), kind))
	return err
}

func writeMessage(w io.Writer, kind byte, message any) error {
	content, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(content) > longest[kind] {
		return breach("frame %q of %d bytes", kind, len(content))
	}
	return writeFrame(w, kind, content)
}

const askSize = 12

// encodeAsk: offset 64 bit, length 32 bit, big-endian.
func encodeAsk(offset int64, length int) []byte {
	content := make([]byte, askSize)
	binary.BigEndian.PutUint64(content, uint64(offset))
	binary.BigEndian.PutUint32(content[8:], uint32(length))
	return content
}

// decodeAsk returns an ask that lies within a document of size bytes.
func decodeAsk(content []byte, size int64) (offset int64, length int, err error) {
	if len(content) != askSize {
		return 0, 0, breach("ask of %d bytes", len(content))
	}
	at, n := binary.BigEndian.Uint64(content), binary.BigEndian.Uint32(content[8:])
	if n == 0 || n > blockSize || at >= uint64(size) || uint64(n) > uint64(size)-at {
		return 0, 0, breach("ask for %d bytes at %d of %d", n, at, size)
	}
	return int64(at), int(n), nil
}
