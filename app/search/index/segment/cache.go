package segment

import (
	"sync"
	"sync/atomic"
)

const cacheShards = 16

// Cache keeps verified pages in memory, up to a fixed size. Buffers are allocated once and reused.
// The eviction policy is CLOCK (second chance).
type Cache struct {
	files  atomic.Uint64
	shards [cacheShards]cacheShard
}

type cacheShard struct {
	mu       sync.Mutex
	slotOf   map[uint64]int // slot of each cached page
	slots    []cacheSlot
	hand     int
	maxSlots int
}

type cacheSlot struct {
	key        uint64
	page       []byte // nil while the page is being read
	buf        []byte
	referenced bool
}

// NewCache returns a cache of the given size, but with at least 64 pages.
func NewCache(bytes int64) *Cache {
	c := &Cache{}
	for i := range c.shards {
		c.shards[i].slotOf = make(map[uint64]int)
		c.shards[i].maxSlots = int(max(4, bytes/pageSize/cacheShards))
	}
	return c
}

// newFileID returns an unused file ID for cache keys.
func (c *Cache) newFileID() uint64 { return c.files.Add(1) }

// read copies len(p) bytes of a page to p, starting at offset at of the page.
func (c *Cache) read(f *pageFile, page uint32, at int, p []byte) error {
	key := f.id<<32 | uint64(page)
	s := &c.shards[(key*0x9e3779b97f4a7c15)>>60]
	s.mu.Lock()
	if slot, found := s.slotOf[key]; found {
		e := &s.slots[slot]
		e.referenced = true
		copy(p, e.page[at:])
		s.mu.Unlock()
		return nil
	}
	slot, buf := s.claimSlot()
	s.mu.Unlock()
	// Read the page without holding the lock, so that other readers don't wait for the disk.
	if buf == nil {
		buf = make([]byte, pageSize)
	}
	got, err := f.read(page, buf)
	if err == nil {
		copy(p, got[at:])
	}
	if slot >= 0 {
		s.fillSlot(slot, key, buf, got)
	}
	return err
}

// claimSlot evicts a page and returns its slot and buffer. The buffer may be nil. If pages are
// being read into all slots, the slot is -1.
func (s *cacheShard) claimSlot() (int, []byte) {
	if len(s.slots) < s.maxSlots {
		s.slots = append(s.slots, cacheSlot{})
		return len(s.slots) - 1, nil
	}
	for range 2 * len(s.slots) {
		slot := s.hand
		s.hand = (s.hand + 1) % len(s.slots)
		e := &s.slots[slot]
		switch {
		case e.buf == nil: // a page is being read into this slot
		case e.referenced:
			e.referenced = false
		default:
			buf := e.buf
			if e.page != nil {
				delete(s.slotOf, e.key)
			}
			*e = cacheSlot{}
			return slot, buf
		}
	}
	return -1, nil
}

// fillSlot returns the buffer to a slot. It also stores the page, unless the read failed or another
// reader has cached the same page in the meantime.
func (s *cacheShard) fillSlot(slot int, key uint64, buf, page []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.slots[slot]
	e.buf = buf
	if _, cached := s.slotOf[key]; page == nil || cached {
		return
	}
	e.key, e.page, e.referenced = key, page, true
	s.slotOf[key] = slot
}
