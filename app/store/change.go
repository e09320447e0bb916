package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// The feed of changes says which abstracts, orders and files were put or removed,
// in the order of the commits, so that what is derived from them elsewhere can
// follow; not what has changed, as whoever follows reads the record anyway. It is
// written by the Put and Remove functions themselves, a record once a commit:
//
//	key    seq (8), from the sequence of the bucket, without gaps
//	value  noun (1) as in the trash, or 4: FilesOfAbstract | id (7) | CRC-32C (4) of bucket 0x00 key and these
//
// Whoever has followed trims it. A Rebuild empties it and leaves a gap behind, which
// tells those who follow to begin anew.

// Change is one entry of the feed.
type Change struct {
	Seq  uint64
	Type string // "abstract", "order", "file" or FilesOfAbstract
	ID   uint64
}

// FilesOfAbstract is the noun of a change that all files of an abstract have to be looked at for:
// where it lies, or what it is made by, is not what it was. It is one entry, however many
// files there are, so that whoever follows may let other changes go first.
const FilesOfAbstract = "files of"

// ErrGap is in the chain of the error of Changes where entries that were asked for
// are gone or damaged: whoever follows has to begin anew.
var ErrGap = errors.New("the feed of changes has a gap")

const changeSize = 12

// noteChange notes a record for the feed, which flush writes: one of those that can lie
// in the trash, which events cannot.
func (l *indexedTable[T]) noteChange(t *Tx, id uint64) {
	if l.trashed == nil {
		return
	}
	t.noteChange(typedID(l.typeName, id))
}

// noteChange notes a record once a commit.
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

// MarkDigestChanged tells the feed of at most limit files with these bytes, in the trash or
// not: what was made of them is not what it was.
func (t *Tx) MarkDigestChanged(digest [32]byte, limit int) {
	c := t.bucket(bucketFileDigests).Cursor()
	for k, _ := c.Seek(digest[:]); bytes.HasPrefix(k, digest[:]) && limit > 0; k, _ = c.Next() {
		if id, ok := decodeUint64(k[len(digest):]); ok {
			files.noteChange(t, id)
			limit--
		}
	}
}

// flushChanges writes what was noted, all of it at the end of the bucket.
func (t *Tx) flushChanges() error {
	if len(t.changedIDs) == 0 {
		return nil
	}
	b := t.bucket(bucketChanges)
	b.FillPercent = 1 // numbers only grow, and nothing is ever put between them
	seq := b.Sequence()
	for _, record := range t.changedIDs {
		seq++
		key := encodeUint64(seq)
		if err := b.Put(key, encodeChange(key, record)); err != nil {
			return fmt.Errorf("note change %d: %w", seq, err)
		}
	}
	if err := b.SetSequence(seq); err != nil {
		return fmt.Errorf("note change %d: %w", seq, err)
	}
	t.changedIDs, t.changedSet = nil, nil
	t.tx.OnCommit(t.notify)
	return nil
}

// MarkFileChanged tells the feed of a file, which may be gone.
func (t *Tx) MarkFileChanged(id uint64) { files.noteChange(t, id) }

func encodeChange(key []byte, record uint64) []byte {
	raw := binary.BigEndian.AppendUint64(make([]byte, 0, changeSize), record)
	return binary.BigEndian.AppendUint32(raw, recordChecksum(bucketChanges, key, raw))
}

// decodeChange is false for what nothing here wrote.
func decodeChange(key, raw []byte) (c Change, ok bool) {
	seq, ok := decodeUint64(key)
	if !ok || len(raw) != changeSize || binary.BigEndian.Uint32(raw[8:]) != recordChecksum(bucketChanges, key, raw[:8]) {
		return c, false
	}
	record := binary.BigEndian.Uint64(raw)
	c = Change{Seq: seq, Type: typeNameOf(record), ID: record & (1<<typeShift - 1)}
	return c, c.Type != ""
}

// LastChange is the number of the newest change; 0 before the first. It never falls.
func (t *Tx) LastChange() uint64 { return t.bucket(bucketChanges).Sequence() }

// Changes reads at most limit changes from a number on, in their order. ErrGap is in
// the chain of the error when the first of them was trimmed, or one is damaged or
// missing; without changes from there on there is nothing to read, and no gap.
func (t *Tx) Changes(from uint64, limit int) (list []Change, err error) {
	last, next := t.LastChange(), max(from, 1)
	if next > last+1 {
		return nil, fmt.Errorf("changes from %d of %d: %w", from, last, ErrGap)
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

// TrimChanges takes at most limit changes up to and with a number out of the feed, the
// oldest first, and tells how many.
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

// FirstChange is the number of the oldest change that is kept, one above LastChange
// when none is.
func (t *Tx) FirstChange() uint64 {
	key, _ := t.bucket(bucketChanges).Cursor().First()
	if seq, ok := decodeUint64(key); ok {
		return seq
	}
	return t.LastChange() + 1
}

// Changed is sent to after a commit that the feed tells of, unless something waits
// there already. It is for one follower.
func (s *Store) Changed() <-chan struct{} { return s.changed }

func (s *Store) notifyChanged() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// resetChanges leaves nothing of the feed, and a gap where it was.
func resetChanges(tx *bolt.Tx) error {
	seq := tx.Bucket(bucketChanges).Sequence()
	if err := tx.DeleteBucket(bucketChanges); err != nil {
		return fmt.Errorf("empty bucket %s: %w", bucketChanges, err)
	}
	b, err := tx.CreateBucket(bucketChanges)
	if err != nil {
		return fmt.Errorf("make bucket %s: %w", bucketChanges, err)
	}
	return b.SetSequence(seq + 1)
}
