package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/model"
)

// checkListIndexes verifies that a record has the right entries in the list, sort, and
// trash indexes. It adds them to the expected number of entries.
func checkListIndexes[T any](k *checker, l *indexedTable[T], id uint64, v *T) {
	f, trashed := l.listFields(k.t, v), l.trashFields(k.t, v)
	k.checkLayout(&l.indexLayout, l.typeName, id, &f)
	if l.sortLayout.indexBucket != nil {
		k.checkLayout(&l.sortLayout, l.typeName, id, &f)
	}
	k.checkLayout(&trash.indexLayout, l.typeName, id, &trashed)
	if trashed.listed {
		k.counts[CountTrashed]++
	}
	for i := range l.columns {
		if f.listed && l.columns[i].counted {
			k.valueCounts[valueCountKey{l.typeName, l.columns[i].name, l.columns[i].value(v)}]++
		}
	}
}

// checkLayout verifies the entries of a record in one index.
func (ch *checker) checkLayout(layout *indexLayout, typeName string, id uint64, f *indexFields) {
	if !f.listed {
		return
	}
	b, value := ch.t.bucket(layout.indexBucket), layout.encodeColumns(f)
	for i := range layout.maxEntries() {
		ch.keyBuf = layout.appendKey(ch.keyBuf, f, i)
		if len(ch.keyBuf) == 0 {
			continue
		}
		ch.expectedEntries[string(layout.indexBucket)]++
		switch have := b.Get(ch.keyBuf); {
		case have == nil:
			ch.addFinding(typeName, fmt.Sprint(id), "is missing from the database index %s", layout.indexBucket)
		case !bytes.Equal(have, value):
			ch.addFinding(typeName, fmt.Sprint(id), "has a wrong entry in the database index %s", layout.indexBucket)
		}
	}
}

// checkAllLists verifies that every entry of the list, sort, and trash indexes matches a
// record.
func (ch *checker) checkAllLists() {
	checkLists(ch, &abstracts)
	checkLists(ch, &orders)
	checkLists(ch, &files)
	checkLists(ch, &instruments)
	checkLists(ch, &events)
	checkLayoutEntries(ch, &trash.indexLayout, func(id uint64) (indexFields, bool) {
		switch recordID := id & (1<<typeShift - 1); typeNameOf(id) {
		case abstracts.typeName:
			return readFields(ch, &abstracts, recordID, (*indexedTable[model.Abstract]).trashFields)
		case orders.typeName:
			return readFields(ch, &orders, recordID, (*indexedTable[model.Order]).trashFields)
		case files.typeName:
			return readFields(ch, &files, recordID, (*indexedTable[model.File]).trashFields)
		case instruments.typeName:
			return readFields(ch, &instruments, recordID, (*indexedTable[model.Instrument]).trashFields)
		case notes.typeName:
			n, ok, err := notes.find(ch.t, recordID)
			return noteTrashFields(ch.t, &n), ok && err == nil
		}
		return indexFields{}, false
	})
}

// checkLists verifies the entries of the list and sort indexes of one table.
func checkLists[T any](k *checker, l *indexedTable[T]) {
	for _, layout := range []*indexLayout{&l.indexLayout, &l.sortLayout} {
		if layout.indexBucket != nil {
			checkLayoutEntries(k, layout, func(id uint64) (indexFields, bool) { return readFields(k, l, id, (*indexedTable[T]).listFields) })
		}
	}
}

// readFields returns the fields that a record should have in the list index or, if fields is
// trashFields, in the trash index.
func readFields[T any](k *checker, l *indexedTable[T], id uint64, fields func(*indexedTable[T], *Tx, *T) indexFields) (indexFields, bool) {
	v, ok, err := l.find(k.t, id)
	if !ok || err != nil {
		return indexFields{}, false
	}
	return fields(l, k.t, &v), true
}

