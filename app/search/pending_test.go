package search_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/model"
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

// instrument adds an instrument to an abstract.
func (h *harness) instrument(i model.Instrument) (id uint64) {
	h.t.Helper()
	h.put(func(t *store.Tx) (err error) {
		if i.ID, err = t.NewInstrumentID(); err != nil {
			return err
		}
		i.Version, i.CreatedAt = 1, testTime
		return t.PutInstrument(i)
	})
	return i.ID
}

// deeds adds an abstract with instruments of a document type.
func (h *harness) deeds(count int, documentType uint64) (hits []string) {
	h.t.Helper()
	abstract := h.abstract("", elm("Troy", "Rensselaer"))
	for i := range count {
		id := h.instrument(model.Instrument{AbstractID: abstract, TypeID: documentType, Number: fmt.Sprintf("2019-%05d", i),
			Grantors: []string{"Lind, Ada"}})
		hits = append(hits, fmt.Sprint("instrument ", id))
	}
	return hits
}

// changeType changes the first document type.
func (h *harness) changeType(change func(*model.DocumentType)) {
	h.t.Helper()
	h.put(func(t *store.Tx) error {
		types, err := t.DocumentTypes()
		if err != nil {
			return err
		}
		types = slices.Clone(types) // the store caches them
		change(&types[0])
		return t.PutDocumentTypes(types)
	})
}

// When a document type is renamed, its instruments are reindexed in batches, even if the server
// restarts in between. Instruments of other types are not.
func TestRenamedTypeIsReindexed(t *testing.T) {
	t.Parallel()
	s := newSite(t, smallBatches)
	h := s.open(t)
	hits, others := h.deeds(70, 1), h.deeds(2, 2) // more than recordsPerRead
	h.catchUp()
	slices.Sort(hits)
	h.wantHits("warranty deed", slices.Sorted(slices.Values(slices.Concat(hits, others)))...) // type 2 is Special Warranty Deed
	h.changeType(func(d *model.DocumentType) { d.Name = "Grant Deed" })
	for range 2 {
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
	if s := h.catchUp(); s.Documents != 2+70+2 {
		t.Errorf("records in the index = %d, want 74", s.Documents)
	}
	h.wantHits("grant deed", hits...)
	h.wantHits("warranty deed", others...)
	h.changeType(func(d *model.DocumentType) { d.Retired = true })
	if s := h.catchUp(); s.PendingChanges != 0 {
		t.Errorf("State() after a type is retired = %+v, want no pending changes", s)
	}
	h.wantHits("grant deed", hits...)
}
