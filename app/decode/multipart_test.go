package decode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// head returns the header block of a part with this name, with CRLF line breaks.
func head(name string) string {
	return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n"
}

// parts reads a body to its end and returns "name=content" for each part.
func parts(r *Reader) ([]string, error) {
	defer r.Close()
	return allParts(r)
}

// partsBuffered is like parts but reads with a buffer of size bytes, which doesn't go to the pool.
func partsBuffered(src io.Reader, boundary string, size int) ([]string, error) {
	r := NewReader(src, boundary, MultipartLimits{})
	r.src = bufio.NewReaderSize(src, size)
	return allParts(r)
}

func allParts(r *Reader) ([]string, error) {
	var out []string
	for {
		p, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		b, err := io.ReadAll(p)
		if err != nil {
			return out, err
		}
		out = append(out, p.Name+"="+string(b))
	}
}

func TestFraming(t *testing.T) {
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	a, b := head("a"), head("b")
	rows := []struct {
		name, in string
		want     string // the parts, or ! and the reason
	}{
		{"one part", "--B\r\n" + a + "x\r\n--B--\r\n", `["a=x"]`},
		{"two parts", "--B\r\n" + a + "x\r\n--B\r\n" + b + "y\r\n--B--\r\n", `["a=x" "b=y"]`},
		{"no last line break", "--B\r\n" + a + "x\r\n--B--", `["a=x"]`},
		{"bare LF", lf("--B\r\n" + a + "x\r\n--B\r\n" + b + "y\r\n--B--\r\n"), `["a=x" "b=y"]`},
		{"bare LF, CR in the content", lf("--B\r\n"+a) + "x\r\n--B--\n", `["a=x\r"]`},
		{"LF boundary in the content of a CRLF body", "--B\r\n" + a + "x\n--B--\n\r\n--B--\r\n", `["a=x\n--B--\n"]`},
		{"LF in the header", "--B\r\n" + lf(a) + "x\r\n--B--\r\n", `["a=x"]`},
		{"preamble", "hello\r\n\r\n--Bx\r\n --B\r\n--B\r\n" + a + "x\r\n--B--\r\n", `["a=x"]`},
		{"epilogue", "--B\r\n" + a + "x\r\n--B--\r\nbye\r\n--B\r\n", `["a=x"]`},
		{"padding", "--B \t\r\n" + a + "x\r\n--B \r\n" + b + "y\r\n--B-- \t \r\n", `["a=x" "b=y"]`},
		{"no parts", "--B--\r\n", `[]`},
		{"empty part", "--B\r\n" + a + "\r\n--B--\r\n", `["a="]`},
		{"empty part without its line break", "--B\r\n" + a + "--B\r\n" + b + "--B--\r\n", `["a=" "b="]`},
		{"content begins like a boundary", "--B\r\n" + a + "--Bx\r\n--B--\r\n", `["a=--Bx"]`},
		{"content similar to a boundary", "--B\r\n" + a + "\r\n--Bx\r\n--b\r\n--\r\n-\r\n\r\n--B-x\r\r\n--B--\r\n",
			`["a=\r\n--Bx\r\n--b\r\n--\r\n-\r\n\r\n--B-x\r"]`},
		{"content of line breaks", "--B\r\n" + a + "\r\n\r\n\r\n--B--\r\n", `["a=\r\n\r\n"]`},
		{"folded header", "--B\r\nContent-Disposition: form-data;\r\n\tname=\"a\"\r\nX: y\r\n\r\nx\r\n--B--\r\n", `["a=x"]`},

		{"nothing", "", "!The request body ends before its first part."},
		{"preamble only", "abc\r\ndef", "!The request body ends before its first part."},
		{"no final boundary", "--B\r\n" + a + "x\r\n", "!The request body ends inside or after part 1, before the final boundary."},
		{"truncated in a header", "--B\r\n" + a + "x\r\n--B\r\nContent-Dis",
			"!The request body ends inside or after part 2, before the final boundary."},
		{"truncated in a boundary", "--B\r\n" + a + "x\r\n--B", "!The request body ends inside or after part 1, before the final boundary."},
		{"truncated in the final boundary", "--B\r\n" + a + "x\r\n--B-",
			"!The request body ends inside or after part 1, before the final boundary."},
		{"text after a boundary", "--B\r\n" + a + "x\r\n--B y\r\n", "!The boundary line after part 1 is malformed."},
		{"text after the final boundary", "--B\r\n" + a + "x\r\n--B--y\r\n", "!The boundary line after part 1 is malformed."},
		{"no header", "--B\r\n" + a + "x\r\n--B\r\n\r\ny\r\n--B--\r\n", "!Part 2 has no Content-Disposition."},
		{"two dispositions", "--B\r\n" + strings.Repeat(a[:len(a)-2], 2) + "\r\nx\r\n--B--\r\n",
			"!Part 1 has more than one Content-Disposition."},
		{"malformed disposition", "--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--B--\r\n",
			"!The Content-Disposition of part 1 is malformed."},
		{"no name", "--B\r\n" + a + "x\r\n--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n",
			"!The Content-Disposition of part 2 has no name."},
		{"text instead of a header", "--B\r\nhello\r\n\r\nx\r\n--B--\r\n", "!A header line of part 1 is malformed."},
		{"name of a header on two lines", "--B\r\n" + a[:len(a)-2] + "X\r\n : y\r\n\r\nx\r\n--B--\r\n", "!A header line of part 1 is malformed."},
		{"line of spaces first", "--B\r\n \r\n" + a + "x\r\n--B--\r\n", "!A header line of part 1 is malformed."},
		{"header too large", "--B\r\nX: " + strings.Repeat("y", 17000) + "\r\n" + a + "x\r\n--B--\r\n",
			"!The header of part 1 is larger than 16384 bytes."},
		{"header without an end", "--B\r\nX: " + strings.Repeat("y", 300000), "!The header of part 1 is larger than 16384 bytes."},
		{"header with too many lines", "--B\r\n" + strings.Repeat("X: y\r\n", 65) + a, "!The header of part 1 has more than 64 lines."},
		{"endless preamble line", strings.Repeat("y", 300000), "!A line between the parts of the request body is too long, after part 0."},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"complete": strings.NewReader(row.in), "halves": iotest.HalfReader(strings.NewReader(row.in)),
				"bytes": iotest.OneByteReader(strings.NewReader(row.in)), "with its end": iotest.DataErrReader(strings.NewReader(row.in)),
			} {
				got, err := parts(NewReader(src, "B", MultipartLimits{}))
				reason, bad := strings.CutPrefix(row.want, "!")
				var m *MalformedError
				switch {
				case bad && (!errors.As(err, &m) || m.Reason != reason):
					t.Errorf("%s: parts = %q, error %v; want the error %q", name, got, err, reason)
				case !bad && (err != nil || fmt.Sprintf("%q", got) != row.want):
					t.Errorf("%s: parts = %q, %v; want %s", name, got, err, row.want)
				}
			}
		})
	}
}

