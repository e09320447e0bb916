package search_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

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
