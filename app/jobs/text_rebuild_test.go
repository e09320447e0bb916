package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/search"
	"deedkeep/app/vaulttest"
)

// withTexts creates an instance with count text files, waits until they are searchable, and
// closes the instance. All files contain the word "walrus", and file i+1 contains "alone"
// followed by i. withTexts returns the options of the instance.
func withTexts(t *testing.T, f *vaulttest.FakeReader, count int) instance.Options {
	t.Helper()
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v := start(t, opts)
	docs := make([]vaulttest.Doc, count)
	for i := range docs {
		docs[i] = vaulttest.TextDoc(fmt.Sprintf("N%d.txt", i), fmt.Sprintf("walrus alone%d", i))
	}
	vaulttest.UploadDocs(t, v, docs...)
	vaulttest.WaitTextsRebuilt(t, v)
	vaulttest.WaitSearchHits(t, v, fmt.Sprintf("alone%d", count-1), fmt.Sprintf("file %d", count))
	if err := v.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return opts
}

// start opens and starts an instance. The caller must close it.
func start(t *testing.T, opts instance.Options) *instance.Instance {
	t.Helper()
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	v.Start(time.Hour)
	return v
}

// hitCount returns the number of files that a search finds, or 0 if the search is
// unavailable.
func hitCount(t *testing.T, v *instance.Instance, text string) int {
	t.Helper()
	page, err := v.Search.Records(t.Context(), vaulttest.Operator, search.Query{Text: text, Limit: 1})
	if err != nil && errs.KindOf(err) != errs.Unavailable {
		t.Fatalf("search: %v", err)
	}
	return page.Counts["file"]
}

// Backups don't contain the extracted text. After a restore, the server extracts it again
// in small batches, and then searches find it.
func TestRestoredTextsAreRebuilt(t *testing.T) {
	t.Parallel()
	const count = 100
	f := &vaulttest.FakeReader{}
	v := vaulttest.Open(t, withTexts(t, f, count))
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	opts := vaulttest.RestoreOptions(t, to)
	vaulttest.WithFakeReader(f)(&opts.Vault)
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatalf("restore: %v", err)
	}
	v = vaulttest.Open(t, opts.Vault)
	// The state reports the missing text even before the instance is started.
	s, err := v.Search.Await(t.Context(), func(uint64, uint64) {})
	if err != nil || !s.Ready || s.MissingText != count {
		t.Errorf("before the start: State() = %+v, %v; want ready, %d missing texts", s, err, count)
	}
	if r, err := v.Integrity.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() || r.Texts != count {
		t.Errorf("Verify() = %d texts, findings %v, %v; want %d, none", r.Texts, r.Findings, err, count)
	}
	before, unblock := f.Count(vaulttest.IsTextCall), make(chan struct{})
	f.SetHandler(func(context.Context, vaulttest.ReaderCall) error { <-unblock; return nil })
	v.Start(time.Hour)
	vaulttest.Eventually(t, "queued documents in the state of the search index", func() bool {
		s, err := v.Search.State(t.Context())
		return err == nil && s.Processing > 0 && s.PendingChanges == 0
	})
	if s, err := v.Search.State(t.Context()); err != nil || s.Complete() || s.WithoutText() != count {
		t.Errorf("during the rebuild: State() = %+v, %v; want incomplete, %d files without text", s, err, count)
	}
	close(unblock)
	maxQueue := uint64(0)
	vaulttest.Eventually(t, "all documents in the search index", func() bool {
		maxQueue = max(maxQueue, vaulttest.Status(t, v).Queue)
		return hitCount(t, v, "walrus") == count
	})
	vaulttest.WaitTextsRebuilt(t, v)
	if maxQueue > 96 {
		t.Errorf("maximum queue = %d, want at most 96", maxQueue)
	}
	if got := f.Count(vaulttest.IsTextCall) - before; got != count {
		t.Errorf("extracted texts = %d, want %d", got, count)
	}
}

// When the search index is rebuilt, missing and damaged text is extracted again.
func TestLostTextsAreRebuilt(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, dir string){
		"deleted previews and search index": func(t *testing.T, dir string) {
			for _, name := range []string{"previews", "search"} {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatalf("remove directory: %v", err)
				}
			}
		},
		"damaged text": func(t *testing.T, dir string) {
			texts, err := filepath.Glob(filepath.Join(dir, "previews", "*", "*", blobstore.TextFile))
			if err == nil {
				err = errors.Join(vaulttest.FlipByte(0.6)(texts[0]), os.RemoveAll(filepath.Join(dir, "search")))
			}
			if err != nil {
				t.Fatalf("damage text: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := withTexts(t, &vaulttest.FakeReader{}, 5)
			damage(t, opts.Dir)
			v := vaulttest.Open(t, opts)
			v.Start(time.Hour)
			for i := range 5 {
				vaulttest.WaitSearchHits(t, v, fmt.Sprintf("alone%d", i), fmt.Sprintf("file %d", i+1))
			}
			vaulttest.WaitTextsRebuilt(t, v)
		})
	}
}

