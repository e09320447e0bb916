package instance_test

import (
	"path/filepath"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Sessions and kept answers of the time before do not come back.
func TestRestoreForgetsSessionsAndReplays(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "kim", model.RoleAdmin)
	p.signIn(t, "kim")
	err := p.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		return tx.PutStoredResponse([32]byte{7}, model.StoredResponse{Status: 201, Body: []byte("{}"), At: p.clock.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "b")
	taken(t, p.Instance, to)
	v := restored(t, to)
	if _, found, err := v.StoredResponseIncludingExpired([32]byte{7}); found || err != nil {
		t.Errorf("an answer came back: %v", err)
	}
	sessions := 0
	err = v.Store.View(t.Context(), func(tx *store.Tx) error {
		tx.EachSession(func(model.Session) bool { sessions++; return true })
		return nil
	})
	if sessions != 0 || err != nil {
		t.Errorf("%d sessions came back, %v", sessions, err)
	}
}
