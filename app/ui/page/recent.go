package page

import (
	"net/http"
	"slices"
	"sync"

	"deedkeep/app/model"
)

// maxRecent is the maximum number of records that are remembered of each user.
const maxRecent = 10

// RecentRecord is a record whose page a user opened.
type RecentRecord struct{ Heading, Label, Path string }

// Name returns what the record is called, such as Order.
func (r RecentRecord) Name() string { return UpperFirst(r.Label) }

// recentRecords are the records whose pages users opened last, newest first, by user. They are only in memory.
type recentRecords struct {
	mu     sync.Mutex
	byUser map[uint64][]RecentRecord
}

// remember stores that a visitor opened the page of a record, if it is one.
func (si *Site) remember(r *Request, heading string) {
	name := si.ParseRecordName(r.URL.Path)
	if r.Method != http.MethodGet || name == "" || !r.Visitor.Known() {
		return
	}
	kind, id, err := SplitRecordName(name)
	opened := RecentRecord{heading, RecordLabel(kind), r.URL.Path}
	if err != nil || si.RecordPath(kind, id) != opened.Path || !slices.Contains([]string{"abstract", "order", "file", "instrument"}, kind) {
		return
	}
	si.recent.mu.Lock()
	defer si.recent.mu.Unlock()
	if si.recent.byUser == nil {
		si.recent.byUser = map[uint64][]RecentRecord{}
	}
	list := slices.DeleteFunc(si.recent.byUser[r.Visitor.ID], func(other RecentRecord) bool { return other.Path == opened.Path })
	list = slices.Insert(list, 0, opened)
	si.recent.byUser[r.Visitor.ID] = list[:min(len(list), maxRecent)]
}

// Recent returns the records whose pages a user opened last, newest first, except the one at a path.
func (si *Site) Recent(v Visitor, except string) []RecentRecord {
	if v.Kind != model.ActorUser {
		return nil
	}
	si.recent.mu.Lock()
	defer si.recent.mu.Unlock()
	list := slices.Clone(si.recent.byUser[v.ID])
	return slices.DeleteFunc(list, func(r RecentRecord) bool { return r.Path == except })
}
