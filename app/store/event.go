package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"deedkeep/app/model"
)

var events = indexedTable[model.Event]{
	table:       table[model.Event]{bucketEvents, "event"},
	indexLayout: indexLayout{indexBucket: bucketEventIndex, columnTags: "raw"},
	columns: []indexColumn[model.Event]{
		{name: ColumnRecord, value: func(e *model.Event) columnValue { return parseValue(e.Record) }},
		{name: ColumnActor, value: actorValue},
		{name: ColumnKind, value: func(e *model.Event) columnValue { return parseValue(e.Kind) }},
	},
	fields: func(e *model.Event) indexFields { return indexFields{created: sortableMicros(e.At), id: e.Seq} },
}

// actorValue is what Actor.Record says, without making text of it.
func actorValue(e *model.Event) columnValue {
	v := parseValue(e.Actor.Kind)
	if e.Actor.ID == 0 {
		return v
	}
	if v.prefix == "" || v.number != 0 {
		return parseValue(e.Actor.Record())
	}
	return columnValue{v.prefix, e.Actor.ID}
}

// ListEvents gives a page of the log, in order of the events' times. It takes
// ColumnActor, ColumnKind and ColumnRecord, SortCreated, and SortSequence upward.
func (t *Tx) ListEvents(q Query) (Page[model.Event], error) {
	if q.Sort == SortSequence {
		return t.listEventsInSequence(q)
	}
	return events.list(t, q)
}

// maxSequenceScan is how many entries a page in sequence may look at: each is read, since no
// index has them in that order.
const maxSequenceScan = 2_000

// listEventsInSequence gives a page of the log in the sequence in which it was written. Damaged
// entries are passed over, Check reports them.
func (t *Tx) listEventsInSequence(q Query) (page Page[model.Event], err error) {
	if t.isRebuilding() {
		return page, errRebuilding
	}
	j, possible, err := events.newPredicate(t, q)
	if err != nil {
		return page, err
	}
	page.End = append([]byte{}, q.Position...)
	c := t.bucket(bucketEvents).Cursor()
	key, raw := c.Seek(page.End)
	if bytes.Equal(key, page.End) {
		key, raw = c.Next()
	}
	for steps := cmp.Or(q.MaxScanned, maxSequenceScan); key != nil; key, raw = c.Next() {
		if steps--; steps < 0 {
			page.Next = page.End
			return page, t.canceled()
		}
		var e model.Event
		if decodeRecord(bucketEvents, key, raw, &e) == nil && possible && events.matchesInSequence(&e, &j) {
			page.Truncated = len(page.Items) > 0 && page.Bytes+len(raw) > cmp.Or(max(q.MaxBytes, 0), defaultMaxBytes)
			if page.Truncated || len(page.Items) >= max(q.Limit, 1) {
				page.Next = page.End
				return page, t.canceled()
			}
			page.Items, page.Bytes = append(page.Items, e), page.Bytes+len(raw)
		}
		page.End = append(page.End[:0:0], key...)
	}
	return page, t.canceled()
}

// matchesInSequence reports whether a record has what is asked of its columns and its time.
func (l *indexedTable[T]) matchesInSequence(v *T, j *predicate) bool {
	at := l.fields(v).created
	return at >= j.createdFrom && at <= j.createdTo && l.matches(v, j)
}

// AddEvent appends to the log, chained to the entry before it, whose head is read
// in the same transaction. Seq, Prev and Hash are set here.
func (t *Tx) AddEvent(e model.Event) error {
	last, err := t.lastEvent()
	if err != nil {
		return err
	}
	if e.Seq, err = events.nextID(t); err != nil {
		return err
	}
	e, payload, err := e.EncodeWithHash(last.Hash)
	if err != nil {
		return err
	}
	if err := events.reindex(t, nil, &e); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	if err := putEvent(t, e.Seq, payload); err != nil {
		return err
	}
	t.lastEntry = &e
	return nil
}

func (t *Tx) lastEvent() (e model.Event, err error) {
	if t.lastEntry != nil {
		return *t.lastEntry, nil
	}
	key, raw := t.bucket(bucketEvents).Cursor().Last()
	if key == nil {
		return e, nil
	}
	err = decodeRecord(bucketEvents, key, raw, &e)
	return e, err
}

// ScanEvents reads at most limit entries of the log from number from on.
func (t *Tx) ScanEvents(from uint64, limit int) ([]model.Event, error) {
	return scanTable(t, events.table, from, limit)
}

// EventHash is the hash of an entry of the log; "" where there is none, or it is damaged.
func (t *Tx) EventHash(seq uint64) string {
	e, err := events.get(t, seq)
	if err != nil {
		return ""
	}
	return e.Hash
}

// LogEntry is one place of the log of events as it stands.
type LogEntry struct {
	Seq   uint64 // of the place; 0 where its key is none
	Event model.Event
	Err   error // of reading it; ErrDamaged is in its chain
}

// LogPage is a stretch of the log of events.
type LogPage struct {
	Entries []LogEntry
	Next    []byte // where the stretch after this one begins; nil: there is none
	Total   uint64 // how many entries there ever were
}

// ScanLog reads at most limit entries from a place on; LogPosition and Log.Next say
// which. A nil place is the very beginning, where keys stand that are no number.
func (t *Tx) ScanLog(place []byte, limit int) LogPage {
	bucket := t.bucket(bucketEvents)
	log := LogPage{Total: bucket.Sequence()}
	c := bucket.Cursor()
	key, raw := c.First()
	if place != nil {
		key, raw = c.Seek(place)
	}
	for ; key != nil && len(log.Entries) < limit; key, raw = c.Next() {
		var e LogEntry
		if seq, ok := decodeUint64(key); ok {
			e.Seq = seq
			e.Err = decodeRecord(bucketEvents, key, raw, &e.Event)
		} else {
			e.Err = fmt.Errorf("%s: a key of %d bytes: %w", bucketEvents, len(key), ErrDamaged)
		}
		log.Entries = append(log.Entries, e)
	}
	if key != nil {
		log.Next = append([]byte{}, key...)
	}
	return log
}

// LogPosition is the place of an entry of the log.
func LogPosition(seq uint64) []byte { return encodeUint64(seq) }

// LastEvent is the newest entry of the log; the zero Event where there is none.
func (t *Tx) LastEvent() (model.Event, error) { return t.lastEvent() }

// putEvent writes a sealed entry as the JSON that its hash was made of: to encode it
// again would cost each change as much as the sealing.
func putEvent(t *Tx, seq uint64, sealed []byte) error {
	key := encodeUint64(seq)
	raw := make([]byte, recordHeaderSize, recordHeaderSize+len(sealed))
	raw[0] = recordVersion
	binary.BigEndian.PutUint32(raw[1:], recordChecksum(bucketEvents, key, sealed))
	bucket := t.bucket(bucketEvents)
	bucket.FillPercent = 0.9 // as every table of numbers
	if err := bucket.Put(key, append(raw, sealed...)); err != nil {
		return fmt.Errorf("put event %d: %w", seq, err)
	}
	return nil
}
