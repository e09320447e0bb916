package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"deedkeep/app/model"
)

var instruments = indexedTable[model.Instrument]{
	table:       table[model.Instrument]{bucketInstruments, "instrument"},
	indexLayout: indexLayout{indexBucket: bucketInstrumentIndex, columnTags: "akytibp", hasDue: true},
	columns: []indexColumn[model.Instrument]{
		{name: model.ColumnAbstract, value: func(i *model.Instrument) columnValue { return columnValue{number: i.AbstractID} }},
		{name: model.ColumnDocumentType, value: func(i *model.Instrument) columnValue { return columnValue{number: i.TypeID} }},
		{name: model.ColumnCounty, value: func(i *model.Instrument) columnValue { return parseValue(i.County) }},
		{name: model.ColumnState, value: func(i *model.Instrument) columnValue { return parseValue(i.State) }},
		{name: model.ColumnInstrumentNumber, value: func(i *model.Instrument) columnValue { return recordingNumber(i.Number) }},
		{name: model.ColumnBook, value: func(i *model.Instrument) columnValue { return recordingNumber(i.Book) }},
		{name: model.ColumnPage, value: func(i *model.Instrument) columnValue { return recordingNumber(i.Page) }},
	},
	fields: func(i *model.Instrument) indexFields {
		return indexFields{created: sortableMicros(i.CreatedAt), id: i.ID, due: sortableDays(i.Recorded)}
	},
	trashed: func(i *model.Instrument) *model.Trashed { return i.Trashed },
}

// recordingNumber returns the column value of an instrument, book, or page number.
func recordingNumber(number string) columnValue {
	return parseValue(model.NormalizeRecordingNumber(number))
}

// The bucket instrument_refs contains what instruments refer to:
//
//	key    tag (1) | ID of the target (8) | ID of the instrument (8)
const (
	refTarget = 'r' // another instrument, in a relation
	refFile   = 'f' // a document
)

// instrumentRefs returns the keys of an instrument in the bucket instrument_refs, without
// duplicates.
func instrumentRefs(i *model.Instrument) (keys [][]byte) {
	add := func(tag byte, target uint64) {
		key := append(append([]byte{tag}, encodeUint64(target)...), encodeUint64(i.ID)...)
		if target != 0 && !slices.ContainsFunc(keys, func(have []byte) bool { return bytes.Equal(have, key) }) {
			keys = append(keys, key)
		}
	}
	for _, r := range i.Relations {
		add(refTarget, r.InstrumentID)
	}
	for _, d := range i.Documents {
		add(refFile, d.FileID)
	}
	return keys
}

// updateRefs replaces the references of the old state of an instrument with those of the new
// state.
func (t *Tx) updateRefs(before, after *model.Instrument) error {
	b := t.bucket(bucketInstrumentRefs)
	was, is := instrumentRefs(before), instrumentRefs(after)
	for _, key := range was {
		if !slices.ContainsFunc(is, func(k []byte) bool { return bytes.Equal(k, key) }) {
			if err := b.Delete(key); err != nil {
				return fmt.Errorf("references of instrument %d: %w", before.ID, err)
			}
		}
	}
	for _, key := range is {
		if err := putKeyOnly(b, key); err != nil {
			return fmt.Errorf("references of instrument %d: %w", after.ID, err)
		}
	}
	return nil
}

// referringInstruments iterates over the IDs of the instruments, live or in the trash, that refer to a
// target.
func (t *Tx) referringInstruments(tag byte, target uint64) iter.Seq[uint64] {
	return t.idsUnder(bucketInstrumentRefs, append([]byte{tag}, encodeUint64(target)...))
}

// NewInstrumentID returns the ID for a new instrument.
func (t *Tx) NewInstrumentID() (uint64, error) { return instruments.nextID(t) }

// Instrument returns a live instrument. The error has kind errs.NotFound if it doesn't exist or is
// in the trash.
func (t *Tx) Instrument(id uint64) (model.Instrument, error) { return instruments.getLive(t, id) }

// InstrumentIncludingTrash returns an instrument that may be in the trash. The error has kind
// errs.NotFound if it doesn't exist.
func (t *Tx) InstrumentIncludingTrash(id uint64) (model.Instrument, error) {
	return instruments.get(t, id)
}

// HasInstrument reports whether an instrument exists, live or in the trash. It may be damaged.
func (t *Tx) HasInstrument(id uint64) bool { return instruments.has(t, id) }

