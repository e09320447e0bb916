package sandbox

import "slices"

// readahead detects reads at regular intervals, such as over the pages of a scan.
type readahead struct {
	lastJump int64 // offset of the last jump
	step     int64
	repeats  int // number of consecutive steps of equal length
}

// stepTolerance is how much two steps may differ to count as equal: similar objects are not of
// exactly the same length.
const stepTolerance = unitSize / 4

// observe records a read. A read close to the previous one is not a jump.
func (s *readahead) observe(off int64) {
	step := off - s.lastJump
	if distance(step, 0) < unitSize {
		return
	}
	if distance(step, s.step) <= stepTolerance {
		s.repeats++
	} else {
		s.repeats = 0
	}
	s.lastJump, s.step = off, step
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// stepWindow is how many bytes after the start of a step are fetched.
const stepWindow = 512

// addReadahead adds the units at the next expected steps to the ranges of a read. The number of
// steps grows with repeats.
func (b *remoteDoc) addReadahead(ranges []byteRange) []byteRange {
	if b.size <= smallDocument || ranges[0].length > 2*unitSize {
		return ranges
	}
	at, space := b.readahead.lastJump, blockSize-ranges[0].length
	for range b.readaheadSteps() {
		at += b.readahead.step
		for start := at - at%unitSize; start >= 0 && start < min(at+stepWindow, b.size); start += unitSize {
			length := int(min(unitSize, b.size-start))
			if b.cached[start] != nil || slices.ContainsFunc(ranges, byteRange{start, length}.overlaps) {
				continue
			}
			if space < length || len(ranges) == maxRanges {
				return ranges
			}
			space -= length
			ranges = append(ranges, byteRange{start, length})
		}
	}
	return ranges
}

// readaheadSteps returns how many steps to read ahead.
func (b *remoteDoc) readaheadSteps() int {
	if b.readahead.repeats < 2 {
		return 0
	}
	return min(b.readahead.repeats, maxRanges)
}

func (p byteRange) overlaps(q byteRange) bool {
	return p.offset < q.offset+int64(q.length) && q.offset < p.offset+int64(p.length)
}
