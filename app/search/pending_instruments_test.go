package search_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
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

// oldIndex writes the index in a former version.
type oldIndex struct {
	search.Index
	version     string
	instruments uint64 // number of instruments to leave out
}

func (x oldIndex) Apply(ctx context.Context, b *query.Batch, checkpoint []byte) error {
	for id := range x.instruments {
		b.Remove(query.Instrument, id+1)
	}
	return x.Index.Apply(ctx, b, []byte(strings.Replace(string(checkpoint), `"form":6`, `"form":`+x.version, 1)))
}

// Instruments are added to an index that doesn't contain them yet or has former names of their types. It stays in
// service and is not rebuilt.
func TestInstrumentsAreAddedToOlderIndex(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version string
		missing uint64
	}{{"4", 100}, {"5", 0}} {
		t.Run("version "+tt.version, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			h := s.open(t)
			hits := h.deeds(100, 1)
			h.wrapIndexes(func(_ int64, in search.Index) search.Index { return oldIndex{in, tt.version, tt.missing} })
			if s := h.catchUp(); s.Documents != 101-tt.missing {
				t.Fatalf("records in the old index = %d, want %d", s.Documents, 101-tt.missing)
			}
			before, err := os.ReadFile(s.search("current"))
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			h.closeAll()
			h = s.open(t)
			defer h.closeAll()
			if s, err := h.State(t.Context()); err != nil || !s.Ready || s.PendingChanges != 1 {
				t.Errorf("State() before the first pass = %+v, %v; want a usable index with pending changes", s, err)
			}
			if s := h.catchUp(); s.Documents != 101 {
				t.Errorf("records in the index = %d, want 101", s.Documents)
			}
			h.wantHits("2019-00007", hits[7])
			if after, err := os.ReadFile(s.search("current")); err != nil || string(after) != string(before) {
				t.Errorf("number of the index = %s, %v; want %s", after, err, before)
			}
		})
	}
}
