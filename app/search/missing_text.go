package search

import (
	"cmp"
	"slices"
)

// idRanges is a set of document IDs, stored as inclusive ranges in ascending order that are not
// adjacent. Copy it before you change it because searches may be reading it.
//
// The checkpoint uses it for documents that were indexed without their text because the extracted text
// was deleted, damaged, or missing from a backup. When such a document is indexed again, for example
// after its text is regenerated, it is removed from the set.
type idRanges [][2]uint64

// maxRanges limits the size of the checkpoint. If there are more ranges, the closest ones are merged,
// including the IDs between them. The additional documents are checked needlessly, which is cheap.
const maxRanges = 4096

// count returns the number of IDs.
func (ir idRanges) count() (n uint64) {
	for _, r := range ir {
		n += r[1] - r[0] + 1
	}
	return n
}

// first returns up to limit IDs in ascending order, starting with the lowest.
func (ir idRanges) first(limit int) (ids []uint64) {
	for _, r := range ir {
		for id := r[0]; id <= r[1]; id++ {
			if len(ids) == limit {
				return ids
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// find returns the index of the range that contains an ID. If there is none, it returns the index at
// which to insert one, and false.
func (ir idRanges) find(id uint64) (int, bool) {
	return slices.BinarySearchFunc(ir, id, func(r [2]uint64, id uint64) int {
		switch {
		case r[1] < id:
			return -1
		case r[0] > id:
			return 1
		}
		return 0
	})
}

// add adds an ID. It modifies ir in place.
func (ir *idRanges) add(id uint64) {
	i, found := ir.find(id)
	if found {
		return
	}
	ranges := slices.Insert(*ir, i, [2]uint64{id, id})
	for _, i := range []int{i + 1, i} { // join it with the ranges next to it
		if i > 0 && i < len(ranges) && ranges[i-1][1]+1 == ranges[i][0] {
			ranges[i-1][1] = ranges[i][1]
			ranges = slices.Delete(ranges, i, i+1)
		}
	}
	*ir = ranges.mergeExcess()
}

// remove removes an ID. It modifies ir in place.
func (ir *idRanges) remove(id uint64) {
	i, found := ir.find(id)
	if !found {
		return
	}
	r := (*ir)[i]
	rest := slices.DeleteFunc([][2]uint64{{r[0], id - 1}, {id + 1, r[1]}}, func(r [2]uint64) bool { return r[0] > r[1] })
	*ir = slices.Replace(*ir, i, i+1, rest...).mergeExcess()
}

// mergeExcess merges the two closest ranges if there are more than maxRanges. On a tie, it merges the
// last pair: merging near the front could undo the progress of text regeneration, which starts there.
func (ir idRanges) mergeExcess() idRanges {
	if len(ir) <= maxRanges {
		return ir
	}
	closest := len(ir) - 1
	for i := closest - 1; i > 0; i-- {
		if cmp.Less(ir[i][0]-ir[i-1][1], ir[closest][0]-ir[closest-1][1]) {
			closest = i
		}
	}
	ir[closest-1][1] = ir[closest][1]
	return slices.Delete(ir, closest, closest+1)
}

// updateMissingText updates the set of documents without text from the contents of a batch.
func (ch *checkpoint) updateMissingText(b *indexBatch) {
	if len(ch.MissingText) == 0 && len(b.missingText) == 0 {
		return
	}
	ranges := slices.Clone(ch.MissingText) // the current checkpoint shares it
	for _, id := range b.files {
		ranges.remove(id)
	}
	for _, id := range b.missingText {
		ranges.add(id)
	}
	ch.MissingText = ranges
}

// MissingText returns up to limit IDs of documents that are indexed without their text, in ascending
// order. It considers only indexes that contain every change up to after, and returns nil if there is
// none. The list may include documents that have been deleted or have text again. They are removed from
// it when their last change is indexed.
func (in *Indexer) MissingText(after uint64, limit int) []uint64 {
	for _, gen := range in.generations() {
		if gen != nil && gen.includes(after) {
			if ids := gen.published.Load().MissingText.first(limit); len(ids) > 0 {
				return ids
			}
		}
	}
	return nil
}

// generations returns the live index and the one being built. Either may be nil.
func (in *Indexer) generations() (list [2]*generation) {
	in.withLock(func() { list = [2]*generation{in.live, in.building} })
	return list
}

// waitsForText reports whether a complete index should not go live yet because it lacks the text of
// more documents than the live one.
func (in *Indexer) waitsForText(gen *generation) bool {
	return in.options.OnMissingText != nil && in.live != nil && !in.live.damaged.Load() && in.live.fellBehindAt.IsZero() &&
		gen.checkpoint.MissingText.count() > in.live.checkpoint.MissingText.count()
}

// onlyTextMissing reports whether the index being built contains every change up to the given one and
// only lacks text.
func (in *Indexer) onlyTextMissing(change uint64) bool {
	gen := in.generations()[1]
	return in.options.OnMissingText != nil && gen != nil && gen.includes(change) && len(gen.published.Load().MissingText) > 0
}

// notifyMissingText calls onMissingText if an index lacks any text.
func (in *Indexer) notifyMissingText() {
	for _, gen := range in.generations() {
		if in.options.OnMissingText != nil && gen != nil && len(gen.published.Load().MissingText) > 0 {
			in.options.OnMissingText()
			return
		}
	}
}
