package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/document/phrase"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// Many who wait for one picture have it made once; one who leaves costs the others
// nothing.
func TestPictureIsMadeOnceForMany(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	begun, goOn := make(chan struct{}), make(chan struct{})
	f.SetHandler(func(context.Context, vaulttest.ReaderCall) error {
		close(begun)
		<-goOn
		return nil
	})
	read := func(ctx context.Context) error {
		picture, err := v.Previews.PageImage(ctx, vaulttest.Operator, file.ID, 1, 850)
		if err == nil {
			err = picture.Close()
		}
		return err
	}
	var all sync.WaitGroup
	all.Go(func() {
		if err := read(t.Context()); err != nil {
			t.Errorf("read: %v", err)
		}
	})
	<-begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := read(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who has left: %v", err)
	}
	for range 5 {
		all.Go(func() {
			if err := read(t.Context()); err != nil {
				t.Errorf("read: %v", err)
			}
		})
	}
	close(goOn)
	all.Wait()
	if n := f.Count(vaulttest.IsImageCall); n != 1 {
		t.Errorf("made %d times", n)
	}
}

func TestSizesAreKept(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(7, "a")))[0]
	for _, spoil := range []string{"", "gone", "[]", `[{"Width":-1,"Height":2}]`, "{", "[]x"} {
		path := derivedFile(opts, file, blobstore.PageSizesFile)
		switch spoil {
		case "":
		case "gone":
			if err := os.Remove(path); err != nil {
				t.Fatalf("remove file: %v", err)
			}
		default:
			if err := os.WriteFile(path, []byte(spoil), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		}
		sizes, err := v.Previews.PageSizes(t.Context(), vaulttest.Operator, file.ID)
		if err != nil || len(sizes) != 7 || sizes[6] != document.USLetter {
			t.Errorf("%q: %v, %v", spoil, sizes, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", spoil, err)
		}
	}
	words := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Search.txt", []byte("judgments")))[0]
	_, err := v.Previews.PageSizes(t.Context(), vaulttest.Operator, words.ID)
	vaulttest.WantKind(t, "a text", err, errs.NotFound)
	_, err = v.Previews.PageSizes(t.Context(), vaulttest.Operator, 99)
	vaulttest.WantKind(t, "no file", err, errs.NotFound)
}

func TestFindPhrase(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(*instance.Options) {})
	long := strings.Repeat("x ", 40)
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Search.txt", []byte("The GRANTOR\n  and grantor's heirs. "+long+"Grantor"+strings.Repeat(" grantor", 1200))))[0]
	spots, more, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, " grantor ")
	if err != nil || !more || len(spots) != 1000 {
		t.Fatalf("%d, %v, %v", len(spots), more, err)
	}
	if s := spots[0]; s.Page != 1 || s.Before != "The " || s.Match != "GRANTOR" || !strings.HasPrefix(s.After, " and grantor's heirs. x x") || !strings.HasSuffix(s.After, "…") {
		t.Errorf("%+v", s)
	}
	if s := spots[2]; !strings.HasPrefix(s.Before, "…") || s.Match != "Grantor" {
		t.Errorf("%+v", s)
	}
	spots, more, err = v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, "grantor and")
	if err != nil || more || len(spots) != 1 || spots[0].Match != "GRANTOR and" {
		t.Errorf("%+v, %v", spots, err)
	}
	for _, nothing := range []string{"", "  ", "mortgage"} {
		if spots, more, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, nothing); err != nil || more || len(spots) != 0 {
			t.Errorf("%q: %+v, %v", nothing, spots, err)
		}
	}
	_, _, err = v.Previews.Find(t.Context(), vaulttest.Operator, 99, "a")
	vaulttest.WantKind(t, "no file", err, errs.NotFound)
	_, err = v.Previews.Marks(t.Context(), vaulttest.Operator, file.ID, 1, "a")
	vaulttest.WantKind(t, "no marks", err, errs.NotFound)
}

