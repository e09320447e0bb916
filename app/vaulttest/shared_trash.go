package vaulttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/vault"
)

const TrashKeep = 30 * 24 * time.Hour

// timed opens a vault whose time the test moves.
func OpenWithClock(t *testing.T) (*instance.Instance, instance.Options, *Clock) {
	t.Helper()
	clock := NewClock()
	v, opts := OpenVerified(t, func(o *instance.Options) { o.Now = clock.Now })
	return v, opts, clock
}

// inTheTrash lists it as "noun id heading".
func TrashList(t *testing.T, v *instance.Instance) (list []string) {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Items {
		list = append(list, fmt.Sprintf("%s %d %s", item.Type, item.ID, item.Heading))
	}
	return list
}

func WantTrash(t *testing.T, v *instance.Instance, want ...string) {
	t.Helper()
	if have := TrashList(t, v); !slices.Equal(have, want) {
		t.Errorf("in the trash %q, want %q", have, want)
	}
	if n := Status(t, v).Trashed; n != uint64(len(want)) {
		t.Errorf("counted in the trash: %d, want %d", n, len(want))
	}
}

func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
