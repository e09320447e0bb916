package document

import (
	"bufio"
	"errors"
	"io"
	"math/bits"
	"strconv"
	"strings"
)

// fax unpacks CCITT Group 3 (ITU-T T.4) in one and in two dimensions, and TIFF's
// variant of it without ends of lines (TIFF 6.0, section 10), into bits of which
// black is one. It is its own since the library knows neither two dimensions nor
// lines that are filled up to a byte. A line that cannot be made out stays white
// from there, as fax machines do, and the next end of line begins anew.
type fax struct {
	in    *bitInput
	width int
	plain bool // no ends of lines: each line begins with a byte
	mixed bool // a bit behind each end of line says how the next one is coded

	before, now []int // where the color changes: to black, to white, to black …
	up          int   // in before: right of where the line is being read
	row         []byte
	left        []byte // of row, not read yet
	lines       int
}

func newFax(r *bufio.Reader, width int, reversed, plain, mixed bool) *fax {
	return &fax{in: &bitInput{r: r, reversed: reversed}, width: width, plain: plain, mixed: mixed, row: make([]byte, (width+7)/8)}
}

// Read implements io.Reader.
func (f *fax) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(f.left) == 0 {
			if err := f.line(); err != nil {
				return n, err
			}
		}
		c := copy(p[n:], f.left)
		f.left, n = f.left[c:], n+c
	}
	return n, nil
}

var errFaxCode = errors.New("no code of CCITT")

// line decodes one line. It returns io.EOF at the end of the page or data.
func (f *fax) line() error {
	flat := true
	if f.plain {
		f.in.align()
	} else {
		ends, err := f.ends()
		if err != nil {
			return err
		}
		if ends > 1 && f.lines > 0 {
			return io.EOF
		}
		if f.mixed && ends > 0 {
			tag, err := f.in.take(1)
			if err != nil {
				return err
			}
			flat = tag == 1
		}
	}
	if f.in.peek(1) < 0 {
		return io.EOF
	}
	f.before, f.now = f.now, f.before[:0]
	var err error
	if flat {
		err = f.flat()
	} else {
		err = f.relative()
	}
	if err != nil && (f.plain || !errors.Is(err, errFaxCode)) {
		return err
	}
	if err != nil {
		// A black run of which the end is not known is none.
		f.now = f.now[:len(f.now)-len(f.now)%2]
		f.resync()
	}
	f.paint()
	f.lines++
	return nil
}

// eolZeros is how many zeros, at least, an end of line has before its one.
const eolZeros = 11

// ends skips ends of lines, with the fill before them, and counts them.
func (f *fax) ends() (n int, err error) {
	for f.in.peek(eolZeros) == 0 {
		for {
			bit, err := f.in.take(1)
			if err != nil {
				return n, err
			}
			if bit == 1 {
				break
			}
		}
		n++
		// Behind each end but the last of a page stands its own tag.
		if f.mixed && f.in.peek(1+eolZeros) == 1<<eolZeros {
			f.in.drop(1)
		}
	}
	return n, nil
}

// resync drops bits until an end of line comes.
func (f *fax) resync() {
	for v := f.in.peek(eolZeros); v > 0; v = f.in.peek(eolZeros) {
		f.in.drop(1)
	}
}

// flat decodes runs of white and black in turn.
func (f *fax) flat() error {
	for at, color := 0, 0; at < f.width; color = 1 - color {
		n, err := f.run(color)
		if err != nil {
			return err
		}
		at = min(at+n, f.width)
		f.now = append(f.now, at)
	}
	return nil
}

// run reads the length of a run: codes for multiples of 64, then one for the
// rest.
func (f *fax) run(color int) (int, error) {
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

// Modes of a line in two dimensions (T.4, table 4); the others are how far the
// change is from the one above.
const (
	faxPass       = 100
	faxHorizontal = 101
)

// relative decodes a line by the one before.
func (f *fax) relative() error {
	at, color := -1, 0
	f.up = 0
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
				f.now = append(f.now, at)
			}
		default:
			to := above + mode
			if to < max(at, 0) || to > f.width {
				return errFaxCode
			}
			at, color = to, 1-color
			f.now = append(f.now, at)
		}
	}
	return nil
}

