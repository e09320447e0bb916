package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"deedkeep/app/document"
)

func TestFrameRoundTrip(t *testing.T) {
	var pipe bytes.Buffer
	for kind, most := range maxContent {
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
		{"length zero", "\x00\x00\x00\x00d", errProtocol},
		{"too long", "\x00\x00\x10\x02d", errProtocol},
		{"greatest length", "\xff\xff\xff\xffd", errProtocol},
		{"unknown type", "\x00\x00\x00\x01?", errProtocol},
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

// FuzzTalk gives the parent any bytes at all from a child, whatever it was asked
// for: it must neither panic nor hand out what is not plain, and every block it
// sends lies within the document.
func FuzzTalk(f *testing.F) {
	f.Add(frames(byte(frameDone), []byte(`{"mime":"application/pdf","pages":3}`)))
	f.Add(frames(byte(frameError), []byte(`{"text":"no engine","retire":true}`)))
	f.Add(frames(byte(frameError), []byte(`{"kind":"damaged","text":"no end"}`)))
	f.Add(frames(byte(frameRead), encodeRead(byteRange{0, 10}), byte(frameDone), []byte(`{"refusal":"no"}`)))
	f.Add(frames(byte(frameRead), encodeRead(byteRange{90_000, blockSize})))
	f.Add(frames(byte(frameRead), encodeRead(byteRange{0, unitSize}, byteRange{50_000, unitSize}, byteRange{99_999, 1}), byte(frameDone), []byte(`{}`)))
	f.Add(frames(byte(frameHello), []byte(`{}`)))
	f.Add([]byte("\x00\x00\x00\x05d{"))
	f.Add([]byte(head(`"image/png"`, 10, 10, 24) + frame(frameImageChunk, png(10, 10)) + frame(frameDone, "{}")))
	f.Add([]byte(page(1, "x\n") + page(2, "y") + frame(frameDone, "{}")))
	for _, table := range []map[string]string{badFrames, badPictures, badTexts} {
		for _, bad := range table {
			f.Add([]byte(bad))
		}
	}
	f.Fuzz(func(t *testing.T, child []byte) {
		fuzzVerdict(t, child)
		fuzzPicture(t, child)
		fuzzText(t, child)
	})
}

// fuzzTalk has a task done by a child that says what is given.
func fuzzTalk(t *testing.T, child []byte, kind string, a result) error {
	const size = 100_000
	var sent bytes.Buffer
	a.reset()
	_, err := runTask(&sent, bufio.NewReader(bytes.NewReader(child)), bytes.NewReader(make([]byte, size)), task{Task: kind, Size: size}, a)
	if sent.Len() > 1<<10+len(child)*blockSize {
		t.Errorf("sent %d bytes for %d", sent.Len(), len(child))
	}
	return err
}

func fuzzVerdict(t *testing.T, child []byte) {
	a := &reportResult{}
	err := fuzzTalk(t, child, taskInspect, a)
	report := a.report
	if err != nil && report != (document.Report{}) {
		t.Errorf("%+v with %v", report, err)
	}
	if !isPrintable(report.Rejection) || !isPrintable(report.MIME) || (report.Pages != nil && *report.Pages < 0) {
		t.Errorf("%+v", report)
	}
	if err != nil && IsDocumentError(err) {
		t.Errorf("a finding instead of a verdict: %v", err)
	}
}

func fuzzPicture(t *testing.T, child []byte) {
	a := &imageResult{width: 100}
	if err := fuzzTalk(t, child, taskPicture, a); err != nil {
		return
	}
	p := a.picture()
	if p.Width < 1 || p.Width > 100 || p.Height < 1 || len(p.Bytes) > len(child) || (p.MIME != mimePNG && p.MIME != mimeJPEG) {
		t.Errorf("%s, %d by %d, %d bytes", p.MIME, p.Width, p.Height, len(p.Bytes))
	}
}

func fuzzText(t *testing.T, child []byte) {
	last, sum := -1, 0
	a := &textResult{lim: document.ExtractLimits{MaxPages: 10, MaxPageTextBytes: 100, MaxTextBytes: 200}, lastEmitted: -1}
	a.pauseDeadline = func(work func() error) error { return work() }
	a.emit = func(page int, text string) error {
		sum += len(text)
		if page <= last || page > 10 || len(text) > 100 || sum > 200 || !isCleanText([]byte(text)) {
			t.Errorf("page %d after %d: %q", page, last, text)
		}
		last = page
		return nil
	}
	_ = fuzzTalk(t, child, taskText, a) // right or wrong, what came is checked above
}

// TestAsksWithoutEnd: small asks count as much as honest ones.
func TestAsksWithoutEnd(t *testing.T) {
	c := &exchange{w: io.Discard, doc: strings.NewReader("0123456789"), size: 10, budget: 3 * minReadCost}
	for n := range 4 {
		err := c.handleRead(encodeRead(byteRange{0, 1}))
		if (err != nil) != (n == 3) {
			t.Errorf("ask %d: %v", n, err)
		}
	}
	if honest := readBudget(100 << 20); honest < 3<<30 {
		t.Errorf("a document of 100 MiB may be read in all for %d bytes", honest)
	}
}

// answering is a parent that answers asks for a document within the process.
type answering struct {
	t     *testing.T
	doc   []byte
	asks  int
	bytes int
	in    bytes.Buffer
}

func (a *answering) Write(frame []byte) (int, error) {
	parts, sum, err := decodeRead(frame[headerSize:], int64(len(a.doc)))
	if err != nil {
		a.t.Error(err)
	}
	a.asks++
	a.bytes += sum
	var content []byte
	for _, p := range parts {
		content = append(content, a.doc[p.offset:][:p.length]...)
	}
	must(writeFrame(&a.in, frameData, content))
	return len(frame), nil
}

// ramp is a document whose every part looks different.
func ramp(size int) []byte {
	doc := make([]byte, size)
	for i := range doc {
		doc[i] = byte(i / 251)
	}
	return doc
}

type readRow struct {
	name         string
	offset, size int
	asks, bytes  int
	err          error
}

func readRows(t *testing.T, doc []byte, rows []readRow) {
	parent := &answering{t: t, doc: doc}
	b := newRemoteDoc(parent, bufio.NewReader(&parent.in), int64(len(doc)))
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			parent.asks, parent.bytes = 0, 0
			p := make([]byte, c.size)
			n, err := b.ReadAt(p, int64(c.offset))
			if !errors.Is(err, c.err) || !bytes.Equal(p[:n], doc[c.offset:c.offset+n]) || (err == nil && n != c.size) {
				t.Errorf("%d bytes, %v", n, err)
			}
			if parent.asks != c.asks || parent.bytes != c.bytes {
				t.Errorf("%d asks for %d bytes, want %d for %d", parent.asks, parent.bytes, c.asks, c.bytes)
			}
			if b.lru.Len() > maxCachedUnits || len(b.cached) != b.lru.Len() {
				t.Errorf("keeps %d units, knows %d", b.lru.Len(), len(b.cached))
			}
		})
	}
	if _, err := b.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read before the start")
	}
}

