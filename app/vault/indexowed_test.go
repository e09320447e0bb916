package vault_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/search"
	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// in gives the documents that a text finds in a county.
func in(t *testing.T, v *vault.Vault, county, text string) (ids []uint64) {
	t.Helper()
	answer, err := v.AskWords(t.Context(), search.Query{Text: text, County: county, Kind: search.File, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range answer.Hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

// When an abstract moves its documents follow, behind all that comes after it, a batch
// at a time, and where a server ends in between.
func TestDocumentsOfAMovedAbstractGoBehindOthers(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	inPieces(&opts)
	v := closing(t, opts)
	var docs []doc
	for i := range 6 {
		docs = append(docs, note(fmt.Sprintf("Deed %d.txt", i), fmt.Sprint("grantor ", i)))
	}
	filed, err := v.Abstracts.Create(t.Context(), clerk, title.AbstractDraft{PropertyDraft: elm("Troy", "Rensselaer")}, tray(t, v, docs...), vault.Keep[vault.Filed]{})
	if err != nil {
		t.Fatal(err)
	}
	indexes(t, v)
	move := func(county string) {
		t.Helper()
		patch := title.AbstractPatch{}
		patch.County = title.Send(title.Given(county))
		if _, err := v.Abstracts.Patch(t.Context(), clerk, filed.Abstract.ID, patch, vault.Match{}); err != nil {
			t.Fatal(err)
		}
	}
	move("Albany")
	late := upload(t, v, note("Late.txt", "zebra"))[0]
	move("Erie")
	for turns := 0; ; turns++ {
		if turns > 20 {
			t.Fatal("what came later is not found")
		}
		if _, err := v.IndexTurn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slices.Equal(in(t, v, "", "late"), []uint64{late.ID}) {
			break
		}
	}
	if ids := in(t, v, "Rensselaer", "deed"); len(ids) != 6 {
		t.Errorf("%v are where they were, before their turn", ids)
	}
	for range 4 {
		if _, err := v.IndexTurn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := v.SearchState(t.Context()); err != nil || s.Behind == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	shut(t, v)
	v = closing(t, opts)
	defer shut(t, v)
	indexes(t, v)
	if was, now := in(t, v, "Rensselaer", "deed"), in(t, v, "Erie", "deed"); len(was) != 0 || len(now) != 6 {
		t.Errorf("where they were %v, where they are %v", was, now)
	}
}
