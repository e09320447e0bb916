package store

import (
	"bytes"
	"cmp"
	"fmt"

	"deedkeep/app/model"
)

var events = listing[model.Event]{
	table:  table[model.Event]{bucketEvents, "event"},
	layout: layout{bucket: bucketEventIndex, tags: "raw"},
	columns: []column[model.Event]{
		{name: ColumnRecord, of: func(e *model.Event) value { return valueOf(e.Record) }},
		{name: ColumnActor, of: actorOf},
		{name: ColumnKind, of: func(e *model.Event) value { return valueOf(e.Kind) }},
	},
	card: func(e *model.Event) card { return card{created: micros(e.At), id: e.Seq} },
}

// actorOf is what Actor.Record says, without making text of it.
func actorOf(e *model.Event) value {
	v := valueOf(e.Actor.Kind)
	if e.Actor.ID == 0 {
		return v
	}
	if v.text == "" || v.number != 0 {
		return valueOf(e.Actor.Record())
	}
	return value{v.text, e.Actor.ID}
}

// ListEvents gives a page of the log, in order of the events' times. It takes
// ColumnActor, ColumnKind and ColumnRecord, SortCreated, and SortSequence upward.
func (t *Tx) ListEvents(q Query) (Page[model.Event], error) {
	if q.Sort == SortSequence {
		return t.followEvents(q)
	}
	return events.list(t, q)
}

// followSteps is how many entries a page in sequence may look at: each is read, since no
// index has them in that order.
const followSteps = 2_000

// followEvents gives a page of the log in the sequence in which it was written. Damaged
// entries are passed over, Check reports them.
func (t *Tx) followEvents(q Query) (page Page[model.Event], err error) {
	if t.rebuilding() {
		return page, errRebuilding
	}
	j, possible, err := events.judgeOf(t, q)
	if err != nil {
		return page, err
	}
	page.End = append([]byte{}, q.Position...)
	c := t.bucket(bucketEvents).Cursor()
	key, raw := c.Seek(page.End)
	if bytes.Equal(key, page.End) {
		key, raw = c.Next()
	}
	for steps := cmp.Or(q.MaxScanned, followSteps); key != nil; key, raw = c.Next() {
		if steps--; steps < 0 {
			page.Next = page.End
			return page, t.ended()
		}
		var e model.Event
		if decode(bucketEvents, key, raw, &e) == nil && possible && events.follows(&e, &j) {
			page.Truncated = len(page.Items) > 0 && page.Bytes+len(raw) > cmp.Or(max(q.MaxBytes, 0), defaultBytes)
			if page.Truncated || len(page.Items) >= max(q.Limit, 1) {
				page.Next = page.End
				return page, t.ended()
			}
			page.Items, page.Bytes = append(page.Items, e), page.Bytes+len(raw)
		}
		page.End = append(page.End[:0:0], key...)
	}
	return page, t.ended()
}

// follows reports whether a record has what is asked of its columns and its time.
func (l *listing[T]) follows(v *T, j *judge) bool {
	at := l.card(v).created
	return at >= j.from && at <= j.to && l.holds(v, j)
}

// AddEvent appends to the log, chained to the entry before it, whose head is read
// in the same transaction. Seq, Prev and Hash are set here.
func (t *Tx) AddEvent(e model.Event) error {
	last, err := t.lastEvent()
	if err != nil {
		return err
	}
	if e.Seq, err = events.next(t); err != nil {
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
	t.head = &e
	return nil
}

func (t *Tx) lastEvent() (e model.Event, err error) {
	if t.head != nil {
		return *t.head, nil
	}
	key, raw := t.bucket(bucketEvents).Cursor().Last()
	if key == nil {
		return e, nil
	}
	err = decode(bucketEvents, key, raw, &e)
	return e, err
}
