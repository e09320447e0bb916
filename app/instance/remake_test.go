package instance_test

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

// remade waits until no text is to be made any more.
func remade(t *testing.T, v *instance.Instance) {
	t.Helper()
	eventually(t, "all texts", func() bool {
		s, err := v.Search.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Ready && !s.Building && s.PendingChanges == 0 && s.MissingText == 0 && status(t, v).Queue == 0
	})
}

// texted is a served vault of so many notes, each with a word that all have and one of
// its own, whose texts are made; it is shut again.
func texted(t *testing.T, f *fakeReader, count int) instance.Options {
	t.Helper()
	opts := vaulttest.Options(t)
	faked(f)(&opts)
	v := begun(t, opts)
	notes := make([]doc, count)
	for i := range notes {
		notes[i] = note(fmt.Sprintf("N%d.txt", i), fmt.Sprintf("walrus alone%d", i))
	}
	uploadDocs(t, v, notes...)
	remade(t, v)
	if got := foundCount(t, v, fmt.Sprintf("alone%d", count-1)); got != 1 {
		t.Fatalf("the last of %d is found %d times at first", count, got)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return opts
}

// begun is a vault that is served, and that the test closes.
func begun(t *testing.T, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	v.Start(time.Hour)
	return v
}

func foundCount(t *testing.T, v *instance.Instance, text string) int {
	t.Helper()
	page, err := v.Search.Records(t.Context(), clerk, search.Query{Text: text, Limit: 1})
	if err != nil && errs.KindOf(err) != errs.Unavailable {
		t.Fatal(err)
	}
	return page.Counts["file"]
}

// No backup has the texts: they are made again, a few at once, and found then.
func TestTheTextsOfARestoredVaultAreFoundAgain(t *testing.T) {
	t.Parallel()
	const count = 100
	f := &fakeReader{}
	v := vaulttest.Open(t, texted(t, f, count))
	to := filepath.Join(t.TempDir(), "b")
	taken(t, v, to)
	opts := restoring(t, to)
	faked(f)(&opts.Vault)
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatal(err)
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
	before, gate := f.count(texts), make(chan struct{})
	f.replies(func(context.Context, ask) error { <-gate; return nil })
	v.Start(time.Hour)
	eventually(t, "some wait in the queue, and the index knows that", func() bool {
		s, err := v.Search.State(t.Context())
		return err == nil && s.Processing > 0 && s.PendingChanges == 0
	})
	if s, err := v.Search.State(t.Context()); err != nil || s.Complete() || s.WithoutText() != count {
		t.Errorf("while texts are made: %+v, %v", s, err)
	}
	close(gate)
	most := uint64(0)
	eventually(t, "every document is found", func() bool {
		most = max(most, status(t, v).Queue)
		return foundCount(t, v, "walrus") == count
	})
	remade(t, v)
	if most > 96 {
		t.Errorf("%d documents waited in the queue at once", most)
	}
	if got := f.count(texts) - before; got != count {
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
					t.Fatal(err)
				}
			}
		},
		"a text has another bit": func(t *testing.T, dir string) {
			kept, err := filepath.Glob(filepath.Join(dir, "previews", "*", "*", blobstore.TextFile))
			if err == nil {
				err = errors.Join(flipByte(0.6)(kept[0]), os.RemoveAll(filepath.Join(dir, "search")))
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := texted(t, &fakeReader{}, 5)
			lose(t, opts.Dir)
			v := vaulttest.Open(t, opts)
			v.Start(time.Hour)
			for i := range 5 {
				findsSoon(t, v, fmt.Sprintf("alone%d", i), fmt.Sprintf("file %d", i+1))
			}
			remade(t, v)
		})
	}
}

// Documents without a text are looked at once, however often the index comes by.
func TestDocumentsWithoutATextAreNotTriedForEver(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	f.replies(func(_ context.Context, a ask) error {
		switch {
		case bytes.Contains([]byte(a.body), []byte("alone0")) && a.kind == "text":
			return document.ErrUnsupported
		case bytes.Contains([]byte(a.body), []byte("alone1")) && a.kind == "text":
			return document.ErrDamaged
		}
		return nil
	})
	opts := texted(t, f, 3)
	if err := errors.Join(os.RemoveAll(filepath.Join(opts.Dir, "previews")), os.RemoveAll(filepath.Join(opts.Dir, "search"))); err != nil {
		t.Fatal(err)
	}
	before := f.count(texts)
	v := vaulttest.Open(t, opts)
	v.Start(time.Hour)
	findsSoon(t, v, "walrus", "file 3")
	for range 3 {
		if err := v.Search.Rebuild(t.Context(), clerk); err != nil {
			t.Fatal(err)
		}
		indexes(t, v)
		remade(t, v)
	}
	if got := f.count(texts) - before; got != 2 { // that of the damaged one is known not to be made
		t.Errorf("texts were asked for %d times", got)
	}
	if why := failure(t, v, 2); !strings.Contains(why, "damaged") {
		t.Errorf("file 2: %q", why)
	}
}
