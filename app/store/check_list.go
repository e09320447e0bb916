package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"deedkeep/app/model"
)

// checkListed holds what the indexes should say of a record against what they say,
// and counts it, for checkEntries and the counters.
func checkListed[T any](k *checker, l *listing[T], id uint64, v *T) {
	c, trashed := l.cardOf(k.t, v), l.trashCard(k.t, v)
	k.carded(&l.layout, l.noun, id, &c)
	if l.sorts.bucket != nil {
		k.carded(&l.sorts, l.noun, id, &c)
	}
	k.carded(&trash.layout, l.noun, id, &trashed)
	if trashed.listed {
		k.counts[CountTrashed]++
	}
	for i := range l.columns {
		if c.listed && l.columns[i].tally {
			k.tallies[tallied{l.noun, l.columns[i].name, l.columns[i].of(v)}]++
		}
	}
}

func (k *checker) carded(x *layout, noun string, id uint64, c *card) {
	if !c.listed {
		return
	}
	b, value := k.t.bucket(x.bucket), x.value(c)
	for slot := range x.slots() {
		k.key = x.key(k.key, c, slot)
		if len(k.key) == 0 {
			continue
		}
		k.entriesDue[string(x.bucket)]++
		switch have := b.Get(k.key); {
		case have == nil:
			k.find(noun, fmt.Sprint(id), "is missing in the index %s", x.bucket)
		case !bytes.Equal(have, value):
			k.find(noun, fmt.Sprint(id), "is written wrongly in the index %s", x.bucket)
		}
	}
}

// lists holds every entry of the lists' indexes against the record it names. Where
// all that should be there is, and nothing more, each is the one that should be.
func (k *checker) lists() {
	for _, x := range []*layout{&abstracts.layout, &abstracts.sorts} {
		checkEntries(k, x, func(id uint64) (card, bool) { return recarded(k, &abstracts, id) })
	}
	for _, x := range []*layout{&orders.layout, &orders.sorts} {
		checkEntries(k, x, func(id uint64) (card, bool) { return recarded(k, &orders, id) })
	}
	checkEntries(k, &files.layout, func(id uint64) (card, bool) { return recarded(k, &files, id) })
	checkEntries(k, &events.layout, func(id uint64) (card, bool) { return recarded(k, &events, id) })
	checkEntries(k, &trash.layout, func(id uint64) (card, bool) {
		switch number := id & (1<<nounShift - 1); nounOf(id) {
		case abstracts.noun:
			return thrown(k, &abstracts, number)
		case orders.noun:
			return thrown(k, &orders, number)
		case files.noun:
			return thrown(k, &files, number)
		}
		return card{}, false
	})
}

func recarded[T any](k *checker, l *listing[T], id uint64) (card, bool) {
	v, ok, err := l.find(k.t, id)
	if !ok || err != nil {
		return card{}, false
	}
	return l.cardOf(k.t, &v), true
}

func thrown[T any](k *checker, l *listing[T], id uint64) (card, bool) {
	v, ok, err := l.find(k.t, id)
	if !ok || err != nil {
		return card{}, false
	}
	return l.trashCard(k.t, &v), true
}

func checkEntries(k *checker, x *layout, read func(id uint64) (card, bool)) {
	if k.told == 0 && k.entriesDue[string(x.bucket)] == k.size(x.bucket) {
		return
	}
	k.entries(x.bucket, func(key, _ []byte) bool {
		id, ok := tail(key)
		if !ok {
			return false
		}
		c, ok := read(id)
		for slot := 0; ok && slot < x.slots(); slot++ {
			if k.key = x.key(k.key, &c, slot); bytes.Equal(k.key, key) {
				return true
			}
		}
		return false
	})
}

func (k *checker) size(bucket []byte) (n int) {
	c := k.t.bucket(bucket).Cursor()
	for key, _ := c.First(); key != nil && k.ctx.Err() == nil; key, _ = c.Next() {
		n++
	}
	return n
}

// tallied holds the kept counts of values against those that were counted.
func (k *checker) tallied() {
	if k.told > 0 {
		return // they may follow from it
	}
	due := make(map[string]uint64, len(k.tallies))
	for c, n := range k.tallies {
		due[string(c.key())] = n
	}
	c := k.t.bucket(bucketCounts).Cursor()
	for key, raw := c.First(); key != nil; key, raw = c.Next() {
		if n, ok := numberOf(raw); !ok || n != due[string(key)] {
			k.find("counter", countName(key), "says %x, there are %d", raw, due[string(key)])
		}
		delete(due, string(key))
	}
	for key, n := range due {
		k.find("counter", countName([]byte(key)), "is missing, there are %d", n)
	}
}

func countName(key []byte) string { return string(bytes.ReplaceAll(key, []byte{0}, []byte{' '})) }

// replays holds the kept answers and the index of their times against each other.
func (k *checker) replays() {
	c := k.t.bucket(bucketReplays).Cursor()
	for slot, raw := c.First(); slot != nil && k.ctx.Err() == nil; slot, raw = c.Next() {
		k.census.Records++
		var r model.Replay
		if err := decode(bucketReplays, slot, raw, &r); err != nil {
			k.find("replay", fmt.Sprintf("%x", slot), "%v", err)
		} else if k.t.bucket(bucketReplayTimes).Get(replayKey(r.At, slot)) == nil {
			k.find("replay", fmt.Sprintf("%x", slot), "is missing in the index %s", bucketReplayTimes)
		}
	}
	k.entries(bucketReplayTimes, func(key, _ []byte) bool {
		if len(key) != replayKeySize {
			return false
		}
		r, ok, err := k.t.StoredResponse([32]byte(key[8:]))
		return ok && err == nil && micros(r.At) == binary.BigEndian.Uint64(key)
	})
}
