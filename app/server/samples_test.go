//go:build !race

// The real reader under the race detector takes minutes: its children are this
// binary.

package server_test

import (
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // measured
	_ "image/jpeg" // measured, and made
	_ "image/png"  // measured, and made
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	_ "golang.org/x/image/bmp"  // measured
	_ "golang.org/x/image/webp" // measured

	"deedkeep/app/client"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
)

func TestMain(m *testing.M) { vaulttest.Main(m) }

// otherwise are the samples with which we disagree with the manifest, what about,
// and why. One that has begun to agree must leave the list.
var otherwise = map[string]struct{ about, reason string }{
	"ArabicCIDTrueType.pdf": {"phrase", "PDFium gives letters where pdftotext gives their presentation forms; letters are what is searched for"},
}

// withoutPicture are the samples of kinds that have pictures of which there is none,
// and what is said of them: they are bombs.
var withoutPicture = map[string]string{
	"flate-bomb-content.pdf":     "No text: the document is damaged. No picture: the document is damaged.",
	"image-bomb-60000x60000.png": "No picture: the document is beyond the limits.",
}

// sampled is the whole way of a document: a server's handler, a vault, and a reader
// with children.
type sampled struct {
	t      *testing.T
	client *client.Client
	vault  *instance.Instance
}

var operator = model.Actor{Kind: "operator", Name: "test"}

func newSampled(t *testing.T) *sampled {
	t.Helper()
	pool := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir()})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	opts := options(t, nil)
	set := vaulttest.Options(t)
	set.Dir, set.Now, set.Reader, set.Settings.PreviewSize = shortDir(t), time.Now, pool, 64<<20
	opts.Vault = vaulttest.Open(t, set)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := opts.Vault.Keys.Create(t.Context(), operator, model.KeyDraft{Name: "samples"})
	if err != nil {
		t.Fatal(err)
	}
	opts.Vault.Start(time.Hour)
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	return &sampled{t, client.New(listening.URL, key, nil), opts.Vault}
}

// outcome is what became of a sample, in the manifest's terms.
type outcome struct {
	refusal, mime string
	pages         int
	failure       string // of the processing
	text          string // lower case, runs of white space as one blank
	thumbnail     image.Config
}

func (s *sampled) file(sample vaulttest.Sample) outcome {
	s.t.Helper()
	content, err := os.Open(sample.File)
	if err != nil {
		s.t.Fatal(err)
	}
	defer content.Close() //nolint:errcheck // only read
	up, err := s.client.Upload(s.t.Context(), nil, []client.Upload{{Filename: path.Base(sample.Path), Reader: content}})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(up.Errors) == 1 && len(up.Files) == 0 {
		return outcome{refusal: up.Errors[0].Error}
	}
	if len(up.Files) != 1 || !up.Files[0].IsProcessing {
		s.t.Fatalf("%+v", up)
	}
	id := uint64(up.Files[0].ID)
	got := outcome{mime: up.Files[0].MimeType, failure: s.processed(id), text: s.text(id), thumbnail: s.thumbnail(id)}
	if pages := up.Files[0].PageCount; pages != nil {
		got.pages = *pages
	}
	return got
}

// processed waits for the end of the processing.
func (s *sampled) processed(id uint64) (failure string) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(2 * time.Millisecond) {
		file, err := s.vault.Files.Get(s.t.Context(), id)
		if err != nil || time.Now().After(end) {
			s.t.Fatalf("file %d is not processed: %v", id, err)
		}
		if !file.Processing {
			return file.Failure
		}
	}
}

func (s *sampled) text(id uint64) string {
	s.t.Helper()
	var all strings.Builder
	err := s.vault.Previews.Text(s.t.Context(), operator, id, func(_ int, text string) error {
		all.WriteString(text + "\n")
		return nil
	})
	if err != nil && errs.KindOf(err) != errs.NotFound {
		s.t.Error(err)
	}
	return plain(all.String())
}

