package docio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

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

func testBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

func readers(ctx context.Context, doc io.ReaderAt, size int64) map[string]*Reader {
	return map[string]*Reader{"direct": NewReader(ctx, doc, size), "cached": NewCachedReader(ctx, doc, size)}
}

func TestReaderStaysWithinTheDocument(t *testing.T) {
	content := testBytes(3*blockSize + 5)
	for name, r := range readers(t.Context(), bytes.NewReader(append(content, "more"...)), int64(len(content))) {
		t.Run(name, func(t *testing.T) {
			for _, off := range []int64{0, 1, blockSize - 1, 2 * blockSize, int64(len(content)) - 3} {
				p := make([]byte, 9)
				n, err := r.ReadAt(p, off)
				want := content[off:min(off+9, int64(len(content)))]
				if !bytes.Equal(p[:n], want) || (err == io.EOF) != (n < 9) {
					t.Errorf("ReadAt(9 bytes, %d) = %v, %v, want %v", off, p[:n], err, want)
				}
			}
			if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
				t.Error("ReadAt(-1) = nil error, want one")
			}
			if _, ok := r.Bytes(int64(len(content))-1, 2); ok {
				t.Error("Bytes past the end = ok, want not")
			}
			if got := r.Head(len(content) + 9); !bytes.Equal(got, content) {
				t.Errorf("Head = %d bytes, want %d", len(got), len(content))
			}
			if err := r.Err(); err != nil {
				t.Errorf("Err() = %v, want nil: nothing but the document was wrong", err)
			}
		})
	}
}

func TestReaderRemembersFailedReads(t *testing.T) {
	disk := errors.New("disk error")
	content := testBytes(4 * blockSize)
	for name, r := range readers(t.Context(), failingReader{bytes.NewReader(content), 2 * blockSize, disk}, int64(len(content))) {
		t.Run(name, func(t *testing.T) {
			if !r.Fill(make([]byte, 4), 0) || r.Err() != nil {
				t.Fatalf("Fill at 0 = false, %v, want true", r.Err())
			}
			if r.Fill(make([]byte, 4), 3*blockSize) || !errors.Is(r.Err(), disk) {
				t.Errorf("Err() = %v, want %v", r.Err(), disk)
			}
		})
	}
}

func TestReaderReportsShortDocuments(t *testing.T) {
	for name, r := range readers(t.Context(), bytes.NewReader(testBytes(10)), 20) {
		t.Run(name, func(t *testing.T) {
			if r.Fill(make([]byte, 15), 0) || !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
				t.Errorf("Err() = %v, want %v", r.Err(), io.ErrUnexpectedEOF)
			}
		})
	}
}

func TestReaderStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, r := range readers(ctx, bytes.NewReader(testBytes(10)), 10) {
		t.Run(name, func(t *testing.T) {
			cancel()
			if r.Fill(make([]byte, 1), 0) || !errors.Is(r.Err(), context.Canceled) || !errors.Is(r.CheckContext(), context.Canceled) {
				t.Errorf("Err() = %v, want %v", r.Err(), context.Canceled)
			}
		})
	}
}

func TestCachedReaderEndsEndlessReading(t *testing.T) {
	content := testBytes(20 * blockSize)
	r := NewCachedReader(t.Context(), bytes.NewReader(content), int64(len(content)))
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		_, err = r.ReadAt(make([]byte, 1), int64(i%20*blockSize))
	}
	if !errors.Is(err, ErrDamaged) || r.Err() != nil {
		t.Errorf("error %v, Err() = %v, want damage", err, r.Err())
	}
}

func TestBudgetEnds(t *testing.T) {
	b := &Budget{ReaderAt: bytes.NewReader(testBytes(100)), Left: 10}
	if n, err := b.ReadAt(make([]byte, 10), 0); n != 10 || err != nil {
		t.Errorf("ReadAt within the budget = %d, %v, want 10, nil", n, err)
	}
	if _, err := b.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("ReadAt beyond the budget: error %v, want %v", err, ErrDamaged)
	}
}

func TestDecodeUTF16(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"pair", []byte{0x3d, 0xd8, 0x00, 0xde}, "😀"},
		{"half a pair", []byte{0x3d, 0xd8, 'x', 0}, "\uFFFDx"},
		{"odd byte", []byte{'a', 0, 'b'}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := DecodeUTF16(c.b, binary.LittleEndian); got != c.want {
				t.Errorf("DecodeUTF16 = %q, want %q", got, c.want)
			}
		})
	}
}
