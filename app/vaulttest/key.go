package vaulttest

import (
	"context"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// CreateKey creates an API key and returns its secret text and its record.
func CreateKey(t *testing.T, v *instance.Instance, draft model.KeyDraft) (string, model.Key) {
	t.Helper()
	if draft.Name == "" {
		draft.Name = "closing software"
	}
	text, key, err := v.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, draft)
	if err != nil {
		t.Fatalf("create key: %v", err)
	}
	return text, key
}

// WantKeyValid checks that a request with an API key is authenticated, or that it is rejected if want is false.
func WantKeyValid(t *testing.T, v *instance.Instance, text string, want bool) {
	t.Helper()
	actor, err := v.Keys.Authenticate(t.Context(), text)
	if want && (err != nil || actor.Kind != "key" || actor.ID == 0) {
		t.Errorf("authenticate: got %+v, %v, want a key", actor, err)
	}
	if !want {
		WantKind(t, "authenticate with an invalid key", err, errs.Unauthenticated)
	}
}

// ListedKey returns a key from the list of keys, which includes uses that are still buffered. It requires that no key
// was removed.
func ListedKey(t *testing.T, v *instance.Instance, id uint64) model.Key {
	t.Helper()
	list, err := v.Keys.List(t.Context())
	if err != nil || uint64(len(list)) < id {
		t.Fatalf("list keys: got %v, %v, want at least %d", list, err, id)
	}
	return list[id-1]
}

// StoredKey returns the stored record of a key, which doesn't include uses that are still buffered.
func StoredKey(v *instance.Instance, id uint64) (key model.Key, err error) {
	err = v.Store.View(context.Background(), func(tx *store.Tx) (err error) {
		key, err = tx.Key(id)
		return err
	})
	return key, err
}