// TestReaderHandlesEverySplit uses a small buffer to read bodies that contain text similar to the boundary. It tests
// a first read that ends at every possible byte and content of every length close to the size of the buffer.
func TestReaderHandlesEverySplit(t *testing.T) {
	for _, nl := range []string{"\r\n", "\n"} {
		for size := range 300 {
			content := strings.Repeat("\r", size%3) + strings.Repeat("y", size) + nl + "--bound" + nl + "--boundarx-" + nl + "--boundary-" + nl
			in := strings.ReplaceAll("--boundary\r\n"+head("a"), "\r\n", nl) + content + nl + "--boundary--" + nl
			splits := []int{len(in)}
			if size%100 == 7 {
				for i := range len(in) {
					splits = append(splits, i)
				}
			}
			for _, split := range splits {
				src := io.MultiReader(strings.NewReader(in[:split]), strings.NewReader(in[split:]))
				if got, err := partsBuffered(src, "boundary", 128); err != nil || len(got) != 1 || got[0] != "a="+content {
					t.Fatalf("size %d, split at %d: parts = %q, %v; want a=%q", size, split, got, err, content)
				}
			}
		}
	}
}

func TestPartFields(t *testing.T) {
	in := "--B\r\ncontent-type: application/pdf; x=y \r\nCONTENT-DISPOSITION : form-data; name=files[]; filename=\"C:\\a b.pdf\"\r\n" +
		"Content-Transfer-Encoding: base64\r\n\r\nAA==\r\n--B\r\n" + head("x") + "\r\n--B--"
	r := NewReader(strings.NewReader(in), "B", MultipartLimits{})
	defer r.Close()
	p, err := r.Next()
	if err != nil {
		t.Fatalf("first part: %v", err)
	}
	if p.Number != 1 || p.Name != "files[]" || p.Filename != `C:\a b.pdf` || !p.HasFilename {
		t.Errorf("first part = %+v, want number 1, files[], and C:\\a b.pdf", p)
	}
	var out bytes.Buffer
	if n, err := io.Copy(&out, p); n != 4 || err != nil || out.String() != "AA==" {
		t.Errorf("content of the first part = %q, %d bytes, %v; want AA==", &out, n, err)
	}
	second, err := r.Next()
	if err != nil || second.Number != 2 || second.HasFilename {
		t.Errorf("second part = %+v, %v; want number 2 without a filename", second, err)
	}
	if _, err := p.IsEmpty(); err != errNotCurrent {
		t.Errorf("read of the previous part: error %v, want %v", err, errNotCurrent)
	}
	for range 2 {
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("Next after the last part: error %v, want %v", err, io.EOF)
		}
	}
	r.Close()
	if _, err := r.Next(); err != errClosed {
		t.Errorf("Next after Close: error %v, want %v", err, errClosed)
	}
}

