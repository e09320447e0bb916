package store

import (
	"bytes"
	"sync"

	"deedkeep/app/model"
)

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
