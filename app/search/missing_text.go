package search

import (
	"cmp"
	"slices"
)

// A document may go into the index before its text is there: it was made of the bytes
// once, but what was made may be deleted, was not in the backup, or is damaged. Whoever
// makes texts again (Options.Lacks) asks which documents those are. They lie in the mark,
// so that a crash forgets none, and leave it when their record comes again, as it does
// when its text is made, or when it goes.

// idRanges are numbers of documents, from the first to the last of each; ascending, with
// gaps between. They are never changed, but copied.
type idRanges [][2]uint64

// maxRanges bounds the mark. Beyond it those that lie closest are taken for one, with
// what is between them: to look at a document in vain costs little.
const maxRanges = 4096

func (s idRanges) count() (n uint64) {
	for _, one := range s {
		n += one[1] - one[0] + 1
	}
	return n
}

// first are the first numbers, at most so many.
func (s idRanges) first(most int) (ids []uint64) {
	for _, one := range s {
		for id := one[0]; id <= one[1]; id++ {
			if len(ids) == most {
				return ids
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// find is the span with the number, or else the place for one.
func (s idRanges) find(id uint64) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(one [2]uint64, id uint64) int {
		switch {
		case one[1] < id:
			return -1
		case one[0] > id:
			return 1
		}
		return 0
	})
}

// add adds a number in place.
func (s *idRanges) add(id uint64) {
	list := *s
	at, has := list.find(id)
	if has {
		return
	}
	before, behind := at > 0 && list[at-1][1]+1 == id, at < len(list) && list[at][0] == id+1
	switch {
	case before && behind:
		list[at-1][1] = list[at][1]
		list = slices.Delete(list, at, at+1)
	case before:
		list[at-1][1] = id
	case behind:
		list[at][0] = id
	default:
		list = slices.Insert(list, at, [2]uint64{id, id})
	}
	*s = list.mergeExcess()
}

// remove takes a number out in place.
func (s *idRanges) remove(id uint64) {
	list := *s
	at, has := list.find(id)
	if !has {
		return
	}
	switch one := list[at]; {
	case one[0] == one[1]:
		list = slices.Delete(list, at, at+1)
	case one[0] == id:
		list[at][0]++
	case one[1] == id:
		list[at][1]--
	default:
		list[at][1] = id - 1
		list = slices.Insert(list, at+1, [2]uint64{id + 1, one[1]})
	}
	*s = list.mergeExcess()
}

// mergeExcess joins the two that lie closest, the last of them: the first ones are made
// first, and must come to an end.
func (s idRanges) mergeExcess() idRanges {
	if len(s) <= maxRanges {
		return s
	}
	closest := len(s) - 1
	for at := closest - 1; at > 0; at-- {
		if cmp.Less(s[at][0]-s[at-1][1], s[closest][0]-s[closest-1][1]) {
			closest = at
		}
	}
	s[closest-1][1] = s[closest][1]
	return slices.Delete(s, closest, closest+1)
}

// updateMissingText notes in the mark which documents of the batch have their text now, and which
// lack it.
func (m *checkpoint) updateMissingText(b *indexBatch) {
	if len(m.MissingText) == 0 && len(b.missingText) == 0 {
		return
	}
	list := slices.Clone(m.MissingText) // the mark before has it too
	for _, id := range b.files {
		list.remove(id)
	}
	for _, id := range b.missingText {
		list.add(id)
	}
	m.MissingText = list
}

// MissingText gives documents that are in the index without their text, which they may have
// and which is to be made: at most so many, by their numbers; none before the index
// knows of all changes up to one. A document in it may have its text, be in the trash or
// be gone: it leaves the list with the next change of its record.
func (x *Indexer) MissingText(after uint64, most int) []uint64 {
	for _, in := range x.generations() {
		if in != nil && !in.building.Load() && in.change.Load() >= after {
			if ids := in.missing().first(most); len(ids) > 0 {
				return ids
			}
		}
	}
	return nil
}

func (x *Indexer) generations() (list [2]*generation) {
	x.withLock(func() { list = [2]*generation{x.live, x.building} })
	return list
}

// missing are the documents without their text.
func (in *generation) missing() idRanges {
	if list := in.missingText.Load(); list != nil {
		return *list
	}
	return nil
}

// waitsForText reports an index that is whole but for texts, beside one that has more of them:
// that one answers until they are made.
func (x *Indexer) waitsForText(in *generation) bool {
	return x.onMissingText != nil && x.live != nil && !x.live.damaged.Load() && x.live.fellBehindAt.IsZero() &&
		in.missing().count() > x.live.missing().count()
}

// onlyTextMissing reports that an index is being made, has all changes up to one, and waits for
// nothing but texts.
func (x *Indexer) onlyTextMissing(change uint64) bool {
	in := x.generations()[1]
	return x.onMissingText != nil && in != nil && !in.building.Load() && in.change.Load() >= change && len(in.missing()) > 0
}

// notifyMissingText calls for texts, where some are lacking.
func (x *Indexer) notifyMissingText() {
	for _, in := range x.generations() {
		if x.onMissingText != nil && in != nil && len(in.missing()) > 0 {
			x.onMissingText()
			return
		}
	}
}
