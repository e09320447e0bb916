package tiff

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// faxWriter encodes lines for faxReader. 1 is black.
type faxWriter struct{ bits strings.Builder }

func (w *faxWriter) code(table *faxTable, value int) {
	for n, codes := range table {
		for bits, v := range codes {
			if v == value {
				w.put(bits, n)
				return
			}
		}
	}
	panic("no such code")
}

func (w *faxWriter) put(v, n int) {
	for k := n - 1; k >= 0; k-- {
		w.bits.WriteByte('0' + byte(v>>k&1))
	}
}

func (w *faxWriter) run(color, n int) {
	for ; n >= 2560; n -= 2560 {
		w.code(&faxRuns[color], 2560)
	}
	if n >= 64 {
		w.code(&faxRuns[color], n/64*64)
	}
	w.code(&faxRuns[color], n%64)
}

// change returns the first position at or after x where line does not have the given color, or the
// length of the line.
func change(line []byte, x int, color byte) int {
	for x < len(line) && line[x] == color {
		x++
	}
	return x
}

func (w *faxWriter) oneDimensional(line []byte) {
	for x, color := 0, byte(0); x < len(line); color = 1 - color {
		end := change(line, x, color)
		w.run(int(color), end-x)
		x = end
	}
}

// twoDimensional encodes a line relative to the line above it (T.4, 4.2.1.3.4).
func (w *faxWriter) twoDimensional(line, above []byte) {
	at, color := -1, byte(0)
	for at < len(line) {
		from := max(at, 0)
		a1 := change(line, from, color)
		b1 := at + 1
		for ; b1 < len(above); b1++ {
			before := byte(0)
			if b1 > 0 {
				before = above[b1-1]
			}
			if above[b1] != color && before == color {
				break
			}
		}
		b2 := change(above, b1, 1-color)
		switch d := a1 - b1; {
		case b2 < a1:
			w.code(&faxModes, faxPass)
			at = b2
		case d >= -3 && d <= 3:
			w.code(&faxModes, d)
			at, color = a1, 1-color
		default:
			a2 := change(line, a1, 1-color)
			w.code(&faxModes, faxHorizontal)
			w.run(int(color), a1-from)
			w.run(int(1-color), a2-a1)
			at = a2
		}
	}
}

func (w *faxWriter) bytes() []byte {
	s := w.bits.String()
	b := make([]byte, (len(s)+7)/8)
	for i, c := range s {
		b[i/8] |= byte(c-'0') << (7 - i%8)
	}
	return b
}

// faxLines encodes lines with end-of-line codes and an end of page.
func faxLines(lines [][]byte, mixed bool) []byte {
	var w faxWriter
	for i, line := range lines {
		w.put(1, 12+i%5) // preceded by some fill bits
		if mixed {
			w.put(1-min(i%4, 1), 1)
		}
		if mixed && i%4 != 0 {
			w.twoDimensional(line, lines[i-1])
		} else {
			w.oneDimensional(line)
		}
	}
	for range 6 {
		w.put(1, 12)
		if mixed {
			w.put(1, 1)
		}
	}
	return w.bytes()
}

func testLines(inverted bool) [][]byte {
	lines := make([][]byte, testH)
	for y := range lines {
		lines[y] = make([]byte, testW)
		for x := range lines[y] {
			if isBlack(x, y) != inverted {
				lines[y][x] = 1
			}
		}
	}
	return lines
}

func faxPage(inverted, mixed bool) []byte { return faxLines(testLines(inverted), mixed) }

func faxPlain() []byte {
	var packed []byte
	for _, line := range testLines(false) {
		var w faxWriter
		w.oneDimensional(line)
		packed = append(packed, w.bytes()...)
	}
	return packed
}

func unfax(packed []byte, width int, mixed bool, lines int) ([][]byte, error) {
	r := newFaxReader(bufio.NewReader(bytes.NewReader(packed)), width, false, false, mixed)
	row := make([]byte, (width+7)/8)
	var list [][]byte
	for range lines {
		if _, err := io.ReadFull(r, row); err != nil {
			return list, err
		}
		line := make([]byte, width)
		for x := range line {
			line[x] = row[x/8] >> (7 - x%8) & 1
		}
		list = append(list, line)
	}
	_, err := r.Read(row)
	return list, err
}

func TestFax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{1, 7, 64, 1728, 6000} {
		lines := make([][]byte, 40)
		for y := range lines {
			lines[y] = make([]byte, width)
			color, left := byte(0), 0
			for x := range width {
				if left == 0 {
					color, left = 1-color, 1+rng.IntN(1<<rng.IntN(13))
				}
				lines[y][x] = color
				left--
			}
			if y%3 > 0 { // similar to the line above
				copy(lines[y], lines[y-1])
				lines[y][rng.IntN(width)] ^= 1
			}
		}
		for _, mixed := range []bool{false, true} {
			got, err := unfax(faxLines(lines, mixed), width, mixed, len(lines))
			if !errors.Is(err, io.EOF) || len(got) != len(lines) {
				t.Fatalf("width %d, mixed %v: got %d lines, %v, want %d", width, mixed, len(got), err, len(lines))
			}
			for y := range lines {
				if !bytes.Equal(got[y], lines[y]) {
					t.Fatalf("width %d, mixed %v: line %d = %x, want %x", width, mixed, y, got[y], lines[y])
				}
			}
		}
	}
}

// TestFaxNoise checks that if one line is damaged, all other lines are decoded correctly.
func TestFaxNoise(t *testing.T) {
	lines := testLines(false)
	var w faxWriter
	for y, line := range lines {
		w.put(1, 12)
		if y == 3 {
			w.run(0, 0)
			w.put(0b0000000011, 10) // not the start of any code
			continue
		}
		w.oneDimensional(line)
	}
	got, err := unfax(w.bytes(), testW, false, len(lines))
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("unfax: %v", err)
	}
	for y := range got {
		want := lines[y]
		if y == 3 {
			want = make([]byte, testW)
		}
		if !bytes.Equal(got[y], want) {
			t.Errorf("line %d = %v, want %v", y, got[y], want)
		}
	}
	if len(got) != len(lines) {
		t.Errorf("%d lines, want %d", len(got), len(lines))
	}
}
