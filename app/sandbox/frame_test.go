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
	for kind, limit := range maxContent {
		for _, n := range []int{0, limit} {
			if err := writeFrame(&pipe, kind, bytes.Repeat([]byte{7}, n)); err != nil {
				t.Fatalf("write frame: %v", err)
			}
			var buf []byte
			got, content, err := readFrame(bufio.NewReader(&pipe), &buf)
			if err != nil || got != kind || len(content) != n {
				t.Errorf("readFrame = %q of %d bytes, %v; want %q of %d", got, len(content), err, kind, n)
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
				t.Errorf("error = %v, want %v", err, c.want)
			}
			if len(buf) > blockSize {
				t.Errorf("allocated %d bytes, want at most %d", len(buf), blockSize)
			}
		})
	}
}

// frames returns its frames as a worker would write them.
func frames(parts ...any) []byte {
	var pipe bytes.Buffer
	for i := 0; i < len(parts); i += 2 {
		must(writeFrame(&pipe, parts[i].(byte), parts[i+1].([]byte)))
	}
	return pipe.Bytes()
}

// FuzzRunTask runs every type of task with a worker that sends arbitrary bytes. The parent must not
// panic or return text with control characters. Each block it sends must lie within the document.
func FuzzRunTask(f *testing.F) {
	f.Add(frames(byte(frameDone), []byte(`{"mime":"application/pdf","pages":3}`)))
	f.Add(frames(byte(frameError), []byte(`{"text":"no engine","retire":true}`)))
	f.Add(frames(byte(frameError), []byte(`{"kind":"damaged","text":"no end"}`)))
	f.Add(frames(byte(frameRead), encodeRead(byteRange{0, 10}), byte(frameDone), []byte(`{"rejection":"no"}`)))
	f.Add(frames(byte(frameRead), encodeRead(byteRange{90_000, blockSize})))
	f.Add(frames(byte(frameRead), encodeRead(byteRange{0, unitSize}, byteRange{50_000, unitSize}, byteRange{99_999, 1}),
		byte(frameDone), []byte(`{}`)))
	f.Add(frames(byte(frameHello), []byte(`{}`)))
	f.Add([]byte("\x00\x00\x00\x05d{"))
	f.Add([]byte(head(`"image/png"`, 10, 10, 24) + frame(frameImageChunk, png(10, 10)) + frame(frameDone, "{}")))
	f.Add([]byte(page(1, "x\n") + page(2, "y") + frame(frameDone, "{}")))
	for _, table := range []map[string]string{badFrames, badPictures, badTexts} {
		for _, bad := range table {
			f.Add([]byte(bad))
		}
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		fuzzReport(t, output)
		fuzzPicture(t, output)
		fuzzText(t, output)
	})
}

// fuzzRunTask runs a task with a worker that sends the given bytes.
func fuzzRunTask(t *testing.T, output []byte, kind string, a result) error {
	const size = 100_000
	var sent bytes.Buffer
	a.reset()
	_, err := runTask(&sent, bufio.NewReader(bytes.NewReader(output)), bytes.NewReader(make([]byte, size)), task{Task: kind, Size: size}, a)
	if sent.Len() > 1<<10+len(output)*blockSize {
		t.Errorf("sent %d bytes after receiving %d, want at most 1 KB and a block for each", sent.Len(), len(output))
	}
	return err
}

func fuzzReport(t *testing.T, output []byte) {
	a := &reportResult{}
	err := fuzzRunTask(t, output, taskInspect, a)
	report := a.report
	if err != nil && report != (document.Report{}) {
		t.Errorf("report = %+v with error %v, want none", report, err)
	}
	if !isPrintable(report.Rejection) || !isPrintable(report.MIME) || (report.Pages != nil && *report.Pages < 0) {
		t.Errorf("report = %+v, want printable text and no negative page count", report)
	}
	if err != nil && IsDocumentError(err) {
		t.Errorf("document error for an inspection: %v", err)
	}
}

func fuzzPicture(t *testing.T, output []byte) {
	a := &imageResult{width: 100}
	if err := fuzzRunTask(t, output, taskImage, a); err != nil {
		return
	}
	p := a.image()
	if p.Width < 1 || p.Width > 100 || p.Height < 1 || len(p.Bytes) > len(output) || (p.MIME != mimePNG && p.MIME != mimeJPEG) {
		t.Errorf("image = %s, %d by %d, %d bytes; want it within the limits", p.MIME, p.Width, p.Height, len(p.Bytes))
	}
}

func fuzzText(t *testing.T, output []byte) {
	last, sum := -1, 0
	a := &textResult{lim: document.ExtractLimits{MaxPages: 10, MaxPageTextBytes: 100, MaxTextBytes: 200}, lastEmitted: -1}
	a.pauseDeadline = func(work func() error) error { return work() }
	a.emit = func(page int, text string) error {
		sum += len(text)
		if page <= last || page > 10 || len(text) > 100 || sum > 200 || !isCleanText([]byte(text)) {
			t.Errorf("got page %d after %d: %q, want ascending pages with clean text within the limits", page, last, text)
		}
		last = page
		return nil
	}
	_ = fuzzRunTask(t, output, taskText, a) // the callback has checked the pages
}

// A small read costs as much of the read budget as a read of a complete unit.
func TestReadBudget(t *testing.T) {
	c := &exchange{w: io.Discard, doc: strings.NewReader("0123456789"), size: 10, budget: 3 * minReadCost}
	for n := range 4 {
		err := c.handleRead(encodeRead(byteRange{0, 1}))
		if (err != nil) != (n == 3) {
			t.Errorf("read %d: error = %v, want one for the fourth only", n, err)
		}
	}
	if budget := readBudget(100 << 20); budget < 3<<30 {
		t.Errorf("readBudget(100 MiB) = %d, want at least 3 GiB", budget)
	}
}

