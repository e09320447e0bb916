package ui_test

import (
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// Bidirectional controls in a field must not affect the page.
func TestPagesStripBidi(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	const nasty = "1\u202e\u2066\r\n2\x07\u2028\u0085"
	made := h.createAbstractAt(t, staff.actor, nasty)
	kept, err := h.vault.Abstracts.Get(t.Context(), made.Abstract.ID)
	if err != nil || !strings.Contains(kept.Abstract.Address, "\u202e") {
		t.Fatalf("%q, %v", kept.Abstract.Address, err)
	}
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(made.Abstract.ID)
	for _, at := range []string{"/", "/abstracts", path, path + "/history", path + "?edit=property", "/orders"} {
		staff.get(t, http.StatusOK, at).lacks(t, "\u202e", "\u2066", "\x07", "\u2028", "\u0085")
	}
}
