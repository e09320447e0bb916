package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"deedkeep/app/model"
)

// A record is a value with a checksum that also covers where it stands, so that a
// flipped bit and a value under another's key are both found:
//
//	0      1                5
//	+------+----------------+------------------ - -
//	| 0x01 | CRC-32C, big   | JSON
//	|      | endian, of     |
//	|      | bucket 0x00    |
//	|      | key JSON       |
//	+------+----------------+------------------ - -
const (
	recordVersion    = 0x01
	recordHeaderSize = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is in the chain of every error about a record whose bytes do not
// hold to their checksum.
var ErrDamaged = errors.New("record is damaged")

func encodeRecord(bucket, key []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, recordHeaderSize))
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %s: %w", bucket, err)
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	raw[0] = recordVersion
	binary.BigEndian.PutUint32(raw[1:], recordChecksum(bucket, key, raw[recordHeaderSize:]))
	return raw, nil
}

func decodeRecord(bucket, key, raw []byte, v any) error {
	if len(raw) < recordHeaderSize || raw[0] != recordVersion ||
		binary.BigEndian.Uint32(raw[1:]) != recordChecksum(bucket, key, raw[recordHeaderSize:]) {
		return fmt.Errorf("%s %x: %w", bucket, key, ErrDamaged)
	}
	if err := json.Unmarshal(raw[recordHeaderSize:], v); err != nil {
		return fmt.Errorf("%s %x: %w: %w", bucket, key, ErrDamaged, err)
	}
	return nil
}

func recordChecksum(bucket, key, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, bucket)
	sum = crc32.Update(sum, castagnoli, []byte{0})
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, payload)
}

func encodeUint64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func decodeUint64(b []byte) (uint64, bool) {
	if len(b) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b), true
}

// cache remembers decoded records of small tables that nearly every request reads
// and hardly any changes: templates, order fields, keys. It is asked with the bytes
// of the record as they are in the transaction, and answers only for the same bytes,
// so it cannot be stale. What it gives is shared: nobody may change it in place.
type cache[T any] struct {
	mu      sync.RWMutex
	records map[string]cachedRecord[T]
}

type cachedRecord[T any] struct {
	raw   []byte
	value T
}

func (m *cache[T]) decode(bucket, key, raw []byte) (T, error) {
	m.mu.RLock()
	r, ok := m.records[string(key)]
	m.mu.RUnlock()
	if ok && bytes.Equal(r.raw, raw) {
		return r.value, nil
	}
	var v T
	if err := decodeRecord(bucket, key, raw, &v); err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[string]cachedRecord[T]{}
	}
	m.records[string(key)] = cachedRecord[T]{bytes.Clone(raw), v}
	return v, nil
}

// caches are those of one store.
type caches struct {
	templates       cache[model.Template]
	defaultTemplate cache[uint64] // the default template's number
	keys            cache[model.Key]
	users           cache[model.User]
	orderFields     cache[[]model.Field]
	orderStatuses   cache[[]string]
	folderVersions  folderVersions
}
