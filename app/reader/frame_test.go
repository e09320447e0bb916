package reader

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"deedkeep/app/inspect"
)

func TestFrameRoundTrip(t *testing.T) {
	var pipe bytes.Buffer
	for kind, most := range longest {
		for _, n := range []int{0, most} {
			if err := writeFrame(&pipe, kind, bytes.Repeat([]byte{7}, n)); err != nil {
				t.Fatal(err)
			}
			var buf []byte
			got, content, err := readFrame(bufio.NewReader(&pipe), &buf)
			if err != nil || got != kind || len(content) != n {
				t.Errorf("%q of %d bytes came back as %q of %d, %v", kind, n, got, len(content), err)
			}
		}
	}
}

func TestBadFrames(t *testing.T) {
	for _, c := range []struct {
		name, bytes string
		want        error
	}{
		{"nothing", "", io.EOF},
		{"half a header", "\x00\x00\x00", io.ErrUnexpectedEOF},
		{"no content", "\x00\x00\x00\x05d", io.ErrUnexpectedEOF},
		{"half the content", "\x00\x00\x00\x05d{}", io.ErrUnexpectedEOF},
		{"length zero", "\x00\x00\x00\x00d", errBreach},
		{"too long", "\x00\x00\x10\x02d", errBreach},
		{"greatest length", "\xff\xff\xff\xffd", errBreach},
		{"unknown type", "\x00\x00\x00\x01x", errBreach},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf []byte
			_, _, err := readFrame(bufio.NewReader(strings.NewReader(c.bytes)), &buf)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if len(buf) > blockSize {
				t.Errorf("made room for %d bytes", len(buf))
			}
		})
	}
}

// frames joins frames as a child would write them.
func frames(parts ...any) []byte {
	var pipe bytes.Buffer
	for i := 0; i < len(parts); i += 2 {
		must(writeFrame(&pipe, parts[i].(byte), parts[i+1].([]byte)))
	}
	return pipe.Bytes()
}

// FuzzTalk gives the parent any bytes at all from a child: it must neither
// panic nor hand out what is not plain, and every block it sends lies within
// the document.
func FuzzTalk(f *testing.F) {
	f.Add(frames(byte(frameDone), []byte(`{"mime":"application/pdf","pages":3}`)))
	f.Add(frames(byte(frameFault), []byte(`{"text":"no engine","retire":true}`)))
	f.Add(frames(byte(frameAsk), encodeAsk(0, 10), byte(frameDone), []byte(`{"refusal":"no"}`)))
	f.Add(frames(byte(frameAsk), encodeAsk(90_000, blockSize)))
	f.Add(frames(byte(frameHello), []byte(`{}`)))
	f.Add([]byte("\x00\x00\x00\x05d{"))
	const size = 100_000
	doc := bytes.NewReader(make([]byte, size))
	f.Fuzz(func(t *testing.T, child []byte) {
		var sent bytes.Buffer
		report, _, err := talk(&sent, bufio.NewReader(bytes.NewReader(child)), doc, task{Task: taskInspect, Size: size})
		if err != nil && report != (inspect.Report{}) {
			t.Errorf("%+v with %v", report, err)
		}
		if !plain(report.Refusal) || !plain(report.MIME) || (report.Pages != nil && *report.Pages < 0) {
			t.Errorf("%+v", report)
		}
		if sent.Len() > 1<<10+len(child)*blockSize {
			t.Errorf("sent %d bytes for %d", sent.Len(), len(child))
		}
	})
}

// answering is a parent that answers asks for a document within the process.
type answering struct {
	t    *testing.T
	doc  []byte
	asks int
	in   bytes.Buffer
}

func (a *answering) Write(frame []byte) (int, error) {
	a.asks++
	offset, length, err := decodeAsk(frame[headerSize:], int64(len(a.doc)))
	if err != nil {
		a.t.Error(err)
	}
	must(writeFrame(&a.in, frameBlock, a.doc[offset:offset+int64(length)]))
	return len(frame), nil
}

func TestBlocks(t *testing.T) {
	doc := make([]byte, (keptBlocks+2)*blockSize+100)
	for i := range doc {
		doc[i] = byte(i / 251)
	}
	parent := &answering{t: t, doc: doc}
	b := newBlocks(parent, bufio.NewReader(&parent.in), int64(len(doc)))
	for _, c := range []struct {
		name         string
		offset, size int
		asks         int
		err          error
	}{
		{"first block", 0, 10, 1, nil},
		{"kept", 100, blockSize - 100, 0, nil},
		{"over a border", blockSize - 5, 10, 1, nil},
		{"last, short block", len(doc) - 100, 100, 1, nil},
		{"over the end", len(doc) - 50, 100, 0, io.EOF},
		{"at the end", len(doc), 1, 0, io.EOF},
		{"everything", 0, len(doc), keptBlocks + 1, nil}, // the last one is gone when its turn comes
		{"the first is forgotten", 0, 1, 1, nil},
		{"the last is kept", len(doc) - 1, 1, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			parent.asks = 0
			p := make([]byte, c.size)
			n, err := b.ReadAt(p, int64(c.offset))
			if !errors.Is(err, c.err) || !bytes.Equal(p[:n], doc[c.offset:c.offset+n]) || (err == nil && n != c.size) {
				t.Errorf("%d bytes, %v", n, err)
			}
			if parent.asks != c.asks {
				t.Errorf("%d asks, want %d", parent.asks, c.asks)
			}
		})
	}
	if _, err := b.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read before the start")
	}
}

func TestPrintable(t *testing.T) {
	for _, s := range []string{"", "plain", "a\x00b\x1b", "\xff\xfe", strings.Repeat("é", longestText), "bidi \u202e"} {
		if got := printable(s); !plain(got) {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	ok := []byte(`{}`)
	for _, c := range []struct {
		name string
		in   []byte
		want error
	}{
		{"end at once", nil, nil},
		{"task before setup", frames(byte(frameTask), ok), errBreach},
		{"setup that is no JSON", frames(byte(frameSetup), []byte("x")), errBreach},
		{"half a frame", []byte("\x00\x00"), io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := serve(t.Context(), bytes.NewReader(c.in), io.Discard, nil)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
