package sandbox

import "slices"

// readahead detects reads at regular intervals, such as when each page of a scan is read in turn.
type readahead struct {
	lastJump int64 // offset of the last read that was a jump
	step     int64
	repeats  int // number of consecutive steps with about the same length
}

// stepTolerance is the maximum difference in bytes between two steps that count as equal. Similar
// objects don't have exactly the same length.
const stepTolerance = unitSize / 4

// observe records the offset of a read. A read near the last jump does not count as a jump.
func (r *readahead) observe(off int64) {
	step := off - r.lastJump
	if distance(step, 0) < unitSize {
		return
	}
	if distance(step, r.step) <= stepTolerance {
		r.repeats++
	} else {
		r.repeats = 0
	}
	r.lastJump, r.step = off, step
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// stepWindow is the number of bytes to fetch at each step.
const stepWindow = 512

// addReadahead adds the units at the next expected steps to ranges and returns them. The longer the
// pattern lasts, the more steps it adds.
func (rd *remoteDoc) addReadahead(ranges []byteRange) []byteRange {
	if rd.size <= smallDocument || ranges[0].length > 2*unitSize {
		return ranges
	}
	at, space := rd.readahead.lastJump, blockSize-ranges[0].length
	for range rd.readaheadSteps() {
		at += rd.readahead.step
		for start := at - at%unitSize; start >= 0 && start < min(at+stepWindow, rd.size); start += unitSize {
			length := int(min(unitSize, rd.size-start))
			if rd.cached[start] != nil || slices.ContainsFunc(ranges, byteRange{start, length}.overlaps) {
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

// readaheadSteps returns the number of steps to read ahead.
func (rd *remoteDoc) readaheadSteps() int {
	if rd.readahead.repeats < 2 {
		return 0
	}
	return min(rd.readahead.repeats, maxRanges)
}

func (b byteRange) overlaps(q byteRange) bool {
	return b.offset < q.offset+int64(q.length) && q.offset < b.offset+int64(b.length)
}
