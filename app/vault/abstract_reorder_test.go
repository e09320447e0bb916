package vault_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestAbstractReorder(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := createAbstractNumbered(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"),
		vaulttest.PDFDoc("c.pdf", "c"), vaulttest.PDFDoc("d.pdf", "d"))
	other := createAbstractNumbered(t, v, "2", "", "", vaulttest.PDFDoc("z.pdf", "z"))
	id, n := created.Abstract.ID, func(i int) uint64 { return created.Files[i].ID }
	for _, row := range []struct {
		name    string
		request vault.ReorderRequest
		want    string // first letters of the file names
	}{
		{"first file down", vault.ReorderRequest{File: n(0), Offset: 1}, "bacd"},
		{"first file up", vault.ReorderRequest{File: n(1), Offset: -1}, "bacd"},
		{"past the end", vault.ReorderRequest{File: n(1), Position: 99}, "acdb"},
		{"to the beginning", vault.ReorderRequest{File: n(1), Position: 1}, "bacd"},
		{"before the beginning", vault.ReorderRequest{File: n(3), Position: -5}, "dbac"},
		{"file of another abstract", vault.ReorderRequest{File: other.Files[0].ID, Position: 1}, "dbac"},
		{"sequence of some files", vault.ReorderRequest{Sequence: []uint64{n(2), n(3), n(3), 999}}, "cbad"},
		{"empty request", vault.ReorderRequest{}, "cbad"},
	} {
		t.Run(row.name, func(t *testing.T) {
			reordered, err := v.Abstracts.Reorder(t.Context(), vaulttest.Operator, id, row.request)
			got := ""
			for i, f := range reordered.Files {
				got += f.Filename[:1]
				if reordered.Abstract.Files[i] != f.ID {
					t.Errorf("file %d: got ID %d in the abstract, want %d", i, reordered.Abstract.Files[i], f.ID)
				}
			}
			if err != nil || got != row.want {
				t.Errorf("Reorder: got %s, %v, want %s", got, err, row.want)
			}
		})
	}
	if _, err := v.Abstracts.Reorder(t.Context(), vaulttest.Operator, 99, vault.ReorderRequest{}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("Reorder of an unknown abstract: got %v, want kind %d", err, errs.NotFound)
	}
}

// Concurrent reorder requests all succeed, and none undoes another.
func TestAbstractReorderConcurrently(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var docs []vaulttest.Doc
	for i := range 8 {
		docs = append(docs, vaulttest.PDFDoc(fmt.Sprintf("%d.pdf", i), fmt.Sprint(i)))
	}
	created := createAbstractNumbered(t, v, "1", "", "", docs...)
	var wg sync.WaitGroup
	for _, f := range created.Files[:6] {
		wg.Go(func() {
			if _, err := v.Abstracts.Reorder(t.Context(), vaulttest.Operator, created.Abstract.ID,
				vault.ReorderRequest{File: f.ID, Position: 99}); err != nil {
				t.Errorf("Abstracts.Reorder: %v", err)
			}
		})
	}
	wg.Wait()
	after, err := v.Abstracts.Get(t.Context(), created.Abstract.ID)
	if err != nil || !slices.Equal(after.Abstract.Files[:2], created.Abstract.Files[6:]) ||
		after.Abstract.Version != created.Abstract.Version+6 {
		t.Errorf("Abstracts.Get: got files %v, version %d, %v, want %v first, version %d", after.Abstract.Files, after.Abstract.Version,
			err, created.Abstract.Files[6:], created.Abstract.Version+6)
	}
}