// pagedReader reads a long document.
type pagedReader struct {
	vaulttest.Reader
	pages int
}

func (p pagedReader) Text(_ context.Context, _ sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	for i := range p.pages {
		if err := emit(i+1, fmt.Sprintf("Page %d of %d. %s", i+1, p.pages, strings.Repeat("whereas ", 20))); err != nil {
			return err
		}
	}
	return nil
}

// Where a page has all of several words, only such pages count; and what is around a
// place is cut between words.
func TestFindWords(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = pagedReader{pages: 600} })
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Long.pdf", ""))[0]
	for _, row := range []struct {
		typed string
		from  int
		want  int
		page  int // all of them stand on; 0: several
		more  bool
	}{
		{"page 311 of 600", 0, 2, 311, false},
		{"page 311 of 600", 311, 2, 311, false},
		{"page 311 of 600", 5, 1000, 0, true},
		{"page 311", 0, 1, 311, false},
		{"page", 1, 600, 0, false},
		{"page whereas", 2, 1000, 0, true},
		{"page nowhere", 0, 600, 0, false},
		{"311", 5, 1, 311, false},
	} {
		spots, more, err := v.Previews.FindWords(t.Context(), vaulttest.Operator, file.ID, phrase.Split(row.typed), row.from)
		if err != nil || len(spots) != row.want || more != row.more {
			t.Errorf("%s: %d, %v, %v", row.typed, len(spots), more, err)
			continue
		}
		if elsewhere := slices.ContainsFunc(spots, func(s jobs.Hit) bool { return s.Page != row.page }); row.page > 0 && elsewhere {
			t.Errorf("%s: %+v", row.typed, spots)
		}
	}
	spots, _, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, "of 600")
	if err != nil || !strings.HasSuffix(spots[0].After, " whereas…") {
		t.Errorf("%+v, %v", spots[0], err)
	}
}

// To look through a document has an end.
func TestFindHasAnEnd(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Search.Deadline = time.Nanosecond })
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Search.txt", []byte("zebra")))[0]
	_, _, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, "zebra")
	vaulttest.WantKind(t, "no time", err, errs.Unavailable)
}

// Who looks already does so alone, and others are not held up by them.
func TestFindIsDoneOnceAtATime(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Search.Deadline = time.Second })
	other := model.Actor{Kind: vaulttest.Operator.Kind, ID: vaulttest.Operator.ID + 1}
	small := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Small.txt", []byte("zebra")))[0]
	err := v.Previews.WithFindLock(t.Context(), vaulttest.Operator, func() {
		_, _, err := v.Previews.Find(t.Context(), vaulttest.Operator, small.ID, "zebra")
		vaulttest.WantKind(t, "two at once", err, errs.Unavailable)
		if spots, _, err := v.Previews.Find(t.Context(), other, small.ID, "zebra"); err != nil || len(spots) != 1 {
			t.Errorf("another: %d, %v", len(spots), err)
		}
	})
	if err != nil {
		t.Errorf("Previews.Find: %v", err)
	}
	if spots, _, err := v.Previews.Find(t.Context(), vaulttest.Operator, small.ID, "zebra"); err != nil || len(spots) != 1 {
		t.Errorf("afterwards: %d, %v", len(spots), err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := v.Previews.Find(gone, vaulttest.Operator, small.ID, "zebra"); !errors.Is(err, context.Canceled) {
		t.Errorf("who has left: %v", err)
	}
}

func TestTrashedFile(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(&vaulttest.FakeReader{}))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	_, err := v.Files.Trashed(t.Context(), file.ID)
	vaulttest.WantKind(t, "live", err, errs.NotFound)
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	if got, err := v.Files.Trashed(t.Context(), file.ID); err != nil || got.Filename != "Deed.pdf" || got.Trashed == nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = v.Files.Trashed(t.Context(), 99)
	vaulttest.WantKind(t, "no file", err, errs.NotFound)
}
