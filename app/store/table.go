package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// table is a bucket that contains records of one type, keyed by ID.
type table[T any] struct {
	bucketName []byte
	typeName   string
}

// The tables without list indexes.
var (
	templates = table[model.Template]{bucketTemplates, "template"}
	folders   = table[model.Folder]{bucketFolders, "folder"}
	tasks     = table[model.ProcessingTask]{bucketTasks, "task"}
	keys      = table[model.Key]{bucketKeys, "key"}
	users     = table[model.User]{bucketUsers, "user"}
	views     = table[model.View]{bucketViews, "view"}
)

// nextID returns a new ID. IDs are never reused.
func (ta table[T]) nextID(t *Tx) (uint64, error) {
	bucket := t.bucket(ta.bucketName)
	id := bucket.Sequence() + 1
	if err := bucket.SetSequence(id); err != nil {
		return 0, fmt.Errorf("assign %s ID: %w", ta.typeName, err)
	}
	return id, nil
}

// get returns a record. The error has kind errs.NotFound if the record doesn't exist and
// wraps ErrDamaged if it can't be decoded.
func (ta table[T]) get(t *Tx, id uint64) (T, error) {
	v, ok, err := ta.find(t, id)
	if err == nil && !ok {
		return v, errs.RecordNotFound(ta.typeName, id)
	}
	return v, err
}

// find is like get, but if the record doesn't exist, ok is false and err is nil.
func (ta table[T]) find(t *Tx, id uint64) (v T, ok bool, err error) {
	v, size, err := ta.findSized(t, id)
	return v, size > 0 && err == nil, err
}

// findSized is like find but also returns the size of the encoded record in bytes, which is 0 if the record doesn't
// exist.
func (ta table[T]) findSized(t *Tx, id uint64) (v T, size int, err error) {
	key := encodeUint64(id)
	raw := t.value(ta.bucketName, key)
	if raw == nil {
		return v, 0, nil
	}
	err = decodeRecord(ta.bucketName, key, raw, &v)
	return v, len(raw), err
}

// getCached is like get but uses a cache. It is meant for tables that are read very often.
func (ta table[T]) getCached(t *Tx, m *cache[T], id uint64) (v T, err error) {
	key := encodeUint64(id)
	raw := t.value(ta.bucketName, key)
	if raw == nil {
		return v, errs.RecordNotFound(ta.typeName, id)
	}
	return m.decode(ta.bucketName, key, raw)
}

// has reports whether a record exists, even if it is damaged.
func (ta table[T]) has(t *Tx, id uint64) bool {
	return t.value(ta.bucketName, encodeUint64(id)) != nil
}

// storedSize returns the size of the encoded record in bytes, or 0 if it doesn't exist.
func (ta table[T]) storedSize(t *Tx, id uint64) int {
	return len(t.value(ta.bucketName, encodeUint64(id)))
}

// put writes a record.
func (ta table[T]) put(t *Tx, id uint64, v T) error {
	key := encodeUint64(id)
	raw, err := encodeRecord(ta.bucketName, key, v)
	if err != nil {
		return err
	}
	if err := t.bucket(ta.bucketName).Append(key, raw); err != nil {
		return fmt.Errorf("put %s %d: %w", ta.typeName, id, err)
	}
	return nil
}

// remove deletes a record.
func (ta table[T]) remove(t *Tx, id uint64) error {
	if err := t.bucket(ta.bucketName).Delete(encodeUint64(id)); err != nil {
		return fmt.Errorf("remove %s %d: %w", ta.typeName, id, err)
	}
	return t.removeStoredResponse(UndoSlot(model.RecordRef(ta.typeName, id), ""))
}

// each calls fn with the records in ID order, starting with ID from, until fn returns
// false. If a record is damaged, each passes the error to fn and continues.
func (ta table[T]) each(t *Tx, from uint64, fn func(id uint64, v T, err error) bool) {
	c := t.bucket(ta.bucketName).Cursor()
	first := func() ([]byte, []byte) { return c.Seek(encodeUint64(from)) }
	if from == 0 {
		first = c.First // includes truncated keys, which sort before all IDs
	}
	for k, raw := first(); k != nil; k, raw = c.Next() {
		var v T
		id, ok := decodeUint64(k)
		var err error
		if !ok {
			err = fmt.Errorf("%s: invalid key of %d bytes: %w", ta.bucketName, len(k), ErrDamaged)
		} else {
			err = decodeRecord(ta.bucketName, k, raw, &v)
		}
		if !fn(id, v, err) {
			return
		}
	}
}

// all returns all records of a small table. If any are damaged, it returns the error of the
// first one.
func (ta table[T]) all(t *Tx) (list []T, err error) {
	ta.each(t, 0, func(_ uint64, v T, e error) bool {
		if e != nil {
			err = e
			return false
		}
		list = append(list, v)
		return true
	})
	return list, err
}

// putKeyOnly writes an index entry without a value.
func putKeyOnly(b *bucket, key []byte) error { return b.Put(key, []byte{}) }

// scanTable returns up to limit records in ID order, starting with ID from. It stops with
// an error at the first damaged record.
func scanTable[T any](t *Tx, b table[T], from uint64, limit int) (list []T, err error) {
	b.each(t, from, func(_ uint64, v T, e error) bool {
		if e != nil {
			err = e
			return false
		}
		list = append(list, v)
		return len(list) < limit
	})
	return list, err
}

// ScanIDs returns up to limit IDs of abstracts, orders, files, or instruments in ascending order,
// starting with ID from. It includes records that are damaged or in the trash. typeName is
// a value of Change.Type for single records.
func (t *Tx) ScanIDs(typeName string, from uint64, limit int) (list []uint64) {
	bucket := map[string][]byte{abstracts.typeName: bucketAbstracts, orders.typeName: bucketOrders, files.typeName: bucketFiles,
		instruments.typeName: bucketInstruments}[typeName]
	c := t.bucket(bucket).Cursor()
	for key, _ := c.Seek(encodeUint64(from)); key != nil && len(list) < limit; key, _ = c.Next() {
		if id, ok := decodeUint64(key); ok { // Check reports invalid keys
			list = append(list, id)
		}
	}
	return list
}

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
	views           cache[model.View]
	folderVersions  folderVersions
}

// collect returns up to limit of the records with these IDs for which wanted returns true. It skips those that don't
// exist. If wanted is nil, it returns all others.
func (ta table[T]) collect(t *Tx, ids iter.Seq[uint64], limit int, wanted func(*T) bool) (list []T, err error) {
	for id := range ids {
		if len(list) >= limit {
			break
		}
		v, found, err := ta.find(t, id)
		if err != nil {
			return nil, err
		}
		if found && (wanted == nil || wanted(&v)) {
			list = append(list, v)
		}
	}
	return list, nil
}

// idsUnder iterates over the IDs at the end of the keys with a prefix.
func (t *Tx) idsUnder(bucket, prefix []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		c := t.bucket(bucket).Cursor()
		for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
			if id, ok := idSuffix(key); ok && !yield(id) {
				return
			}
		}
	}
}

// idSuffix decodes the ID at the end of a key.
func idSuffix(key []byte) (uint64, bool) {
	if len(key) < 8 {
		return 0, false
	}
	return decodeUint64(key[len(key)-8:])
}
