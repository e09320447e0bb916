package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"deedkeep/app/model"
)

// A record is stored with a version and a checksum. The checksum also covers the names of
// the bucket and the key, so it detects both flipped bits and a value stored under the
// wrong key:
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

// ErrDamaged is wrapped by the error for a record that doesn't match its checksum or can't
// be decoded.
var ErrDamaged = errors.New("record is damaged")

// recordJSON are the options for the JSON of records: that of encoding/json, which wrote the records of earlier
// versions, without HTML escapes. Only the errors differ: to report those of encoding/json, Unmarshal would scan each
// record twice.
var recordJSON = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsonv1.ReportErrorsWithLegacySemantics(false))

// encodeRecord returns v encoded as a record of the given bucket and key.
func encodeRecord(bucket, key []byte, v any) ([]byte, error) {
	payload, err := json.Marshal(v, recordJSON)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", bucket, err)
	}
	return addRecordHeader(bucket, key, payload), nil
}

// addRecordHeader returns the record with this content, which is JSON except in runsheet_rows.
func addRecordHeader(bucket, key, payload []byte) []byte {
	raw := make([]byte, recordHeaderSize, recordHeaderSize+len(payload))
	raw[0] = recordVersion
	binary.BigEndian.PutUint32(raw[1:], recordChecksum(bucket, key, payload))
	return append(raw, payload...)
}

// decodeRecord verifies a record and decodes it into v.
func decodeRecord(bucket, key, raw []byte, v any) error {
	payload, err := removeRecordHeader(bucket, key, raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(payload, v, recordJSON); err != nil {
		return fmt.Errorf("read %s %x: %w: %w", bucket, key, ErrDamaged, err)
	}
	return nil
}

// removeRecordHeader verifies a record and returns what addRecordHeader got.
func removeRecordHeader(bucket, key, raw []byte) ([]byte, error) {
	if len(raw) < recordHeaderSize || raw[0] != recordVersion ||
		binary.BigEndian.Uint32(raw[1:]) != recordChecksum(bucket, key, raw[recordHeaderSize:]) {
		return nil, fmt.Errorf("read %s %x: %w", bucket, key, ErrDamaged)
	}
	return raw[recordHeaderSize:], nil
}

// recordChecksum returns the CRC-32C of a record.
func recordChecksum(bucket, key, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, bucket)
	sum = crc32.Update(sum, castagnoli, []byte{0})
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, payload)
}

// encodeUint64 returns n as 8 bytes, big endian.
func encodeUint64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// decodeUint64 decodes a number. It returns false if b is not 8 bytes long.
func decodeUint64(b []byte) (uint64, bool) {
	if len(b) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b), true
}

// cache contains decoded records that are read very often: those of small tables that nearly
// every request reads, such as templates, order fields, and API keys, and those of the pages
// of lists that were shown last. A lookup takes the encoded record from the current
// transaction and uses the cached value only if the bytes are equal, so the result is never
// stale. Callers share the results and must not modify them.
type cache[T any] struct {
	mu      sync.RWMutex
	records map[string]cachedRecord[T]
}

const (
	maxCachedRecords = 1_000   // maximum number of records in a cache
	maxCachedSize    = 4 << 10 // maximum size of a cached record of a list, in bytes
)

// cachedRecord is a decoded record with the bytes it was decoded from.
type cachedRecord[T any] struct {
	raw   []byte
	value T
}

// decode returns the decoded record from the cache, or decodes and caches it.
func (c *cache[T]) decode(bucket, key, raw []byte) (T, error) {
	c.mu.RLock()
	r, ok := c.records[string(key)]
	c.mu.RUnlock()
	if ok && bytes.Equal(r.raw, raw) {
		return r.value, nil
	}
	var v T
	if err := decodeRecord(bucket, key, raw, &v); err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records == nil || len(c.records) >= maxCachedRecords {
		c.records = map[string]cachedRecord[T]{}
	}
	c.records[string(key)] = cachedRecord[T]{bytes.Clone(raw), v}
	return v, nil
}

// caches contains the caches of a store.
type caches struct {
	templates       cache[model.Template]
	defaultTemplate cache[uint64] // ID of the default template
	keys            cache[model.Key]
	users           cache[model.User]
	orderFields     cache[[]model.Field]
	orderStatuses   cache[[]string]
	abstracts       cache[model.Abstract] // read by lists; the same is true of the next one
	orders          cache[model.Order]
	documentTypes   cache[model.DocumentTypes]
	folderVersions  folderVersions
}
