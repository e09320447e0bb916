package jobs_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

func derivedFile(opts instance.Options, file model.File, name string) string {
	return filepath.Join(opts.Dir, "previews", file.Digest[:2], file.Digest, name)
}

func TestDeletedPreviewsComeBack(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.StartWithFakeReader(t, f)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.WaitProcessed(t, v)
	vaulttest.WaitIndexed(t, v) // the index asks for texts that it misses, too
	if err := os.RemoveAll(filepath.Join(opts.Dir, "previews")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != vaulttest.FakeText(vaulttest.PDF(1, "a")) {
		t.Errorf("text %q, %v", got, err)
	}
	if err := os.RemoveAll(filepath.Join(opts.Dir, "previews")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	picture, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, file.ID)
	if got := body(t, picture, err); !strings.HasPrefix(got, "page 1 at 400") {
		t.Errorf("thumbnail %q", got)
	}
	if n := f.Count(func(a vaulttest.ReaderCall) bool {
		return a.Class == sandbox.View && a.Owner == vaulttest.Operator.Record()
	}); n != 2 {
		t.Errorf("asked %+v", f.Calls)
	}
	// The processing of others goes on, too.
	if why := vaulttest.ProcessingFailure(t, v, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Later.pdf", "later"))[0].ID); why != "" {
		t.Error(why)
	}
}

func TestDamagedTextIsMadeAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func([]byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"cut", func(b []byte) []byte { return b[:len(b)-5] }},
		{"flipped", func(b []byte) []byte { b[len(b)/2] ^= 0x20; return b }},
		{"another", func([]byte) []byte { return []byte("what is this") }},
	}
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.StartWithFakeReader(t, f)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", strings.Repeat("deed ", 2000)))[0]
	vaulttest.WaitProcessed(t, v)
	vaulttest.WaitIndexed(t, v) // the index asks for texts that it finds damaged, too
	want, err := vaulttest.PageTexts(t, v, file.ID)
	if err != nil || !strings.HasPrefix(want, "1:1 of ") {
		t.Fatalf("%.100q, %v", want, err)
	}
	for n, tt := range tests {
		path := derivedFile(opts, file, blobstore.TextFile)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("read file: %v", err)
		}
		if err := os.WriteFile(path, tt.spoil(whole), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != want {
			t.Errorf("%s: %.100q, %v", tt.name, got, err)
		}
		if again, err := os.ReadFile(path); err != nil || len(again) != len(whole) || f.Count(vaulttest.IsTextCall) != n+2 {
			t.Errorf("%s: %d bytes, asked %d times", tt.name, len(again), f.Count(vaulttest.IsTextCall))
		}
	}
}

func TestTextStopsWhereItsReaderStops(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.StartWithFakeReader(t, &vaulttest.FakeReader{})
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.WaitProcessed(t, v)
	last := 0
	err := v.Previews.Text(t.Context(), vaulttest.Operator, file.ID, func(page int, _ string) error {
		if last = page; page == 2 {
			return errTrouble
		}
		return nil
	})
	if !errors.Is(err, errTrouble) || last != 2 {
		t.Errorf("page %d, %v", last, err)
	}
}

func TestPageIsMadeOnceAndKept(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Settings.Extract.MaxWidth = 1500 })
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(9, "a")))[0]
	tests := []struct {
		name        string
		page, width int
		want        string
		asked       int // of the reader, so far
	}{
		{"made", 3, 1200, "page 3 at 1200 of ", 1},
		{"kept", 3, 1200, "page 3 at 1200 of ", 1},
		{"another width", 3, 600, "page 3 at 600 of ", 2},
		{"another page", 2, 600, "page 2 at 600 of ", 3},
		{"too wide", 2, 9000, "page 2 at 1500 of ", 4},
		{"as wide as may be", 2, 1500, "page 2 at 1500 of ", 4},
		{"no width", 2, -1, "page 2 at 1 of ", 5},
	}
	for _, tt := range tests {
		picture, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, tt.page, tt.width)
		if got := body(t, picture, err); !strings.HasPrefix(got, tt.want) || f.Count(vaulttest.IsImageCall) != tt.asked {
			t.Errorf("%s: %q, asked %d times", tt.name, got, f.Count(vaulttest.IsImageCall))
		}
	}
	f.SetHandler(func(_ context.Context, a vaulttest.ReaderCall) error {
		if a.Page > 9 {
			return document.ErrNoPage
		}
		return errTrouble
	})
	_, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 10, 600)
	vaulttest.WantKind(t, "no page", err, errs.NotFound)
	if _, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 9, 600); !errors.Is(err, errTrouble) || errs.KindOf(err) == errs.NotFound {
		t.Errorf("trouble of ours: %v", err)
	}
	_, err = v.Previews.PageImage(t.Context(), vaulttest.Operator, 99, 1, 600)
	vaulttest.WantKind(t, "no file", err, errs.NotFound)
	if left := vaulttest.FilesUnder(t, opts.Dir, "previews/tmp"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What was read longest ago goes; a picture that alone is over the limit is given
// all the same.
func TestPicturesAreTrimmed(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	clock := vaulttest.NewClock()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		vaulttest.WithFakeReader(f)(o)
		o.Settings.PreviewSize, o.Now = 550, clock.Now
	})
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(9, strings.Repeat("x", 30))))[0]
	get := func(page int) {
		t.Helper()
		picture, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, page, 600)
		if body(t, picture, err) == "" {
			t.Errorf("page %d is empty", page)
		}
		clock.Advance(time.Minute)
	}
	for page := 1; page <= 5; page++ {
		get(page)
	}
	get(1) // used again
	for page := 6; page <= 8; page++ {
		get(page)
	}
	pictures, total := vaulttest.FilesUnder(t, opts.Dir, "previews"), int64(0)
	for _, path := range pictures {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatalf("stat: %v", err)
		}
		total += info.Size()
	}
	if _, err := os.Stat(derivedFile(opts, file, blobstore.PageImageFile(1, 600))); err != nil || total > 550 || len(pictures) < 3 {
		t.Errorf("%d pictures of %d bytes, %v", len(pictures), total, err)
	}
	if _, err := os.Stat(derivedFile(opts, file, blobstore.PageImageFile(2, 600))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the longest unused: %v", err)
	}

	big, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Settings.PreviewSize = 10 })
	file = vaulttest.UploadDocs(t, big, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	picture, err := big.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 1, 600)
	if got := body(t, picture, err); !strings.HasPrefix(got, "page 1 at 600") {
		t.Errorf("over the limit: %q", got)
	}
}

// What is swept leaves no text and no pictures behind; what is named keeps them.
func TestSweepDropsWhatWasDerived(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.StartWithFakeReader(t, &vaulttest.FakeReader{})
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.WaitProcessed(t, v)
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
	digest := filepath.Base(path)
	folder := filepath.Join(opts.Dir, "previews", digest[:2], digest)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, blobstore.TextFile), []byte("secret"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	for _, gone := range []string{path, folder} {
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stays: %v", gone, err)
		}
	}
	for _, stays := range []string{blobstore.TextFile, blobstore.ThumbnailFile} {
		if _, err := os.Stat(derivedFile(opts, file, stays)); err != nil {
			t.Errorf("%s: %v", stays, err)
		}
	}
}