// ListInstruments returns a page of live instruments. It supports filters by model.ColumnAbstract,
// model.ColumnDocumentType, model.ColumnCounty, model.ColumnState, model.ColumnInstrumentNumber, model.ColumnBook, and
// model.ColumnPage, a range of recording dates (Query.DueFrom and DueTo), and the sort orders
// model.SortCreated and model.SortDue, which sorts by recording date.
func (t *Tx) ListInstruments(q Query) (Page[model.Instrument], error) { return instruments.list(t, q) }

// ListInstrumentsByID is like ListAbstractsByID but for instruments.
func (t *Tx) ListInstrumentsByID(ids []uint64, q Query, matches func(*model.Instrument) bool) (Page[model.Instrument], int, error) {
	return instruments.listByIDs(t, ids, q, matches)
}

// InstrumentsOfAbstract returns all instruments of an abstract for which wanted returns true, live
// or in the trash, in ID order.
func (t *Tx) InstrumentsOfAbstract(abstract uint64, wanted func(*model.Instrument) bool) ([]model.Instrument, error) {
	return instruments.collect(t, t.idsUnder(bucketRunsheetRows, encodeUint64(abstract)), math.MaxInt, wanted)
}

// InstrumentIDs returns the IDs of the instruments of an abstract, live and in the trash, in ascending
// order.
func (t *Tx) InstrumentIDs(abstract uint64) []uint64 {
	return slices.Collect(t.idsUnder(bucketRunsheetRows, encodeUint64(abstract)))
}

// LiveInstruments returns the live instruments of an abstract in ID order.
func (t *Tx) LiveInstruments(abstract uint64) ([]model.Instrument, error) {
	return t.InstrumentsOfAbstract(abstract, func(i *model.Instrument) bool { return i.Trashed == nil })
}

// InstrumentsOfFile returns the instruments that are linked to a document, live or in the trash.
func (t *Tx) InstrumentsOfFile(file uint64) ([]model.Instrument, error) {
	return instruments.collect(t, t.referringInstruments(refFile, file), math.MaxInt, nil)
}

// InstrumentsReferringTo returns the instruments with a relation to an instrument, live or in the
// trash.
func (t *Tx) InstrumentsReferringTo(id uint64) ([]model.Instrument, error) {
	return instruments.collect(t, t.referringInstruments(refTarget, id), math.MaxInt, nil)
}

// IsInstrumentEnded reports whether a live instrument releases or terminates an instrument. It doesn't
// read the instruments for which skip returns true.
func (t *Tx) IsInstrumentEnded(id uint64, skip func(id uint64) bool) (bool, error) {
	for source := range t.referringInstruments(refTarget, id) {
		if skip(source) {
			continue
		}
		i, found, err := instruments.find(t, source)
		if err != nil {
			return false, err
		}
		if found && i.Trashed == nil && i.Ends(id) {
			return true, nil
		}
	}
	return false, nil
}

// PutInstrument creates or updates an instrument and its index entries. It returns an error if the
// end of its retention period becomes earlier.
func (t *Tx) PutInstrument(i model.Instrument) error {
	old, existed, err := instruments.find(t, i.ID)
	if err == nil && existed && i.RetainedUntil.Before(old.RetainedUntil) {
		err = fmt.Errorf("put instrument %d: the retention period can't become shorter", i.ID)
	}
	if err != nil {
		return err
	}
	if existed && old.AbstractID != i.AbstractID {
		if err := t.bucket(bucketRunsheetRows).Delete(runsheetRowKey(&old)); err != nil {
			return fmt.Errorf("move instrument %d: %w", i.ID, err)
		}
	}
	if err := t.putRunsheetRow(&i); err != nil {
		return err
	}
	if err := t.updateRefs(&old, &i); err != nil {
		return err
	}
	t.countTransition(CountInstruments, existed && old.Trashed == nil, i.Trashed == nil)
	return instruments.save(t, i.ID, &old, existed, &i)
}

// RemoveInstrument permanently deletes an instrument, live or in the trash. The error has kind
// errs.NotFound if it doesn't exist.
func (t *Tx) RemoveInstrument(id uint64) error {
	old, err := instruments.get(t, id)
	if err != nil {
		return err
	}
	if err := t.bucket(bucketRunsheetRows).Delete(runsheetRowKey(&old)); err != nil {
		return fmt.Errorf("remove instrument %d: %w", id, err)
	}
	if err := t.updateRefs(&old, &model.Instrument{ID: id}); err != nil {
		return err
	}
	t.countTransition(CountInstruments, old.Trashed == nil, false)
	return instruments.purge(t, id, &old)
}

