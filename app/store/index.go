package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// A list index has these entries for each record (see doc.go):
//
//	key    tag (1) | filter or sort value | created (8) | id (8)
//	value  the record's columns, each the 32-bit form of its hash; see indexLayout.laterColumns
//
//	tag c, created    no value                 every record
//	tag of a column   hash (8)                 every record with a value in the column
//	tag d, due        days (8)                 every order
//	tag n, number     fold(number), 0x00       every order
//
// A sort index has the remaining entries, with the same values, in a separate bucket. Its
// keys arrive in random order, unlike most keys of a list index, so it needs a different
// fill percentage:
//
//	tag of a text     textKey, 0x00            every record
//	tag o, open       days (8)                 every open order
//	tag u, updated    last change (8)          every record
//
// Times are microseconds since 1970 and days are days since 1970. Both are big endian with
// the sign bit flipped so that they sort. Orders without a due date sort last.
const (
	tagCreated = 'c'
	tagDue     = 'd'
	tagNumber  = 'n'
	tagOpen    = 'o' // due dates of open orders
	tagUpdated = 'u'

	maxColumns    = 7
	maxTextSorts  = 3
	maxTextKey    = 64 // maximum number of bytes of a text in a key
	keySuffixSize = 16
	noDueDate     = math.MaxUint64
	signBit       = 1 << 63
)

// indexFields holds the values of a record from which its index keys and values are built.
type indexFields struct {
	listed      bool // false if the record has no entries in the index
	created, id uint64
	updated     uint64 // set only if the list can be sorted by it
	hashes      [maxColumns]valueHash
	due         uint64
	orderNumber string               // folded, see fold
	texts       [maxTextSorts]string // see textKey
	open        bool
}

// sortableMicros encodes a time so that the encoded values sort by time.
func sortableMicros(at time.Time) uint64 { return uint64(at.UnixMicro()) ^ signBit }

// timeFromMicros decodes a time encoded by sortableMicros.
func timeFromMicros(created uint64) time.Time { return time.UnixMicro(int64(created ^ signBit)).UTC() }

// sortableDays encodes a date in the form YYYY-MM-DD so that the encoded values sort by
// date. It returns noDueDate for any other text.
func sortableDays(date string) uint64 {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return noDueDate
	}
	return uint64(at.Unix()/86400) ^ signBit
}

// textKey returns a normalized text in the form used in keys, cut to maxTextKey bytes.
// Normalized texts don't contain the bytes 0x00 and 0xFF. Empty texts become 0xFF so that
// they sort last.
func textKey(normalized string) string {
	if normalized == "" {
		return "\xff"
	}
	return normalized[:min(len(normalized), maxTextKey)]
}

// indexLayout describes the entries of one index.
type indexLayout struct {
	indexBucket []byte
	columnTags  string // one tag per column
	// laterColumns is how many of the last columns were added after databases had entries without them. A value omits
	// those at its end that are empty, so that older entries stay valid.
	laterColumns int
	hasDue       bool
	sortTags     string // one tag per entry; set only for a sort index
}

// maxEntries returns the maximum number of entries per record.
func (layout *indexLayout) maxEntries() int {
	if layout.sortTags != "" {
		return len(layout.sortTags)
	}
	if layout.hasDue {
		return len(layout.columnTags) + 2
	}
	return len(layout.columnTags) + 1
}

