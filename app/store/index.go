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

// An index of lists has these entries for each record (see doc.go):
//
//	key    tag (1) | what it sorts or filters by | created (8) | id (8)
//	value  the record's columns, each the short form (4) of its word
//
//	tag of the created ones  nothing more             of every record
//	tag of a column          word (8)                 of every record that has a value there
//	tag of the due dates     days (8)                 of every order
//	tag of the numbers       fold(number), 0x00       of every order
//
// An index of sorts has the others, with the same values, in a bucket of its own:
// they come to stand anywhere in it, and pages that are filled from one end are full.
//
//	tag of a text            textKey, 0x00            of every record
//	tag of the open ones     days (8)                 of every order that is open
//	tag of the changed ones  updated (8)              of every record
//
// Times are microseconds since 1970, days are days since 1970, both big endian
// with the sign flipped; no due date is the last of days.
const (
	tagCreated = 'c'
	tagDue     = 'd'
	tagNumber  = 'n'
	tagOpen    = 'o' // due dates of the open ones
	tagUpdated = 'u'

	maxColumns    = 4
	maxTextSorts  = 3
	maxTextKey    = 64 // bytes of a text that is a part of a key
	keySuffixSize = 16
	noDueDate     = math.MaxUint64
	signBit       = 1 << 63
)

// indexFields is all that an index says of a record.
type indexFields struct {
	listed      bool // false: it has no entries
	created, id uint64
	updated     uint64 // of a list that is sorted by it
	hashes      [maxColumns]valueHash
	due         uint64
	orderNumber string               // folded
	texts       [maxTextSorts]string // as keys
	open        bool
}

func sortableMicros(at time.Time) uint64 { return uint64(at.UnixMicro()) ^ signBit }

func timeFromMicros(created uint64) time.Time { return time.UnixMicro(int64(created ^ signBit)).UTC() }

func sortableDays(date string) uint64 {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return noDueDate
	}
	return uint64(at.Unix()/86400) ^ signBit
}

// textKey is a text in its form as it stands in a key, which has none of the bytes 0x00
// and 0xFF: those without one come last. Texts that are equal so far are equal.
func textKey(form string) string {
	if form == "" {
		return "\xff"
	}
	return form[:min(len(form), maxTextKey)]
}

// indexLayout is which entries an index has.
type indexLayout struct {
	indexBucket []byte
	columnTags  string // of the columns
	hasDue      bool
	sortTags    string // tags of an index of sorts, which has nothing else
}

// maxEntries is how many entries a record may have.
func (x *indexLayout) maxEntries() int {
	if x.sortTags != "" {
		return len(x.sortTags)
	}
	if x.hasDue {
		return len(x.columnTags) + 2
	}
	return len(x.columnTags) + 1
}

// appendKey makes the key of one of a card's entries; empty where it has none.
func (x *indexLayout) appendKey(buf []byte, c *indexFields, slot int) []byte {
	buf = buf[:0]
	switch {
	case !c.listed:
		return buf
	case x.sortTags != "" && x.sortTags[slot] == tagOpen:
		if !c.open {
			return buf
		}
		buf = binary.BigEndian.AppendUint64(append(buf, tagOpen), c.due)
	case x.sortTags != "" && x.sortTags[slot] == tagUpdated:
		buf = binary.BigEndian.AppendUint64(append(buf, tagUpdated), c.updated)
	case x.sortTags != "":
		buf = append(append(append(buf, x.sortTags[slot]), c.texts[slot]...), 0)
	case slot == 0:
		buf = append(buf, tagCreated)
	case slot > len(x.columnTags):
		buf = binary.BigEndian.AppendUint64(append(buf, tagDue), c.due)
	case x.columnTags[slot-1] == tagNumber:
		buf = append(append(append(buf, tagNumber), c.orderNumber...), 0)
	case c.hashes[slot-1] == 0:
		return buf
	default:
		buf = binary.BigEndian.AppendUint64(append(buf, x.columnTags[slot-1]), uint64(c.hashes[slot-1]))
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(buf, c.created), c.id)
}

// encodeColumns makes what all entries of a card say.
func (x *indexLayout) encodeColumns(c *indexFields) []byte {
	raw := make([]byte, 0, 4*maxColumns)
	for i := range len(x.columnTags) {
		raw = binary.BigEndian.AppendUint32(raw, c.hashes[i].hash32())
	}
	return raw
}

// updateEntries takes what was out of the index and puts what is into it. An entry that
// stays the same is not touched.
func (t *Tx) updateEntries(x *indexLayout, was, is *indexFields) error {
	if *was == *is {
		return nil
	}
	b := t.bucket(x.indexBucket)
	// Most keys are the last of their kind: full pages leave no room that nobody uses.
	// Those of sorts are not, and a page that is full is split by the next.
	b.FillPercent = 0.9
	if x.sortTags != "" {
		b.FillPercent = 0.6
	}
	value := x.encodeColumns(is)
	same := was.listed && bytes.Equal(value, x.encodeColumns(was))
	for slot := range x.maxEntries() {
		t.oldKey, t.newKey = x.appendKey(t.oldKey, was, slot), x.appendKey(t.newKey, is, slot)
		stays := bytes.Equal(t.oldKey, t.newKey)
		if len(t.oldKey) > 0 && !stays {
			if err := b.Delete(t.oldKey); err != nil {
				return fmt.Errorf("index %s: %w", x.indexBucket, err)
			}
		}
		if len(t.newKey) > 0 && !(stays && same) {
			if err := b.Put(t.newKey, value); err != nil {
				return fmt.Errorf("index %s: %w", x.indexBucket, err)
			}
		}
	}
	return nil
}

