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

func TestKeyAuthenticateAndRevoke(t *testing.T) {
	t.Parallel()
	v, _, _ := vaulttest.OpenWithClock(t)
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{Abilities: []string{model.AbilityRead}})
	actor, err := v.Keys.Authenticate(t.Context(), text)
	if err != nil || actor.ID != key.ID || actor.Name != key.Name || !slices.Equal(actor.Abilities, []string{model.AbilityRead}) {
		t.Errorf("Authenticate() = %+v, %v; want key %d named %q with the ability to read", actor, err, key.ID, key.Name)
	}
	for _, invalid := range []string{"", "dk_live_", text[:len(text)-1], text + "0", text[:20] + "x" + text[21:], " " + text} {
		if invalid != text {
			vaulttest.WantKeyValid(t, v, invalid, false)
		}
	}
	other, _ := vaulttest.CreateKey(t, v, model.KeyDraft{})
	first, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil || first.RevokedAt == nil {
		t.Fatalf("Revoke(%d) = %+v, %v; want a revoked key", key.ID, first, err)
	}
	vaulttest.WantKeyValid(t, v, text, false)
	vaulttest.WantKeyValid(t, v, other, true)
	again, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil || !again.RevokedAt.Equal(*first.RevokedAt) {
		t.Errorf("second Revoke(%d) = %+v, %v; want revoked at %v", key.ID, again, err, first.RevokedAt)
	}
	_, err = v.Keys.Revoke(t.Context(), vaulttest.Operator, 99)
	vaulttest.WantKind(t, "revoke an unknown key", err, errs.NotFound)
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "x", Abilities: []string{"root"}})
	vaulttest.WantKind(t, "create a key with an unknown ability", err, errs.Invalid)
}

func TestKeySecondRevokeKeepsTheTime(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	_, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	first, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil {
		t.Fatalf("revoke key: %v", err)
	}
	clock.Advance(time.Hour)
	again, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID)
	if err != nil || !again.RevokedAt.Equal(*first.RevokedAt) {
		t.Errorf("second Revoke(%d): revoked at %v, %v; want %v", key.ID, again.RevokedAt, err, first.RevokedAt)
	}
}

func TestKeyExpiresExactlyOnTime(t *testing.T) {
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
	if err != nil || fresh.ID == key.ID || fresh.Name != key.Name || !slices.Equal(fresh.Abilities, key.Abilities) ||
		fresh.ExpiresAt != nil {
		t.Fatalf("Rotate(%d) = %+v, %v; want another key like %+v that never expires", key.ID, fresh, err, key)
	}
	vaulttest.WantKeyValid(t, v, text, true)
	vaulttest.WantKeyValid(t, v, next, true)
	clock.Advance(time.Hour)
	vaulttest.WantKeyValid(t, v, text, false)
	vaulttest.WantKeyValid(t, v, next, true)
	_, _, err = v.Keys.Rotate(t.Context(), vaulttest.Operator, key.ID, 0)
	vaulttest.WantKind(t, "rotate an expired key", err, errs.Conflict)
	last, _, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, fresh.ID, 0)
	if err != nil {
		t.Fatalf("rotate without overlap: %v", err)
	}
	vaulttest.WantKeyValid(t, v, next, false)
	vaulttest.WantKeyValid(t, v, last, true)
	_, _, err = v.Keys.Rotate(t.Context(), vaulttest.Operator, 99, 0)
	vaulttest.WantKind(t, "rotate an unknown key", err, errs.NotFound)
}

// The new key has the same expiration as the old key. The overlap never extends the
// expiration of the old key.
func TestKeyRotateKeepsTheExpiration(t *testing.T) {
	t.Parallel()
	v, _, clock := vaulttest.OpenWithClock(t)
	end := clock.Now().Add(time.Minute)
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{ExpiresAt: &end})
	next, fresh, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, key.ID, time.Hour)
	if err != nil || fresh.ExpiresAt == nil || !fresh.ExpiresAt.Equal(end) {
		t.Fatalf("Rotate(%d) = %+v, %v; want expiration %v", key.ID, fresh, err, end)
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
		t.Errorf("new key: got %+v, want no use", k)
	}
	for range 3 {
		clock.Advance(time.Second)
		vaulttest.WantKeyValid(t, v, text, true)
	}
	last := clock.Now()
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 3 || !k.LastUsedAt.Equal(last) {
		t.Errorf("after 3 uses: got %+v, want 3 uses, the last at %v", k, last)
	}
	// If a write fails, the buffered uses are kept, and later uses are added to them.
	vaulttest.WantKeyValid(t, v, text, true)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Keys.List(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("List() with a canceled context: got %v, want %v", err, context.Canceled)
	}
	clock.Advance(time.Second)
	vaulttest.WantKeyValid(t, v, text, true)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 5 || !k.LastUsedAt.Equal(clock.Now()) {
		t.Errorf("after a failed write: got %+v, want 5 uses, the last at %v", k, clock.Now())
	}
	clock.Advance(-time.Hour) // the system clock was set back
	vaulttest.WantKeyValid(t, v, text, true)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 6 {
		t.Errorf("after the clock was set back: got %+v, want 6 uses", k)
	}
}

func TestKeyLastUseIsWrittenInBackground(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.WantKeyValid(t, v, text, true)
	vaulttest.Close(t, v) // Close writes the buffered uses
	v = vaulttest.Open(t, opts)
	if k := vaulttest.ListedKey(t, v, key.ID); k.UseCount != 1 || k.LastUsedAt == nil {
		t.Errorf("after a restart: got %+v, want 1 use", k)
	}
	v.Start(time.Hour)
	vaulttest.WantKeyValid(t, v, text, true)
	vaulttest.Eventually(t, "the second use is written", func() bool {
		k, err := vaulttest.StoredKey(v, key.ID)
		return err == nil && k.UseCount == 2
	})
}
