package search_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// putScans stores documents of an abstract, or of none if it is 0, that wait for OCR.
func putScans(t testing.TB, s *store.Store, abstract uint64, count int) {
	t.Helper()
	const batch = 5000
	for count > 0 {
		n := min(count, batch)
		count -= n
		err := s.Update(t.Context(), nil, func(tx *store.Tx) error {
			for range n {
				id, err := tx.NewFileID()
				if err != nil {
					return err
				}
				f := model.File{ID: id, AbstractID: abstract, Filename: "Scan.png", MIME: "image/png", Digest: strings.Repeat("ab", 32),
					CreatedAt: time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)}
				if err := tx.PutFile(f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("store %d scans: %v", n, err)
		}
	}
}

func TestUnreadScans(t *testing.T) {
	t.Parallel()
	v := vaulttest.OpenUnchecked(t, vaulttest.Options(t)) // the documents have no content
	t.Cleanup(func() { vaulttest.Close(t, v) })
	troy := createAbstract(t, v, "26-0017", "", elmStreet("Troy", "Rensselaer"))
	albany := createAbstract(t, v, "26-0018", "", elmStreet("Albany", "Albany"))
	putScans(t, v.Store, troy.ID, 3)
	putScans(t, v.Store, albany.ID, 2)
	putScans(t, v.Store, 0, 4)
	check := func(t *testing.T, q search.Query, want search.UnreadScans) {
		t.Helper()
		q.Text = "elm"
		if got, err := v.Search.UnreadScans(t.Context(), q); err != nil || got != want {
			t.Errorf("UnreadScans(%+v) = %+v, %v; want %+v", q, got, err, want)
		}
	}
	for name, row := range map[string]struct {
		q    search.Query
		want search.UnreadScans
	}{
		"no filter":        {search.Query{}, search.UnreadScans{Matching: 9, Total: 9, Known: true}},
		"documents":        {search.Query{Kind: "file"}, search.UnreadScans{Matching: 9, Total: 9, Known: true}},
		"county":           {search.Query{County: "rensselaer county"}, search.UnreadScans{Matching: 3, Total: 9, Known: true}},
		"other county":     {search.Query{County: "Essex"}, search.UnreadScans{Total: 9, Known: true}},
		"state":            {search.Query{State: "New York"}, search.UnreadScans{Matching: 5, Total: 9, Known: true}},
		"template":         {search.Query{Template: troy.TemplateID + 100}, search.UnreadScans{Total: 9, Known: true}},
		"created too late": {search.Query{CreatedTo: time.Unix(0, 0)}, search.UnreadScans{Total: 9, Known: true}},
		"orders":           {search.Query{Kind: "order"}, search.UnreadScans{Known: true}},
		"party":            {search.Query{Party: "smith"}, search.UnreadScans{Known: true}},
	} {
		t.Run(name, func(t *testing.T) { check(t, row.q, row.want) })
	}
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, 9, vault.Match{}); err != nil {
		t.Fatalf("Trash: %v", err)
	}
	check(t, search.Query{}, search.UnreadScans{Matching: 8, Total: 8, Known: true})
	check(t, search.Query{CreatedFrom: time.Unix(0, 0)}, search.UnreadScans{Matching: 8, Total: 8, Known: true})
	putScans(t, v.Store, albany.ID, 5000)
	check(t, search.Query{County: "Rensselaer"}, search.UnreadScans{Total: 5008})
	check(t, search.Query{}, search.UnreadScans{Matching: 5008, Total: 5008, Known: true})
}
