package tiff

import (
	"bufio"
	"errors"
	"io"
	"math/bits"
	"strconv"
	"strings"
)

// faxReader decodes one- and two-dimensional CCITT Group 3 (ITU-T T.4) into bits: 1 is black. It
// also decodes TIFF's variant without end-of-line codes (TIFF 6.0, section 10).
// golang.org/x/image/ccitt supports neither two dimensions nor lines padded to a byte. If a line
// can't be decoded, the rest of it is white, as on fax machines, and decoding resumes at the next
// end of line.
type faxReader struct {
	in    *bitReader
	width int
	plain bool // no end-of-line codes; each line starts at a byte boundary
	mixed bool // a bit after each end of line says how the next line is encoded

	previous, current []int // pixels at which the color of a line changes: to black, to white, to black …
	nextAbove         int   // index in previous of the first change to the right of the current pixel
	row               []byte
	lines             int
}

func newFaxReader(r *bufio.Reader, width int, reversed, plain, mixed bool) *faxReader {
	return &faxReader{in: &bitReader{r: r, reversed: reversed}, width: width, plain: plain, mixed: mixed, row: make([]byte, (width+7)/8)}
}

// Read decodes the next line into p, which must have space for it.
func (f *faxReader) Read(p []byte) (int, error) {
	if err := f.line(); err != nil {
		return 0, err
	}
	return copy(p, f.row), nil
}

var errFaxCode = errors.New("invalid CCITT code")

// line decodes one line. It returns io.EOF at the end of the page or the data.
func (f *faxReader) line() error {
	isOneDimensional := true
	if f.plain {
		f.in.align()
	} else {
		ends, err := f.skipEnds()
		if err != nil {
			return err
		}
		if ends > 1 && f.lines > 0 {
			return io.EOF
		}
		if f.mixed && ends > 0 {
			tag, err := f.in.read(1)
			if err != nil {
				return err
			}
			isOneDimensional = tag == 1
		}
	}
	if f.in.peek(1) < 0 {
		return io.EOF
	}
	f.previous, f.current = f.current, f.previous[:0]
	var err error
	if isOneDimensional {
		err = f.oneDimensional()
	} else {
		err = f.twoDimensional()
	}
	if err != nil && (f.plain || !errors.Is(err, errFaxCode)) {
		return err
	}
	if err != nil {
		// If a black run has no end, drop it.
		f.current = f.current[:len(f.current)-len(f.current)%2]
		f.resync()
	}
	f.paint()
	f.lines++
	return nil
}

// eolZeros is the minimum number of zeros before the one in an end-of-line code.
const eolZeros = 11

// skipEnds skips end-of-line codes and the fill bits before them. It returns the number of
// end-of-line codes.
func (f *faxReader) skipEnds() (n int, err error) {
	for f.in.peek(eolZeros) == 0 {
		for {
			bit, err := f.in.read(1)
			if err != nil {
				return n, err
			}
			if bit == 1 {
				break
			}
		}
		n++
		// A tag follows each end of line except the last one of a page.
		if f.mixed && f.in.peek(1+eolZeros) == 1<<eolZeros {
			f.in.drop(1)
		}
	}
	return n, nil
}

// resync skips bits until the next end of line.
func (f *faxReader) resync() {
	for v := f.in.peek(eolZeros); v > 0; v = f.in.peek(eolZeros) {
		f.in.drop(1)
	}
}

// oneDimensional decodes a line of alternating white and black runs.
func (f *faxReader) oneDimensional() error {
	for at, color := 0, 0; at < f.width; color = 1 - color {
		n, err := f.run(color)
		if err != nil {
			return err
		}
		at = min(at+n, f.width)
		f.current = append(f.current, at)
	}
	return nil
}

// run reads the length of a run. It consists of codes for multiples of 64 and one code for the
// rest.
func (f *faxReader) run(color int) (int, error) {
	sum := 0
	for sum <= f.width {
		n, err := f.in.code(&faxRuns[color])
		if err != nil {
			return 0, err
		}
		sum += n
		if n < 64 {
			break
		}
	}
	return sum, nil
}

// Modes of a two-dimensional line (T.4, table 4). For the vertical modes, the value is the distance
// between the change and the one above it.
const (
	faxPass       = 100
	faxHorizontal = 101
)

// twoDimensional decodes a line relative to the previous one.
func (f *faxReader) twoDimensional() error {
	at, color := -1, 0
	f.nextAbove = 0
	for at < f.width {
		mode, err := f.in.code(&faxModes)
		if err != nil {
			return err
		}
		above, next := f.above(at, color)
		switch mode {
		case faxPass:
			at = next
		case faxHorizontal:
			at = max(at, 0)
			for _, c := range []int{color, 1 - color} {
				n, err := f.run(c)
				if err != nil {
					return err
				}
				at = min(at+n, f.width)
				f.current = append(f.current, at)
			}
		default:
			to := above + mode
			if to < max(at, 0) || to > f.width {
				return errFaxCode
			}
			at, color = to, 1-color
			f.current = append(f.current, at)
		}
	}
	return nil
}

