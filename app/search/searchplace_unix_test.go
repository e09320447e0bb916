//go:build unix

package search_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/search"
	"deedkeep/app/vaulttest"
)

// Whoever searches has his place until his page is made, so that the memory of snippets
// is bounded as that of searches is.
func TestSnippetsAreMadeInAPlace(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Settings.Search.MaxConcurrent = 2
	})
	v.Start(time.Hour)
	vaulttest.UploadDocs(t, v, vaulttest.TextDoc("A.txt", "walrus"))
	vaulttest.WaitSearchHits(t, v, "walrus", "file 1")
	kept, err := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", "*", blobstore.TextFile))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	// Its reading waits for whoever writes there.
	if err := os.Remove(kept[0]); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := syscall.Mkfifo(kept[0], 0o600); err != nil {
		t.Fatalf("Mkfifo: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "walrus"})
		done <- err
	}()
	vaulttest.Eventually(t, "somebody else of the same key waits", func() bool {
		patient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := v.Search.Records(patient, vaulttest.Operator, search.Query{Text: "octopus"})
		return errors.Is(err, context.DeadlineExceeded)
	})
	for made := false; !made; {
		// Neither waits: who reads, or begins to, is told that this is the end.
		w, err := os.OpenFile(kept[0], os.O_RDWR|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatalf("open file: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select {
		case err := <-done:
			made = true
			if err != nil {
				t.Error(err)
			}
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Errorf("remove file: %v", err)
	}
	if _, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "octopus"}); err != nil {
		t.Errorf("the place is not given back: %v", err)
	}
}
