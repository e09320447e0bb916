package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestPageSizesAreStored(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(7, "a")))[0]
	path := derivedFile(opts, file, blobstore.PageSizesFile)
	writeSizes := func(content string) func() error {
		return func() error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for _, row := range []struct {
		name   string
		change func() error
	}{
		{"not generated yet", func() error { return nil }},
		{"removed", func() error { return os.Remove(path) }},
		{"no pages", writeSizes("[]")},
		{"negative width", writeSizes(`[{"Width":-1,"Height":2}]`)},
		{"truncated", writeSizes("{")},
		{"trailing data", writeSizes("[]x")},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := row.change(); err != nil {
				t.Fatalf("change page sizes: %v", err)
			}
			sizes, err := v.Previews.PageSizes(t.Context(), vaulttest.Operator, file.ID)
			if err != nil || len(sizes) != 7 || sizes[6] != document.USLetter {
				t.Errorf("PageSizes() = %v, %v; want 7 pages of US letter", sizes, err)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("stored page sizes: %v", err)
			}
		})
	}
	text := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Search.txt", []byte("judgments")))[0]
	_, err := v.Previews.PageSizes(t.Context(), vaulttest.Operator, text.ID)
	vaulttest.WantKind(t, "text file", err, errs.NotFound)
	_, err = v.Previews.PageSizes(t.Context(), vaulttest.Operator, 99)
	vaulttest.WantKind(t, "unknown file", err, errs.NotFound)
}

func TestFindPhrase(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(*instance.Options) {})
	long := strings.Repeat("x ", 40)
	text := "The GRANTOR\n  and grantor's heirs. " + long + "Grantor" + strings.Repeat(" grantor", 1200)
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Search.txt", []byte(text)))[0]
	find := func(typed string) (jobs.Found, error) {
		return v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, typed, false, 0)
	}
	found, err := find(" grantor ")
	if err != nil || !found.More || len(found.Hits) != 1000 {
		t.Fatalf("Find() = %d hits, more %v, %v; want 1000, true", len(found.Hits), found.More, err)
	}
	if h := found.Hits[0]; h.Page != 1 || h.Before != "The " || h.Match != "GRANTOR" ||
		!strings.HasPrefix(h.After, " and grantor's heirs. x x") || !strings.HasSuffix(h.After, "…") {
		t.Errorf("first hit = %+v, want The |GRANTOR| and grantor's heirs. x x… on page 1", h)
	}
	if h := found.Hits[2]; !strings.HasPrefix(h.Before, "…") || h.Match != "Grantor" {
		t.Errorf("third hit = %+v, want …|Grantor|", h)
	}
	if found, err = find("grantor and"); err != nil || found.More || len(found.Hits) != 1 || found.Hits[0].Match != "GRANTOR and" {
		t.Errorf("Find(grantor and) = %+v, %v; want one hit", found, err)
	}
	for name, typed := range map[string]string{"empty": "", "blank": "  ", "absent word": "mortgage"} {
		t.Run(name, func(t *testing.T) {
			if found, err := find(typed); err != nil || found.More || len(found.Hits) != 0 {
				t.Errorf("Find(%q) = %+v, %v; want no hits", typed, found, err)
			}
		})
	}
	_, err = v.Previews.Find(t.Context(), vaulttest.Operator, 99, "a", false, 0)
	vaulttest.WantKind(t, "unknown file", err, errs.NotFound)
	_, err = v.Previews.Marks(t.Context(), vaulttest.Operator, file.ID, 1, "a", false)
	vaulttest.WantKind(t, "marks in a text file", err, errs.NotFound)
}

// pagedReader returns the text of a document with many pages.
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

// If some pages contain all of the typed words, Find returns only hits on those pages.
// The text around a hit is cut between words.
func TestFindWords(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = pagedReader{pages: 600} })
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Long.pdf", ""))[0]
	for _, row := range []struct {
		typed    string
		fromPage int
		want     int // number of hits
		page     int // page of all hits; 0 if they are on several pages
		more     bool
	}{
		{"page 311 of 600", 0, 1, 311, false},
		{"page 311 of 600", 311, 1, 311, false},
		{"page 311 of 600", 5, 1000, 0, true},
		{"page 311", 0, 1, 311, false},
		{"page", 1, 600, 0, false},
		{"page whereas", 2, 1000, 0, true},
		{"page nowhere", 0, 600, 0, false},
		{"311", 5, 1, 311, false},
	} {
		t.Run(fmt.Sprintf("%s from page %d", row.typed, row.fromPage), func(t *testing.T) {
			found, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, row.typed, true, row.fromPage)
			if err != nil || len(found.Hits) != row.want || found.More != row.more {
				t.Fatalf("Find() = %d hits, more %v, %v; want %d, %v", len(found.Hits), found.More, err, row.want, row.more)
			}
			otherPage := slices.ContainsFunc(found.Hits, func(h jobs.Hit) bool { return h.Page != row.page })
			if row.page > 0 && otherPage {
				t.Errorf("hits = %+v, want page %d only", found.Hits, row.page)
			}
		})
	}
	found, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, "of 600", false, 0)
	if err != nil || !strings.HasSuffix(found.Hits[0].After, " whereas…") {
		t.Errorf("first hit of Find(of 600) = %+v, %v; want \" whereas…\" at the end of After", found.Hits[0], err)
	}
}

// Find returns Unavailable if the search deadline has passed.
func TestFindStopsAtDeadline(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Search.Deadline = time.Nanosecond })
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Search.txt", []byte("zebra")))[0]
	_, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, "zebra", false, 0)
	vaulttest.WantKind(t, "deadline exceeded", err, errs.Unavailable)
}

// An actor can run only one search within a document at a time. The searches of other
// actors don't have to wait for it.
func TestFindOneAtATimePerActor(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Search.Deadline = time.Second })
	other := model.Actor{Kind: vaulttest.Operator.Kind, ID: vaulttest.Operator.ID + 1}
	small := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Small.txt", []byte("zebra")))[0]
	err := v.Previews.WithFindLock(t.Context(), vaulttest.Operator, func() {
		_, err := v.Previews.Find(t.Context(), vaulttest.Operator, small.ID, "zebra", false, 0)
		vaulttest.WantKind(t, "second search", err, errs.Unavailable)
		if found, err := v.Previews.Find(t.Context(), other, small.ID, "zebra", false, 0); err != nil || len(found.Hits) != 1 {
			t.Errorf("Find() by another actor = %d hits, %v; want 1", len(found.Hits), err)
		}
	})
	if err != nil {
		t.Errorf("find lock: %v", err)
	}
	if found, err := v.Previews.Find(t.Context(), vaulttest.Operator, small.ID, "zebra", false, 0); err != nil || len(found.Hits) != 1 {
		t.Errorf("Find() after the lock is released = %d hits, %v; want 1", len(found.Hits), err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Previews.Find(canceled, vaulttest.Operator, small.ID, "zebra", false, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Find() with a canceled context: got %v, want context canceled", err)
	}
}

func TestTrashedFile(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(&vaulttest.FakeReader{}))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	_, err := v.Files.Trashed(t.Context(), file.ID)
	vaulttest.WantKind(t, "file outside the trash", err, errs.NotFound)
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	if got, err := v.Files.Trashed(t.Context(), file.ID); err != nil || got.Filename != "Deed.pdf" || got.Trashed == nil {
		t.Errorf("Trashed() = %+v, %v; want Deed.pdf with the time of deletion", got, err)
	}
	_, err = v.Files.Trashed(t.Context(), 99)
	vaulttest.WantKind(t, "unknown file", err, errs.NotFound)
}
