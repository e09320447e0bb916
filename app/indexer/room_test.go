package indexer_test

import (
	"strings"
	"testing"

	"deedkeep/app/title"
)

// The index stops growing above the reserve, where documents still have room, and says
// so; below twice the reserve nothing is merged either.
func TestTheIndexStopsAboveTheReserve(t *testing.T) {
	t.Parallel()
	h := open(t, nil)
	h.indexes()
	const free = 1 << 30
	h.site.free.Store(free)
	h.site.reserve.Store(free / 4 * 3)
	h.order("A-1", "", elm("", "")) // there is room for it
	if _, err := h.Turn(t.Context()); title.KindOf(err) != title.Full || !strings.Contains(err.Error(), "disk.reserve") {
		t.Errorf("said %v", err)
	}
	if h.RoomToMerge(0) {
		t.Error("a merge has room")
	}
	h.site.reserve.Store(free / 4)
	if h.RoomToMerge(free/4*3) || !h.RoomToMerge(free/8) {
		t.Error("a merge has room for what would take the reserve, or none for less")
	}
	h.indexes()
	h.finds("A-1", "order 1")
}
