package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// derivedFile returns the path of a file in the previews directory.
func derivedFile(opts instance.Options, file model.File, name string) string {
	return filepath.Join(opts.Dir, "previews", file.Digest[:2], file.Digest, name)
}

func TestDeletedPreviewsAreRegenerated(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.StartWithFakeReader(t, f)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.WaitProcessed(t, v)
	vaulttest.WaitIndexed(t, v) // because the search index also requests missing text
	if err := os.RemoveAll(filepath.Join(opts.Dir, "previews")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != vaulttest.FakeText(vaulttest.PDF(1, "a")) {
		t.Errorf("text = %q, %v; want that of the document", got, err)
	}
	if err := os.RemoveAll(filepath.Join(opts.Dir, "previews")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	image, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, file.ID)
	if got := readAll(t, image, err); !strings.HasPrefix(got, "page 1 at 144") {
		t.Errorf("thumbnail = %q, want page 1 at 144", got)
	}
	if n := f.Count(func(c vaulttest.ReaderCall) bool {
		return c.Class == sandbox.View && c.Owner == vaulttest.Operator.Record()
	}); n != 2 {
		t.Errorf("calls = %+v, want 2 of class View by the operator", f.Calls)
	}
	// Other documents are still processed.
	later := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Later.pdf", "later"))[0]
	if failure := vaulttest.ProcessingFailure(t, v, later.ID); failure != "" {
		t.Errorf("processing of a later upload failed: %s", failure)
	}
}

func TestDamagedTextIsRegenerated(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"truncated", func(b []byte) []byte { return b[:len(b)-5] }},
		{"flipped bit", func(b []byte) []byte { b[len(b)/2] ^= 0x20; return b }},
		{"other content", func([]byte) []byte { return []byte("other bytes!") }},
	}
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.StartWithFakeReader(t, f)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", strings.Repeat("deed ", 2000)))[0]
	vaulttest.WaitProcessed(t, v)
	want, err := vaulttest.PageTexts(t, v, file.ID)
	if err != nil || !strings.HasPrefix(want, "1:1 of ") {
		t.Fatalf("text = %.100q, %v; want page 1 first", want, err)
	}
	for n, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// The index reads each regenerated text. It would regenerate the next one as well if it
			// read it after the damage.
			vaulttest.WaitIndexed(t, v)
			path := derivedFile(opts, file, blobstore.TextFile)
			intact, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			if err := os.WriteFile(path, tt.damage(intact), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != want {
				t.Errorf("text = %.100q, %v; want %.100q", got, err, want)
			}
			got, err := os.ReadFile(path)
			if err != nil || len(got) != len(intact) || f.Count(vaulttest.IsTextCall) != n+2 {
				t.Errorf("text file = %d bytes, %v, after %d extractions; want %d bytes, %d", len(got), err,
					f.Count(vaulttest.IsTextCall), len(intact), n+2)
			}
		})
	}
}

// Text stops at the first error returned by its callback.
func TestTextStopsAtError(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.StartWithFakeReader(t, &vaulttest.FakeReader{})
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.WaitProcessed(t, v)
	last := 0
	err := v.Previews.Text(t.Context(), vaulttest.Operator, file.ID, func(page int, _ string) error {
		if last = page; page == 2 {
			return errReader
		}
		return nil
	})
	if !errors.Is(err, errReader) || last != 2 {
		t.Errorf("Text() stopped at page %d, %v; want 2, %v", last, err, errReader)
	}
}

func TestPageImageIsRenderedOnce(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Settings.Extract.MaxWidth = 1500 })
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(9, "a")))[0]
	tests := []struct {
		name        string
		page, width int
		want        string
		calls       int // total number of calls of the reader
	}{
		{"rendered", 3, 1200, "page 3 at 1200 of ", 1},
		{"stored", 3, 1200, "page 3 at 1200 of ", 1},
		{"another width", 3, 600, "page 3 at 600 of ", 2},
		{"another page", 2, 600, "page 2 at 600 of ", 3},
		{"too wide", 2, 9000, "page 2 at 1500 of ", 4},
		{"maximum width", 2, 1500, "page 2 at 1500 of ", 4},
		{"negative width", 2, -1, "page 2 at 1 of ", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			image, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, tt.page, tt.width)
			got, calls := readAll(t, image, err), f.Count(vaulttest.IsImageCall)
			if !strings.HasPrefix(got, tt.want) || calls != tt.calls {
				t.Errorf("PageImage(%d, %d) = %q after %d calls, want %q, %d", tt.page, tt.width, got, calls, tt.want, tt.calls)
			}
		})
	}
	f.SetHandler(func(_ context.Context, c vaulttest.ReaderCall) error {
		if c.Page > 9 {
			return document.ErrNoPage
		}
		return errReader
	})
	_, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 10, 600)
	vaulttest.WantKind(t, "page after the last", err, errs.NotFound)
	if _, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 9, 600); !errors.Is(err, errReader) ||
		errs.KindOf(err) == errs.NotFound {
		t.Errorf("PageImage() with a failing reader: got %v, want %v", err, errReader)
	}
	_, err = v.Previews.PageImage(t.Context(), vaulttest.Operator, 99, 1, 600)
	vaulttest.WantKind(t, "unknown file", err, errs.NotFound)
	if left := vaulttest.FilesUnder(t, opts.Dir, "previews/tmp"); len(left) > 0 {
		t.Errorf("files in previews/tmp = %v, want none", left)
	}
}