// checkLayoutEntries reports index entries that don't belong to a record. If all expected
// entries exist and the index has no others, every entry is correct, so no records are
// read.
func checkLayoutEntries(k *checker, layout *indexLayout, read func(id uint64) (indexFields, bool)) {
	if k.findingCount == 0 && k.expectedEntries[string(layout.indexBucket)] == k.countEntries(layout.indexBucket) {
		return
	}
	k.checkEntries(layout.indexBucket, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		if !ok {
			return false
		}
		f, ok := read(id)
		for i := 0; ok && i < layout.maxEntries(); i++ {
			if k.keyBuf = layout.appendKey(k.keyBuf, &f, i); bytes.Equal(k.keyBuf, key) {
				return true
			}
		}
		return false
	})
}

// countEntries returns the number of entries in a bucket.
func (ch *checker) countEntries(bucket []byte) (n int) {
	c := ch.t.bucket(bucket).Cursor()
	for key, _ := c.First(); key != nil && ch.ctx.Err() == nil; key, _ = c.Next() {
		n++
	}
	return n
}

// checkValueCounts compares the stored value counts with the number of records that were
// read.
func (ch *checker) checkValueCounts() {
	if ch.findingCount > 0 {
		return // the other findings may be the cause
	}
	due := make(map[string]uint64, len(ch.valueCounts))
	for c, n := range ch.valueCounts {
		due[string(c.encode())] = n
	}
	c := ch.t.bucket(bucketCounts).Cursor()
	for key, raw := c.First(); key != nil; key, raw = c.Next() {
		if n, ok := decodeUint64(raw); !ok || n != due[string(key)] {
			ch.addFinding("counter", formatCountKey(key), "is %x, expected %d", raw, due[string(key)])
		}
		delete(due, string(key))
	}
	for key, n := range due {
		ch.addFinding("counter", formatCountKey([]byte(key)), "is missing, expected %d", n)
	}
}

// formatCountKey formats a key of the counts bucket for a finding.
func formatCountKey(key []byte) string { return string(bytes.ReplaceAll(key, []byte{0}, []byte{' '})) }

// checkStoredResponses verifies the stored responses and the index that sorts them by time.
func (ch *checker) checkStoredResponses() {
	c := ch.t.bucket(bucketStoredResponses).Cursor()
	for slot, raw := c.First(); slot != nil && ch.ctx.Err() == nil; slot, raw = c.Next() {
		ch.summary.Records++
		var r model.StoredResponse
		if err := decodeRecord(bucketStoredResponses, slot, raw, &r); err != nil {
			ch.addFinding("replay", fmt.Sprintf("%x", slot), "%v", err)
		} else if ch.t.bucket(bucketStoredResponseTimes).Get(responseTimeKey(r.At, slot)) == nil {
			ch.addFinding("replay", fmt.Sprintf("%x", slot), "is missing from the database index %s", bucketStoredResponseTimes)
		}
	}
	ch.checkEntries(bucketStoredResponseTimes, func(key, _ []byte) bool {
		if len(key) != responseTimeKeySize {
			return false
		}
		r, ok, err := ch.t.StoredResponse([32]byte(key[8:]))
		return ok && err == nil && sortableMicros(r.At) == binary.BigEndian.Uint64(key)
	})
}

// checkChanges verifies the checksums and sequence numbers of the change feed.
func (ch *checker) checkChanges() {
	last := ch.t.LastChange()
	var before uint64
	c := ch.t.bucket(bucketChanges).Cursor()
	for key, raw := c.First(); key != nil && ch.ctx.Err() == nil; key, raw = c.Next() {
		change, ok := decodeChange(key, raw)
		switch {
		case !ok:
			ch.addFinding("change", fmt.Sprintf("%x", key), "%v", ErrDamaged)
		case before != 0 && change.Seq != before+1:
			ch.addFinding("change", fmt.Sprint(change.Seq), "sequence gap: follows change %d", before)
		case change.Seq > last:
			ch.addFinding("change", fmt.Sprint(change.Seq), "ID is greater than the last assigned ID")
		}
		before = change.Seq
	}
	if before != 0 && before < last {
		ch.addFinding("change", fmt.Sprint(last), "is missing; the last stored change is %d", before)
	}
}

