package api_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// The trash lists how long retention protects a record and which abstract a file belonged
// to.
func TestTrashUnderRetention(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.vault.Load = vaulttest.With(map[string]string{"retention.keep": "20y"})
	})
	id := srv.createID(t, abstractCall(201, "", fieldPart("address", "12 Elm"), filePart("files", "a.pdf", pdf(1)),
		filePart("files", "b.pdf", pdf(2))))
	srv.clock.Advance(31 * 24 * time.Hour)
	checkTrash := func(want string) {
		t.Helper()
		got := srv.do(t, call{as: "full", method: "GET", path: "/v1/trash", status: 200})
		if !strings.Contains(string(got.body), want) {
			t.Errorf("trash = %s, want it to contain %s", got.body, want)
		}
	}
	srv.do(t, deleteCall("/v1/abstracts/"+id+"/files/1", 204))
	checkTrash(`"restorable_until":"2046-05-29T04:00:00.000000Z","retained_until":"2046-05-29T04:00:00.000000Z","abstract_id":"` + id + `"}`)
	srv.do(t, deleteCall("/v1/abstracts/"+id, 204))
	checkTrash(`"restorable_until":"2046-05-29T04:00:00.000000Z","retained_until":"2046-05-29T04:00:00.000000Z","abstract_id":null}`)
	srv.clock.Advance(10 * 365 * 24 * time.Hour)
	srv.do(t, restoreCall("/v1/abstracts/"+id, 200))
	srv.do(t, restoreCall("/v1/file-vault/files/1", 200))
}