func TestBlocks(t *testing.T) {
	const size = maxCachedUnits*unitSize + 2*blockSize + 100
	readRows(t, ramp(size), []readRow{
		{"one unit", 0, 10, 1, unitSize, nil},
		{"kept", 100, unitSize - 100, 0, 0, nil},
		{"goes on: two", unitSize + 5, 10, 1, 2 * unitSize, nil},
		{"goes on: four", 3 * unitSize, 10, 1, 4 * unitSize, nil},
		{"goes on: eight", 7*unitSize - 5, 10, 1, 8 * unitSize, nil},
		{"goes on: a block", 15 * unitSize, 10, 1, blockSize, nil},
		{"goes on: not more", 31 * unitSize, 10, 1, blockSize, nil},
		{"far away", 100 * unitSize, 10, 1, unitSize, nil},
		{"over a border there", 102*unitSize - 5, 10, 1, 2 * unitSize, nil},
		{"just before", 99 * unitSize, 10, 1, unitSize, nil},
		{"up to what is kept", 97 * unitSize, 3 * unitSize, 1, 2 * unitSize, nil},
		{"a long read at once", 200 * unitSize, blockSize, 1, blockSize, nil},
		{"last, short unit", size - 100, 100, 1, 100, nil},
		{"over the end", size - 50, 100, 0, 0, io.EOF},
		{"at the end", size, 1, 0, 0, io.EOF},
	})
}

// TestBlocksAhead: steps of one length are foreseen, more of them the longer they
// last, and nothing is where steps differ.
func TestBlocksAhead(t *testing.T) {
	const size, step = 4 << 20, 100_000
	parent := &answering{t: t, doc: ramp(size)}
	b := newRemoteDoc(parent, bufio.NewReader(&parent.in), size)
	for at := 30; at < size-512; at += step {
		p := make([]byte, 512)
		if n, err := b.ReadAt(p, int64(at+at%300)); err != nil || !bytes.Equal(p, parent.doc[at+at%300:][:n]) {
			t.Fatalf("at %d: %d bytes, %v", at, n, err)
		}
	}
	if reads := size / step; parent.asks > reads/3 || parent.bytes > 3*unitSize*reads {
		t.Errorf("%d asks for %d bytes over %d reads", parent.asks, parent.bytes, reads)
	}
	readRows(t, ramp(size), []readRow{
		{"no step", 100_000, 10, 1, unitSize, nil},
		{"a step", 300_000, 10, 1, unitSize, nil},
		{"another step", 600_000, 10, 1, unitSize, nil},
		{"back", 200_000, 10, 1, unitSize, nil},
		{"and on", 400_000, 10, 1, unitSize, nil},
	})
	s := readahead{}
	for _, off := range []int64{-1 << 62, 1 << 62, 0, -1 << 62} {
		s.observe(off) // far beyond any document: no panic
	}
}

func TestBlocksForget(t *testing.T) {
	const size = maxCachedUnits*unitSize + 2*blockSize
	readRows(t, ramp(size), []readRow{
		{"everything", 0, size, size / blockSize, size, nil},
		{"the first is forgotten", 0, 1, 1, unitSize, nil},
		{"the last is kept", size - 1, 1, 0, 0, nil},
	})
}

func TestBlocksOfASmallDocument(t *testing.T) {
	const size = 2*blockSize + 100
	readRows(t, ramp(size), []readRow{
		{"a block", 10, 10, 1, blockSize, nil},
		{"the end", size - 10, 10, 1, 100, nil},
		{"from the middle of a block", blockSize + 5*unitSize, 10, 1, blockSize - 5*unitSize, nil},
		{"what is left of it", blockSize, unitSize, 1, 5 * unitSize, nil},
		{"all of it", 0, size, 0, 0, nil},
	})
}

func TestPrintable(t *testing.T) {
	for _, s := range []string{"", "plain", "a\x00b\x1b", "\xff\xfe", strings.Repeat("é", maxMessageText), "bidi \u202e"} {
		if got := printable(s); !isPrintable(got) {
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
		{"task before setup", frames(byte(frameTask), ok), errProtocol},
		{"setup that is no JSON", frames(byte(frameSetup), []byte("x")), errProtocol},
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