// checkUser verifies that a user is in the index of usernames.
func (ch *checker) checkUser(u model.User) {
	if id, ok := decodeUint64(ch.t.bucket(bucketUserNames).Get(userNameKey(u.Name))); !ok || id != u.ID {
		ch.addFinding("user", fmt.Sprint(u.ID), "is missing from the database index %s", bucketUserNames)
	}
}

// checkUserIndexes verifies that every entry of the indexes of usernames and sessions
// matches a record.
func (ch *checker) checkUserIndexes() {
	ch.checkEntries(bucketUserNames, func(key, value []byte) bool {
		id, ok := decodeUint64(value)
		u, err := users.get(ch.t, id)
		return ok && err == nil && bytes.Equal(key, userNameKey(u.Name))
	})
	ch.checkEntries(bucketSessionUsers, func(key, _ []byte) bool {
		if len(key) != 40 {
			return false
		}
		user, _ := decodeUint64(key[:8])
		s, found, err := ch.t.Session(key[8:])
		return found && err == nil && s.UserID == user
	})
}

// checkSession verifies the hash, user, and index entry of one session.
func (ch *checker) checkSession(key []byte, s model.Session) {
	if s.Hash != hex.EncodeToString(key) {
		ch.addFinding("session", s.ID(), "is stored under another hash")
		return
	}
	if !users.has(ch.t, s.UserID) {
		ch.addFinding("session", s.ID(), "refers to user %d, which does not exist", s.UserID)
	}
	if ch.t.bucket(bucketSessionUsers).Get(sessionUserKey(s.UserID, key)) == nil {
		ch.addFinding("session", s.ID(), "is missing from the database index %s", bucketSessionUsers)
	}
}

// checkSessions verifies all sessions. Their keys are hashes, so checkTable can't be used.
func (ch *checker) checkSessions() {
	c := ch.t.bucket(bucketSessions).Cursor()
	for key, raw := c.First(); key != nil && ch.ctx.Err() == nil; key, raw = c.Next() {
		ch.summary.Records++
		var s model.Session
		if err := decodeRecord(bucketSessions, key, raw, &s); err != nil {
			ch.addFinding("session", hex.EncodeToString(key), "%v", err)
			continue
		}
		ch.checkSession(key, s)
	}
}

// checkOCRQueue verifies that a file is in the OCR queue if its pages wait for OCR.
func (ch *checker) checkOCRQueue(f *model.File) {
	if !f.WaitsForOCR() {
		return
	}
	pages := uint64(f.PagesWaitingForOCR()) // not negative
	if f.Trashed == nil {
		ch.counts[CountOCRFiles]++
		ch.counts[CountOCRPages] += pages
	}
	switch n, ok := decodeUint64(ch.t.bucket(bucketOCRQueue).Get(ocrQueueKey(f))); {
	case !ok:
		ch.addFinding("file", fmt.Sprint(f.ID), "is missing from the database index %s", bucketOCRQueue)
	case n != pages:
		ch.addFinding("file", fmt.Sprint(f.ID), "has a wrong entry in the database index %s", bucketOCRQueue)
	}
}

// checkTitleWork verifies the instruments, the title work of abstracts, and the notes, and their
// references to other records.
func (ch *checker) checkTitleWork() {
	checkTable(ch, instruments.table, ch.checkInstrument)
	decodeTable(ch, titleWork, func(w model.TitleWork) {
		ch.checkReference("title work", w.AbstractID, "abstract", abstracts.has(ch.t, w.AbstractID), w.AbstractID)
		if w.OrderID != 0 {
			ch.checkReference("title work", w.AbstractID, "order", orders.has(ch.t, w.OrderID), w.OrderID)
			ch.checkIndexed("title work", w.AbstractID, bucketOrderAbstracts, orderAbstractKey(&w))
		}
		if open, err := ch.t.needsWork(w.AbstractID); err == nil && open { // a damaged abstract is another finding
			for _, key := range userAbstractKeys(&w) {
				ch.checkIndexed("title work", w.AbstractID, bucketUserAbstracts, key)
			}
		}
	})
	checkTable(ch, notes, func(n model.Note) {
		ch.checkIndexed("note", n.ID, bucketRecordNotes, noteKey(&n))
		trashed := noteTrashFields(ch.t, &n)
		ch.checkLayout(&trash.indexLayout, notes.typeName, n.ID, &trashed)
		if trashed.listed {
			ch.counts[CountTrashed]++
		}
		ch.checkReference("note", n.ID, "record", ch.t.recordExists(n.Record), 0)
	})
	if _, err := ch.t.DocumentTypes(); err != nil {
		ch.addFinding("workspace", string(keyDocumentTypes), "%v", err)
	}
}

