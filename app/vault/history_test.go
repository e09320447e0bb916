package vault_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Who read what is for administrators; nothing else is missing for all others, however
// much was read.
func TestHistoryTellsAdministratorsAloneWhoRead(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	filed := abstractCalled(t, v, "1", "", "", vaulttest.PDFDoc("a.pdf", "a"))
	record := fmt.Sprintf("file:%d", filed.Files[0].ID)
	for i := range 30 {
		v.Events.RecordAccess(vaulttest.LinkActor(fmt.Sprint(i)), "file.opened", record, nil)
		v.Events.RecordAccess(vaulttest.Operator, "file.downloaded", record, nil)
	}
	for role, want := range map[model.Role][]string{
		model.RoleAdmin:  {"file.downloaded", "file.opened", "file.downloaded", "file.opened"},
		model.RoleStaff:  {"file.filed", "abstract.created"},
		model.RoleViewer: {"file.filed", "abstract.created"},
		"":               {"file.filed", "abstract.created"},
	} {
		h, err := v.Abstracts.History(t.Context(), model.Actor{Kind: model.ActorUser, ID: 1, Role: role}, filed.Abstract.ID, 0, nil, 4)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, e := range h.Events {
			kinds = append(kinds, e.Kind)
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s: %q", role, kinds)
		}
	}
}
