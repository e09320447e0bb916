package ui_test

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// If a part of a page can't be computed, the page shows the rest and says what is missing.
func TestPagesWithMissingParts(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{Address: "12 Elm St", City: "Troy", State: "NY"},
		"02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf")
	deed := h.createInstrument(t, created.Abstract.ID, `{"type":"Warranty Deed","grantors":["Amos Reed"],"grantees":["Bea Cole"]}`)
	h.createInstrument(t, created.Abstract.ID, `{"type":"Warranty Deed","grantors":["Dora Finch"],"grantees":["Carl Diaz"]}`)
	h.createInstrument(t, created.Abstract.ID, `{"type":"Mortgage","grantors":["Carl Diaz"],"grantees":["First Bank"]}`)
	order := vaulttest.CreateOrder(t, h.vault, "26-1")
	orderPath := "/orders/" + h.vault.Secrets.IDs("orders").Encode(order.ID)
	document := fmt.Sprintf("/documents/%d", created.Files[0].ID)

	const noGaps, noPrior = "Gaps can&#39;t be shown right now.", "Prior searches can't be shown right now."
	const noOpen = "Open items can&#39;t be shown right now."
	const noSuggestions, gap = "Suggestions can&#39;t be shown right now.", "no earlier instrument in this runsheet names Dora Finch as grantee"
	part := []string{"HX-Request", "true"}
	pages := []struct {
		path    string
		header  []string
		has     []string // whatever is missing
		missing map[string]string
	}{
		{path, nil, []string{"Amos Reed", "First Bank", "12 Elm St", "02_Deed"}, map[string]string{"gaps": noGaps, "progress": noOpen,
			"status":         "Unknown",
			"prior searches": noPrior, "suggestions": noSuggestions}},
		{path + "/print", nil, []string{"Amos Reed", "First Bank"}, map[string]string{"status": "Unknown"}},
		{path + "/progress", part, []string{"not certified"}, map[string]string{"progress": noOpen, "status": "open liens unknown"}},
		{path + "/suggestions", part, nil, map[string]string{"suggestions": noSuggestions}},
		{path + "/prior-searches", nil, []string{"Prior searches for"}, map[string]string{"prior searches": noPrior}},
		{path + "/requirements?edit=1", nil, []string{"Requirements"}, nil},
		{path + "/instruments/new", nil, []string{"New instrument"}, nil},
		{path + "/instruments/paste", nil, []string{"Paste"}, nil},
		{path + "/runsheet/upload", nil, []string{"Runsheet file"}, nil},
		{path + "/runsheet.csv", nil, []string{"First Bank"}, map[string]string{"status": "Unknown"}},
		{fmt.Sprintf("/instruments/%d/edit", deed), nil, []string{"Amos Reed"}, nil},
		{document + "?panel=1", nil, []string{"New instrument"}, map[string]string{"suggestions": noSuggestions}},
		{orderPath, nil, []string{"26-1"}, map[string]string{"prior searches": noPrior}},
		{orderPath + "/prior-searches", nil, []string{"Prior searches for"}, map[string]string{"prior searches": noPrior}},
		{"/find?q=Reed", nil, nil, map[string]string{"unsearchable documents": "can&#39;t be shown right now."}},
	}
	for _, broken := range []string{"", "gaps", "progress", "status", "prior searches", "suggestions", "unsearchable documents"} {
		for name, fail := range map[string]func() error{
			"an error": func() error { return errors.New("broken index") },
			"a panic":  func() error { var none []error; return none[len(none)] },
		} {
			t.Run(broken+" with "+name, func(t *testing.T) {
				h.vault.Vault.BeforeDerive = func(part string) error {
					if part == broken {
						return fail()
					}
					return nil
				}
				for _, p := range pages {
					got := staff.get(t, 200, p.path, p.header...)
					got.has(t, p.has...)
					for missing, text := range p.missing {
						if missing == broken {
							got.has(t, text)
						} else {
							got.lacks(t, text)
						}
					}
				}
				saved := staff.script(t, 200, fmt.Sprintf("/instruments/%d/cell", deed),
					url.Values{"field": {"remarks"}, "value": {broken + name}, "was": {h.remarks(t, deed)}})
				if want := broken == "gaps"; (saved.Notice != "") != want {
					t.Errorf("notice after saving a cell = %q, want one: %v", saved.Notice, want)
				}
			})
		}
	}
	h.vault.Vault.BeforeDerive = nil
	staff.get(t, 200, path).has(t, gap)
}

// remarks returns the remarks of an instrument.
func (ts *testServer) remarks(t *testing.T, id uint64) string {
	t.Helper()
	i, err := ts.vault.Instruments.Get(t.Context(), id)
	vaulttest.NoError(t, err)
	return i.Remarks
}
