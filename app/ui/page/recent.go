package page

import (
	"net/http"
	"slices"
	"sync"
)

// maxRecent is the maximum number of records that are remembered of each user.
const maxRecent = 10

// RecentRecord is a record whose page a user opened.
type RecentRecord struct {
	Type string // abstract, order, or file
	ID   uint64
}

// recentRecords are the records whose pages users opened last, newest first, by user. They are only in memory.
type recentRecords struct {
	mu     sync.Mutex
	byUser map[uint64][]RecentRecord
}

// remember stores that a visitor opened the page of a record, if it is one.
func (si *Site) remember(r *Request) {
	name := si.ParseRecordName(r.URL.Path)
	if r.Method != http.MethodGet || name == "" || !r.Visitor.Known() {
		return
	}
	kind, id, err := SplitRecordName(name)
	if err != nil || si.RecordPath(kind, id) != r.URL.Path || !slices.Contains([]string{"abstract", "order", "file"}, kind) {
		return
	}
	opened := RecentRecord{kind, id}
	si.recent.mu.Lock()
	defer si.recent.mu.Unlock()
	if si.recent.byUser == nil {
		si.recent.byUser = map[uint64][]RecentRecord{}
	}
	list := slices.DeleteFunc(si.recent.byUser[r.Visitor.ID], func(other RecentRecord) bool { return other == opened })
	list = slices.Insert(list, 0, opened)
	si.recent.byUser[r.Visitor.ID] = list[:min(len(list), maxRecent)]
}

// Recent returns the records whose pages a user opened last, newest first.
func (si *Site) Recent(v Visitor) []RecentRecord {
	if !v.Known() {
		return nil
	}
	si.recent.mu.Lock()
	defer si.recent.mu.Unlock()
	return slices.Clone(si.recent.byUser[v.ID])
}
