package search_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// The files of a changed abstract are reindexed in batches after later changes, even if the server
// restarts in between.
func TestFilesOfMovedAbstractAreIndexedLast(t *testing.T) {
	t.Parallel()
	s := newSite(t, smallBatches)
	h := s.open(t)
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprintf("Deed %d.txt", i))
	}
	id := h.abstract("", elm("Troy", "Rensselaer"), names...)
	h.catchUp()
	filesIn := func(county string) []string {
		t.Helper()
		list, err := h.query(query.Query{Text: "deed", County: county, Kind: query.File})
		if err != nil {
			t.Fatalf("search in %s: %v", county, err)
		}
		return list
	}
	move := func(county string) {
		t.Helper()
		h.put(func(t *store.Tx) error {
			a, err := t.Abstract(id)
			if err != nil {
				return err
			}
			a.County = county
			return t.PutAbstract(a)
		})
	}
	move("Albany")
	later := fmt.Sprint("file ", h.file("Late.txt", "zebra"))
	move("Erie")
	for passes := 0; ; passes++ {
		if passes > 20 {
			t.Fatal("the later file is not found after 20 passes")
		}
		if _, err := h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		}
		if list, err := h.query(query.Query{Text: "zebra"}); err == nil && slices.Equal(list, []string{later}) {
			break
		}
	}
	if list := filesIn("Rensselaer"); len(list) != 6 {
		t.Errorf("files in the former county before they are reindexed = %v, want 6", list)
	}
	for range 4 {
		if _, err := h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		}
	}
	if s, err := h.State(t.Context()); err != nil || s.PendingChanges == 0 {
		t.Errorf("State() = %+v, %v; want pending changes", s, err)
	}
	h.closeAll()
	h = s.open(t)
	defer h.closeAll()
	h.catchUp()
	if before, after := filesIn("Rensselaer"), filesIn("Erie"); len(before) != 0 || len(after) != 6 {
		t.Errorf("files in the former county = %v, in the new county = %v; want none, 6", before, after)
	}
}

// Pending files of a deleted abstract are skipped. If a database error occurs, they stay pending.
func TestDatabaseErrorKeepsPendingFiles(t *testing.T) {
	t.Parallel()
	h := newSite(t, nil).open(t)
	id := h.abstract("", elm("Troy", "Rensselaer"), "Deed.txt")
	if list, err := h.NextFiles(t.Context(), id); err != nil || len(list) != 1 {
		t.Errorf("NextFiles() = %v, %v; want 1", list, err)
	}
	if list, err := h.NextFiles(t.Context(), id+1); err != nil || len(list) != 0 {
		t.Errorf("NextFiles() of a missing abstract = %v, %v; want none", list, err)
	}
	if err := h.store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if list, err := h.NextFiles(t.Context(), id); err == nil {
		t.Errorf("NextFiles() of a closed database = %v, want an error", list)
	}
}
