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

	mostColumns  = 4
	mostTexts    = 3
	mostText     = 64 // bytes of a text that is a part of a key
	indexTail    = 16
	neverDue     = math.MaxUint64
	microsOffset = 1 << 63
)

// card is all that an index says of a record.
type card struct {
	listed      bool // false: it has no entries
	created, id uint64
	updated     uint64 // of a list that is sorted by it
	words       [mostColumns]word
	due         uint64
	number      string            // folded
	texts       [mostTexts]string // as keys
	open        bool
}

func micros(at time.Time) uint64 { return uint64(at.UnixMicro()) ^ microsOffset }

func timeOf(created uint64) time.Time { return time.UnixMicro(int64(created ^ microsOffset)).UTC() }

func days(date string) uint64 {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return neverDue
	}
	return uint64(at.Unix()/86400) ^ microsOffset
}

// textKey is a text in its form as it stands in a key, which has none of the bytes 0x00
// and 0xFF: those without one come last. Texts that are equal so far are equal.
func textKey(form string) string {
	if form == "" {
		return "\xff"
	}
	return form[:min(len(form), mostText)]
}

// layout is which entries an index has.
type layout struct {
	bucket []byte
	tags   string // of the columns
	due    bool
	sorts  string // tags of an index of sorts, which has nothing else
}

// slots is how many entries a record may have.
func (x *layout) slots() int {
	if x.sorts != "" {
		return len(x.sorts)
	}
	if x.due {
		return len(x.tags) + 2
	}
	return len(x.tags) + 1
}

// key makes the key of one of a card's entries; empty where it has none.
func (x *layout) key(buf []byte, c *card, slot int) []byte {
	buf = buf[:0]
	switch {
	case !c.listed:
		return buf
	case x.sorts != "" && x.sorts[slot] == tagOpen:
		if !c.open {
			return buf
		}
		buf = binary.BigEndian.AppendUint64(append(buf, tagOpen), c.due)
	case x.sorts != "" && x.sorts[slot] == tagUpdated:
		buf = binary.BigEndian.AppendUint64(append(buf, tagUpdated), c.updated)
	case x.sorts != "":
		buf = append(append(append(buf, x.sorts[slot]), c.texts[slot]...), 0)
	case slot == 0:
		buf = append(buf, tagCreated)
	case slot > len(x.tags):
		buf = binary.BigEndian.AppendUint64(append(buf, tagDue), c.due)
	case x.tags[slot-1] == tagNumber:
		buf = append(append(append(buf, tagNumber), c.number...), 0)
	case c.words[slot-1] == 0:
		return buf
	default:
		buf = binary.BigEndian.AppendUint64(append(buf, x.tags[slot-1]), uint64(c.words[slot-1]))
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(buf, c.created), c.id)
}

// value makes what all entries of a card say.
func (x *layout) value(c *card) []byte {
	raw := make([]byte, 0, 4*mostColumns)
	for i := range len(x.tags) {
		raw = binary.BigEndian.AppendUint32(raw, c.words[i].short())
	}
	return raw
}

// move takes what was out of the index and puts what is into it. An entry that
// stays the same is not touched.
func (t *Tx) move(x *layout, was, is *card) error {
	if *was == *is {
		return nil
	}
	b := t.bucket(x.bucket)
	// Most keys are the last of their kind: full pages leave no room that nobody uses.
	// Those of sorts are not, and a page that is full is split by the next.
	b.FillPercent = 0.9
	if x.sorts != "" {
		b.FillPercent = 0.6
	}
	value := x.value(is)
	same := was.listed && bytes.Equal(value, x.value(was))
	for slot := range x.slots() {
		t.old, t.new = x.key(t.old, was, slot), x.key(t.new, is, slot)
		stays := bytes.Equal(t.old, t.new)
		if len(t.old) > 0 && !stays {
			if err := b.Delete(t.old); err != nil {
				return fmt.Errorf("index %s: %w", x.bucket, err)
			}
		}
		if len(t.new) > 0 && !(stays && same) {
			if err := b.Put(t.new, value); err != nil {
				return fmt.Errorf("index %s: %w", x.bucket, err)
			}
		}
	}
	return nil
}

// column is one of a list's.
type column[T any] struct {
	name  Column
	of    func(*T) value
	tally bool // its values are counted; see Tx.CountBy
}