// indexColumn is one of a list's.
type indexColumn[T any] struct {
	name    Column
	value   func(*T) columnValue
	counted bool // its values are counted; see Tx.CountBy
}

// indexedTable is a table whose records are listed.
type indexedTable[T any] struct {
	table[T]
	indexLayout
	sortLayout indexLayout // the index of sorts; no bucket: there is none
	textSorts  []textSort[T]
	columns    []indexColumn[T]
	fields     func(*T) indexFields // all but the words and the texts
	trashed    func(*T) *model.Trashed
	loadEntry  func(t *Tx, id, created uint64) (v T, ok bool, err error)
	size       func(t *Tx, v *T) int // bytes that are read to show it; nil: those of its record
}

// textSort is one by which records are sorted and looked up; its tag stands at the same
// place in listing.sorts.
type textSort[T any] struct {
	sort       Sort
	normalize  func(string) string
	text       func(*T) string
	exactForms func(*T) []string // what is as good as all of it; nil: nothing but itself
}

// listFields is what the index says of a record.
func (l *indexedTable[T]) listFields(t *Tx, v *T) indexFields {
	c := l.fields(v)
	if l.trashed != nil && l.trashed(v) != nil {
		return indexFields{}
	}
	for i := range l.columns {
		c.hashes[i] = t.hashValue(l.columns[i].value(v))
	}
	return l.addTexts(c, v)
}

// addTexts adds the texts, which make the card one of a record in the lists.
func (l *indexedTable[T]) addTexts(c indexFields, v *T) indexFields {
	c.listed = true
	for i := range l.textSorts {
		c.texts[i] = textKey(l.textSorts[i].normalize(l.textSorts[i].text(v)))
	}
	return c
}

// trashFields is what the index of the trash says of a record.
func (l *indexedTable[T]) trashFields(t *Tx, v *T) indexFields {
	if l.trashed == nil {
		return indexFields{}
	}
	trashed := l.trashed(v)
	if trashed == nil || trashed.With != "" {
		return indexFields{}
	}
	return indexFields{listed: true, created: sortableMicros(trashed.At), id: typedID(l.typeName, l.fields(v).id), hashes: [maxColumns]valueHash{t.hashValue(columnValue{prefix: l.typeName})}}
}

// reindex moves the entries and tallies of a record that was, if it was, and is,
// if it is.
func (l *indexedTable[T]) reindex(t *Tx, was, is *T) error {
	var before, after, out, in indexFields
	if was != nil {
		before, out = l.listFields(t, was), l.trashFields(t, was)
	}
	if is != nil {
		after, in = l.listFields(t, is), l.trashFields(t, is)
	}
	for i := range l.columns {
		if !l.columns[i].counted || before.listed == after.listed && before.hashes[i] == after.hashes[i] && was != nil && is != nil && l.columns[i].value(was) == l.columns[i].value(is) {
			continue
		}
		if before.listed {
			t.addValueCount(l.typeName, l.columns[i].name, l.columns[i].value(was), -1)
		}
		if after.listed {
			t.addValueCount(l.typeName, l.columns[i].name, l.columns[i].value(is), 1)
		}
	}
	t.countTransition(CountTrashed, out.listed, in.listed)
	if err := t.updateEntries(&l.indexLayout, &before, &after); err != nil {
		return err
	}
	if err := l.updateSorts(t, &before, &after); err != nil {
		return err
	}
	return t.updateEntries(&trash.indexLayout, &out, &in)
}

// updateSorts moves the entries in the index of sorts, where there is one.
func (l *indexedTable[T]) updateSorts(t *Tx, was, is *indexFields) error {
	if l.sortLayout.indexBucket == nil {
		return nil
	}
	return t.updateEntries(&l.sortLayout, was, is)
}

// getLive is get without what is in the trash.
func (l *indexedTable[T]) getLive(t *Tx, id uint64) (T, error) {
	v, err := l.get(t, id)
	if err == nil && l.trashed(&v) != nil {
		var none T
		return none, errs.RecordNotFound(l.typeName, id)
	}
	return v, err
}

// save puts a record, moves its entries, and tells the feed of changes.
func (l *indexedTable[T]) save(t *Tx, id uint64, old *T, known bool, v *T) error {
	if !known {
		old = nil
	}
	if err := l.reindex(t, old, v); err != nil {
		return fmt.Errorf("%s %d: %w", l.typeName, id, err)
	}
	l.noteChange(t, id)
	return l.put(t, id, *v)
}

// purge removes a record and its entries, and tells the feed of changes.
func (l *indexedTable[T]) purge(t *Tx, id uint64, old *T) error {
	if err := l.reindex(t, old, nil); err != nil {
		return fmt.Errorf("%s %d: %w", l.typeName, id, err)
	}
	l.noteChange(t, id)
	return l.remove(t, id)
}
