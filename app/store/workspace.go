package store

import (
	"fmt"

	"deedkeep/app/model"
)

// Generation returns the random text that was generated when the server last started with
// this database, or "" before the first start.
func (t *Tx) Generation() (generation string, err error) {
	raw := t.bucket(bucketWorkspace).Get(keyGeneration)
	if raw == nil {
		return "", nil
	}
	err = decodeRecord(bucketWorkspace, keyGeneration, raw, &generation)
	return generation, err
}

// SetGeneration replaces the generation.
func (t *Tx) SetGeneration(generation string) error { return t.putSetting(keyGeneration, generation) }

// OrderFields returns the custom fields of orders.
func (t *Tx) OrderFields() (fields []model.Field, err error) {
	return getSetting(t, &t.caches.orderFields, keyOrderFields)
}

// PutOrderFields replaces the custom fields of orders.
func (t *Tx) PutOrderFields(fields []model.Field) error { return t.putSetting(keyOrderFields, fields) }

// OrderStatuses returns the order statuses. The first one is the status of new orders.
func (t *Tx) OrderStatuses() (statuses []string, err error) {
	return getSetting(t, &t.caches.orderStatuses, keyOrderStatuses)
}

// PutOrderStatuses replaces the statuses of orders.
func (t *Tx) PutOrderStatuses(statuses []string) error {
	return t.putSetting(keyOrderStatuses, statuses)
}

// getSetting returns a value from the workspace bucket. The value must exist.
func getSetting[T any](t *Tx, m *cache[T], key []byte) (v T, err error) {
	raw := t.bucket(bucketWorkspace).Get(key)
	if raw == nil {
		return v, fmt.Errorf("workspace %s: %w: missing", key, ErrDamaged)
	}
	return m.decode(bucketWorkspace, key, raw)
}

// putSetting writes a value to the workspace bucket.
func (t *Tx) putSetting(key []byte, v any) error {
	raw, err := encodeRecord(bucketWorkspace, key, v)
	if err != nil {
		return err
	}
	return t.bucket(bucketWorkspace).Put(key, raw)
}
