package api_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/vault"
)

// The trash says until when the retention keeps a record, and which abstract a document
// was on.
func TestTrashUnderRetention(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.vault.Settings.Retention = vault.Retention{Default: 20 * 365 * 24 * time.Hour} })
	id := h.id(t, abstract(201, "", field("address", "12 Elm"), file("files", "a.pdf", pdf(1)), file("files", "b.pdf", pdf(2))))
	h.clock.Advance(31 * 24 * time.Hour)
	listed := func(want string) {
		t.Helper()
		got := h.ask(t, row{as: "full", method: "GET", path: "/v1/trash", status: 200})
		if !strings.Contains(string(got.body), want) {
			t.Errorf("%s, want %s", got.body, want)
		}
	}
	h.ask(t, remove("/v1/abstracts/"+id+"/files/1", 204))
	listed(`"restorable_until":"2046-05-29T04:00:00.000000Z","retained_until":"2046-05-29T04:00:00.000000Z","abstract_id":"` + id + `"}`)
	h.ask(t, remove("/v1/abstracts/"+id, 204))
	listed(`"restorable_until":"2046-05-29T04:00:00.000000Z","retained_until":"2046-05-29T04:00:00.000000Z","abstract_id":null}`)
	h.clock.Advance(10 * 365 * 24 * time.Hour)
	h.ask(t, restore("/v1/abstracts/"+id, 200))
	h.ask(t, restore("/v1/file-vault/files/1", 200))
}
