package postings

import "math/bits"

// Segments are of a level by their size: below 64 KiB, below 512 KiB, and so on by
// eights. Eight of a level that have nothing larger between them become one, of the
// next level as a rule: so a document is written again once for every level, and there
// are at most about seven segments of each.
const (
	mergeWidth   = 8
	mergeMost    = 32 // segments merged at once
	mergeLowest  = 16 // bits of the size of level 0
	mostSegments = 64 // with more than that, the smallest neighbours are merged whatever their level
)

func level(size int64) int {
	return (max(0, bits.Len64(uint64(size))-mergeLowest) + 2) / 3
}

// pick returns which segments to merge, from == to for none.
func pick(views []view) (from, to int) {
	highest := 0
	for _, v := range views {
		highest = max(highest, level(v.segment.size))
	}
	for l := range highest + 1 {
		if from, to = run(views, l); from < to {
			return fit(views, from, to)
		}
	}
	if len(views) > mostSegments {
		from = smallest(views)
		return fit(views, from, from+mergeWidth)
	}
	for i, v := range views {
		if v.gone.count() > int(v.segment.docs)*2/5 {
			return i, i + 1
		}
	}
	return 0, 0
}

// run returns neighbours of the level or below, where enough are of the level.
func run(views []view, l int) (from, to int) {
	count := 0
	for i, v := range views {
		of := level(v.segment.size)
		if of > l {
			from, count = i+1, 0
			continue
		}
		if of == l {
			count++
		}
		if count < mergeWidth {
			continue
		}
		for to = i + 1; to < len(views) && to-from < mergeMost && level(views[to].segment.size) <= l; {
			to++
		}
		return max(from, to-mergeMost), to
	}
	return 0, 0
}

// smallest returns where the neighbours begin that are smallest together.
func smallest(views []view) int {
	best, at := int64(0), -1
	for i := 0; i+mergeWidth <= len(views); i++ {
		sum := int64(0)
		for _, v := range views[i : i+mergeWidth] {
			sum += v.segment.size
		}
		if at < 0 || sum < best {
			best, at = sum, i
		}
	}
	return at
}

// fit leaves out the latest until the rest is not too many documents for a segment.
func fit(views []view, from, to int) (int, int) {
	docs := 0
	for i := from; i < to; i++ {
		if docs += int(views[i].segment.docs); docs > mostDocs {
			to = i
		}
	}
	if to-from < 2 {
		return 0, 0
	}
	return from, to
}
