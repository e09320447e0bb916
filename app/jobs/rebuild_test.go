package jobs_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/vaulttest"
)

// logLines keeps what a server logs, for many goroutines.
type logLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logLines) lines(with string) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, with) {
			list = append(list, line)
		}
	}
	return list
}

// derivedFiles are the paths of what was derived under a name, in order.
func derivedFiles(t *testing.T, opts instance.Options, name string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", "*", name))
	if err != nil || len(list) == 0 {
		t.Fatalf("no %s: %v", name, err)
	}
	slices.Sort(list)
	return list
}

// Texts and previews from before an update are no damage, with the search index of then
// and without one: a verification before the first start says so, and so does a repair.
// The server rebuilds the texts, in one line of its log.
func TestAVaultOfAnotherVersionIsSound(t *testing.T) {
	t.Parallel()
	for name, index := range map[string]func(dir string) error{
		"index stays":   func(string) error { return nil },
		"index is gone": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "search")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := texted(t, &vaulttest.FakeReader{}, 4)
			texts, thumbnails := derivedFiles(t, opts, blobstore.TextFile), derivedFiles(t, opts, blobstore.ThumbnailFile)
			sound, err := os.ReadFile(texts[0])
			err = errors.Join(err, index(opts.Dir),
				os.WriteFile(texts[0], vaulttest.OldText(t, 1, "walrus"), 0o600),
				os.WriteFile(texts[1], vaulttest.OldText(t, 2, "walrus"), 0o600),
				os.WriteFile(texts[2], append(sound[:10:10], make([]byte, 200)...), 0o600), // a power cut
				os.WriteFile(thumbnails[3], []byte("\x89PNG\r\n\x1a\n of an earlier version"), 0o600),
				vaulttest.FlipByte(0.9)(thumbnails[0]))
			if err != nil {
				t.Fatalf("index: %v", err)
			}

			check := func(what string, r integrity.Report, err error, version, damaged int) {
				t.Helper()
				if err != nil || !r.OK() || r.OtherVersion != version || r.DamagedPreviews != damaged {
					t.Errorf("%s: findings %+v, %d from another version, %d damaged, %v; want no findings, %d, %d",
						what, r.Findings, r.OtherVersion, r.DamagedPreviews, err, version, damaged)
				}
			}
			quietly := func(int, int) {}
			v := vaulttest.OpenUnchecked(t, opts)
			r, err := v.Integrity.Verify(t.Context(), quietly)
			check("verify before the first start", r, err, 3, 2)
			if name == "index is gone" { // which a repair has rebuilt in any case
				repaired, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, quietly)
				check("repair", repaired.Report, err, 3, 2)
			}
			vaulttest.Close(t, v)

			log := &logLines{}
			opts.Log = slog.New(slog.NewTextHandler(log, nil))
			v = begun(t, opts)
			vaulttest.WaitTextsRebuilt(t, v)
			for i := range 4 {
				vaulttest.WaitSearchHits(t, v, fmt.Sprintf("alone%d", i), fmt.Sprintf("file %d", i+1))
			}
			vaulttest.Eventually(t, "the last line of the log", func() bool { return len(log.lines("is rebuilt")) == 1 })
			if got := log.lines("rebuilding the text"); len(got) != 1 || !strings.Contains(got[0], "documents=3") {
				t.Errorf("the log has %q, want one line for 3 documents", got)
			}
			if got := log.lines("level=WARN"); len(got) > 0 {
				t.Errorf("the log has %q, want no warning", got)
			}
			r, err = v.Integrity.Verify(t.Context(), quietly)
			check("verify of the texts rebuilt", r, err, 1, 0)
			for id := range uint64(4) {
				picture, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, id+1)
				if got := body(t, picture, err); !strings.HasPrefix(got, "page 1 at 400") {
					t.Errorf("thumbnail %q", got)
				}
			}
			r, err = v.Integrity.Verify(t.Context(), quietly)
			check("verify of the thumbnails rebuilt", r, err, 0, 0)
			vaulttest.Close(t, v)
		})
	}
}

// A preview of which a bit differs is never given away, nor are sizes.
func TestADamagedPreviewIsRebuilt(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, opts := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Deed.pdf", vaulttest.PDF(7, "a")))[0]
	sizes := func() {
		t.Helper()
		if got, err := v.Previews.PageSizes(t.Context(), vaulttest.Operator, file.ID); err != nil || len(got) != 7 {
			t.Errorf("%v, %v", got, err)
		}
	}
	page := func() {
		t.Helper()
		picture, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 2, 850)
		if got := body(t, picture, err); !strings.HasPrefix(got, "page 2 at 850 of %PDF") {
			t.Errorf("picture %q", got)
		}
	}
	sizes()
	page()
	for _, name := range []string{blobstore.PageSizesFile, blobstore.PageImageFile(2, 850)} {
		path := derivedFile(opts, file, name)
		before, err := os.ReadFile(path)
		if err == nil {
			err = vaulttest.FlipByte(0.9)(path)
		}
		if err != nil {
			t.Fatalf("vaulttest.FlipByte: %v", err)
		}
		sizes()
		page()
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: %q, %v, want it rebuilt: %q", name, after, err, before)
		}
	}
}
