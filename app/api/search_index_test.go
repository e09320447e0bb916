package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// searched are the addresses that answer to a q.
var searched = []string{"/v1/search", "/v1/orders", "/v1/abstracts", "/v1/file-vault/files"}

// tells holds what every search says of the index against what it should.
func (h *house) tells(t *testing.T, want string) {
	t.Helper()
	for _, path := range searched {
		r := list(path + "?q=elm")
		r.has = []string{`"prev_cursor":null,"index":` + want + `}}`}
		h.ask(t, r)
	}
}

const lacksNothing = `{"complete":true,"behind":0,"texts":0}`

// An empty answer is told from one that the index knows too little for; lists that are no
// search are as they are at the hosted service.
func TestSearchTellsWhatItLacks(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ask(t, order(`{"order_number":"E-1"}`, 201, ""))
	h.settle(t)
	h.tells(t, lacksNothing)
	h.ask(t, order(`{"order_number":"E-2","address":"1 Elm St"}`, 201, ""))
	h.tells(t, `{"complete":false,"behind":1,"texts":0}`)
	h.finds(t, "q=elm")
	h.settle(t)
	h.tells(t, lacksNothing)
	h.finds(t, "q=elm", "order E-2")
	for _, path := range append(searched[1:], "/v1/orders?q=", "/v1/orders?q=%20") {
		if got := h.ask(t, list(path)); strings.Contains(string(got.body), `"index"`) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
}

// After a restore documents are found by name alone until their texts are made again.
func TestSearchTellsOfTexts(t *testing.T) {
	t.Parallel()
	before := open(t)
	before.vault.Start(1 << 40)
	before.ask(t, upload("full", 201, file("files", "a.txt", "elm"), file("files", "b.txt", "oak")))
	before.read(t)
	before.tells(t, lacksNothing)
	h := open(t, func(s *setup) {
		before.must(vaulttest.CopyRecords(s.vault.Dir, before.dir))
		s.keys = before.keys
	})
	h.settle(t)
	h.tells(t, `{"complete":false,"behind":0,"texts":2}`)
	h.finds(t, "q=elm")
	h.vault.Start(1 << 40)
	seen := map[string]bool{}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		got, names := h.found(t, "q=elm")
		index := got.Meta.Index
		seen[fmt.Sprint(index.Complete, len(names))] = true
		if index.Complete && index.Texts == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the texts are not made again: %+v", index)
		}
	}
	if seen["true 0"] || !seen["true 1"] {
		t.Errorf("complete or not, and how many were found: %v", seen)
	}
}
