package store

import (
	"fmt"

	"deedkeep/app/title"
)

var events = listing[title.Event]{
	table:  table[title.Event]{bucketEvents, "event"},
	layout: layout{bucket: bucketEventIndex, tags: "raw"},
	columns: []column[title.Event]{
		{name: ColumnRecord, of: func(e *title.Event) value { return valueOf(e.Record) }},
		{name: ColumnActor, of: actorOf},
		{name: ColumnKind, of: func(e *title.Event) value { return valueOf(e.Kind) }},
	},
	card: func(e *title.Event) card { return card{created: micros(e.At), id: e.Seq} },
}

// actorOf is what Actor.Record says, without making text of it.
func actorOf(e *title.Event) value {
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
// ColumnActor, ColumnKind and ColumnRecord, and SortCreated.
func (t *Tx) ListEvents(q Query) (Page[title.Event], error) { return events.list(t, q) }

// AddEvent appends to the log, chained to the entry before it, whose head is read
// in the same transaction. Seq, Prev and Hash are set here.
func (t *Tx) AddEvent(e title.Event) error {
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

func (t *Tx) lastEvent() (e title.Event, err error) {
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
