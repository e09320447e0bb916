package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"deedkeep/app/model"
)

// checkListIndexes holds what the indexes should say of a record against what they say,
// and counts it, for checkLayoutEntries and the counters.
func checkListIndexes[T any](k *checker, l *indexedTable[T], id uint64, v *T) {
	c, trashed := l.listFields(k.t, v), l.trashFields(k.t, v)
	k.checkLayout(&l.indexLayout, l.typeName, id, &c)
	if l.sortLayout.indexBucket != nil {
		k.checkLayout(&l.sortLayout, l.typeName, id, &c)
	}
	k.checkLayout(&trash.indexLayout, l.typeName, id, &trashed)
	if trashed.listed {
		k.counts[CountTrashed]++
	}
	for i := range l.columns {
		if c.listed && l.columns[i].counted {
			k.valueCounts[valueCountKey{l.typeName, l.columns[i].name, l.columns[i].value(v)}]++
		}
	}
}

func (k *checker) checkLayout(x *indexLayout, noun string, id uint64, c *indexFields) {
	if !c.listed {
		return
	}
	b, value := k.t.bucket(x.indexBucket), x.encodeColumns(c)
	for slot := range x.maxEntries() {
		k.keyBuf = x.appendKey(k.keyBuf, c, slot)
		if len(k.keyBuf) == 0 {
			continue
		}
		k.expectedEntries[string(x.indexBucket)]++
		switch have := b.Get(k.keyBuf); {
		case have == nil:
			k.addFinding(noun, fmt.Sprint(id), "is missing in the index %s", x.indexBucket)
		case !bytes.Equal(have, value):
			k.addFinding(noun, fmt.Sprint(id), "is written wrongly in the index %s", x.indexBucket)
		}
	}
}

// checkLists holds every entry of the lists' indexes against the record it names. Where
// all that should be there is, and nothing more, each is the one that should be.
func (k *checker) checkLists() {
	for _, x := range []*indexLayout{&abstracts.indexLayout, &abstracts.sortLayout} {
		checkLayoutEntries(k, x, func(id uint64) (indexFields, bool) { return readListFields(k, &abstracts, id) })
	}
	for _, x := range []*indexLayout{&orders.indexLayout, &orders.sortLayout} {
		checkLayoutEntries(k, x, func(id uint64) (indexFields, bool) { return readListFields(k, &orders, id) })
	}
	checkLayoutEntries(k, &files.indexLayout, func(id uint64) (indexFields, bool) { return readListFields(k, &files, id) })
	checkLayoutEntries(k, &events.indexLayout, func(id uint64) (indexFields, bool) { return readListFields(k, &events, id) })
	checkLayoutEntries(k, &trash.indexLayout, func(id uint64) (indexFields, bool) {
		switch number := id & (1<<typeShift - 1); typeNameOf(id) {
		case abstracts.typeName:
			return readTrashFields(k, &abstracts, number)
		case orders.typeName:
			return readTrashFields(k, &orders, number)
		case files.typeName:
			return readTrashFields(k, &files, number)
		}
		return indexFields{}, false
	})
}

func readListFields[T any](k *checker, l *indexedTable[T], id uint64) (indexFields, bool) {
	v, ok, err := l.find(k.t, id)
	if !ok || err != nil {
		return indexFields{}, false
	}
	return l.listFields(k.t, &v), true
}

func readTrashFields[T any](k *checker, l *indexedTable[T], id uint64) (indexFields, bool) {
	v, ok, err := l.find(k.t, id)
	if !ok || err != nil {
		return indexFields{}, false
	}
	return l.trashFields(k.t, &v), true
}

func checkLayoutEntries(k *checker, x *indexLayout, read func(id uint64) (indexFields, bool)) {
	if k.findingCount == 0 && k.expectedEntries[string(x.indexBucket)] == k.countEntries(x.indexBucket) {
		return
	}
	k.checkEntries(x.indexBucket, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		if !ok {
			return false
		}
		c, ok := read(id)
		for slot := 0; ok && slot < x.maxEntries(); slot++ {
			if k.keyBuf = x.appendKey(k.keyBuf, &c, slot); bytes.Equal(k.keyBuf, key) {
				return true
			}
		}
		return false
	})
}

func (k *checker) countEntries(bucket []byte) (n int) {
	c := k.t.bucket(bucket).Cursor()
	for key, _ := c.First(); key != nil && k.ctx.Err() == nil; key, _ = c.Next() {
		n++
	}
	return n
}

// checkValueCounts holds the kept counts of values against those that were counted.
func (k *checker) checkValueCounts() {
	if k.findingCount > 0 {
		return // they may follow from it
	}
	due := make(map[string]uint64, len(k.valueCounts))
	for c, n := range k.valueCounts {
		due[string(c.encode())] = n
	}
	c := k.t.bucket(bucketCounts).Cursor()
	for key, raw := c.First(); key != nil; key, raw = c.Next() {
		if n, ok := decodeUint64(raw); !ok || n != due[string(key)] {
			k.addFinding("counter", formatCountKey(key), "says %x, there are %d", raw, due[string(key)])
		}
		delete(due, string(key))
	}
	for key, n := range due {
		k.addFinding("counter", formatCountKey([]byte(key)), "is missing, there are %d", n)
	}
}

func formatCountKey(key []byte) string { return string(bytes.ReplaceAll(key, []byte{0}, []byte{' '})) }

// checkStoredResponses holds the kept answers and the index of their times against each other.
func (k *checker) checkStoredResponses() {
	c := k.t.bucket(bucketStoredResponses).Cursor()
	for slot, raw := c.First(); slot != nil && k.ctx.Err() == nil; slot, raw = c.Next() {
		k.summary.Records++
		var r model.Replay
		if err := decodeRecord(bucketStoredResponses, slot, raw, &r); err != nil {
			k.addFinding("replay", fmt.Sprintf("%x", slot), "%v", err)
		} else if k.t.bucket(bucketStoredResponseTimes).Get(responseTimeKey(r.At, slot)) == nil {
			k.addFinding("replay", fmt.Sprintf("%x", slot), "is missing in the index %s", bucketStoredResponseTimes)
		}
	}
	k.checkEntries(bucketStoredResponseTimes, func(key, _ []byte) bool {
		if len(key) != responseTimeKeySize {
			return false
		}
		r, ok, err := k.t.StoredResponse([32]byte(key[8:]))
		return ok && err == nil && sortableMicros(r.At) == binary.BigEndian.Uint64(key)
	})
}
