package vaulttest

import (
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/store"
)

// events are all that were written.
func (p *UserFixture) AuditEvents(t *testing.T) []model.Event {
	t.Helper()
	var page store.Page[model.Event]
	err := p.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		page, err = tx.ListEvents(store.Query{Limit: 1000})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}
