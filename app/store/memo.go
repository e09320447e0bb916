package store

import (
	"bytes"
	"sync"

	"deedkeep/app/model"
)

// memo remembers decoded records of small tables that nearly every request reads
// and hardly any changes: templates, order fields, keys. It is asked with the bytes
// of the record as they are in the transaction, and answers only for the same bytes,
// so it cannot be stale. What it gives is shared: nobody may change it in place.
type memo[T any] struct {
	mu   sync.RWMutex
	seen map[string]remembered[T]
}

type remembered[T any] struct {
	raw   []byte
	value T
}

func (m *memo[T]) decode(bucket, key, raw []byte) (T, error) {
	m.mu.RLock()
	r, ok := m.seen[string(key)]
	m.mu.RUnlock()
	if ok && bytes.Equal(r.raw, raw) {
		return r.value, nil
	}
	var v T
	if err := decode(bucket, key, raw, &v); err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = map[string]remembered[T]{}
	}
	m.seen[string(key)] = remembered[T]{bytes.Clone(raw), v}
	return v, nil
}

// memos are those of one store.
type memos struct {
	templates memo[model.Template]
	standard  memo[uint64] // the default template's number
	keys      memo[model.Key]
	users     memo[model.User]
	fields    memo[[]model.Field]
	statuses  memo[[]string]
	shelves   shelves
}
