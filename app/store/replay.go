package store

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"deedkeep/app/model"
)

// StoredResponse reads the answer that is kept in a slot; found is false when there is none.
func (t *Tx) StoredResponse(slot [32]byte) (r model.Replay, found bool, err error) {
	raw := t.bucket(bucketReplays).Get(slot[:])
	if raw == nil {
		return r, false, nil
	}
	var kept keptReplay
	if err := decode(bucketReplays, slot[:], raw, &kept); err != nil {
		return r, false, err
	}
	if r = kept.Replay; len(kept.Packed) > 0 {
		if r.Body, err = unpack(kept.Packed); err != nil {
			return model.Replay{}, false, fmt.Errorf("unpack replay: %w: %w", err, ErrDamaged)
		}
	}
	return r, true, nil
}

// PutStoredResponse keeps an answer in a slot, in place of one that may be there.
func (t *Tx) PutStoredResponse(slot [32]byte, r model.Replay) error {
	old, found, err := t.StoredResponse(slot)
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
	kept := keptReplay{Replay: r}
	if len(r.Body) >= packFrom {
		kept.Body = nil
		if kept.Packed, err = pack(r.Body); err != nil {
			return fmt.Errorf("pack replay: %w", err)
		}
	}
	raw, err := encode(bucketReplays, slot[:], kept)
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

// HasStoredResponsesBefore reports whether PruneStoredResponses would find one.
func (t *Tx) HasStoredResponsesBefore(before time.Time) bool {
	oldest, _ := t.bucket(bucketReplayTimes).Cursor().First()
	return oldest != nil && bytes.Compare(oldest, binary.BigEndian.AppendUint64(nil, micros(before))) < 0
}

// PruneStoredResponses removes at most limit answers that were kept before a time, the
// oldest first, and tells how many.
func (t *Tx) PruneStoredResponses(before time.Time, limit int) (n int, err error) {
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

// keptReplay is a replay as it is written. An answer that names a thousand files says
// much the same of each.
type keptReplay struct {
	model.Replay
	Packed []byte `json:"packed,omitempty"` // the body by gzip (RFC 1952), in its place
}

const (
	packFrom   = 1 << 10   // bytes
	mostUnpack = 256 << 20 // far above every answer
)

func pack(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(body)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(z, mostUnpack+1))
	if err == nil && len(body) > mostUnpack {
		err = errors.New("it is too long")
	}
	return body, err
}

const replayKeySize = 8 + 32

func replayKey(at time.Time, slot []byte) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, replayKeySize), micros(at)), slot...)
}