// If the previews exceed their maximum size, the least recently used images are evicted. An
// image that is larger than the maximum size is still returned.
func TestLeastRecentlyUsedImagesAreEvicted(t *testing.T) {
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
		image, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, page, 600)
		if readAll(t, image, err) == "" {
			t.Errorf("page %d is empty", page)
		}
		clock.Advance(time.Minute)
	}
	for page := 1; page <= 5; page++ {
		get(page)
	}
	get(1) // now page 1 is not the least recently used one
	for page := 6; page <= 8; page++ {
		get(page)
	}
	images, total := vaulttest.FilesUnder(t, opts.Dir, "previews"), int64(0)
	for _, path := range images {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatalf("stat: %v", err)
		}
		total += info.Size()
	}
	if _, err := os.Stat(derivedFile(opts, file, blobstore.PageImageFile(1, 600))); err != nil || total > 550 || len(images) < 3 {
		t.Errorf("stored: %d images of %d bytes, page 1: %v; want at least 3 of at most 550 bytes with page 1", len(images), total, err)
	}
	if _, err := os.Stat(derivedFile(opts, file, blobstore.PageImageFile(2, 600))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("least recently used image: %v, want that it doesn't exist", err)
	}

	big, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Settings.PreviewSize = 10 })
	file = vaulttest.UploadDocs(t, big, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	image, err := big.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 1, 600)
	if got := readAll(t, image, err); !strings.HasPrefix(got, "page 1 at 600") {
		t.Errorf("image over the maximum size = %q, want page 1 at 600", got)
	}
}

// The sweeper deletes the text and images of orphaned documents and keeps those of stored
// files.
func TestSweepDeletesPreviews(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.StartWithFakeReader(t, &vaulttest.FakeReader{})
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.WaitProcessed(t, v)
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
	digest := filepath.Base(path)
	dir := filepath.Join(opts.Dir, "previews", digest[:2], digest)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, blobstore.TextFile), []byte("secret"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	for _, deleted := range []string{path, dir} {
		if _, err := os.Stat(deleted); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("stat %s: %v, want that it doesn't exist", deleted, err)
		}
	}
	for _, name := range []string{blobstore.TextFile, blobstore.ThumbnailFile} {
		if _, err := os.Stat(derivedFile(opts, file, name)); err != nil {
			t.Errorf("%s of a stored file: %v", name, err)
		}
	}
}

// If several requests for the same image run at the same time, it is rendered only once.
// Canceling one of them doesn't affect the others.
func TestConcurrentRequestsShareImage(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	started, proceed := make(chan struct{}), make(chan struct{})
	f.SetHandler(func(context.Context, vaulttest.ReaderCall) error {
		close(started)
		<-proceed
		return nil
	})
	read := func(ctx context.Context) error {
		image, err := v.Previews.PageImage(ctx, vaulttest.Operator, file.ID, 1, 850)
		if err == nil {
			err = image.Close()
		}
		return err
	}
	var requests sync.WaitGroup
	requests.Go(func() {
		if err := read(t.Context()); err != nil {
			t.Errorf("read: %v", err)
		}
	})
	<-started
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled request: got %v, want context canceled", err)
	}
	for range 5 {
		requests.Go(func() {
			if err := read(t.Context()); err != nil {
				t.Errorf("read: %v", err)
			}
		})
	}
	close(proceed)
	requests.Wait()
	if n := f.Count(vaulttest.IsImageCall); n != 1 {
		t.Errorf("images rendered = %d, want 1", n)
	}
}

// Damaged page images and page sizes are never returned. The server regenerates them.
func TestDamagedPreviewIsRegenerated(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(7, "a")))[0]
	checkSizes := func() {
		t.Helper()
		if got, err := v.Previews.PageSizes(t.Context(), vaulttest.Operator, file.ID); err != nil || len(got) != 7 {
			t.Errorf("PageSizes() = %v, %v; want 7", got, err)
		}
	}
	checkImage := func() {
		t.Helper()
		image, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 2, 850)
		if got := readAll(t, image, err); !strings.HasPrefix(got, "page 2 at 850 of %PDF") {
			t.Errorf("PageImage(2, 850) = %q, want page 2 at 850", got)
		}
	}
	checkSizes()
	checkImage()
	for _, name := range []string{blobstore.PageSizesFile, blobstore.PageImageFile(2, 850)} {
		path := derivedFile(opts, file, name)
		before, err := os.ReadFile(path)
		if err == nil {
			err = vaulttest.FlipByte(0.9)(path)
		}
		if err != nil {
			t.Fatalf("damage preview: %v", err)
		}
		checkSizes()
		checkImage()
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s = %q, %v; want %q", name, after, err, before)
		}
	}
}

// readAll returns the content of a preview and closes it. It fails the test if err isn't nil.
func readAll(t *testing.T, f *blobstore.PreviewFile, err error) string {
	t.Helper()
	if err != nil {
		t.Errorf("preview: %v", err)
		return ""
	}
	defer f.Close() //nolint:errcheck // the file was only read
	b := make([]byte, f.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(b)
}