// appendKey returns the key of the record's i-th entry, using the memory of buf. The result
// is empty if the record doesn't have that entry.
func (layout *indexLayout) appendKey(buf []byte, f *indexFields, i int) []byte {
	buf = buf[:0]
	switch {
	case !f.listed:
		return buf
	case layout.sortTags != "" && layout.sortTags[i] == tagOpen:
		if !f.open {
			return buf
		}
		buf = binary.BigEndian.AppendUint64(append(buf, tagOpen), f.due)
	case layout.sortTags != "" && layout.sortTags[i] == tagUpdated:
		buf = binary.BigEndian.AppendUint64(append(buf, tagUpdated), f.updated)
	case layout.sortTags != "":
		buf = append(append(append(buf, layout.sortTags[i]), f.texts[i]...), 0)
	case i == 0:
		buf = append(buf, tagCreated)
	case i > len(layout.columnTags):
		buf = binary.BigEndian.AppendUint64(append(buf, tagDue), f.due)
	case layout.columnTags[i-1] == tagNumber:
		buf = append(append(append(buf, tagNumber), f.orderNumber...), 0)
	case f.hashes[i-1] == 0:
		return buf
	default:
		buf = binary.BigEndian.AppendUint64(append(buf, layout.columnTags[i-1]), uint64(f.hashes[i-1]))
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(buf, f.created), f.id)
}

// encodeColumns returns the value that is stored in all entries of a record.
func (layout *indexLayout) encodeColumns(f *indexFields) []byte {
	raw := make([]byte, 0, 4*maxColumns)
	n := len(layout.columnTags)
	for n > len(layout.columnTags)-layout.laterColumns && f.hashes[n-1] == 0 {
		n--
	}
	for i := range n {
		raw = binary.BigEndian.AppendUint32(raw, f.hashes[i].hash32())
	}
	return raw
}

// updateEntries replaces the index entries for the old state of a record with those for the
// new state. It doesn't write unchanged entries.
func (t *Tx) updateEntries(layout *indexLayout, before, after *indexFields) error {
	if *before == *after {
		return nil
	}
	b := t.bucket(layout.indexBucket)
	put := b.Append // most keys of a list index are the last ones
	if layout.sortTags != "" {
		put = b.Put
	}
	value := layout.encodeColumns(after)
	sameValue := before.listed && bytes.Equal(value, layout.encodeColumns(before))
	for i := range layout.maxEntries() {
		t.oldKey, t.newKey = layout.appendKey(t.oldKey, before, i), layout.appendKey(t.newKey, after, i)
		sameKey := bytes.Equal(t.oldKey, t.newKey)
		if len(t.oldKey) > 0 && !sameKey {
			if err := b.Delete(t.oldKey); err != nil {
				return fmt.Errorf("update index %s: %w", layout.indexBucket, err)
			}
		}
		if len(t.newKey) > 0 && !(sameKey && sameValue) {
			if err := put(t.newKey, value); err != nil {
				return fmt.Errorf("update index %s: %w", layout.indexBucket, err)
			}
		}
	}
	return nil
}

// indexColumn is a column of a list.
type indexColumn[T any] struct {
	name    model.Column
	value   func(*T) columnValue
	counted bool // records are counted by their value in this column; see Tx.CountBy
}

// indexedTable is a table with list indexes.
type indexedTable[T any] struct {
	table[T]
	indexLayout
	sortLayout indexLayout // layout of the sort index; zero if there is none
	textSorts  []textSort[T]
	columns    []indexColumn[T]
	fields     func(*T) indexFields // sets all fields except listed, hashes, and texts
	trashed    func(*T) *model.Trashed
	loadEntry  func(t *Tx, id, created uint64) (v T, ok bool, err error)
	cache      func(*caches) *cache[T]           // the cache of records read by lists; nil if there is none
	size       func(t *Tx, v *T, stored int) int // returns how many bytes are read to show a record; nil if only the record itself is read
}

// textSort is a text by which records can be sorted and found. Its tag has the same
// position in sortLayout.sortTags.
type textSort[T any] struct {
	sort       model.Sort
	normalize  func(string) string
	text       func(*T) string
	exactForms func(*T) []string // returns the texts that count as an exact match; nil if only text itself does
}

// listFields returns the values for the list and sort indexes. It returns the zero value
// for a record in the trash.
func (it *indexedTable[T]) listFields(t *Tx, v *T) indexFields {
	f := it.fields(v)
	if it.trashed != nil && it.trashed(v) != nil {
		return indexFields{}
	}
	for i := range it.columns {
		f.hashes[i] = t.hashValue(it.columns[i].value(v))
	}
	return it.addTexts(f, v)
}

