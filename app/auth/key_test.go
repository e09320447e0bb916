package auth_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

func TestKeyLife(t *testing.T) {
	t.Parallel()
	v, _, _ := vaulttest.OpenWithClock(t)
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{Abilities: []string{model.AbilityRead}})
	actor, err := v.Keys.Authenticate(t.Context(), text)
	if err != nil || actor.ID != key.ID || actor.Name != key.Name || !slices.Equal(actor.Abilities, []string{model.AbilityRead}) {
		t.Errorf("%+v, %v", actor, err)
	}
	for _, wrong := range []string{"", "dk_live_", text[:len(text)-1], text + "0", text[:20] + "x" + text[21:], " " + text} {
		if wrong != text {
			vaulttest.WantKeyValid(t, v, wrong, false)
		}
	}
	other, _ := vaulttest.CreateKey(t, v, model.KeyDraft{})
	first, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil || first.RevokedAt == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	vaulttest.WantKeyValid(t, v, text, false)
	vaulttest.WantKeyValid(t, v, other, true)
	again, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil || !again.RevokedAt.Equal(*first.RevokedAt) {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = v.Keys.Revoke(t.Context(), vaulttest.Operator, 99)
	vaulttest.WantKind(t, "unknown key", err, errs.NotFound)
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "x", Abilities: []string{"root"}})
	vaulttest.WantKind(t, "unknown ability", err, errs.Invalid)
}

func TestKeyRevokedLaterStaysAsItWas(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	_, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	first, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	again, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil || !again.RevokedAt.Equal(*first.RevokedAt) {
		t.Errorf("%v, %v", again.RevokedAt, err)
	}
}

func TestKeyExpiresToTheSecond(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	end := clock.Now().Add(time.Hour)
	text, _ := vaulttest.CreateKey(t, v, model.KeyDraft{ExpiresAt: &end})
	clock.Advance(time.Hour - time.Microsecond)
	vaulttest.WantKeyValid(t, v, text, true)
	clock.Advance(time.Microsecond)
	vaulttest.WantKeyValid(t, v, text, false)
}

func TestKeyRotate(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{Abilities: []string{model.AbilityRead}})
	next, fresh, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, key.ID, time.Hour)
	if err != nil || fresh.ID == key.ID || fresh.Name != key.Name || !slices.Equal(fresh.Abilities, key.Abilities) || fresh.ExpiresAt != nil {
		t.Fatalf("%+v, %v", fresh, err)
	}
	vaulttest.WantKeyValid(t, v, text, true)
	vaulttest.WantKeyValid(t, v, next, true)
	clock.Advance(time.Hour)
	vaulttest.WantKeyValid(t, v, text, false)
	vaulttest.WantKeyValid(t, v, next, true)
	_, _, err = v.Keys.Rotate(t.Context(), vaulttest.Operator, key.ID, 0)
	vaulttest.WantKind(t, "ended key", err, errs.Conflict)
	last, _, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, fresh.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	vaulttest.WantKeyValid(t, v, next, false)
	vaulttest.WantKeyValid(t, v, last, true)
	_, _, err = v.Keys.Rotate(t.Context(), vaulttest.Operator, 99, 0)
	vaulttest.WantKind(t, "unknown key", err, errs.NotFound)
}

// An overlap never prolongs a life.
func TestKeyRotateKeepsTheExpiry(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	end := clock.Now().Add(time.Minute)
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{ExpiresAt: &end})
	next, fresh, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, key.ID, time.Hour)
	if err != nil || fresh.ExpiresAt == nil || !fresh.ExpiresAt.Equal(end) {
		t.Fatalf("%+v, %v", fresh, err)
	}
	clock.Advance(time.Minute)
	vaulttest.WantKeyValid(t, v, text, false)
	vaulttest.WantKeyValid(t, v, next, false)
}

func TestKeyLastUse(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 0 || k.LastUsedAt != nil {
		t.Errorf("%+v", k)
	}
	for range 3 {
		clock.Advance(time.Second)
		vaulttest.WantKeyValid(t, v, text, true)
	}
	last := clock.Now()
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 3 || !k.LastUsedAt.Equal(last) {
		t.Errorf("%+v", k)
	}
	// A write that fails gives back what was gathered, also to what came since.
	vaulttest.WantKeyValid(t, v, text, true)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Keys.List(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	clock.Advance(time.Second)
	vaulttest.WantKeyValid(t, v, text, true)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 5 || !k.LastUsedAt.Equal(clock.Now()) {
		t.Errorf("%+v", k)
	}
	clock.Advance(-time.Hour) // a clock that is set back
	vaulttest.WantKeyValid(t, v, text, true)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 6 {
		t.Errorf("%+v", k)
	}
}

func TestKeyLastUseIsWrittenByItself(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.WantKeyValid(t, v, text, true)
	vaulttest.Close(t, v) // writes what was gathered
	v = vaulttest.Open(t, opts)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 1 || k.LastUsedAt == nil {
		t.Errorf("%+v", k)
	}
	v.Start(time.Hour)
	vaulttest.WantKeyValid(t, v, text, true)
	vaulttest.Eventually(t, "the second use", func() bool {
		k, err := vaulttest.StoredKey(v, key.ID)
		return err == nil && k.UseCount == 2
	})
}