// above returns the first change of the previous line that is to the right of at and changes to the
// other color, and the change after it. Within one line, at must not decrease from call to call.
func (f *faxReader) above(at, color int) (first, next int) {
	for f.nextAbove < len(f.previous) && f.previous[f.nextAbove] <= at {
		f.nextAbove++
	}
	i := f.nextAbove
	if i%2 != color {
		i++
	}
	first, next = f.width, f.width
	if i < len(f.previous) {
		first = f.previous[i]
	}
	if i+1 < len(f.previous) {
		next = f.previous[i+1]
	}
	return first, next
}

// paint converts the color changes of the line to bits.
func (f *faxReader) paint() {
	clear(f.row)
	for i := 0; i < len(f.current); i += 2 {
		end := f.width
		if i+1 < len(f.current) {
			end = f.current[i+1]
		}
		for x := f.current[i]; x < end; x++ {
			f.row[x/8] |= 0x80 >> (x % 8)
		}
	}
}

// bitReader reads bits, starting with the highest bit of each byte, or with the lowest if reversed
// is true.
type bitReader struct {
	r        *bufio.Reader
	reversed bool
	bits     uint64
	have     int
	err      error
}

// peek returns the next n bits (at most 32) without consuming them. It returns -1 if there are
// fewer bits.
func (b *bitReader) peek(n int) int {
	for b.have < n && b.err == nil {
		var c byte
		if c, b.err = b.r.ReadByte(); b.err == nil {
			if b.reversed {
				c = bits.Reverse8(c)
			}
			b.bits = b.bits<<8 | uint64(c)
			b.have += 8
		}
	}
	if b.have < n {
		return -1
	}
	return int(b.bits >> (b.have - n) & (1<<n - 1))
}

// drop skips n bits. peek must have returned them.
func (b *bitReader) drop(n int) { b.have -= n }

// align skips the remaining bits of the current byte.
func (b *bitReader) align() { b.have -= b.have % 8 }

// read returns the next n bits and consumes them.
func (b *bitReader) read(n int) (int, error) {
	v := b.peek(n)
	if v < 0 {
		return 0, b.err
	}
	b.drop(n)
	return v, nil
}

// code reads a code that is in the table and returns its value.
func (b *bitReader) code(table *faxTable) (int, error) {
	for n := 1; n <= maxFaxCodeBits; n++ {
		v := b.peek(n)
		if v < 0 {
			return 0, b.err
		}
		if value, ok := table[n][v]; ok {
			b.drop(n)
			return value, nil
		}
	}
	return 0, errFaxCode
}

// maxFaxCodeBits is the length of the longest code in bits.
const maxFaxCodeBits = 13

// faxTable contains a map for each code length. It maps the bits of a code to the code's value.
type faxTable [maxFaxCodeBits + 1]map[int]int

// Codes of T.4, tables 2 and 3: for runs from 0 to 63, then for multiples of 64 up to 1728. faxLong
// contains the codes up to 2560, which both colors share.
const (
	faxWhite = `00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 101010 101011 0100111
0001100 0001000 0010111 0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010 00011011
00010010 00010011 00010100 00010101 00010110 00010111 00101000 00101001 00101010 00101011 00101100 00101101 00000100
00000101 00001010 00001011 01010010 01010011 01010100 01010101 00100100 00100101 01011000 01011001 01011010 01011011
01001010 01001011 00110010 00110011 00110100 11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000
01100111 011001100 011001101 011010010 011010011 011010100 011010101 011010110 011010111 011011000 011011001 011011010
011011011 010011000 010011001 010011010 011000 010011011`

	faxBlack = `0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000 0000010111
0000011000 0000001000 00001100111 00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010
000011001011 000011001100 000011001101 000001101000 000001101001 000001101010 000001101011 000011010010 000011010011
000011010100 000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 000011011011 000001010100
000001010101 000001010110 000001010111 000001100100 000001100101 000001010010 000001010011 000000100100 000000110111
000000111000 000000100111 000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110
000001100111 0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100
0000001101101 0000001001010 0000001001011 0000001001100 0000001001101 0000001110010 0000001110011 0000001110100
0000001110101 0000001110110 0000001110111 0000001010010 0000001010011 0000001010100 0000001010101 0000001011010
0000001011011 0000001100100 0000001100101`

	faxLong = `00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 000000010110 000000010111
000000011100 000000011101 000000011110 000000011111`
)

var faxRuns = [2]faxTable{runTable(faxWhite), runTable(faxBlack)}

// faxModes contains the codes of T.4, table 4.
var faxModes = func() (t faxTable) {
	t.add("0001", faxPass)
	t.add("001", faxHorizontal)
	t.add("1", 0)
	t.add("011", 1)
	t.add("000011", 2)
	t.add("0000011", 3)
	t.add("010", -1)
	t.add("000010", -2)
	t.add("0000010", -3)
	return t
}()

func runTable(codes string) (t faxTable) {
	for i, code := range strings.Fields(codes + " " + faxLong) {
		if i > 63 {
			i = (i - 63) * 64
		}
		t.add(code, i)
	}
	return t
}

func (t *faxTable) add(code string, value int) {
	if t[len(code)] == nil {
		t[len(code)] = make(map[int]int)
	}
	pattern, err := strconv.ParseUint(code, 2, 16)
	if err != nil {
		panic(err) // the tables above are constant
	}
	t[len(code)][int(pattern)] = value
}
