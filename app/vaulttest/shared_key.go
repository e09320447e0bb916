package vaulttest

import (
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
)

func CreateKey(t *testing.T, v *instance.Instance, draft model.KeyDraft) (string, model.Key) {
	t.Helper()
	if draft.Name == "" {
		draft.Name = "closing software"
	}
	text, key, err := v.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, draft)
	if err != nil {
		t.Fatal(err)
	}
	return text, key
}

// opens fails the test unless the key is worth what is said.
func WantKeyValid(t *testing.T, v *instance.Instance, text string, want bool) {
	t.Helper()
	actor, err := v.Keys.Authenticate(t.Context(), text)
	if want && (err != nil || actor.Kind != "key" || actor.ID == 0) {
		t.Errorf("%+v, %v", actor, err)
	}
	if !want {
		WantKind(t, "ended key", err, errs.Unauthenticated)
	}
}

func ListedKey(t *testing.T, v *instance.Instance, n uint64) model.Key {
	t.Helper()
	list, err := v.Keys.List(t.Context())
	if err != nil || uint64(len(list)) < n {
		t.Fatalf("%v, %v", list, err)
	}
	return list[n-1]
}
