//go:build !race

// These tests don't run with the race detector: the reader processes are copies of this test
// binary, and with the race detector they would take minutes.

package server_test

import (
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // decodes samples
	_ "image/jpeg" // decodes samples and thumbnails
	_ "image/png"  // decodes samples and thumbnails
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	_ "golang.org/x/image/bmp"  // decodes samples
	_ "golang.org/x/image/webp" // decodes samples

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

func TestMain(m *testing.M) { vaulttest.Main(m) }

// knownDifferences lists the samples for which one field of the outcome differs from the
// manifest, with the reason. The test fails if a listed sample doesn't differ.
var knownDifferences = map[string]struct{ field, reason string }{
	"ArabicCIDTrueType.pdf": {"phrase", "PDFium returns letters where pdftotext returns their presentation forms; users search for letters"},
}

// withoutThumbnail lists the decompression bombs for which no thumbnail is created, although
// their type normally has one. The value is the message of the processing failure.
var withoutThumbnail = map[string]string{
	"flate-bomb-content.pdf":     "No text: the document is damaged. No picture: the document is damaged.",
	"image-bomb-60000x60000.png": "No picture: the document is beyond the limits.",
}

// sampleServer contains everything needed to process a document: the server's handler, a vault,
// and a reader with its processes.
type sampleServer struct {
	t      *testing.T
	client *client.Client
	vault  *instance.Instance
}

var operator = model.Actor{Kind: "operator", Name: "test"}

func newSampleServer(t *testing.T) *sampleServer {
	t.Helper()
	pool := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir()})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Errorf("close pool: %v", err)
		}
	})
	opts := options(t, nil)
	vaultOpts := vaulttest.Options(t)
	vaultOpts.Dir, vaultOpts.Now, vaultOpts.Reader, vaultOpts.Settings.PreviewSize = shortDir(t), time.Now, pool, 64<<20
	opts.App = vaulttest.Open(t, vaultOpts)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatalf("server.Handler: %v", err)
	}
	key, _, err := opts.App.Keys.Create(t.Context(), operator, model.KeyDraft{Name: "samples"})
	if err != nil {
		t.Fatalf("create key: %v", err)
	}
	opts.App.Start(time.Hour)
	httpServer := httptest.NewServer(handler)
	t.Cleanup(httpServer.Close)
	return &sampleServer{t, client.New(httpServer.URL, key, nil), opts.App}
}

// outcome is the result of uploading a sample, in the terms of the manifest.
type outcome struct {
	rejection, mime string
	pages           int
	failure         string // message of the processing failure
	text            string // in lower case, with white space normalized
	thumbnail       image.Config
}

// upload uploads a sample and waits until it is processed.
func (s *sampleServer) upload(sample vaulttest.Sample) outcome {
	s.t.Helper()
	content, err := os.Open(sample.File)
	if err != nil {
		s.t.Fatalf("open file: %v", err)
	}
	defer content.Close() //nolint:errcheck // only read
	uploaded, err := s.client.Upload(s.t.Context(), nil, []client.Upload{{Filename: path.Base(sample.Path), Reader: content}})
	if err != nil {
		s.t.Fatalf("upload: %v", err)
	}
	if len(uploaded.Errors) == 1 && len(uploaded.Files) == 0 {
		return outcome{rejection: uploaded.Errors[0].Error}
	}
	if len(uploaded.Files) != 1 || !uploaded.Files[0].IsProcessing {
		s.t.Fatalf("upload: got %+v, want one file that is being processed", uploaded)
	}
	id := uint64(uploaded.Files[0].ID)
	got := outcome{mime: uploaded.Files[0].MimeType, failure: s.waitProcessed(id), text: s.text(id), thumbnail: s.thumbnail(id)}
	if pages := uploaded.Files[0].PageCount; pages != nil {
		got.pages = *pages
	}
	return got
}

// waitProcessed waits until a file is processed. It returns the message of the processing
// failure, or "" if processing succeeded.
func (s *sampleServer) waitProcessed(id uint64) (failure string) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(2 * time.Millisecond) {
		file, err := s.vault.Files.Get(s.t.Context(), id)
		if err != nil || time.Now().After(deadline) {
			s.t.Fatalf("file %d is not processed: %v", id, err)
		}
		if !file.Processing {
			return file.Failure
		}
	}
}

// text returns the normalized text of a file, or "" if the file has no text.
func (s *sampleServer) text(id uint64) string {
	s.t.Helper()
	var all strings.Builder
	err := s.vault.Previews.Text(s.t.Context(), operator, id, func(_ int, text string) error {
		all.WriteString(text + "\n")
		return nil
	})
	if err != nil && errs.KindOf(err) != errs.NotFound {
		s.t.Errorf("read text of file %d: %v", id, err)
	}
	return normalize(all.String())
}

