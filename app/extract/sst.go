package extract

import "encoding/binary"

// sstReader reads the shared strings of a .xls ([MS-XLS] 2.4.265), which one
// record begins and others continue. Where a continuation breaks characters
// off, it begins with the flags of the string once more; it may change from
// one byte a character to two.
type sstReader struct {
	segments []records
}

// shared reads the record SST, of which content is the first part, and its
// continuations from next on; it returns where the record after them stands.
func (b *xlsBook) shared(content records, next int) int {
	r := &sstReader{segments: []records{content}}
	for {
		kind, more, after, ok := b.stream.record(next)
		if !ok || kind != biffContinue {
			break
		}
		r.segments = append(r.segments, more)
		next = after
	}
	r.skip(8) // counts, which need not be true
	for len(b.strings) < mostStrings {
		s, ok := r.string()
		if !ok {
			break
		}
		b.strings = append(b.strings, s)
	}
	return next
}

// front drops segments that are used up; it reports whether one is left.
func (r *sstReader) front() bool {
	for len(r.segments) > 0 && len(r.segments[0]) == 0 {
		r.segments = r.segments[1:]
	}
	return len(r.segments) > 0
}

func (r *sstReader) byte() (int, bool) {
	if !r.front() {
		return 0, false
	}
	b := r.segments[0][0]
	r.segments[0] = r.segments[0][1:]
	return int(b), true
}

// number reads n bytes, the lowest first.
func (r *sstReader) number(n int) (v int, ok bool) {
	for i := range n {
		b, ok := r.byte()
		if !ok {
			return 0, false
		}
		v |= b << (8 * i)
	}
	return v, true
}

func (r *sstReader) skip(n int) {
	for n > 0 && r.front() {
		part := min(n, len(r.segments[0]))
		r.segments[0] = r.segments[0][part:]
		n -= part
	}
}

// string reads one string:
//
//	length:2 flags:1 [runs:2 if flags&8] [extra:4 if flags&4] characters runs×4 extra
func (r *sstReader) string() (string, bool) {
	length, ok := r.number(2)
	if !ok {
		return "", false
	}
	flags, ok := r.byte()
	if !ok {
		return "", false
	}
	runs, extra := 0, 0
	if flags&8 != 0 {
		runs, _ = r.number(2) // what is cut off shows at the next string
	}
	if flags&4 != 0 {
		extra, _ = r.number(4)
	}
	text := r.characters(length, flags)
	r.skip(4*runs + extra)
	return text, true
}

func (r *sstReader) characters(length, flags int) string {
	var wide []byte
	for length > 0 && len(r.segments) > 0 {
		segment := r.segments[0]
		if len(segment) == 0 {
			r.segments = r.segments[1:]
			if flags, _ = r.byte(); !r.front() {
				break
			}
			continue
		}
		if flags&biffFullWidth != 0 {
			n := min(length, len(segment)/2)
			if n == 0 {
				r.segments[0] = nil // half a character at the end
				continue
			}
			wide = append(wide, segment[:2*n]...)
			r.segments[0], length = segment[2*n:], length-n
			continue
		}
		n := min(length, len(segment))
		for _, b := range segment[:n] {
			wide = append(wide, b, 0)
		}
		r.segments[0], length = segment[n:], length-n
	}
	return decodeUTF16(wide, binary.LittleEndian)
}
