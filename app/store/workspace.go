package store

import (
	"fmt"

	"deedkeep/app/model"
)

// Generation is the word that the last serve left in the database; "" before the first.
func (t *Tx) Generation() (word string, err error) {
	raw := t.bucket(bucketWorkspace).Get(keyGeneration)
	if raw == nil {
		return "", nil
	}
	err = decodeRecord(bucketWorkspace, keyGeneration, raw, &word)
	return word, err
}

// SetGeneration leaves a new word.
func (t *Tx) SetGeneration(word string) error { return t.putSetting(keyGeneration, word) }

// OrderFields reads the custom fields of orders.
func (t *Tx) OrderFields() (fields []model.Field, err error) {
	return getSetting(t, &t.caches.orderFields, keyOrderFields)
}

// PutOrderFields writes the custom fields of orders.
func (t *Tx) PutOrderFields(fields []model.Field) error { return t.putSetting(keyOrderFields, fields) }

// OrderStatuses reads the statuses of orders; the first is applied at creation.
func (t *Tx) OrderStatuses() (statuses []string, err error) {
	return getSetting(t, &t.caches.orderStatuses, keyOrderStatuses)
}

// PutOrderStatuses writes the statuses of orders.
func (t *Tx) PutOrderStatuses(statuses []string) error {
	return t.putSetting(keyOrderStatuses, statuses)
}

func getSetting[T any](t *Tx, m *cache[T], key []byte) (v T, err error) {
	raw := t.bucket(bucketWorkspace).Get(key)
	if raw == nil {
		return v, fmt.Errorf("workspace %s: %w: it is missing", key, ErrDamaged)
	}
	return m.decode(bucketWorkspace, key, raw)
}

func (t *Tx) putSetting(key []byte, v any) error {
	raw, err := encodeRecord(bucketWorkspace, key, v)
	if err != nil {
		return err
	}
	return t.bucket(bucketWorkspace).Put(key, raw)
}
