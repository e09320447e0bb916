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

func TestReorder(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	filed := abstractCalled(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"), vaulttest.PDFDoc("c.pdf", "c"), vaulttest.PDFDoc("d.pdf", "d"))
	other := abstractCalled(t, v, "2", "", "", vaulttest.PDFDoc("z.pdf", "z"))
	id, n := filed.Abstract.ID, func(i int) uint64 { return filed.Files[i].ID }
	for _, c := range []struct {
		name string
		move vault.ReorderRequest
		want string
	}{
		{"down", vault.ReorderRequest{File: n(0), Offset: 1}, "bacd"},
		{"the first up stays", vault.ReorderRequest{File: n(1), Offset: -1}, "bacd"},
		{"to the end and beyond", vault.ReorderRequest{File: n(1), Position: 99}, "acdb"},
		{"to the beginning", vault.ReorderRequest{File: n(1), Position: 1}, "bacd"},
		{"before it", vault.ReorderRequest{File: n(3), Position: -5}, "dbac"},
		{"of another abstract", vault.ReorderRequest{File: other.Files[0].ID, Position: 1}, "dbac"},
		{"some of them", vault.ReorderRequest{Sequence: []uint64{n(2), n(3), n(3), 999}}, "cbad"},
		{"nothing", vault.ReorderRequest{}, "cbad"},
	} {
		now, err := v.Abstracts.Reorder(t.Context(), vaulttest.Operator, id, c.move)
		got := ""
		for i, f := range now.Files {
			got += f.Filename[:1]
			if now.Abstract.Files[i] != f.ID {
				t.Errorf("%s: numbers %v, documents %v", c.name, now.Abstract.Files, now.Files)
			}
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
	if _, err := v.Abstracts.Reorder(t.Context(), vaulttest.Operator, 99, vault.ReorderRequest{}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("of none: %v", err)
	}
}

// Moves at one time are all done: none is refused, none undoes another.
func TestReorderAtOneTime(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var docs []vaulttest.Doc
	for i := range 8 {
		docs = append(docs, vaulttest.PDFDoc(fmt.Sprintf("%d.pdf", i), fmt.Sprint(i)))
	}
	filed := abstractCalled(t, v, "1", "", "", docs...)
	var all sync.WaitGroup
	for _, f := range filed.Files[:6] {
		all.Go(func() {
			if _, err := v.Abstracts.Reorder(t.Context(), vaulttest.Operator, filed.Abstract.ID, vault.ReorderRequest{File: f.ID, Position: 99}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	now, err := v.Abstracts.Get(t.Context(), filed.Abstract.ID)
	if err != nil || !slices.Equal(now.Abstract.Files[:2], filed.Abstract.Files[6:]) || now.Abstract.Version != filed.Abstract.Version+6 {
		t.Errorf("%v, version %d, %v", now.Abstract.Files, now.Abstract.Version, err)
	}
}
