package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/search"
	"deedkeep/app/vaulttest"
)

// texted is a served vault of so many notes, each with a word that all have and one of
// its own, whose texts are made; it is shut again.
func texted(t *testing.T, f *vaulttest.FakeReader, count int) instance.Options {
	t.Helper()
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v := begun(t, opts)
	notes := make([]vaulttest.Doc, count)
	for i := range notes {
		notes[i] = vaulttest.TextDoc(fmt.Sprintf("N%d.txt", i), fmt.Sprintf("walrus alone%d", i))
	}
	vaulttest.UploadDocs(t, v, notes...)
	vaulttest.WaitTextsRebuilt(t, v)
	if got := foundCount(t, v, fmt.Sprintf("alone%d", count-1)); got != 1 {
		t.Fatalf("the last of %d is found %d times at first", count, got)
	}
	if err := v.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return opts
}

// begun is a vault that is served, and that the test closes.
func begun(t *testing.T, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	v.Start(time.Hour)
	return v
}

func foundCount(t *testing.T, v *instance.Instance, text string) int {
	t.Helper()
	page, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: text, Limit: 1})
	if err != nil && errs.KindOf(err) != errs.Unavailable {
		t.Fatalf("search: %v", err)
	}
	return page.Counts["file"]
}

// No backup has the texts: they are made again, a few at once, and found then.
func TestTheTextsOfARestoredVaultAreFoundAgain(t *testing.T) {
	t.Parallel()
	const count = 100
	f := &vaulttest.FakeReader{}
	v := vaulttest.Open(t, texted(t, f, count))
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	opts := vaulttest.RestoreOptions(t, to)
	vaulttest.WithFakeReader(f)(&opts.Vault)
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatalf("restore: %v", err)
	}
	v = vaulttest.Open(t, opts.Vault)
	// Nobody serves: what can be told is told.
	s, err := v.Search.Await(t.Context(), func(uint64, uint64) {})
	if err != nil || !s.Ready || s.MissingText != count {
		t.Errorf("nobody serves: %+v, %v", s, err)
	}
	if r, err := v.Integrity.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() || r.Texts != count {
		t.Errorf("a verification tells of %d texts, %v, %v", r.Texts, r.Findings, err)
	}
	before, gate := f.Count(vaulttest.IsTextCall), make(chan struct{})
	f.SetHandler(func(context.Context, vaulttest.ReaderCall) error { <-gate; return nil })
	v.Start(time.Hour)
	vaulttest.Eventually(t, "some wait in the queue, and the index knows that", func() bool {
		s, err := v.Search.State(t.Context())
		return err == nil && s.Processing > 0 && s.PendingChanges == 0
	})
	if s, err := v.Search.State(t.Context()); err != nil || s.Complete() || s.WithoutText() != count {
		t.Errorf("while texts are made: %+v, %v", s, err)
	}
	close(gate)
	most := uint64(0)
	vaulttest.Eventually(t, "every document is found", func() bool {
		most = max(most, vaulttest.Status(t, v).Queue)
		return foundCount(t, v, "walrus") == count
	})
	vaulttest.WaitTextsRebuilt(t, v)
	if most > 96 {
		t.Errorf("%d documents waited in the queue at once", most)
	}
	if got := f.Count(vaulttest.IsTextCall) - before; got != count {
		t.Errorf("%d texts were made for %d documents", got, count)
	}
}

// Texts that are lost beside the index, and one that is damaged, are there again.
func TestTextsThatAreLostComeBack(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, dir string){
		"previews and index are deleted": func(t *testing.T, dir string) {
			for _, folder := range []string{"previews", "search"} {
				if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
					t.Fatalf("remove directory: %v", err)
				}
			}
		},
		"a text has another bit": func(t *testing.T, dir string) {
			kept, err := filepath.Glob(filepath.Join(dir, "previews", "*", "*", blobstore.TextFile))
			if err == nil {
				err = errors.Join(vaulttest.FlipByte(0.6)(kept[0]), os.RemoveAll(filepath.Join(dir, "search")))
			}
			if err != nil {
				t.Fatalf("vaulttest.FlipByte: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := texted(t, &vaulttest.FakeReader{}, 5)
			lose(t, opts.Dir)
			v := vaulttest.Open(t, opts)
			v.Start(time.Hour)
			for i := range 5 {
				vaulttest.WaitSearchHits(t, v, fmt.Sprintf("alone%d", i), fmt.Sprintf("file %d", i+1))
			}
			vaulttest.WaitTextsRebuilt(t, v)
		})
	}
}

// Documents without a text are looked at once, however often the index comes by.
func TestDocumentsWithoutATextAreNotTriedForEver(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(func(_ context.Context, a vaulttest.ReaderCall) error {
		switch {
		case bytes.Contains([]byte(a.Body), []byte("alone0")) && a.Kind == "text":
			return document.ErrUnsupported
		case bytes.Contains([]byte(a.Body), []byte("alone1")) && a.Kind == "text":
			return document.ErrDamaged
		}
		return nil
	})
	opts := texted(t, f, 3)
	if err := errors.Join(os.RemoveAll(filepath.Join(opts.Dir, "previews")), os.RemoveAll(filepath.Join(opts.Dir, "search"))); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	before := f.Count(vaulttest.IsTextCall)
	v := vaulttest.Open(t, opts)
	v.Start(time.Hour)
	vaulttest.WaitSearchHits(t, v, "walrus", "file 3")
	for range 3 {
		if err := v.Search.Rebuild(t.Context(), vaulttest.Operator); err != nil {
			t.Fatalf("rebuild search index: %v", err)
		}
		vaulttest.WaitIndexed(t, v)
		vaulttest.WaitTextsRebuilt(t, v)
	}
	if got := f.Count(vaulttest.IsTextCall) - before; got != 2 { // that of the damaged one is known not to be made
		t.Errorf("texts were asked for %d times", got)
	}
	if why := vaulttest.ProcessingFailure(t, v, 2); !strings.Contains(why, "damaged") {
		t.Errorf("file 2: %q", why)
	}
}
