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

// spans are numbers of documents, from the first to the last of each; ascending, with
// gaps between. They are never changed, but copied.
type spans [][2]uint64

// mostSpans bounds the mark. Beyond it those that lie closest are taken for one, with
// what is between them: to look at a document in vain costs little.
const mostSpans = 4096

func (s spans) count() (n uint64) {
	for _, one := range s {
		n += one[1] - one[0] + 1
	}
	return n
}

// first are the first numbers, at most so many.
func (s spans) first(most int) (ids []uint64) {
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

// at is the span with the number, or else the place for one.
func (s spans) at(id uint64) (int, bool) {
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

// with adds a number in place.
func (s *spans) with(id uint64) {
	list := *s
	at, has := list.at(id)
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
	*s = list.bounded()
}

// without takes a number out in place.
func (s *spans) without(id uint64) {
	list := *s
	at, has := list.at(id)
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
	*s = list.bounded()
}

// bounded joins the two that lie closest, the last of them: the first ones are made
// first, and must come to an end.
func (s spans) bounded() spans {
	if len(s) <= mostSpans {
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

// texts notes in the mark which documents of the batch have their text now, and which
// lack it.
func (m *indexMark) texts(b *indexBatch) {
	if len(m.Lacking) == 0 && len(b.lacking) == 0 {
		return
	}
	list := slices.Clone(m.Lacking) // the mark before has it too
	for _, id := range b.files {
		list.without(id)
	}
	for _, id := range b.lacking {
		list.with(id)
	}
	m.Lacking = list
}

// Lacking gives documents that are in the index without their text, which they may have
// and which is to be made: at most so many, by their numbers; none before the index
// knows of all changes up to one. A document in it may have its text, be in the trash or
// be gone: it leaves the list with the next change of its record.
func (x *Indexer) Lacking(after uint64, most int) []uint64 {
	for _, in := range x.both() {
		if in != nil && !in.walking.Load() && in.behind.Load() >= after {
			if ids := in.lacks().first(most); len(ids) > 0 {
				return ids
			}
		}
	}
	return nil
}

func (x *Indexer) both() (list [2]*volume) {
	x.set(func() { list = [2]*volume{x.now, x.next} })
	return list
}

// lacks are the documents without their text.
func (in *volume) lacks() spans {
	if list := in.lacking.Load(); list != nil {
		return *list
	}
	return nil
}

// waits reports an index that is whole but for texts, beside one that has more of them:
// that one answers until they are made.
func (x *Indexer) waits(in *volume) bool {
	return x.lack != nil && x.now != nil && !x.now.broken.Load() && x.now.outrun.IsZero() &&
		in.lacks().count() > x.now.lacks().count()
}

// butTexts reports that an index is being made, has all changes up to one, and waits for
// nothing but texts.
func (x *Indexer) butTexts(change uint64) bool {
	in := x.both()[1]
	return x.lack != nil && in != nil && !in.walking.Load() && in.behind.Load() >= change && len(in.lacks()) > 0
}

// tellLacking calls for texts, where some are lacking.
func (x *Indexer) tellLacking() {
	for _, in := range x.both() {
		if x.lack != nil && in != nil && len(in.lacks()) > 0 {
			x.lack()
			return
		}
	}
}