// addTexts returns f with the sort texts and marked as listed.
func (it *indexedTable[T]) addTexts(f indexFields, v *T) indexFields {
	f.listed = true
	for i := range it.textSorts {
		f.texts[i] = textKey(it.textSorts[i].normalize(it.textSorts[i].text(v)))
	}
	return f
}

// trashFields returns the values for the trash index. It returns the zero value for a
// record that isn't in that index.
func (it *indexedTable[T]) trashFields(t *Tx, v *T) indexFields {
	if it.trashed == nil {
		return indexFields{}
	}
	trashed := it.trashed(v)
	if trashed == nil || trashed.With != "" {
		return indexFields{}
	}
	return t.trashFieldsOf(it.typeName, it.fields(v).id, trashed)
}

// trashFieldsOf returns the values for the trash index of a record that is in the trash.
func (t *Tx) trashFieldsOf(typeName string, id uint64, in *model.Trashed) indexFields {
	return indexFields{listed: true, created: sortableMicros(in.At), id: typedID(typeName, id),
		hashes: [maxColumns]valueHash{t.hashValue(columnValue{text: typeName})}}
}

// reindex updates all index entries and value counts after a change. before is nil for a
// new record, and after is nil for a removed record.
func (it *indexedTable[T]) reindex(t *Tx, before, after *T) error {
	var oldFields, newFields, oldTrash, newTrash indexFields
	if before != nil {
		oldFields, oldTrash = it.listFields(t, before), it.trashFields(t, before)
	}
	if after != nil {
		newFields, newTrash = it.listFields(t, after), it.trashFields(t, after)
	}
	for i := range it.columns {
		if !it.columns[i].counted || oldFields.listed == newFields.listed && oldFields.hashes[i] == newFields.hashes[i] && before != nil &&
			after != nil && it.columns[i].value(before) == it.columns[i].value(after) {
			continue
		}
		if oldFields.listed {
			t.addValueCount(it.typeName, it.columns[i].name, it.columns[i].value(before), -1)
		}
		if newFields.listed {
			t.addValueCount(it.typeName, it.columns[i].name, it.columns[i].value(after), 1)
		}
	}
	t.countTransition(CountTrashed, oldTrash.listed, newTrash.listed)
	if err := t.updateEntries(&it.indexLayout, &oldFields, &newFields); err != nil {
		return err
	}
	if err := it.updateSorts(t, &oldFields, &newFields); err != nil {
		return err
	}
	return t.updateEntries(&trash.indexLayout, &oldTrash, &newTrash)
}

// updateSorts updates the sort index, if the table has one.
func (it *indexedTable[T]) updateSorts(t *Tx, before, after *indexFields) error {
	if it.sortLayout.indexBucket == nil {
		return nil
	}
	return t.updateEntries(&it.sortLayout, before, after)
}

// getLive returns a record that is not in the trash. The error has kind errs.NotFound if
// there is none.
func (it *indexedTable[T]) getLive(t *Tx, id uint64) (T, error) {
	v, err := it.get(t, id)
	if err == nil && it.trashed(&v) != nil {
		var zero T
		return zero, errs.RecordNotFound(it.typeName, id)
	}
	return v, err
}

// save writes a record and its index entries and adds an entry to the change feed. old is
// the previous state of the record if existed is true.
func (it *indexedTable[T]) save(t *Tx, id uint64, old *T, existed bool, v *T) error {
	if !existed {
		old = nil
	}
	if err := it.reindex(t, old, v); err != nil {
		return fmt.Errorf("index %s %d: %w", it.typeName, id, err)
	}
	it.noteChange(t, id)
	return it.put(t, id, *v)
}

// purge removes a record and its index entries, and adds an entry to the change feed.
func (it *indexedTable[T]) purge(t *Tx, id uint64, old *T) error {
	if err := it.reindex(t, old, nil); err != nil {
		return fmt.Errorf("index %s %d: %w", it.typeName, id, err)
	}
	it.noteChange(t, id)
	return it.remove(t, id)
}