func TestUnreadPartsAreSkipped(t *testing.T) {
	in := "--B\r\n" + head("files") + strings.Repeat("x", 3*bufferSize) + "\r\n--B\r\n" + head("b") + "y\r\n--B--\r\n"
	r := NewReader(strings.NewReader(in), "B", MultipartLimits{})
	defer r.Close()
	first, err := r.Next()
	if err != nil {
		t.Fatalf("first part: %v", err)
	}
	if n, err := first.Read(make([]byte, 10)); n != 10 || err != nil {
		t.Fatalf("read of the first part: %d bytes, %v; want 10", n, err)
	}
	if p, err := r.Next(); err != nil || p.Name != "b" {
		t.Fatalf("part after an unread one = %+v, %v; want b", p, err)
	}
}

func TestLimits(t *testing.T) {
	part := func(name string, size int) string { return "--B\r\n" + head(name) + strings.Repeat("x", size) + "\r\n" }
	rows := []struct {
		name, in string
		lim      MultipartLimits
		counted  string // Counted of the LimitError; "" if there is no LimitError
	}{
		{"parts at the limit", strings.Repeat(part("a", 1), 3), MultipartLimits{Parts: 3}, ""},
		{"parts over the limit", strings.Repeat(part("a", 1), 4), MultipartLimits{Parts: 3}, "parts"},
		{"files count as parts", strings.Repeat(part("files[]", 1), 4), MultipartLimits{Parts: 3}, "parts"},
		{"the default number of parts", strings.Repeat(part("a", 0), 1000), MultipartLimits{}, ""},
		{"one part over the default", strings.Repeat(part("a", 0), 1001), MultipartLimits{}, "parts"},
		{"fields at the limit", part("a", 60) + part("files", 500) + part("b", 40), MultipartLimits{Fields: 100}, ""},
		{"fields over the limit", part("a", 60) + part("files", 500) + part("b", 41), MultipartLimits{Fields: 100}, "bytes of fields"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, read := range []bool{true, false} {
				r := NewReader(strings.NewReader(row.in+"--B--\r\n"), "B", row.lim)
				var err error
				for err == nil {
					var p *Part
					if p, err = r.Next(); err == nil && read {
						_, err = io.Copy(io.Discard, p)
					}
				}
				r.Close()
				var l *LimitError
				if errors.As(err, &l) && !strings.Contains(err.Error(), fmt.Sprintf("more than %d %s", l.Limit, l.Counted)) {
					t.Errorf("error %q, want the limit of %d %s in it", err, l.Limit, l.Counted)
				}
				if row.counted == "" && err != io.EOF || row.counted != "" && (!errors.As(err, &l) || l.Counted != row.counted) {
					t.Errorf("read %t: error %v, want a limit of %q", read, err, row.counted)
				}
			}
		})
	}
}

func TestReadErrorsPassThrough(t *testing.T) {
	in := "--B\r\n" + head("files") + strings.Repeat("x", 1000)
	rows := []struct {
		name string
		src  io.Reader
		want func(error) bool
	}{
		{"too large", http.MaxBytesReader(httptest.NewRecorder(), io.NopCloser(strings.NewReader(in)), 500), func(err error) bool {
			var m *http.MaxBytesError
			return errors.As(err, &m)
		}},
		{"deadline", io.MultiReader(strings.NewReader(in), iotest.ErrReader(os.ErrDeadlineExceeded)), func(err error) bool {
			return errors.Is(err, os.ErrDeadlineExceeded)
		}},
		{"truncated", io.MultiReader(strings.NewReader(in), iotest.ErrReader(io.ErrUnexpectedEOF)), func(err error) bool {
			var m *MalformedError
			return errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &m)
		}},
		{"no progress", io.MultiReader(strings.NewReader(in), stalledReader{}), func(err error) bool {
			return errors.Is(err, io.ErrNoProgress)
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := NewReader(row.src, "B", MultipartLimits{})
			defer r.Close()
			p, err := r.Next()
			if err != nil {
				t.Fatalf("first part: %v", err)
			}
			n, err := io.Copy(io.Discard, p)
			if n == 0 || !row.want(err) {
				t.Errorf("copy = %d bytes, %v; want some bytes and the error of the source", n, err)
			}
			if _, again := p.Read(make([]byte, 1)); again != err {
				t.Errorf("Read after the error: %v, want %v", again, err)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("Next after the error: %v, want %v", again, err)
			}
		})
	}
}

// stalledReader is a reader that always returns 0 bytes and no error.
type stalledReader struct{}

func (stalledReader) Read([]byte) (int, error) { return 0, nil }

func TestWriteErrorsPassThrough(t *testing.T) {
	r := NewReader(strings.NewReader("--B\r\n"+head("files")+"xy\r\n--B--"), "B", MultipartLimits{})
	defer r.Close()
	p, err := r.Next()
	if err != nil {
		t.Fatalf("first part: %v", err)
	}
	read, write := io.Pipe()
	if err := read.CloseWithError(os.ErrClosed); err != nil {
		t.Fatalf("close the pipe: %v", err)
	}
	if _, err := p.WriteTo(write); !errors.Is(err, os.ErrClosed) {
		t.Errorf("WriteTo a closed pipe: error %v, want %v", err, os.ErrClosed)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("Next after a failed write: error %v, want %v", err, io.EOF)
	}
}
