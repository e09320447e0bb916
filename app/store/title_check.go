package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"deedkeep/app/model"
)

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

// rebuildInstruments regenerates the indexes of instruments.
func (r *rebuilder) rebuildInstruments() error {
	return rebuildLists(r, &instruments, func(t *Tx, id uint64, i *model.Instrument) error {
		t.countTransition(CountInstruments, false, i.Trashed == nil)
		if err := t.updateRefs(&model.Instrument{ID: id}, i); err != nil {
			return err
		}
		return t.putRunsheetRow(i)
	})
}

// rebuildTitleWork regenerates the indexes of abstracts by order and by user.
func (r *rebuilder) rebuildTitleWork() error {
	return eachRecord(r, titleWork, func(t *Tx, _ uint64, w *model.TitleWork) error {
		if open, err := t.needsWork(w.AbstractID); err == nil { // a damaged abstract is reported elsewhere
			if err := t.updateUserAbstracts(w, w, open); err != nil {
				return err
			}
		}
		if w.OrderID == 0 {
			return nil
		}
		return putKeyOnly(t.bucket(bucketOrderAbstracts), orderAbstractKey(w))
	})
}

// rebuildNotes regenerates the index of notes by record, and the entries of notes in the trash.
func (r *rebuilder) rebuildNotes() error {
	return eachRecord(r, notes, func(t *Tx, _ uint64, n *model.Note) error {
		if err := t.updateNoteTrash(&model.Note{}, n); err != nil {
			return err
		}
		return putKeyOnly(t.bucket(bucketRecordNotes), noteKey(n))
	})
}

// RemoveTitleRecords permanently deletes what belongs to an abstract besides its documents: its
// instruments, title work, and notes.
func (t *Tx) RemoveTitleRecords(abstract uint64) error {
	list, err := t.InstrumentsOfAbstract(abstract, func(*model.Instrument) bool { return true })
	if err != nil {
		return err
	}
	for _, i := range list {
		if err := t.RemoveInstrument(i.ID); err != nil {
			return err
		}
	}
	if err := t.RemoveTitleWork(abstract); err != nil {
		return err
	}
	return t.RemoveNotesOf(model.RecordRef(abstracts.typeName, abstract))
}
