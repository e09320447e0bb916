package store

import (
	"encoding/binary"
	"fmt"

	"deedkeep/app/model"
)

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
