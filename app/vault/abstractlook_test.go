package vault_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

func abstractCalled(t *testing.T, v *vault.Vault, number, parcel, address string, docs ...doc) vault.Filed {
	t.Helper()
	draft := title.AbstractDraft{TaxMap: title.Given(parcel), PropertyDraft: title.PropertyDraft{Address: title.Given(address)}}
	draft.Custom.Sent = map[string]json.RawMessage{"file_number": json.RawMessage(`"` + number + `"`)}
	filed, err := v.Abstracts.Create(t.Context(), clerk, draft, tray(t, v, docs...), vault.Keep[vault.Filed]{})
	if err != nil {
		t.Fatal(err)
	}
	return filed
}

func fileNumbers(list []title.Abstract) (numbers []string) {
	for _, a := range list {
		numbers = append(numbers, a.FileNumber())
	}
	return numbers
}

// Abstracts of one parcel or address find each other, however it is written.
func TestAbstractsAlike(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	one := abstractCalled(t, v, "1", "12-34-567", "9 Elm St")
	abstractCalled(t, v, "2", "1234567", "")
	abstractCalled(t, v, "3", "12-34-5678", "9 Elm Street")
	abstractCalled(t, v, "4", "", "9 ELM ST.")
	bare := abstractCalled(t, v, "5", "", "")
	for _, c := range []struct {
		name string
		of   title.Abstract
		most int
		want string
	}{
		{"parcel and address", one.Abstract, 5, "[4 2]"},
		{"no more than asked for", one.Abstract, 1, "[4]"},
		{"nothing to go by", bare.Abstract, 5, "[]"},
	} {
		list, err := v.Abstracts.Alike(t.Context(), c.of, c.most)
		if got := fmt.Sprint(fileNumbers(list)); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
	found, more, err := v.Abstracts.Called(t.Context(), "9 elm", 2)
	if err != nil || len(found) != 2 || !more {
		t.Errorf("called: %v, %v, %v", fileNumbers(found), more, err)
	}
}

// The history has every event of an abstract and its documents once, however it is
// paged, those of documents that were taken off too.
func TestAbstractHistory(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	filed := abstractCalled(t, v, "1", "", "", pdf("a.pdf", "a"), pdf("b.pdf", "b"), pdf("c.pdf", "c"))
	id := filed.Abstract.ID
	abstractCalled(t, v, "2", "", "", pdf("z.pdf", "z"))
	for i := range 5 {
		patch := title.AbstractPatch{Status: title.Send(title.Given([]string{"In Search", "In Exam"}[i%2]))}
		if _, err := v.Abstracts.Patch(t.Context(), clerk, id, patch, vault.Match{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Abstracts.Detach(t.Context(), clerk, id, filed.Files[1].ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	whole, err := v.Abstracts.History(t.Context(), clerk, id, 0, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range whole.Events {
		kinds = append(kinds, e.Kind)
	}
	want := []string{"file.detached", "abstract.changed", "abstract.changed", "abstract.changed", "abstract.changed", "abstract.changed", "file.filed", "file.filed", "file.filed", "abstract.created"}
	if !slices.Equal(kinds, want) || whole.Before != 0 {
		t.Errorf("history %v, before %d", kinds, whole.Before)
	}
	if name := whole.Names[fmt.Sprintf("file:%d", filed.Files[1].ID)]; name != "b.pdf" {
		t.Errorf("the document in the trash is called %q", name)
	}
	var paged []uint64
	for before := uint64(0); ; {
		part, err := v.Abstracts.History(t.Context(), clerk, id, before, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range part.Events {
			paged = append(paged, e.Seq)
		}
		if before = part.Before; before == 0 {
			break
		}
	}
	var all []uint64
	for _, e := range whole.Events {
		all = append(all, e.Seq)
	}
	if !slices.Equal(paged, all) {
		t.Errorf("paged %v, whole %v", paged, all)
	}
	if _, err := v.Abstracts.History(t.Context(), clerk, 99, 0, nil, 10); title.KindOf(err) != title.NotFound {
		t.Errorf("of none: %v", err)
	}
	who, err := v.Files.Filers(t.Context(), []uint64{filed.Files[0].ID, 999})
	if err != nil || len(who) != 1 || who[filed.Files[0].ID].Name != clerk.Name {
		t.Errorf("filers %v, %v", who, err)
	}
	page, err := v.Abstracts.Rows(t.Context(), vault.Query{Limit: 1, Down: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].FileNumber() != "2" || len(page.Items[0].Files) != 1 {
		t.Errorf("rows %+v, %v", page.Items, err)
	}
}
