package search_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// The files of a changed abstract are reindexed in batches after later changes, also across a restart.
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
	in := func(county string) []string {
		t.Helper()
		list, err := h.query(query.Query{Text: "deed", County: county, Kind: query.File})
		if err != nil {
			t.Fatalf("query: %v", err)
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
	late := fmt.Sprint("file ", h.file("Late.txt", "zebra"))
	move("Erie")
	for turns := 0; ; turns++ {
		if turns > 20 {
			t.Fatal("what came later is not found")
		}
		if _, err := h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		}
		if list, err := h.query(query.Query{Text: "zebra"}); err == nil && slices.Equal(list, []string{late}) {
			break
		}
	}
	if list := in("Rensselaer"); len(list) != 6 {
		t.Errorf("%v are where they were, before their turn", list)
	}
	for range 4 {
		if _, err := h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		}
	}
	if s, err := h.State(t.Context()); err != nil || s.PendingChanges == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	h.closeAll()
	h = s.open(t)
	defer h.closeAll()
	h.catchUp()
	if was, now := in("Rensselaer"), in("Erie"); len(was) != 0 || len(now) != 6 {
		t.Errorf("where they were %v, where they are %v", was, now)
	}
}

// Files of a deleted abstract are skipped, but a database error keeps them pending.
func TestDatabaseErrorKeepsPendingFiles(t *testing.T) {
	t.Parallel()
	h := newSite(t, nil).open(t)
	id := h.abstract("", elm("Troy", "Rensselaer"), "Deed.txt")
	if list, err := h.NextFiles(t.Context(), id); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := h.NextFiles(t.Context(), id+1); err != nil || len(list) != 0 {
		t.Errorf("of one that is not there: %v, %v", list, err)
	}
	if err := h.store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if list, err := h.NextFiles(t.Context(), id); err == nil {
		t.Errorf("of a database that is closed: %v", list)
	}
}
