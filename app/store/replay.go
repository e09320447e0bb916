package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"deedkeep/app/title"
)

// Replay reads the answer that is kept in a slot; found is false when there is none.
func (t *Tx) Replay(slot [32]byte) (r title.Replay, found bool, err error) {
	raw := t.bucket(bucketReplays).Get(slot[:])
	if raw == nil {
		return r, false, nil
	}
	err = decode(bucketReplays, slot[:], raw, &r)
	return r, err == nil, err
}

// PutReplay keeps an answer in a slot, in place of one that may be there.
func (t *Tx) PutReplay(slot [32]byte, r title.Replay) error {
	old, found, err := t.Replay(slot)
	if err != nil {
		return err
	}
	times := t.bucket(bucketReplayTimes)
	times.FillPercent = 0.9
	if found {
		if err := times.Delete(replayKey(old.At, slot[:])); err != nil {
			return fmt.Errorf("index replay: %w", err)
		}
	}
	raw, err := encode(bucketReplays, slot[:], r)
	if err != nil {
		return err
	}
	if err := mark(times, replayKey(r.At, slot[:])); err != nil {
		return fmt.Errorf("index replay: %w", err)
	}
	if err := t.bucket(bucketReplays).Put(slot[:], raw); err != nil {
		return fmt.Errorf("put replay: %w", err)
	}
	return nil
}

// ReplaysBefore reports whether PruneReplays would find one.
func (t *Tx) ReplaysBefore(before time.Time) bool {
	oldest, _ := t.bucket(bucketReplayTimes).Cursor().First()
	return oldest != nil && bytes.Compare(oldest, binary.BigEndian.AppendUint64(nil, micros(before))) < 0
}

// PruneReplays removes at most limit answers that were kept before a time, the
// oldest first, and tells how many.
func (t *Tx) PruneReplays(before time.Time, limit int) (n int, err error) {
	end := binary.BigEndian.AppendUint64(nil, micros(before))
	var old [][]byte
	c := t.bucket(bucketReplayTimes).Cursor()
	for k, _ := c.First(); k != nil && bytes.Compare(k, end) < 0 && len(old) < limit; k, _ = c.Next() {
		old = append(old, bytes.Clone(k))
	}
	for _, key := range old {
		if len(key) == replayKeySize {
			if err := t.bucket(bucketReplays).Delete(key[8:]); err != nil {
				return 0, fmt.Errorf("prune replays: %w", err)
			}
		}
		if err := t.bucket(bucketReplayTimes).Delete(key); err != nil {
			return 0, fmt.Errorf("prune replays: %w", err)
		}
	}
	return len(old), nil
}

const replayKeySize = 8 + 32

func replayKey(at time.Time, slot []byte) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, replayKeySize), micros(at)), slot...)
}