// listing is a table whose records are listed.
type listing[T any] struct {
	table[T]
	layout
	sorts   layout // the index of sorts; no bucket: there is none
	texts   []text[T]
	columns []column[T]
	card    func(*T) card // all but the words and the texts
	trashed func(*T) *model.Trashed
	fetch   func(t *Tx, id, created uint64) (v T, ok bool, err error)
	weigh   func(t *Tx, v *T) int // bytes that are read to show it; nil: those of its record
}

// text is one by which records are sorted and looked up; its tag stands at the same
// place in listing.sorts.
type text[T any] struct {
	sort  Sort
	form  func(string) string
	of    func(*T) string
	whole func(*T) []string // what is as good as all of it; nil: nothing but itself
}

// cardOf is what the index says of a record.
func (l *listing[T]) cardOf(t *Tx, v *T) card {
	c := l.card(v)
	if l.trashed != nil && l.trashed(v) != nil {
		return card{}
	}
	for i := range l.columns {
		c.words[i] = t.word(l.columns[i].of(v))
	}
	return l.textsOf(c, v)
}

// textsOf adds the texts, which make the card one of a record in the lists.
func (l *listing[T]) textsOf(c card, v *T) card {
	c.listed = true
	for i := range l.texts {
		c.texts[i] = textKey(l.texts[i].form(l.texts[i].of(v)))
	}
	return c
}

// trashCard is what the index of the trash says of a record.
func (l *listing[T]) trashCard(t *Tx, v *T) card {
	if l.trashed == nil {
		return card{}
	}
	trashed := l.trashed(v)
	if trashed == nil || trashed.With != "" {
		return card{}
	}
	return card{listed: true, created: micros(trashed.At), id: nounID(l.noun, l.card(v).id), words: [mostColumns]word{t.word(value{text: l.noun})}}
}

// reindex moves the entries and tallies of a record that was, if it was, and is,
// if it is.
func (l *listing[T]) reindex(t *Tx, was, is *T) error {
	var before, after, out, in card
	if was != nil {
		before, out = l.cardOf(t, was), l.trashCard(t, was)
	}
	if is != nil {
		after, in = l.cardOf(t, is), l.trashCard(t, is)
	}
	for i := range l.columns {
		if !l.columns[i].tally || before.listed == after.listed && before.words[i] == after.words[i] && was != nil && is != nil && l.columns[i].of(was) == l.columns[i].of(is) {
			continue
		}
		if before.listed {
			t.tally(l.noun, l.columns[i].name, l.columns[i].of(was), -1)
		}
		if after.listed {
			t.tally(l.noun, l.columns[i].name, l.columns[i].of(is), 1)
		}
	}
	t.step(CountTrashed, out.listed, in.listed)
	if err := t.move(&l.layout, &before, &after); err != nil {
		return err
	}
	if err := l.resort(t, &before, &after); err != nil {
		return err
	}
	return t.move(&trash.layout, &out, &in)
}

// resort moves the entries in the index of sorts, where there is one.
func (l *listing[T]) resort(t *Tx, was, is *card) error {
	if l.sorts.bucket == nil {
		return nil
	}
	return t.move(&l.sorts, was, is)
}

// live is get without what is in the trash.
func (l *listing[T]) live(t *Tx, id uint64) (T, error) {
	v, err := l.get(t, id)
	if err == nil && l.trashed(&v) != nil {
		var none T
		return none, errs.RecordNotFound(l.noun, id)
	}
	return v, err
}

// write puts a record, moves its entries, and tells the feed of changes.
func (l *listing[T]) write(t *Tx, id uint64, old *T, known bool, v *T) error {
	if !known {
		old = nil
	}
	if err := l.reindex(t, old, v); err != nil {
		return fmt.Errorf("%s %d: %w", l.noun, id, err)
	}
	l.change(t, id)
	return l.put(t, id, *v)
}

// erase removes a record and its entries, and tells the feed of changes.
func (l *listing[T]) erase(t *Tx, id uint64, old *T) error {
	if err := l.reindex(t, old, nil); err != nil {
		return fmt.Errorf("%s %d: %w", l.noun, id, err)
	}
	l.change(t, id)
	return l.remove(t, id)
}
