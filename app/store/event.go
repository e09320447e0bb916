package store

import (
	"bytes"
	"cmp"
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
	e, payload, err := e.SealJSON(last.Hash)
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
