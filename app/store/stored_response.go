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
func (t *Tx) StoredResponse(slot [32]byte) (r model.StoredResponse, found bool, err error) {
	raw := t.bucket(bucketStoredResponses).Get(slot[:])
	if raw == nil {
		return r, false, nil
	}
	var kept responseRecord
	if err := decodeRecord(bucketStoredResponses, slot[:], raw, &kept); err != nil {
		return r, false, err
	}
	if r = kept.StoredResponse; len(kept.Packed) > 0 {
		if r.Body, err = decompress(kept.Packed); err != nil {
			return model.StoredResponse{}, false, fmt.Errorf("unpack replay: %w: %w", err, ErrDamaged)
		}
	}
	return r, true, nil
}

// PutStoredResponse keeps an answer in a slot, in place of one that may be there.
func (t *Tx) PutStoredResponse(slot [32]byte, r model.StoredResponse) error {
	old, found, err := t.StoredResponse(slot)
	if err != nil {
		return err
	}
	times := t.bucket(bucketStoredResponseTimes)
	times.FillPercent = 0.9
	if found {
		if err := times.Delete(responseTimeKey(old.At, slot[:])); err != nil {
			return fmt.Errorf("index replay: %w", err)
		}
	}
	kept := responseRecord{StoredResponse: r}
	if len(r.Body) >= minCompressSize {
		kept.Body = nil
		if kept.Packed, err = compress(r.Body); err != nil {
			return fmt.Errorf("pack replay: %w", err)
		}
	}
	raw, err := encodeRecord(bucketStoredResponses, slot[:], kept)
	if err != nil {
		return err
	}
	if err := putKeyOnly(times, responseTimeKey(r.At, slot[:])); err != nil {
		return fmt.Errorf("index replay: %w", err)
	}
	if err := t.bucket(bucketStoredResponses).Put(slot[:], raw); err != nil {
		return fmt.Errorf("put replay: %w", err)
	}
	return nil
}

// HasStoredResponsesBefore reports whether PruneStoredResponses would find one.
func (t *Tx) HasStoredResponsesBefore(before time.Time) bool {
	oldest, _ := t.bucket(bucketStoredResponseTimes).Cursor().First()
	return oldest != nil && bytes.Compare(oldest, binary.BigEndian.AppendUint64(nil, sortableMicros(before))) < 0
}

// PruneStoredResponses removes at most limit answers that were kept before a time, the
// oldest first, and tells how many.
func (t *Tx) PruneStoredResponses(before time.Time, limit int) (n int, err error) {
	end := binary.BigEndian.AppendUint64(nil, sortableMicros(before))
	var old [][]byte
	c := t.bucket(bucketStoredResponseTimes).Cursor()
	for k, _ := c.First(); k != nil && bytes.Compare(k, end) < 0 && len(old) < limit; k, _ = c.Next() {
		old = append(old, bytes.Clone(k))
	}
	for _, key := range old {
		if len(key) == responseTimeKeySize {
			if err := t.bucket(bucketStoredResponses).Delete(key[8:]); err != nil {
				return 0, fmt.Errorf("prune replays: %w", err)
			}
		}
		if err := t.bucket(bucketStoredResponseTimes).Delete(key); err != nil {
			return 0, fmt.Errorf("prune replays: %w", err)
		}
	}
	return len(old), nil
}

// responseRecord is a replay as it is written. An answer that names a thousand files says
// much the same of each.
type responseRecord struct {
	model.StoredResponse
	Packed []byte `json:"packed,omitempty"` // the body by gzip (RFC 1952), in its place
}

const (
	minCompressSize     = 1 << 10   // bytes
	maxDecompressedSize = 256 << 20 // far above every answer
)

func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(body)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

func decompress(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(z, maxDecompressedSize+1))
	if err == nil && len(body) > maxDecompressedSize {
		err = errors.New("it is too long")
	}
	return body, err
}

const responseTimeKeySize = 8 + 32

func responseTimeKey(at time.Time, slot []byte) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, responseTimeKeySize), sortableMicros(at)), slot...)
}
