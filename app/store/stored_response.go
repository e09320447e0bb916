package store

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"deedkeep/app/model"
)

// StoredResponse returns the response stored for an idempotency key. slot is the key's
// hash.
func (t *Tx) StoredResponse(slot [32]byte) (r model.StoredResponse, found bool, err error) {
	raw := t.bucket(bucketStoredResponses).Get(slot[:])
	if raw == nil {
		return r, false, nil
	}
	var record responseRecord
	if err := decodeRecord(bucketStoredResponses, slot[:], raw, &record); err != nil {
		return r, false, err
	}
	if r = record.StoredResponse; len(record.Compressed) > 0 {
		if r.Body, err = decompress(record.Compressed); err != nil {
			return model.StoredResponse{}, false, fmt.Errorf("decompress stored response: %w: %w", err, ErrDamaged)
		}
	}
	return r, true, nil
}

// PutStoredResponse stores a response. It replaces any previous response for the same slot.
func (t *Tx) PutStoredResponse(slot [32]byte, r model.StoredResponse) error {
	old, found, err := t.StoredResponse(slot)
	if err != nil {
		return err
	}
	times := t.bucket(bucketStoredResponseTimes)
	if found {
		if err := times.Delete(responseTimeKey(old.At, slot[:])); err != nil {
			return fmt.Errorf("index stored response: %w", err)
		}
	}
	record := responseRecord{StoredResponse: r}
	if len(r.Body) >= minCompressSize {
		record.Body = nil
		if record.Compressed, err = compress(r.Body); err != nil {
			return fmt.Errorf("compress stored response: %w", err)
		}
	}
	raw, err := encodeRecord(bucketStoredResponses, slot[:], record)
	if err != nil {
		return err
	}
	if err := times.Append(responseTimeKey(r.At, slot[:]), []byte{}); err != nil {
		return fmt.Errorf("index stored response: %w", err)
	}
	if err := t.bucket(bucketStoredResponses).Put(slot[:], raw); err != nil {
		return fmt.Errorf("put stored response: %w", err)
	}
	return nil
}

// removeStoredResponse removes a response, if there is one.
func (t *Tx) removeStoredResponse(slot [32]byte) error {
	old, found, err := t.StoredResponse(slot)
	if err != nil || !found {
		return err
	}
	if err := errors.Join(t.bucket(bucketStoredResponseTimes).Delete(responseTimeKey(old.At, slot[:])),
		t.bucket(bucketStoredResponses).Delete(slot[:])); err != nil {
		return fmt.Errorf("remove stored response: %w", err)
	}
	return nil
}

// UndoSlot returns the slot for what a record, such as "instrument:7", had before its last change. part is a part of the
// title work of an abstract, such as "names_run", or "". It is emptied when the record is purged.
func UndoSlot(record, part string) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "undo\n%s\n%s", record, part))
}

// undoParts are the parts of the title work that have an UndoSlot.
var undoParts = []string{"assignment", "names_run", "requirements"}

// HasStoredResponsesBefore reports whether any responses were stored before this time, so
// that PruneStoredResponses would remove them.
func (t *Tx) HasStoredResponsesBefore(before time.Time) bool {
	oldest, _ := t.bucket(bucketStoredResponseTimes).Cursor().First()
	return oldest != nil && bytes.Compare(oldest, binary.BigEndian.AppendUint64(nil, sortableMicros(before))) < 0
}

// PruneStoredResponses removes up to limit responses that were stored before this time,
// oldest first. It returns how many it removed.
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
				return 0, fmt.Errorf("prune stored responses: %w", err)
			}
		}
		if err := t.bucket(bucketStoredResponseTimes).Delete(key); err != nil {
			return 0, fmt.Errorf("prune stored responses: %w", err)
		}
	}
	return len(old), nil
}

// responseRecord is a response in stored form. Long bodies are compressed, because a
// response that lists many files is very repetitive.
type responseRecord struct {
	model.StoredResponse
	Compressed []byte `json:"packed,omitempty"` // gzip-compressed body (RFC 1952); replaces Body
}

const (
	minCompressSize     = 1 << 10   // bytes
	maxDecompressedSize = 256 << 20 // bytes, much more than any response has
)

// compress returns body compressed with gzip.
func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(body)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// decompress returns the uncompressed body.
func decompress(compressed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(z, maxDecompressedSize+1))
	if err == nil && len(body) > maxDecompressedSize {
		err = errors.New("stored response is too long")
	}
	return body, err
}

const responseTimeKeySize = 8 + 32

// responseTimeKey returns the key of a response in the index that sorts responses by time.
func responseTimeKey(at time.Time, slot []byte) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, responseTimeKeySize), sortableMicros(at)), slot...)
}
