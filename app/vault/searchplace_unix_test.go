//go:build unix

package vault_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/derived"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// Whoever searches has his place until his page is made, so that the memory of snippets
// is bounded as that of searches is.
func TestSnippetsAreMadeInAPlace(t *testing.T) {
	t.Parallel()
	v, opts := opened(t, func(o *vault.Options) {
		o.Settings.Search.AtOnce = 2
		o.Settings.Search.Deadline = time.Second
	})
	v.Start(time.Hour)
	upload(t, v, note("A.txt", "walrus"))
	findsSoon(t, v, "walrus", "file 1")
	kept, err := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", "*", derived.Text))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	// Its reading waits for whoever writes there.
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(kept[0], 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := v.Search(t.Context(), clerk, vault.SearchQuery{Text: "walrus"})
		done <- err
	}()
	eventually(t, "somebody else of the same key is refused", func() bool {
		_, err := v.Search(t.Context(), clerk, vault.SearchQuery{Text: "octopus"})
		return title.KindOf(err) == title.Closing
	})
	w, err := os.OpenFile(kept[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := v.Search(t.Context(), clerk, vault.SearchQuery{Text: "octopus"}); err != nil {
		t.Errorf("the place is not given back: %v", err)
	}
}
