package sandbox

import "slices"

// readahead watches for reads that jump in steps of one length.
type readahead struct {
	lastJump int64 // where the last jump led
	step     int64
	repeats  int // how many steps in a row have been alike
}

// stepTolerance is how much two steps may differ: objects of one kind are not quite of
// one length.
const stepTolerance = unitSize / 4

// observe notes a read. What is near the last one is no jump.
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

// stepWindow is how much after the beginning of a step is wanted.
const stepWindow = 512

// addReadahead adds the units of the next steps to an ask, more of them the longer the
// steps have been alike.
func (b *remoteDoc) addReadahead(parts []byteRange) []byteRange {
	if b.size <= smallDocument || parts[0].length > 2*unitSize {
		return parts
	}
	at, room := b.readahead.lastJump, blockSize-parts[0].length
	for range b.readaheadSteps() {
		at += b.readahead.step
		for start := at - at%unitSize; start >= 0 && start < min(at+stepWindow, b.size); start += unitSize {
			length := int(min(unitSize, b.size-start))
			if b.cached[start] != nil || slices.ContainsFunc(parts, byteRange{start, length}.overlaps) {
				continue
			}
			if room < length || len(parts) == maxRanges {
				return parts
			}
			room -= length
			parts = append(parts, byteRange{start, length})
		}
	}
	return parts
}

// readaheadSteps is how many steps to look ahead.
func (b *remoteDoc) readaheadSteps() int {
	if b.readahead.repeats < 2 {
		return 0
	}
	return min(b.readahead.repeats, maxRanges)
}

func (p byteRange) overlaps(q byteRange) bool {
	return p.offset < q.offset+int64(q.length) && q.offset < p.offset+int64(p.length)
}