// fakeParent serves reads of a document in the same process.
type fakeParent struct {
	t        *testing.T
	doc      []byte
	requests int
	bytes    int
	in       bytes.Buffer
}

func (f *fakeParent) Write(frame []byte) (int, error) {
	parts, sum, err := decodeRead(frame[headerSize:], int64(len(f.doc)))
	if err != nil {
		f.t.Errorf("decode read: %v", err)
	}
	f.requests++
	f.bytes += sum
	var content []byte
	for _, p := range parts {
		content = append(content, f.doc[p.offset:][:p.length]...)
	}
	must(writeFrame(&f.in, frameData, content))
	return len(frame), nil
}

// ramp returns a document in which no two parts are the same.
func ramp(size int) []byte {
	doc := make([]byte, size)
	for i := range doc {
		doc[i] = byte(i / 251)
	}
	return doc
}

type readRow struct {
	name            string
	offset, size    int
	requests, bytes int
	err             error
}

func readRows(t *testing.T, doc []byte, rows []readRow) {
	parent := &fakeParent{t: t, doc: doc}
	b := newRemoteDoc(parent, bufio.NewReader(&parent.in), int64(len(doc)))
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			parent.requests, parent.bytes = 0, 0
			p := make([]byte, c.size)
			n, err := b.ReadAt(p, int64(c.offset))
			if !errors.Is(err, c.err) || !bytes.Equal(p[:n], doc[c.offset:c.offset+n]) || (err == nil && n != c.size) {
				t.Errorf("ReadAt = %d, %v; want %d, %v", n, err, c.size, c.err)
			}
			if parent.requests != c.requests || parent.bytes != c.bytes {
				t.Errorf("%d requests for %d bytes, want %d for %d", parent.requests, parent.bytes, c.requests, c.bytes)
			}
			if b.lru.Len() > maxCachedUnits || len(b.cached) != b.lru.Len() {
				t.Errorf("LRU list has %d units, map %d, want them equal", b.lru.Len(), len(b.cached))
			}
		})
	}
	if _, err := b.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("ReadAt(-1) succeeded, want an error")
	}
}

func TestRemoteDoc(t *testing.T) {
	const size = maxCachedUnits*unitSize + 2*blockSize + 100
	readRows(t, ramp(size), []readRow{
		{"one unit", 0, 10, 1, unitSize, nil},
		{"kept", 100, unitSize - 100, 0, 0, nil},
		{"sequential: two", unitSize + 5, 10, 1, 2 * unitSize, nil},
		{"sequential: four", 3 * unitSize, 10, 1, 4 * unitSize, nil},
		{"sequential: eight", 7*unitSize - 5, 10, 1, 8 * unitSize, nil},
		{"sequential: a block", 15 * unitSize, 10, 1, blockSize, nil},
		{"sequential: not more", 31 * unitSize, 10, 1, blockSize, nil},
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

// Reads at regular intervals are read ahead. The longer the pattern lasts, the more is read ahead.
// Irregular reads are not read ahead.
func TestReadahead(t *testing.T) {
	const size, step = 4 << 20, 100_000
	parent := &fakeParent{t: t, doc: ramp(size)}
	b := newRemoteDoc(parent, bufio.NewReader(&parent.in), size)
	for at := 30; at < size-512; at += step {
		p := make([]byte, 512)
		if n, err := b.ReadAt(p, int64(at+at%300)); err != nil || !bytes.Equal(p, parent.doc[at+at%300:][:n]) {
			t.Fatalf("ReadAt(%d) = %d bytes, %v, want those of the document", at+at%300, n, err)
		}
	}
	if reads := size / step; parent.requests > reads/3 || parent.bytes > 3*unitSize*reads {
		t.Errorf("%d requests for %d bytes over %d reads, want fewer", parent.requests, parent.bytes, reads)
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
		s.observe(off) // far outside the document; must not panic
	}
}

func TestRemoteDocEviction(t *testing.T) {
	const size = maxCachedUnits*unitSize + 2*blockSize
	readRows(t, ramp(size), []readRow{
		{"everything", 0, size, size / blockSize, size, nil},
		{"the first is evicted", 0, 1, 1, unitSize, nil},
		{"the last is cached", size - 1, 1, 0, 0, nil},
	})
}

func TestRemoteDocOfSmallDocument(t *testing.T) {
	const size = 2*blockSize + 100
	readRows(t, ramp(size), []readRow{
		{"a block", 10, 10, 1, blockSize, nil},
		{"the end", size - 10, 10, 1, 100, nil},
		{"from the middle of a block", blockSize + 5*unitSize, 10, 1, blockSize - 5*unitSize, nil},
		{"the rest of the block", blockSize, unitSize, 1, 5 * unitSize, nil},
		{"all of it", 0, size, 0, 0, nil},
	})
}

func TestPrintable(t *testing.T) {
	for _, s := range []string{"", "plain", "a\x00b\x1b", "\xff\xfe", strings.Repeat("é", maxMessageText), "bidi \u202e"} {
		if got := printable(s); !isPrintable(got) {
			t.Errorf("printable(%q) = %q, want printable text", s, got)
		}
	}
}

func TestServeRejectsBadInput(t *testing.T) {
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
			err := serve(t.Context(), bytes.NewReader(c.in), io.Discard, Assets{})
			if !errors.Is(err, c.want) {
				t.Errorf("error = %v, want %v", err, c.want)
			}
		})
	}
}
