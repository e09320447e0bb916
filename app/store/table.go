package store

import (
	"fmt"

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
	return t.RemoveStoredResponse(UndoSlot(model.RecordRef(ta.typeName, id), ""))
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