// above returns the first change of the line before that lies right of at and
// is to the other color, and the one after it. The line is read from the left,
// so that f.up never goes back.
func (f *fax) above(at, color int) (first, next int) {
	for f.up < len(f.before) && f.before[f.up] <= at {
		f.up++
	}
	i := f.up
	if i%2 != color {
		i++
	}
	first, next = f.width, f.width
	if i < len(f.before) {
		first = f.before[i]
	}
	if i+1 < len(f.before) {
		next = f.before[i+1]
	}
	return first, next
}

// paint makes bits of the changes.
func (f *fax) paint() {
	clear(f.row)
	for i := 0; i < len(f.now); i += 2 {
		end := f.width
		if i+1 < len(f.now) {
			end = f.now[i+1]
		}
		for x := f.now[i]; x < end; x++ {
			f.row[x/8] |= 0x80 >> (x % 8)
		}
	}
	f.left = f.row
}

// bitInput reads bits, the highest of a byte first, or the lowest if reversed.
type bitInput struct {
	r        *bufio.Reader
	reversed bool
	bits     uint64
	have     int
	err      error
}

// peek returns the next n bits, up to 32, -1 when there are not so many.
func (b *bitInput) peek(n int) int {
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

func (b *bitInput) drop(n int) { b.have -= n }

// align drops what is left of a byte.
func (b *bitInput) align() { b.have -= b.have % 8 }

func (b *bitInput) take(n int) (int, error) {
	v := b.peek(n)
	if v < 0 {
		return 0, b.err
	}
	b.drop(n)
	return v, nil
}

// code reads one code of a table.
func (b *bitInput) code(table *faxTable) (int, error) {
	for n := 1; n <= faxLongest; n++ {
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

// faxLongest is how many bits the longest code has.
const faxLongest = 13

// faxTable holds what codes mean, by their length and bits.
type faxTable [faxLongest + 1]map[int]int

// Codes of T.4, tables 2 and 3: of runs from 0 to 63, then of multiples of 64 up
// to 1728; and those up to 2560, which both colors share.
const (
	faxWhite = `00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101
101010 101011 0100111 0001100 0001000 0010111 0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010
00011011 00010010 00010011 00010100 00010101 00010110 00010111 00101000 00101001 00101010 00101011 00101100 00101101 00000100 00000101 00001010
00001011 01010010 01010011 01010100 01010101 00100100 00100101 01011000 01011001 01011010 01011011 01001010 01001011 00110010 00110011 00110100
11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 011010010 011010011 011010100 011010101
011010110 011010111 011011000 011011001 011011010 011011011 010011000 010011001 010011010 011000 010011011`

	faxBlack = `0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000
0000010111 0000011000 0000001000 00001100111 00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 000011001100 000011001101 000001101000 000001101001
000001101010 000001101011 000011010010 000011010011 000011010100 000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 000011011011 000001010100 000001010101 000001010110 000001010111
000001100100 000001100101 000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111
0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100 0000001101101 0000001001010 0000001001011 0000001001100 0000001001101 0000001110010 0000001110011 0000001110100
0000001110101 0000001110110 0000001110111 0000001010010 0000001010011 0000001010100 0000001010101 0000001011010 0000001011011 0000001100100 0000001100101`

	faxLong = `00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101
000000010110 000000010111 000000011100 000000011101 000000011110 000000011111`
)

var faxRuns = [2]faxTable{runTable(faxWhite), runTable(faxBlack)}

// faxModes are the codes of T.4, table 4.
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
	bits, err := strconv.ParseUint(code, 2, 16)
	if err != nil {
		panic(err) // the tables above are constant
	}
	t[len(code)][int(bits)] = value
}
