package sandbox

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestConcatenated(t *testing.T) {
	c, offset := concatenated{}, int64(0)
	for _, text := range []string{"deed", "", "mortgage", "x"} {
		c = append(c, section{offset, Part{Doc: strings.NewReader(text), Size: int64(len(text))}})
		offset += int64(len(text))
	}
	for off := range int64(13) {
		for n := range 13 - off + 1 {
			got := make([]byte, n)
			if k, err := c.ReadAt(got, off); int64(k) != n || string(got) != "deedmortgagex"[off:off+n] || err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("ReadAt(%d, %d) = %q, %v", off, n, got[:k], err)
			}
		}
	}
	if n, err := c.ReadAt(make([]byte, 2), 12); n != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt across the end = %d, %v; want 1 byte and EOF", n, err)
	}
	if _, err := c.ReadAt(make([]byte, 1), 13); !errors.Is(err, io.EOF) {
		t.Errorf("ReadAt the end = %v, want EOF", err)
	}
}
