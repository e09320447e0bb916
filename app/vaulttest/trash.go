package vaulttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/vault"
)

// TrashPeriod is how long test vaults keep records in the trash.
const TrashPeriod = 30 * 24 * time.Hour

// TrashList returns the records in the trash, each as "kind id heading".
func TrashList(t *testing.T, v *instance.Instance) (list []string) {
	t.Helper()
	page, err := v.Trash.List(t.Context(), vault.Query{Limit: 100})
	if err != nil {
		t.Fatalf("list the trash: %v", err)
	}
	for _, item := range page.Items {
		list = append(list, fmt.Sprintf("%s %d %s", item.Type, item.ID, item.Heading))
	}
	return list
}

// WantTrash checks which records are in the trash (each as "kind id heading") and that the status reports their number.
func WantTrash(t *testing.T, v *instance.Instance, want ...string) {
	t.Helper()
	if got := TrashList(t, v); !slices.Equal(got, want) {
		t.Errorf("trash: got %q, want %q", got, want)
	}
	if n := Status(t, v).Trashed; n != uint64(len(want)) {
		t.Errorf("status: got %d records in the trash, want %d", n, len(want))
	}
}

// WantNoFile checks that a document can't be read, opened, or previewed.
func WantNoFile(t *testing.T, v *instance.Instance, id uint64) {
	t.Helper()
	_, err := v.Files.Get(t.Context(), id)
	WantKind(t, fmt.Sprintf("read file %d", id), err, errs.NotFound)
	_, _, err = v.Files.Open(t.Context(), id)
	WantKind(t, fmt.Sprintf("open file %d", id), err, errs.NotFound)
	_, err = v.Previews.Thumbnail(t.Context(), Operator, id)
	WantKind(t, fmt.Sprintf("thumbnail of file %d", id), err, errs.NotFound)
}
