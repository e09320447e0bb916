package segment

import (
	"sync"
	"sync/atomic"
)

// Cache keeps verified pages in memory, up to a fixed size. Each page belongs to one set of cacheWays
// pages, which evicts the least recently used one. Buffers are allocated once and reused.
type Cache struct {
	files atomic.Uint64
	sets  []cacheSet
}

const cacheWays = 8

type cacheSet struct {
	mu    sync.Mutex
	pages [cacheWays]cachedPage // the most recently used first
}

type cachedPage struct {
	key  uint64 // 0 if there is none
	page []byte
	buf  []byte // nil until it is used
}

// NewCache returns a cache of the given size, but with at least 64 pages.
func NewCache(bytes int64) *Cache {
	return &Cache{sets: make([]cacheSet, max(64, bytes/pageSize)/cacheWays)}
}

// newFileID returns an unused file ID for cache keys.
func (c *Cache) newFileID() uint64 { return c.files.Add(1) }

// read copies len(p) bytes of a page to p, starting at offset at of the page. Readers of pages of the
// same set wait for each other, also while one reads from the disk.
func (c *Cache) read(f *pageFile, page uint32, at int, p []byte) error {
	key := f.id<<32 | uint64(page)
	s := &c.sets[key*0x9e3779b97f4a7c15>>32%uint64(len(c.sets))]
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < cacheWays-1 && s.pages[n].key != key {
		n++
	}
	found := s.pages[n]
	copy(s.pages[1:], s.pages[:n])
	s.pages[0] = cachedPage{buf: found.buf}
	if found.key != key {
		if found.buf == nil {
			found.buf = make([]byte, pageSize)
		}
		var err error
		if found.page, err = f.read(page, found.buf); err != nil {
			return err
		}
		found.key = key
	}
	s.pages[0] = found
	copy(p, found.page[at:])
	return nil
}

// Drop empties the cache and releases its buffers.
func (c *Cache) Drop() {
	for i := range c.sets {
		s := &c.sets[i]
		s.mu.Lock()
		s.pages = [cacheWays]cachedPage{}
		s.mu.Unlock()
	}
}