// normalize converts text to lower case and replaces each run of white space with one space.
func normalize(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// thumbnail returns the dimensions of a file's thumbnail, or zero if the file has no thumbnail.
func (s *sampleServer) thumbnail(id uint64) image.Config {
	s.t.Helper()
	thumbnail, err := s.vault.Previews.Thumbnail(s.t.Context(), operator, id)
	if errs.KindOf(err) == errs.NotFound && err != nil {
		return image.Config{}
	}
	if err != nil {
		s.t.Errorf("open thumbnail of file %d: %v", id, err)
		return image.Config{}
	}
	config, _, err := image.DecodeConfig(thumbnail)
	if err = errors.Join(err, thumbnail.Close()); err != nil {
		s.t.Errorf("decode thumbnail of file %d: %v", id, err)
	}
	return config
}

// differences compares an outcome with the manifest and returns a message for each field that
// differs, keyed by field.
func differences(sample vaulttest.Sample, got outcome) map[string]string {
	found := map[string]string{}
	if got.rejection != sample.Rejection || sample.Accept == (got.rejection != "") {
		found["rejection"] = fmt.Sprintf("got %q, want %q", got.rejection, sample.Rejection)
	}
	if got.rejection != "" {
		return found
	}
	if got.mime != sample.MIME {
		found["mime"] = fmt.Sprintf("got %s, want %s", got.mime, sample.MIME)
	}
	if got.pages != sample.Pages {
		found["pages"] = fmt.Sprintf("got %d, want %d", got.pages, sample.Pages)
	}
	scanned := strings.Contains(sample.Note, "tesseract")
	if sample.Phrase != "" && !scanned && !strings.Contains(got.text, normalize(sample.Phrase)) {
		found["phrase"] = fmt.Sprintf("got text %.200q, want %q in it", got.text, sample.Phrase)
	}
	return found
}

// hasThumbnail reports whether documents of a type have thumbnails.
func hasThumbnail(mime string) bool {
	return mime == "application/pdf" || strings.HasPrefix(mime, "image/")
}

// The server accepts or rejects each sample, and processes it, as specified in the manifest.
func TestEverySample(t *testing.T) {
	s := newSampleServer(t)
	rows, phrases := 0, 0
	for _, sample := range vaulttest.Samples(t) {
		name := path.Base(sample.Path)
		t.Run(name, func(t *testing.T) {
			s.t = t
			got := s.upload(sample)
			found := differences(sample, got)
			known, ok := knownDifferences[name]
			for field, message := range found {
				if !ok || known.field != field {
					t.Errorf("%s: %s", field, message)
				}
			}
			if ok && found[known.field] == "" {
				t.Errorf("known difference in %s (%s) no longer exists", known.field, known.reason)
			}
			s.checkThumbnail(sample, got)
			rows++
			if sample.Phrase != "" && got.text != "" {
				phrases++
			}
		})
	}
	if rows < 35 || phrases < 10 {
		t.Errorf("got %d samples and %d checked phrases, want at least 35 and 10", rows, phrases)
	}
}

// checkThumbnail checks the thumbnail of an accepted sample.
func (s *sampleServer) checkThumbnail(sample vaulttest.Sample, got outcome) {
	s.t.Helper()
	want, without := withoutThumbnail[path.Base(sample.Path)]
	switch {
	case got.rejection != "":
	case without:
		if got.failure != want || got.thumbnail.Width != 0 {
			s.t.Errorf("got failure %q and a thumbnail %d wide, want %q and none", got.failure, got.thumbnail.Width, want)
		}
	case got.failure != "":
		s.t.Errorf("got failure %q, want none", got.failure)
	case !hasThumbnail(got.mime):
		if got.thumbnail.Width != 0 {
			s.t.Errorf("got a thumbnail %d wide, want none", got.thumbnail.Width)
		}
	default:
		s.checkSize(sample, got.thumbnail)
	}
}

// checkSize checks that a thumbnail has the standard width, or the width of the image if that is
// smaller.
func (s *sampleServer) checkSize(sample vaulttest.Sample, thumbnail image.Config) {
	s.t.Helper()
	want := jobs.ThumbnailWidth
	if thumbnail.Width != want {
		file, err := os.Open(sample.File)
		if err != nil {
			s.t.Fatalf("open file: %v", err)
		}
		defer file.Close() //nolint:errcheck // only read
		if natural, _, err := image.DecodeConfig(file); err == nil {
			want = min(want, natural.Width)
		}
	}
	if thumbnail.Width != want || thumbnail.Height < 1 {
		s.t.Errorf("got a thumbnail of %d x %d pixels, want a width of %d", thumbnail.Width, thumbnail.Height, want)
	}
}
