package sandbox

import "slices"

// stride watches for reads that jump in steps of one length.
type stride struct {
	last   int64 // where the last jump led
	step   int64
	steady int // how many steps in a row have been alike
}

// alike is how much two steps may differ: objects of one kind are not quite of
// one length.
const alike = unit / 4

// see notes a read. What is near the last one is no jump.
func (s *stride) see(off int64) {
	step := off - s.last
	if distance(step, 0) < unit {
		return
	}
	if distance(step, s.step) <= alike {
		s.steady++
	} else {
		s.steady = 0
	}
	s.last, s.step = off, step
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// reach is how much after the beginning of a step is wanted.
const reach = 512

// ahead adds the units of the next steps to an ask, more of them the longer the
// steps have been alike.
func (b *blocks) ahead(parts []part) []part {
	if b.size <= smallDocument || parts[0].length > 2*unit {
		return parts
	}
	at, room := b.stride.last, blockSize-parts[0].length
	for range b.steps() {
		at += b.stride.step
		for start := at - at%unit; start >= 0 && start < min(at+reach, b.size); start += unit {
			length := int(min(unit, b.size-start))
			if b.byOff[start] != nil || slices.ContainsFunc(parts, part{start, length}.overlaps) {
				continue
			}
			if room < length || len(parts) == mostParts {
				return parts
			}
			room -= length
			parts = append(parts, part{start, length})
		}
	}
	return parts
}

// steps is how many steps to look ahead.
func (b *blocks) steps() int {
	if b.stride.steady < 2 {
		return 0
	}
	return min(b.stride.steady, mostParts)
}

func (p part) overlaps(q part) bool {
	return p.offset < q.offset+int64(q.length) && q.offset < p.offset+int64(p.length)
}
