package instance_test

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

func clocked(t *testing.T) (*instance.Instance, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	v, _ := opened(t, func(o *instance.Options) { o.Now = clock.Now })
	return v, clock
}

func makeKey(t *testing.T, v *instance.Instance, draft model.KeyDraft) (string, model.Key) {
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
func opens(t *testing.T, v *instance.Instance, text string, want bool) {
	t.Helper()
	actor, err := v.Keys.Authenticate(t.Context(), text)
	if want && (err != nil || actor.Kind != "key" || actor.ID == 0) {
		t.Errorf("%+v, %v", actor, err)
	}
	if !want {
		kind(t, "ended key", err, errs.Unauthenticated)
	}
}

func TestKeyLife(t *testing.T) {
	t.Parallel()
	v, _ := clocked(t)
	text, key := makeKey(t, v, model.KeyDraft{Abilities: []string{model.AbilityRead}})
	actor, err := v.Keys.Authenticate(t.Context(), text)
	if err != nil || actor.ID != key.ID || actor.Name != key.Name || !slices.Equal(actor.Abilities, []string{model.AbilityRead}) {
		t.Errorf("%+v, %v", actor, err)
	}
	for _, wrong := range []string{"", "dk_live_", text[:len(text)-1], text + "0", text[:20] + "x" + text[21:], " " + text} {
		if wrong != text {
			opens(t, v, wrong, false)
		}
	}
	other, _ := makeKey(t, v, model.KeyDraft{})
	first, err := v.Keys.Revoke(t.Context(), clerk, key.ID)
	if err != nil || first.RevokedAt == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	opens(t, v, text, false)
	opens(t, v, other, true)
	again, err := v.Keys.Revoke(t.Context(), clerk, key.ID)
	if err != nil || !again.RevokedAt.Equal(*first.RevokedAt) {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = v.Keys.Revoke(t.Context(), clerk, 99)
	kind(t, "unknown key", err, errs.NotFound)
	_, _, err = v.Keys.Create(t.Context(), clerk, model.KeyDraft{Name: "x", Abilities: []string{"root"}})
	kind(t, "unknown ability", err, errs.Invalid)
}

func TestKeyRevokedLaterStaysAsItWas(t *testing.T) {
	t.Parallel()
	v, clock := clocked(t)
	_, key := makeKey(t, v, model.KeyDraft{})
	first, err := v.Keys.Revoke(t.Context(), clerk, key.ID)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	again, err := v.Keys.Revoke(t.Context(), clerk, key.ID)
	if err != nil || !again.RevokedAt.Equal(*first.RevokedAt) {
		t.Errorf("%v, %v", again.RevokedAt, err)
	}
}

func TestKeyExpiresToTheSecond(t *testing.T) {
	t.Parallel()
	v, clock := clocked(t)
	end := clock.Now().Add(time.Hour)
	text, _ := makeKey(t, v, model.KeyDraft{ExpiresAt: &end})
	clock.Advance(time.Hour - time.Microsecond)
	opens(t, v, text, true)
	clock.Advance(time.Microsecond)
	opens(t, v, text, false)
}

func TestKeyRotate(t *testing.T) {
	t.Parallel()
	v, clock := clocked(t)
	text, key := makeKey(t, v, model.KeyDraft{Abilities: []string{model.AbilityRead}})
	next, fresh, err := v.Keys.Rotate(t.Context(), clerk, key.ID, time.Hour)
	if err != nil || fresh.ID == key.ID || fresh.Name != key.Name || !slices.Equal(fresh.Abilities, key.Abilities) || fresh.ExpiresAt != nil {
		t.Fatalf("%+v, %v", fresh, err)
	}
	opens(t, v, text, true)
	opens(t, v, next, true)
	clock.Advance(time.Hour)
	opens(t, v, text, false)
	opens(t, v, next, true)
	_, _, err = v.Keys.Rotate(t.Context(), clerk, key.ID, 0)
	kind(t, "ended key", err, errs.Conflict)
	last, _, err := v.Keys.Rotate(t.Context(), clerk, fresh.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	opens(t, v, next, false)
	opens(t, v, last, true)
	_, _, err = v.Keys.Rotate(t.Context(), clerk, 99, 0)
	kind(t, "unknown key", err, errs.NotFound)
}

// An overlap never prolongs a life.
func TestKeyRotateKeepsTheExpiry(t *testing.T) {
	t.Parallel()
	v, clock := clocked(t)
	end := clock.Now().Add(time.Minute)
	text, key := makeKey(t, v, model.KeyDraft{ExpiresAt: &end})
	next, fresh, err := v.Keys.Rotate(t.Context(), clerk, key.ID, time.Hour)
	if err != nil || fresh.ExpiresAt == nil || !fresh.ExpiresAt.Equal(end) {
		t.Fatalf("%+v, %v", fresh, err)
	}
	clock.Advance(time.Minute)
	opens(t, v, text, false)
	opens(t, v, next, false)
}

func used(t *testing.T, v *instance.Instance, n uint64) model.Key {
	t.Helper()
	list, err := v.Keys.List(t.Context())
	if err != nil || uint64(len(list)) < n {
		t.Fatalf("%v, %v", list, err)
	}
	return list[n-1]
}

func TestKeyLastUse(t *testing.T) {
	t.Parallel()
	v, clock := clocked(t)
	text, key := makeKey(t, v, model.KeyDraft{})
	if k := used(t, v, key.ID); k.UseCount != 0 || k.LastUsedAt != nil {
		t.Errorf("%+v", k)
	}
	for range 3 {
		clock.Advance(time.Second)
		opens(t, v, text, true)
	}
	last := clock.Now()
	if k := used(t, v, key.ID); k.UseCount != 3 || !k.LastUsedAt.Equal(last) {
		t.Errorf("%+v", k)
	}
	// A write that fails gives back what was gathered, also to what came since.
	opens(t, v, text, true)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Keys.List(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	clock.Advance(time.Second)
	opens(t, v, text, true)
	if k := used(t, v, key.ID); k.UseCount != 5 || !k.LastUsedAt.Equal(clock.Now()) {
		t.Errorf("%+v", k)
	}
	clock.Advance(-time.Hour) // a clock that is set back
	opens(t, v, text, true)
	if k := used(t, v, key.ID); k.UseCount != 6 {
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
	text, key := makeKey(t, v, model.KeyDraft{})
	opens(t, v, text, true)
	closed(t, v) // writes what was gathered
	v = vaulttest.Open(t, opts)
	if k := used(t, v, key.ID); k.UseCount != 1 || k.LastUsedAt == nil {
		t.Errorf("%+v", k)
	}
	v.Start(time.Hour)
	opens(t, v, text, true)
	eventually(t, "the second use", func() bool {
		k, err := keyRecord(v, key.ID)
		return err == nil && k.UseCount == 2
	})
}
