package store

import (
	"bytes"
	"cmp"
	"fmt"
	"sync/atomic"

	"deedkeep/app/model"
)

var events = indexedTable[model.Event]{
	table:       table[model.Event]{bucketEvents, "event"},
	indexLayout: indexLayout{indexBucket: bucketEventIndex, columnTags: "raw"},
	columns: []indexColumn[model.Event]{
		{name: model.ColumnRecord, value: func(e *model.Event) columnValue { return parseValue(e.Record) }},
		{name: model.ColumnActor, value: actorValue},
		{name: model.ColumnKind, value: func(e *model.Event) columnValue { return parseValue(e.Kind) }},
	},
	fields: func(e *model.Event) indexFields { return indexFields{created: sortableMicros(e.At), id: e.Seq} },
}

// actorValue returns the same as parseValue(e.Actor.Record()) but usually doesn't format
// the text.
func actorValue(e *model.Event) columnValue {
	v := parseValue(e.Actor.Kind)
	if e.Actor.ID == 0 {
		return v
	}
	if v.text == "" || v.number != 0 {
		return parseValue(e.Actor.Record())
	}
	return columnValue{v.text, e.Actor.ID}
}

// ListEvents returns a page of the audit log. It supports filters by model.ColumnActor,
// model.ColumnKind, and model.ColumnRecord, and the sort orders model.SortCreated and model.SortSequence.
// model.SortSequence supports ascending order only.
func (t *Tx) ListEvents(q Query) (Page[model.Event], error) {
	if q.Sort == model.SortSequence {
		return t.listEventsInSequence(q)
	}
	return events.list(t, q)
}

// maxSequenceScan is the maximum number of entries that are read for a page with
// model.SortSequence. It is low because there is no index in that order, so each entry has to be
// decoded.
const maxSequenceScan = 2_000

// listEventsInSequence returns a page of the audit log sorted by sequence number. It skips
// damaged entries, which Check reports.
func (t *Tx) listEventsInSequence(q Query) (page Page[model.Event], err error) {
	if t.isRebuilding() {
		return page, errRebuilding
	}
	pred, possible, err := events.newPredicate(t, q)
	if err != nil {
		return page, err
	}
	page.End = append([]byte{}, q.Position...)
	c := t.bucket(bucketEvents).Cursor()
	key, raw := c.Seek(page.End)
	if bytes.Equal(key, page.End) {
		key, raw = c.Next()
	}
	for budget := cmp.Or(q.MaxScanned, maxSequenceScan); key != nil; key, raw = c.Next() {
		if budget--; budget < 0 {
			page.Next = page.End
			return page, t.canceled()
		}
		var e model.Event
		if decodeRecord(bucketEvents, key, raw, &e) == nil && possible && events.matchesInSequence(&e, &pred) {
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

// matchesInSequence reports whether a record matches the filters and the range of creation
// times.
func (it *indexedTable[T]) matchesInSequence(v *T, pred *predicate) bool {
	created := it.fields(v).created
	return created >= pred.createdFrom && created <= pred.createdTo && it.matches(v, pred)
}

// AddEvent appends an entry to the audit log and links it to the previous entry by hash. It
// sets Seq, Prev, and Hash.
func (t *Tx) AddEvent(e model.Event) error {
	last, err := t.LastEvent()
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
	if t.lastEntry = &e; t.events != nil {
		t.committed = append(t.committed, func() { t.events.last.Store(e.Seq) })
		t.wakeAfterCommit(t.events.added)
	}
	return nil
}

// eventFeed tells the follower of the audit log about new entries.
type eventFeed struct {
	added chan struct{}
	last  atomic.Uint64 // sequence number of the newest entry that was added since the database was opened
}

// EventAdded returns a channel that receives a value after every commit that added to the audit log, unless a value is
// already waiting. The channel supports only one follower. last is the sequence number of the newest entry, or 0 if none
// was added since the database was opened.
func (s *Store) EventAdded() (added <-chan struct{}, last uint64) {
	return s.events.added, s.events.last.Load()
}

// LastEvent returns the newest entry of the audit log, or the zero Event if the log is
// empty.
func (t *Tx) LastEvent() (e model.Event, err error) {
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

// ScanEvents returns up to limit entries of the audit log, starting with sequence number
// from. It stops with an error at the first damaged entry.
func (t *Tx) ScanEvents(from uint64, limit int) ([]model.Event, error) {
	return scanTable(t, events.table, from, limit)
}

// EventHash returns the hash of an entry of the audit log, or "" if the entry is missing or
// damaged.
func (t *Tx) EventHash(seq uint64) string {
	e, err := events.get(t, seq)
	if err != nil {
		return ""
	}
	return e.Hash
}

// logEntry is an audit log entry as stored. It may be damaged.
type logEntry struct {
	Seq   uint64 // sequence number in the key; 0 if the key is invalid
	Event model.Event
	Err   error // reason why the entry can't be decoded; wraps ErrDamaged
}

// LogPage is a part of the audit log.
type LogPage struct {
	Entries []logEntry
	Next    []byte // position of the next page; nil at the end
	Total   uint64 // number of entries that have ever been written
}

// ScanLog returns up to limit stored entries of the audit log, starting at position, which
// is LogPosition, LogPage.Next, or nil for the start. The result includes entries with
// invalid keys. These may come before the first valid entry.
func (t *Tx) ScanLog(position []byte, limit int) LogPage {
	bucket := t.bucket(bucketEvents)
	log := LogPage{Total: bucket.Sequence()}
	c := bucket.Cursor()
	key, raw := c.First()
	if position != nil {
		key, raw = c.Seek(position)
	}
	for ; key != nil && len(log.Entries) < limit; key, raw = c.Next() {
		var e logEntry
		if seq, ok := decodeUint64(key); ok {
			e.Seq = seq
			e.Err = decodeRecord(bucketEvents, key, raw, &e.Event)
		} else {
			e.Err = fmt.Errorf("%s: invalid key of %d bytes: %w", bucketEvents, len(key), ErrDamaged)
		}
		log.Entries = append(log.Entries, e)
	}
	if key != nil {
		log.Next = append([]byte{}, key...)
	}
	return log
}

// LogPosition returns the position of an audit log entry. ScanLog starts with that entry.
// As Query.Position with model.SortSequence, it makes the page start after that entry.
func LogPosition(seq uint64) []byte { return encodeUint64(seq) }

// putEvent writes an entry as the same JSON from which its hash was computed. Encoding the
// event a second time would double the cost.
func putEvent(t *Tx, seq uint64, sealed []byte) error {
	key := encodeUint64(seq)
	if err := t.bucket(bucketEvents).Append(key, addRecordHeader(bucketEvents, key, sealed)); err != nil {
		return fmt.Errorf("put event %d: %w", seq, err)
	}
	return nil
}
