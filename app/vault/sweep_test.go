package vault_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestSweepTakesOrphansOnly(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the orphan stays: %v", err)
	}
	if !bytes.Equal(vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, "a")) {
		t.Error("the document differs")
	}
}

func TestSweepAtTheStartAndInTurns(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	first := vaulttest.AddOrphan(t, opts.Dir, []byte("1"))
	gone := func(path string) func() bool {
		return func() bool { _, err := os.Stat(path); return os.IsNotExist(err) }
	}
	v.Start(10 * time.Millisecond)
	vaulttest.Eventually(t, "the first sweep", gone(first))
	vaulttest.Eventually(t, "the next sweep", gone(vaulttest.AddOrphan(t, opts.Dir, []byte("2"))))
}

// A request that is given up after its bytes were kept leaves them to a sweep that
// comes soon, and not in a day.
func TestSweepSoonAfterAFailedRequest(t *testing.T) {
	t.Parallel()
	verbs := []struct {
		name string
		file func(ctx context.Context, v *instance.Instance, tr *vault.StagedUpload) error
	}{
		{"upload", func(ctx context.Context, v *instance.Instance, tr *vault.StagedUpload) error {
			_, err := v.Files.Upload(ctx, vaulttest.Operator, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}},
		{"create", func(ctx context.Context, v *instance.Instance, tr *vault.StagedUpload) error {
			_, err := v.Abstracts.Create(ctx, vaulttest.Operator, model.AbstractDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}},
		{"attach", func(ctx context.Context, v *instance.Instance, tr *vault.StagedUpload) error {
			_, err := v.Abstracts.Attach(ctx, vaulttest.Operator, 1, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}},
	}
	for _, tt := range verbs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Disk = vaulttest.NewFaultyDisk(blobstore.OSFiles(), func(step, path string) error {
					if step == "rename" && strings.Contains(path, "blobs") && !strings.HasSuffix(path, "probe") {
						cancel() // the sender goes away; the tray is another's
					}
					return nil
				})
			})
			if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
				t.Fatal(err)
			}
			v.Start(24 * time.Hour)
			tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
			if err := tt.file(ctx, v, tr); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			tr.Discard()
			vaulttest.Eventually(t, "the sweep of what was kept", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
			vaulttest.WantNoDocuments(t, opts.Dir)
			if s := vaulttest.Status(t, v); s.Files != 0 || s.Queue != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Nobody's bytes are swept away under him, whoever brings the same ones or others,
// and no verification sees damage that is none.
func TestSweepAndVerifyUnderLoad(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	var background, uploaders sync.WaitGroup
	background.Go(func() {
		for ctx.Err() == nil {
			if err := v.Sweeper.Sweep(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	background.Go(func() {
		for ctx.Err() == nil {
			report, err := v.Integrity.Verify(ctx, func(int, int) {})
			if ctx.Err() == nil && (err != nil || !report.OK()) {
				t.Errorf("%+v, %v", report.Findings, err)
			}
		}
	})
	for n := range 8 {
		uploaders.Go(func() {
			for i := range 12 {
				shared, own := vaulttest.PDFDoc("s.pdf", fmt.Sprint(i)), vaulttest.PDFDoc("o.pdf", fmt.Sprint(n, "-", i))
				for range 2 {
					if err := give(v, shared, own); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	uploaders.Wait()
	stop()
	background.Wait()
	s := vaulttest.Status(t, v)
	if s.Files != 8*12*2*2 {
		t.Errorf("%d files", s.Files)
	}
	for n := range s.Files {
		file, f, err := v.Files.Open(t.Context(), n+1)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil || hex.EncodeToString(h.Sum(nil)) != file.Digest {
			t.Errorf("file %d differs: %v", file.ID, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 12+8*12 {
		t.Errorf("%d blobs", n)
	}
}

// give uploads for itself, in any goroutine.
func give(v *instance.Instance, docs ...vaulttest.Doc) error {
	tr, err := v.Files.Stage(context.Background())
	if err != nil {
		return err
	}
	defer tr.Discard()
	for _, d := range docs {
		if err := tr.Add(d.Name, bytes.NewReader(d.Body)); err != nil {
			return err
		}
	}
	_, err = v.Files.Upload(context.Background(), vaulttest.Operator, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	return err
}

// The index of digests has no checksum. A flipped bit in it must not cost a
// document that its record still names, nor may a record that cannot be read.
func TestSweepBelievesNoIndexAlone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		bucket string
		bit    int // of the bucket's first key, or of its value
		inKey  bool
		refuse bool
	}{
		{"flipped bit in the index", "file_digests", 7, true, false},
		{"flipped bit in the record", "files", 100, false, true},
		{"flipped bit in the record's number", "files", 3, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			vaulttest.FlipBit(t, filepath.Join(opts.Dir, "vault.db"), tt.bucket, tt.bit, tt.inKey)
			left := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
			if v, err = instance.Open(t.Context(), opts); err != nil {
				t.Fatal(err)
			}
			if err := v.Sweeper.Sweep(t.Context()); (err != nil) != tt.refuse {
				t.Errorf("sweep: %v", err)
			}
			if _, err := os.Stat(filepath.Join(opts.Dir, "blobs", f.Digest[:2], f.Digest)); err != nil {
				t.Errorf("the document is gone: %v", err)
			}
			if _, err := os.Stat(left); os.IsNotExist(err) == tt.refuse {
				t.Errorf("the orphan: %v", err)
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