// The bucket runsheet_rows contains what a runsheet is sorted by, so that the position of an
// instrument is known without decoding the other instruments:
//
//	key    ID of the abstract (8) | ID of the instrument (8)
//	value  record header (see table.go) | in the trash (1) | texts of rowTexts, each with its length (uvarint) before it

// runsheetRowKey returns the key of an instrument in the bucket runsheet_rows.
func runsheetRowKey(i *model.Instrument) []byte {
	return append(encodeUint64(i.AbstractID), encodeUint64(i.ID)...)
}

// rowTexts returns the texts of a sort key in the order in which they are stored.
func rowTexts(k *model.RunsheetKey) [6]*string {
	return [...]*string{&k.Recorded, &k.RecordedTime, &k.Book, &k.Page, &k.Number, &k.Dated}
}

// encodeRunsheetRow returns the value of an instrument in the bucket runsheet_rows.
func encodeRunsheetRow(key []byte, i *model.Instrument) []byte {
	sortKey, content := i.RunsheetKey(), []byte{0}
	if i.Trashed != nil {
		content[0] = 1
	}
	for _, text := range rowTexts(&sortKey) {
		content = append(binary.AppendUvarint(content, uint64(len(*text))), *text...)
	}
	return addRecordHeader(bucketRunsheetRows, key, content)
}

// decodeRunsheetRow decodes an entry of the bucket runsheet_rows. The error wraps ErrDamaged if the
// entry is damaged.
func decodeRunsheetRow(key, raw []byte) (k model.RunsheetKey, trashed bool, err error) {
	content, err := removeRecordHeader(bucketRunsheetRows, key, raw)
	if err != nil {
		return k, false, err
	}
	damaged := func() (model.RunsheetKey, bool, error) {
		return model.RunsheetKey{}, false, fmt.Errorf("read %s %x: %w", bucketRunsheetRows, key, ErrDamaged)
	}
	id, ok := idSuffix(key)
	if k.ID = id; !ok || len(content) == 0 || content[0] > 1 {
		return damaged()
	}
	all, at := string(content), 1 // one allocation for all texts
	for _, text := range rowTexts(&k) {
		length, size := binary.Uvarint(content[at:])
		if size <= 0 || length > uint64(len(content)-at-size) {
			return damaged()
		}
		at += size
		end := at + int(length) // at most len(content)
		*text, at = all[at:end], end
	}
	if at != len(content) {
		return damaged()
	}
	return k, content[0] == 1, nil
}

// putRunsheetRow updates the entry of an instrument in the bucket runsheet_rows.
func (t *Tx) putRunsheetRow(i *model.Instrument) error {
	b, key := t.bucket(bucketRunsheetRows), runsheetRowKey(i)
	value := encodeRunsheetRow(key, i)
	if bytes.Equal(b.Get(key), value) {
		return nil
	}
	if err := b.Put(key, value); err != nil {
		return fmt.Errorf("index instrument %d: %w", i.ID, err)
	}
	return nil
}

// RunsheetKeys returns the sort keys of the live instruments of an abstract in ID order. It reads an
// instrument whose entry is damaged from its record, and then damage is not nil.
func (t *Tx) RunsheetKeys(abstract uint64) (list []model.RunsheetKey, damage, err error) {
	prefix := encodeUint64(abstract)
	c := t.bucket(bucketRunsheetRows).Cursor()
	for key, raw := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, raw = c.Next() {
		k, trashed, err := decodeRunsheetRow(key, raw)
		if err != nil {
			damage = err
			id, _ := idSuffix(key)
			i, found, err := instruments.find(t, id)
			if err != nil {
				return nil, damage, err
			}
			k, trashed = i.RunsheetKey(), !found || i.Trashed != nil || i.AbstractID != abstract
		}
		if !trashed {
			list = append(list, k)
		}
	}
	return list, damage, nil
}

// DocumentTypes returns the document types in display order, including the retired ones.
func (t *Tx) DocumentTypes() (model.DocumentTypes, error) {
	return getSetting(t, &t.caches.documentTypes, keyDocumentTypes)
}

// PutDocumentTypes replaces the document types. If a type has a new name, its instruments are added
// to the change feed.
func (t *Tx) PutDocumentTypes(types model.DocumentTypes) error {
	old, err := t.DocumentTypes()
	if err != nil && !errors.Is(err, ErrDamaged) { // a new vault has none
		return err
	}
	for _, was := range old {
		if now, _ := types.ByID(was.ID); now.Name != was.Name {
			t.noteChange(typedID(InstrumentsOfType, was.ID)) // search finds instruments by the name of their type
		}
	}
	return t.putSetting(keyDocumentTypes, types)
}
