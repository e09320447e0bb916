package instance_test

import (
	"path/filepath"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// A restore brings back neither sessions nor stored responses.
func TestRestoreForgetsSessionsAndReplays(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	p.SignIn(t, "kim")
	err := p.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		return tx.PutStoredResponse([32]byte{7}, model.StoredResponse{Status: 201, Body: []byte("{}"), At: p.Clock.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, p.Instance, to)
	v := vaulttest.RestoreLatest(t, to)
	found, sessions := true, 0
	err = v.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		_, found, err = tx.StoredResponse([32]byte{7})
		tx.EachSession(func(model.Session) bool { sessions++; return true })
		return err
	})
	if found || sessions != 0 || err != nil {
		t.Errorf("after a restore: stored response found %v, %d sessions, error %v; want false, 0, nil", found, sessions, err)
	}
}
