package document

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"deedkeep/app/vaulttest/tifffile"
)

func TestPlainText(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"UTF-8", "a\r\nb\rc\té\x1a", "1: a\nb\nc\té\n"},
		{"UTF-8 with mark", "\xef\xbb\xbfIbáñez", "1: Ibáñez\n"},
		{"Windows-1252", "\x93Ib\xe1\xf1ez\x94 \x80 \x81.", "1: “Ibáñez” € .\n"},
		{"UTF-16LE", "\xff\xfeI\x00\xe1\x00\x3d\xd8\x00\xde", "1: Iá😀\n"},
		{"UTF-16BE, unpaired surrogate", "\xfe\xff\x00I\xd8\x3d\x00x", "1: I\uFFFDx\n"},
		{"blank", " \r\n\t", ""},
		{"empty", "", ""},
	} {
		if got, err := collect(t, testSource([]byte(c.file), "text/plain"), ExtractLimits{}); got != c.want || err != nil {
			t.Errorf("%s: Text = %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	got, err := collect(t, testSource([]byte(strings.Repeat("é", 100)), "text/plain"), ExtractLimits{MaxTextBytes: 9, MaxPageTextBytes: 1})
	if got != "1: éééé\n" || finding(err) != ErrTooLarge {
		t.Errorf("got %q, %v, want four letters and %v", got, err, ErrTooLarge)
	}
}

// failingReader fails to read bytes at or after a given offset.
type failingReader struct {
	io.ReaderAt
	from int64
	err  error
}

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestFaults checks that failed reads and ended contexts are not reported as document errors, even
// if a parser would do so.
func TestFaults(t *testing.T) {
	disk := errors.New("disk on fire")
	for mime, file := range map[string][]byte{
		"image/tiff": tifffile.Build(binary.LittleEndian, false, tiffTags(nil)),
		"text/plain": []byte(strings.Repeat("text", 100)),
	} {
		work := func(ctx context.Context, src Source) error {
			if strings.HasPrefix(mime, "image/") {
				_, err := PageImage(ctx, src, 1, 100, ExtractLimits{})
				return err
			}
			return Text(ctx, src, ExtractLimits{}, func(int, string) error { return nil })
		}
		for _, from := range []int64{0, 5, 20, int64(len(file)) / 2} {
			src := testSource(file, mime)
			src.Doc = failingReader{src.Doc, from, disk}
			if err := work(t.Context(), src); !errors.Is(err, disk) || finding(err) != nil {
				t.Errorf("%s, reads fail from %d: error %v, want %v", mime, from, err, disk)
			}
		}
		short := testSource(file, mime)
		short.Size *= 100
		// TIFFs aren't read to their end.
		if err := work(t.Context(), short); mime == "text/plain" &&
			(!errors.Is(err, io.ErrUnexpectedEOF) || finding(err) != nil) {
			t.Errorf("%s shorter than its size: got %v, want %v", mime, err, io.ErrUnexpectedEOF)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := work(ctx, testSource(file, mime)); !errors.Is(err, context.Canceled) || finding(err) != nil {
			t.Errorf("%s, context ended: error %v, want %v", mime, err, context.Canceled)
		}
	}
	// Text returns an error of emit unchanged, even if it looks like a document error.
	err := Text(t.Context(), testSource([]byte("text"), "text/plain"), ExtractLimits{}, func(int, string) error { return disk })
	if !errors.Is(err, disk) || finding(err) != nil {
		t.Errorf("Text: %v", err)
	}
	if _, err := PageSizes(t.Context(), testSource(nil, "application/pdf"), ExtractLimits{}); err == nil || finding(err) != nil {
		t.Errorf("PDF without an engine: %v", err)
	}
}

func testSource(content []byte, mime string) Source {
	return Source{Doc: bytes.NewReader(content), Size: int64(len(content)), MIME: mime}
}

// collect returns the text of all pages in the form "1: text\n".
func collect(t testing.TB, src Source, lim ExtractLimits) (string, error) {
	t.Helper()
	var b strings.Builder
	err := Text(t.Context(), src, lim, func(page int, text string) error {
		b.WriteString(string(rune('0'+page%10)) + ": " + strings.TrimSpace(text) + "\n")
		return nil
	})
	return b.String(), err
}

// finding returns the document error that err wraps, or nil.
func finding(err error) error {
	for _, kind := range []error{ErrUnsupported, ErrTooLarge, ErrDamaged, ErrNoPage} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}