func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func (s *sampled) thumbnail(id uint64) image.Config {
	s.t.Helper()
	picture, err := s.vault.Previews.Thumbnail(s.t.Context(), operator, id)
	if errs.KindOf(err) == errs.NotFound && err != nil {
		return image.Config{}
	}
	if err != nil {
		s.t.Error(err)
		return image.Config{}
	}
	config, _, err := image.DecodeConfig(picture)
	if err = errors.Join(err, picture.Close()); err != nil {
		s.t.Error(err)
	}
	return config
}

// disagreements are about what an outcome differs from the manifest.
func disagreements(sample vaulttest.Sample, got outcome) map[string]string {
	found := map[string]string{}
	if got.refusal != sample.Rejection || sample.Accept == (got.refusal != "") {
		found["refusal"] = fmt.Sprintf("%q, want %q", got.refusal, sample.Rejection)
	}
	if got.refusal != "" {
		return found
	}
	if got.mime != sample.MIME {
		found["mime"] = fmt.Sprintf("%s, want %s", got.mime, sample.MIME)
	}
	if got.pages != sample.Pages {
		found["pages"] = fmt.Sprintf("%d, want %d", got.pages, sample.Pages)
	}
	if sample.Phrase != "" && !strings.Contains(sample.Note, "tesseract") && !strings.Contains(got.text, plain(sample.Phrase)) {
		found["phrase"] = fmt.Sprintf("no %q in %.200q", sample.Phrase, got.text)
	}
	return found
}

// pictured reports whether there are pictures of documents of a type.
func pictured(mime string) bool {
	return mime == "application/pdf" || strings.HasPrefix(mime, "image/")
}

func TestEverySample(t *testing.T) {
	s := newSampled(t)
	rows, phrases := 0, 0
	for _, sample := range vaulttest.Samples(t) {
		name := path.Base(sample.Path)
		t.Run(name, func(t *testing.T) {
			s.t = t
			got := s.file(sample)
			found := disagreements(sample, got)
			listed, is := otherwise[name]
			for about, how := range found {
				if !is || listed.about != about {
					t.Errorf("%s: %s", about, how)
				}
			}
			if is && found[listed.about] == "" {
				t.Errorf("listed as different in its %s (%s), but it agrees", listed.about, listed.reason)
			}
			s.look(sample, got)
			rows++
			if sample.Phrase != "" && got.text != "" {
				phrases++
			}
		})
	}
	if rows < 35 || phrases < 10 {
		t.Errorf("%d rows, %d with a phrase looked at", rows, phrases)
	}
}

// look looks at the picture of a sample that was taken.
func (s *sampled) look(sample vaulttest.Sample, got outcome) {
	s.t.Helper()
	want, without := withoutPicture[path.Base(sample.Path)]
	switch {
	case got.refusal != "":
	case without:
		if got.failure != want || got.thumbnail.Width != 0 {
			s.t.Errorf("processed with %q, want %q; a picture %d wide", got.failure, want, got.thumbnail.Width)
		}
	case got.failure != "":
		s.t.Errorf("processing failed: %s", got.failure)
	case !pictured(got.mime):
		if got.thumbnail.Width != 0 {
			s.t.Errorf("a picture %d wide", got.thumbnail.Width)
		}
	default:
		s.wide(sample, got.thumbnail)
	}
}

// wide looks at the width: that of thumbnails, or its own of a smaller image.
func (s *sampled) wide(sample vaulttest.Sample, thumbnail image.Config) {
	s.t.Helper()
	want := jobs.ThumbnailWidth
	if thumbnail.Width != want {
		file, err := os.Open(sample.File)
		if err != nil {
			s.t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // only read
		if natural, _, err := image.DecodeConfig(file); err == nil {
			want = min(want, natural.Width)
		}
	}
	if thumbnail.Width != want || thumbnail.Height < 1 {
		s.t.Errorf("the picture is %d wide and %d high, want a width of %d", thumbnail.Width, thumbnail.Height, want)
	}
}
