package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The change feed lists the abstracts, orders, files, and instruments that were written or removed,
// in commit order. Data derived from the records outside the store, such as the search index,
// is updated by a follower of the feed. An entry doesn't say what changed, because the
// follower reads the record anyway. The Put and Remove functions add at most one entry per
// record and commit:
//
//	key    seq (8), from the bucket's sequence, without gaps
//	value  type (1), see typeNames | id (7) | CRC-32C (4) of bucket 0x00 key and these
//
// The follower trims the feed. Rebuild empties the feed and leaves a gap in it, so the
// follower has to start from scratch.

// Change is an entry of the change feed.
type Change struct {
	Seq  uint64
	Type string // "abstract", "order", "file", "instrument", FilesOfAbstract, or InstrumentsOfType
	ID   uint64
}

// FilesOfAbstract is the type of a change that affects all files of an abstract because its
// county, state, or template changed. It is a single entry regardless of the number of
// files, so the follower can process other changes before it gets through the files.
const FilesOfAbstract = "files of"

// InstrumentsOfType is the type of a change that affects all instruments of a document type because
// the type was renamed. Like FilesOfAbstract, it is a single entry.
const InstrumentsOfType = "instruments of"

// ErrGap is wrapped by the error of Changes if any of the requested entries is missing or
// damaged. The follower then has to start from scratch.
var ErrGap = errors.New("the change feed has a gap")

// changeSize is the size of an encoded change in bytes.
const changeSize = 12

// noteChange adds a record to the change feed. It does nothing for audit log entries, the
// only type that can't be in the trash.
func (it *indexedTable[T]) noteChange(t *Tx, id uint64) {
	if it.trashed == nil {
		return
	}
	t.noteChange(typedID(it.typeName, id))
}

// noteChange adds a typed ID to the change feed, at most once per commit.
func (t *Tx) noteChange(key uint64) {
	if _, known := t.changedSet[key]; known {
		return
	}
	if t.changedSet == nil {
		t.changedSet = map[uint64]struct{}{}
	}
	t.changedSet[key] = struct{}{}
	t.changedIDs = append(t.changedIDs, key)
}

// MarkDigestChanged adds up to limit files with this content digest, including files in the
// trash, to the change feed. Call it if data derived from the content has changed.
func (t *Tx) MarkDigestChanged(digest [32]byte, limit int) {
	c := t.bucket(bucketFileDigests).Cursor()
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]) && limit > 0; k, _ = c.Next() {
		if id, ok := decodeUint64(k[len(digest):]); ok {
			files.noteChange(t, id)
			limit--
		}
	}
}

// flushChanges appends the changes noted in this transaction to the feed.
func (t *Tx) flushChanges() error {
	if len(t.changedIDs) == 0 {
		return nil
	}
	b := t.bucket(bucketChanges)
	seq := b.Sequence()
	for _, record := range t.changedIDs {
		seq++
		key := encodeUint64(seq)
		if err := b.Append(key, encodeChange(key, record)); err != nil {
			return fmt.Errorf("record change %d: %w", seq, err)
		}
	}
	if err := b.SetSequence(seq); err != nil {
		return fmt.Errorf("record change %d: %w", seq, err)
	}
	t.changedIDs, t.changedSet = nil, nil
	t.wakeAfterCommit(t.changed)
	return nil
}

// MarkFileChanged adds a file to the change feed. The file doesn't have to exist.
func (t *Tx) MarkFileChanged(id uint64) { files.noteChange(t, id) }

// encodeChange returns the encoded value of a change feed entry.
func encodeChange(key []byte, record uint64) []byte {
	raw := binary.BigEndian.AppendUint64(make([]byte, 0, changeSize), record)
	return binary.BigEndian.AppendUint32(raw, recordChecksum(bucketChanges, key, raw))
}

// decodeChange decodes an entry of the change feed. ok is false if the entry is invalid.
func decodeChange(key, raw []byte) (c Change, ok bool) {
	seq, ok := decodeUint64(key)
	if !ok || len(raw) != changeSize || binary.BigEndian.Uint32(raw[8:]) != recordChecksum(bucketChanges, key, raw[:8]) {
		return c, false
	}
	record := binary.BigEndian.Uint64(raw)
	c = Change{Seq: seq, Type: typeNameOf(record), ID: record & (1<<typeShift - 1)}
	return c, c.Type != ""
}

// LastChange returns the sequence number of the newest change, or 0 if there has never been
// one. It never decreases.
func (t *Tx) LastChange() uint64 { return t.bucket(bucketChanges).Sequence() }

// Changes returns up to limit changes in order, starting with sequence number from. The
// error wraps ErrGap if the first of them was trimmed or if any of them is damaged or
// missing. If from is LastChange + 1, Changes returns an empty list and no error.
func (t *Tx) Changes(from uint64, limit int) (list []Change, err error) {
	last, next := t.LastChange(), max(from, 1)
	if next > last+1 {
		return nil, fmt.Errorf("read changes from %d to %d: %w", from, last, ErrGap)
	}
	c := t.bucket(bucketChanges).Cursor()
	key, raw := c.Seek(encodeUint64(next))
	for ; next <= last && len(list) < limit; next++ {
		change, ok := decodeChange(key, raw)
		if !ok || change.Seq != next {
			return list, fmt.Errorf("change %d: %w", next, ErrGap)
		}
		list = append(list, change)
		key, raw = c.Next()
	}
	return list, nil
}

// TrimChanges removes up to limit changes, oldest first, with sequence numbers up to and
// including upTo. It returns how many it removed.
func (t *Tx) TrimChanges(upTo uint64, limit int) (count int, err error) {
	b, end := t.bucket(bucketChanges), encodeUint64(upTo)
	var old [][]byte
	c := b.Cursor()
	for key, _ := c.First(); key != nil && bytes.Compare(key, end) <= 0 && len(old) < limit; key, _ = c.Next() {
		old = append(old, bytes.Clone(key))
	}
	for _, key := range old {
		if err := b.Delete(key); err != nil {
			return 0, fmt.Errorf("trim changes: %w", err)
		}
	}
	return len(old), nil
}

// FirstChange returns the sequence number of the oldest change in the feed. If the feed is
// empty, it returns LastChange + 1.
func (t *Tx) FirstChange() uint64 {
	key, _ := t.bucket(bucketChanges).Cursor().First()
	if seq, ok := decodeUint64(key); ok {
		return seq
	}
	return t.LastChange() + 1
}

// Changed returns a channel that receives a value after every commit that added to the
// change feed, unless a value is already waiting. The channel supports only one follower.
func (s *Store) Changed() <-chan struct{} { return s.changed }

// wakeAfterCommit sends a value to a follower after the commit, unless one is already waiting.
func (t *Tx) wakeAfterCommit(follower chan<- struct{}) {
	if follower == nil {
		return
	}
	t.committed = append(t.committed, func() {
		select {
		case follower <- struct{}{}:
		default:
		}
	})
}

// resetChanges empties the change feed and leaves a gap in the sequence numbers.
func resetChanges(t *Tx) error {
	seq := t.bucket(bucketChanges).Sequence()
	if err := t.recreateBuckets([][]byte{bucketChanges}); err != nil {
		return err
	}
	return t.bucket(bucketChanges).SetSequence(seq + 1)
}