// If a document can't be read, extraction is attempted only once, even if the search index
// is rebuilt repeatedly.
func TestUnreadableTextsAreNotRetried(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(func(_ context.Context, c vaulttest.ReaderCall) error {
		switch {
		case bytes.Contains([]byte(c.Body), []byte("alone0")) && c.Kind == "text":
			return document.ErrUnsupported
		case bytes.Contains([]byte(c.Body), []byte("alone1")) && c.Kind == "text":
			return document.ErrDamaged
		}
		return nil
	})
	opts := withTexts(t, f, 3)
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
	if got := f.Count(vaulttest.IsTextCall) - before; got != 2 { // the failure of the damaged document is stored, so it isn't read again
		t.Errorf("text calls = %d, want 2", got)
	}
	if failure := vaulttest.ProcessingFailure(t, v, 2); !strings.Contains(failure, "damaged") {
		t.Errorf("failure of file 2 = %q, want \"damaged\" in it", failure)
	}
}

// logLines collects the lines of a log. It is safe for concurrent use.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// lines returns the log lines that contain text.
func (l *logLines) lines(text string) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, text) {
			list = append(list, line)
		}
	}
	return list
}

// derivedFiles returns the sorted paths of the preview files with this name. It fails the
// test if there are none.
func derivedFiles(t *testing.T, opts instance.Options, name string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", "*", name))
	if err != nil || len(list) == 0 {
		t.Fatalf("no %s: %v", name, err)
	}
	slices.Sort(list)
	return list
}

// Text and previews of an older version don't count as damage, whether or not the search
// index is also from that version. Neither a verification before the first start nor a
// repair reports them. The server rebuilds the text and logs a single line about it.
func TestPreviewsOfOlderVersion(t *testing.T) {
	t.Parallel()
	for name, changeIndex := range map[string]func(dir string) error{
		"existing index": func(string) error { return nil },
		"missing index":  func(dir string) error { return os.RemoveAll(filepath.Join(dir, "search")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := withTexts(t, &vaulttest.FakeReader{}, 4)
			texts, thumbnails := derivedFiles(t, opts, blobstore.TextFile), derivedFiles(t, opts, blobstore.ThumbnailFile)
			intact, err := os.ReadFile(texts[0])
			err = errors.Join(err, changeIndex(opts.Dir),
				os.WriteFile(texts[0], vaulttest.OldText(t, 1, "walrus"), 0o600),
				os.WriteFile(texts[1], vaulttest.OldText(t, 2, "walrus"), 0o600),
				os.WriteFile(texts[2], append(intact[:10:10], make([]byte, 200)...), 0o600), // as it can happen after a power failure
				os.WriteFile(thumbnails[3], []byte("\x89PNG\r\n\x1a\n of an earlier version"), 0o600),
				vaulttest.FlipByte(0.9)(thumbnails[0]))
			if err != nil {
				t.Fatalf("index: %v", err)
			}

			check := func(name string, r integrity.Report, err error, version, damaged int) {
				t.Helper()
				if err != nil || !r.OK() || r.OtherVersion != version || r.DamagedPreviews != damaged {
					t.Errorf("%s: findings %+v, %d from another version, %d damaged, %v; want no findings, %d, %d",
						name, r.Findings, r.OtherVersion, r.DamagedPreviews, err, version, damaged)
				}
			}
			noProgress := func(int, int) {}
			v := vaulttest.OpenUnchecked(t, opts)
			r, err := v.Integrity.Verify(t.Context(), noProgress)
			check("verify before the first start", r, err, 3, 2)
			if name == "missing index" { // a repair rebuilds it in any case
				repaired, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, noProgress)
				check("repair", repaired.Report, err, 3, 2)
			}
			vaulttest.Close(t, v)

			log := &logLines{}
			opts.Log = slog.New(slog.NewTextHandler(log, nil))
			v = start(t, opts)
			vaulttest.WaitTextsRebuilt(t, v)
			for i := range 4 {
				vaulttest.WaitSearchHits(t, v, fmt.Sprintf("alone%d", i), fmt.Sprintf("file %d", i+1))
			}
			vaulttest.Eventually(t, "the last log line", func() bool { return len(log.lines("document text rebuilt")) == 1 })
			if got := log.lines("rebuilding document text"); len(got) != 1 || !strings.Contains(got[0], "documents=3") {
				t.Errorf("log lines = %q, want one for 3 documents", got)
			}
			if got := log.lines("level=WARN"); len(got) > 0 {
				t.Errorf("warnings = %q, want none", got)
			}
			r, err = v.Integrity.Verify(t.Context(), noProgress)
			check("verify after the texts are rebuilt", r, err, 1, 0)
			for id := range uint64(4) {
				image, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, id+1)
				if got := readAll(t, image, err); !strings.HasPrefix(got, "page 1 at 144") {
					t.Errorf("thumbnail of file %d = %q, want page 1 at 144", id+1, got)
				}
			}
			r, err = v.Integrity.Verify(t.Context(), noProgress)
			check("verify after the thumbnails are rebuilt", r, err, 0, 0)
			vaulttest.Close(t, v)
		})
	}
}
