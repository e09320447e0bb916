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

// A search keeps its slot until its snippets are complete, so the limit on concurrent searches also
// limits the memory for snippets.
func TestSnippetsAreCreatedInSlot(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Settings.Search.MaxConcurrent = 2
	})
	v.Start(time.Hour)
	vaulttest.UploadDocs(t, v, vaulttest.TextDoc("A.txt", "walrus"))
	vaulttest.WaitSearchHits(t, v, "walrus", "file 1")
	texts, err := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", "*", blobstore.TextFile))
	if err != nil || len(texts) != 1 {
		t.Fatalf("stored texts = %v, %v; want 1", texts, err)
	}
	// Reading the pipe blocks until the test opens it for writing.
	if err := os.Remove(texts[0]); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := syscall.Mkfifo(texts[0], 0o600); err != nil {
		t.Fatalf("Mkfifo: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "walrus"})
		done <- err
	}()
	vaulttest.Eventually(t, "another search by the same actor that waits", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := v.Search.Records(ctx, vaulttest.Operator, search.Query{Text: "octopus"})
		return errors.Is(err, context.DeadlineExceeded)
	})
	for ended := false; !ended; {
		// Opening and closing the pipe doesn't block. It completes the read of the search.
		w, err := os.OpenFile(texts[0], os.O_RDWR|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatalf("open file: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select {
		case err := <-done:
			ended = true
			if err != nil {
				t.Errorf("search: %v", err)
			}
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := os.Remove(texts[0]); err != nil {
		t.Errorf("remove file: %v", err)
	}
	if _, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: "octopus"}); err != nil {
		t.Errorf("search after the slot is released: %v", err)
	}
}
