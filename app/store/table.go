package store

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// table is a bucket of records of one type under their numbers.
type table[T any] struct {
	bucketName []byte
	typeName   string
}

var (
	templates = table[model.Template]{bucketTemplates, "template"}
	folders   = table[model.Folder]{bucketFolders, "folder"}
	tasks     = table[model.ProcessingTask]{bucketTasks, "task"}
	keys      = table[model.Key]{bucketKeys, "key"}
	users     = table[model.User]{bucketUsers, "user"}
)

func (b table[T]) nextID(t *Tx) (uint64, error) {
	id, err := t.bucket(b.bucketName).NextSequence()
	if err != nil {
		return 0, fmt.Errorf("number a %s: %w", b.typeName, err)
	}
	return id, nil
}

// get returns NotFound when there is no record, ErrDamaged when it is broken.
func (b table[T]) get(t *Tx, id uint64) (T, error) {
	v, ok, err := b.find(t, id)
	if err == nil && !ok {
		return v, errs.RecordNotFound(b.typeName, id)
	}
	return v, err
}

func (b table[T]) find(t *Tx, id uint64) (v T, ok bool, err error) {
	key := encodeUint64(id)
	raw := t.bucket(b.bucketName).Get(key)
	if raw == nil {
		return v, false, nil
	}
	err = decodeRecord(b.bucketName, key, raw, &v)
	return v, err == nil, err
}

// getCached is get for a table that is read all the time.
func (b table[T]) getCached(t *Tx, m *cache[T], id uint64) (v T, err error) {
	key := encodeUint64(id)
	raw := t.bucket(b.bucketName).Get(key)
	if raw == nil {
		return v, errs.RecordNotFound(b.typeName, id)
	}
	return m.decode(b.bucketName, key, raw)
}

func (b table[T]) has(t *Tx, id uint64) bool {
	return t.bucket(b.bucketName).Get(encodeUint64(id)) != nil
}

// storedSize is how many bytes a record has; 0 where there is none.
func (b table[T]) storedSize(t *Tx, id uint64) int {
	return len(t.bucket(b.bucketName).Get(encodeUint64(id)))
}

func (b table[T]) put(t *Tx, id uint64, v T) error {
	key := encodeUint64(id)
	raw, err := encodeRecord(b.bucketName, key, v)
	if err != nil {
		return err
	}
	bucket := t.bucket(b.bucketName)
	// Numbers only grow: full pages leave no room behind that nobody will use.
	bucket.FillPercent = 0.9
	if err := bucket.Put(key, raw); err != nil {
		return fmt.Errorf("put %s %d: %w", b.typeName, id, err)
	}
	return nil
}

func (b table[T]) remove(t *Tx, id uint64) error {
	if err := t.bucket(b.bucketName).Delete(encodeUint64(id)); err != nil {
		return fmt.Errorf("remove %s %d: %w", b.typeName, id, err)
	}
	return nil
}

// each calls fn with records from number from on, in order, until fn says no.
// A damaged record is handed over as an error and does not stop the walk.
func (b table[T]) each(t *Tx, from uint64, fn func(id uint64, v T, err error) bool) {
	c := t.bucket(b.bucketName).Cursor()
	first := func() ([]byte, []byte) { return c.Seek(encodeUint64(from)) }
	if from == 0 {
		first = c.First // a key that is cut short sorts before every number
	}
	for k, raw := first(); k != nil; k, raw = c.Next() {
		var v T
		id, ok := decodeUint64(k)
		var err error
		if !ok {
			err = fmt.Errorf("%s: a key of %d bytes: %w", b.bucketName, len(k), ErrDamaged)
		} else {
			err = decodeRecord(b.bucketName, k, raw, &v)
		}
		if !fn(id, v, err) {
			return
		}
	}
}

// all collects a small table; the first damaged record is its error.
func (b table[T]) all(t *Tx) (list []T, err error) {
	b.each(t, 0, func(_ uint64, v T, e error) bool {
		if e != nil {
			err = e
			return false
		}
		list = append(list, v)
		return true
	})
	return list, err
}

// putKeyOnly makes an index entry that has no value.
func putKeyOnly(b *bolt.Bucket, key []byte) error { return b.Put(key, []byte{}) }

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

// ScanIDs gives at most limit numbers of abstracts, orders or files from one on, of
// those in the trash and the damaged ones too. The noun is as in Change.
func (t *Tx) ScanIDs(noun string, from uint64, limit int) (list []uint64) {
	bucket := map[string][]byte{abstracts.typeName: bucketAbstracts, orders.typeName: bucketOrders, files.typeName: bucketFiles}[noun]
	c := t.bucket(bucket).Cursor()
	for key, _ := c.Seek(encodeUint64(from)); key != nil && len(list) < limit; key, _ = c.Next() {
		if id, ok := decodeUint64(key); ok { // Check reports a key that is none
			list = append(list, id)
		}
	}
	return list
}