func (ch *checker) checkInstrument(i model.Instrument) {
	checkListIndexes(ch, &instruments, i.ID, &i)
	if i.Trashed == nil {
		ch.counts[CountInstruments]++
	}
	key := runsheetRowKey(&i)
	switch have := ch.t.bucket(bucketRunsheetRows).Get(key); {
	case have == nil:
		ch.addFinding("instrument", fmt.Sprint(i.ID), "is missing from the database index %s", bucketRunsheetRows)
	case !bytes.Equal(have, encodeRunsheetRow(key, &i)):
		ch.addFinding("instrument", fmt.Sprint(i.ID), "has a wrong entry in the database index %s", bucketRunsheetRows)
	}
	for _, key := range instrumentRefs(&i) {
		ch.checkIndexed("instrument", i.ID, bucketInstrumentRefs, key)
	}
	ch.checkReference("instrument", i.ID, "abstract", abstracts.has(ch.t, i.AbstractID), i.AbstractID)
	for _, r := range i.Relations {
		if r.InstrumentID != 0 {
			ch.checkReference("instrument", i.ID, "instrument", instruments.has(ch.t, r.InstrumentID), r.InstrumentID)
		}
	}
	for _, d := range i.Documents {
		ch.checkReference("instrument", i.ID, "file", files.has(ch.t, d.FileID), d.FileID)
	}
}

// checkTitleIndexes verifies that every entry of the indexes of instruments, title work, and notes
// matches a record.
func (ch *checker) checkTitleIndexes() {
	ch.checkEntries(bucketInstrumentRefs, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		i, err := instruments.get(ch.t, id)
		return ok && err == nil && slices.ContainsFunc(instrumentRefs(&i), func(want []byte) bool { return bytes.Equal(want, key) })
	})
	ch.checkEntries(bucketRunsheetRows, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		i, err := instruments.get(ch.t, id)
		return ok && err == nil && bytes.Equal(key, runsheetRowKey(&i))
	})
	ch.checkEntries(bucketOrderAbstracts, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		w, err := titleWork.get(ch.t, id)
		return ok && err == nil && w.OrderID != 0 && bytes.Equal(key, orderAbstractKey(&w))
	})
	ch.checkEntries(bucketUserAbstracts, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		w, err := titleWork.get(ch.t, id)
		open, openErr := ch.t.needsWork(id)
		damaged := errors.Is(openErr, ErrDamaged)
		return ok && err == nil && (open || damaged) &&
			slices.ContainsFunc(userAbstractKeys(&w), func(want []byte) bool { return bytes.Equal(want, key) })
	})
	ch.checkEntries(bucketRecordNotes, func(key, _ []byte) bool {
		id, ok := idSuffix(key)
		n, err := notes.get(ch.t, id)
		return ok && err == nil && bytes.Equal(key, noteKey(&n))
	})
}

// recordExists reports whether a record, such as "abstract:7", exists, live or in the trash.
func (t *Tx) recordExists(record string) bool {
	v := parseValue(record)
	switch v.text {
	case abstracts.typeName:
		return abstracts.has(t, v.number)
	case orders.typeName:
		return orders.has(t, v.number)
	case files.typeName:
		return files.has(t, v.number)
	}
	return false
}
