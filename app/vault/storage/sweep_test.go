package storage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/blob/disk"
	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// A sweep removes only blobs that no file uses.
func TestSweepRemovesOrphansOnly(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("Sweeper.Sweep: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("orphan after the sweep: got %v, want that it does not exist", err)
	}
	if !bytes.Equal(vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, "a")) {
		t.Error("content of the document: got other bytes than were uploaded")
	}
}

// A sweep removes the text of scans whose document is gone, also if there is no orphaned blob, and keeps that of others.
func TestSweepRemovesOCRResultsWithoutDocument(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	gone := strings.Repeat("ab", 32)
	for _, digest := range []string{f.Digest, gone} {
		if err := v.OCRFiles.Append(digest, blobstore.OCRPage{Page: 1, Result: []byte("{}")}); err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("Sweeper.Sweep: %v", err)
	}
	if err := v.OCRFiles.Check(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("results without a document after the sweep: got %v, want that they do not exist", err)
	}
	if err := v.OCRFiles.Check(f.Digest); err != nil {
		t.Errorf("results of a document after the sweep: %v", err)
	}
}

// A running server sweeps when it starts and then at regular intervals.
func TestSweepAtStartAndPeriodically(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	first := vaulttest.AddOrphan(t, opts.Dir, []byte("1"))
	removed := func(path string) func() bool {
		return func() bool { _, err := os.Stat(path); return os.IsNotExist(err) }
	}
	v.Start(10 * time.Millisecond)
	vaulttest.Eventually(t, "the first sweep", removed(first))
	vaulttest.Eventually(t, "the next sweep", removed(vaulttest.AddOrphan(t, opts.Dir, []byte("2"))))
}

// If a request is canceled after its blobs were stored, an extra sweep removes them soon, without waiting for the next
// scheduled sweep.
func TestSweepSoonAfterFailedRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  func(ctx context.Context, v *instance.Instance, staged *vault.StagedUpload) error
	}{
		{"upload", func(ctx context.Context, v *instance.Instance, staged *vault.StagedUpload) error {
			_, err := v.Files.Upload(ctx, vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}},
		{"create", func(ctx context.Context, v *instance.Instance, staged *vault.StagedUpload) error {
			_, err := v.Abstracts.Create(ctx, vaulttest.Operator, model.AbstractDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}},
		{"attach", func(ctx context.Context, v *instance.Instance, staged *vault.StagedUpload) error {
			_, err := v.Abstracts.Attach(ctx, vaulttest.Operator, 1, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Disk = vaulttest.NewFaultyDisk(disk.OSFiles(), func(step, path string) error {
					if step == "rename" && strings.Contains(path, "blobs") && !strings.HasSuffix(path, "probe") {
						cancel() // the client disconnects
					}
					return nil
				})
			})
			if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v),
				vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
				t.Fatalf("Abstracts.Create: %v", err)
			}
			v.Start(24 * time.Hour)
			staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
			if err := tt.run(ctx, v, staged); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: got %v, want %v", tt.name, err, context.Canceled)
			}
			staged.Discard()
			vaulttest.Eventually(t, "the sweep of the stored blobs", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
			vaulttest.WantNoDocuments(t, opts.Dir)
			if s := vaulttest.Status(t, v); s.Files != 0 || s.Queue != 0 {
				t.Errorf("status: got %+v, want no files and an empty queue", s)
			}
		})
	}
}

// While clients upload documents, some with the same content, a sweep doesn't remove any blob in use, and a
// verification finds no errors.
func TestSweepAndVerifyDuringUploads(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	var background, uploaders sync.WaitGroup
	background.Go(func() {
		for ctx.Err() == nil {
			if err := v.Sweeper.Sweep(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("Sweeper.Sweep: %v", err)
			}
		}
	})
	background.Go(func() {
		for ctx.Err() == nil {
			report, err := v.Integrity.Verify(ctx, func(int, int) {})
			if ctx.Err() == nil && (err != nil || !report.OK()) {
				t.Errorf("Integrity.Verify: got %+v, %v, want no findings", report.Findings, err)
			}
		}
	})
	for n := range 8 {
		uploaders.Go(func() {
			for i := range 12 {
				shared, own := vaulttest.PDFDoc("s.pdf", fmt.Sprint(i)), vaulttest.PDFDoc("o.pdf", fmt.Sprint(n, "-", i))
				for range 2 {
					if err := upload(v, shared, own); err != nil {
						t.Errorf("upload: %v", err)
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
		t.Errorf("number of files: got %d, want %d", s.Files, 8*12*2*2)
	}
	for n := range s.Files {
		file, f, err := v.Files.Open(t.Context(), n+1)
		if err != nil {
			t.Fatalf("Files.Open: %v", err)
		}
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil || hex.EncodeToString(h.Sum(nil)) != file.Digest {
			t.Errorf("content of file %d: got another digest than %s, %v", file.ID, file.Digest, err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("close file %d: %v", file.ID, err)
		}
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 12+8*12 {
		t.Errorf("blobs: got %d, want %d", n, 12+8*12)
	}
}

// upload uploads documents. It is safe for concurrent use.
func upload(v *instance.Instance, docs ...vaulttest.Doc) error {
	staged, err := v.Files.Stage(context.Background())
	if err != nil {
		return err
	}
	defer staged.Discard()
	for _, d := range docs {
		if err := staged.Add(d.Name, bytes.NewReader(d.Body)); err != nil {
			return err
		}
	}
	_, err = v.Files.Upload(context.Background(), vaulttest.Operator, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	return err
}

// The index of digests has no checksum, so a sweep also reads the records. A flipped bit in the index or an unreadable
// record must not cause the sweep to remove a document.
func TestSweepOfDamagedDatabase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		bucket string
		bit    int // bit to flip in the bucket's first key (if inKey) or value
		inKey  bool
		fails  bool // whether the sweep fails
	}{
		{"flipped bit in the index", "file_digests", 7, true, false},
		{"flipped bit in the record", "files", 100, false, true},
		{"flipped bit in the ID of the record", "files", 3, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatalf("instance.Open: %v", err)
			}
			f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
			if err := v.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			vaulttest.FlipBit(t, filepath.Join(opts.Dir, "vault.db"), tt.bucket, tt.bit, tt.inKey)
			orphan := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
			if v, err = instance.Open(t.Context(), opts); err != nil {
				t.Fatalf("instance.Open: %v", err)
			}
			if err := v.Sweeper.Sweep(t.Context()); (err != nil) != tt.fails {
				t.Errorf("Sweeper.Sweep: got error %v, want an error: %t", err, tt.fails)
			}
			if _, err := os.Stat(filepath.Join(opts.Dir, "blobs", f.Digest[:2], f.Digest)); err != nil {
				t.Errorf("blob of the document: %v", err)
			}
			if _, err := os.Stat(orphan); os.IsNotExist(err) == tt.fails {
				t.Errorf("orphan after the sweep: got %v, want it to remain: %t", err, tt.fails)
			}
			if err := v.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
		})
	}
}
