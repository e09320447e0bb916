package upload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"deedkeep/app/blob/disk"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// If a document is rejected after all bytes have arrived, the upload ends. Repeated
// requests return the same reason.
func TestUploadIsRejected(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 1 })
	a, trashed, deeds := vaulttest.CreateAbstract(t, v), vaulttest.CreateAbstract(t, v), vaulttest.CreateFolder(t, v, "Deeds", 0)
	for _, tt := range []struct {
		name       string
		plan       upload.Plan
		body       []byte
		afterBegin func() error
		want       string
	}{
		{"password", upload.Plan{}, []byte("%PDF-1.7\n/Encrypt %toy pages=1\n%%EOF\n"), nil, document.ReasonPDFPassword},
		{"content of another type", upload.Plan{}, []byte("hello"), nil, document.ReasonMismatch("pdf")},
		{"abstract is full by now", upload.Plan{Abstract: a.Abstract.ID}, vaulttest.PDF(1, "x"), func() error {
			_, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, a.Abstract.ID, model.UploadDraft{},
				vaulttest.StageDocs(t, v, vaulttest.PDFDoc("b.pdf", "b")), vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, document.ReasonAbstractFull},
		{"abstract was trashed", upload.Plan{Abstract: trashed.Abstract.ID}, vaulttest.PDF(1, "x"), func() error {
			return v.Abstracts.Trash(t.Context(), vaulttest.Operator, trashed.Abstract.ID, vault.Match{})
		}, "The abstract was deleted"},
		{"folder was removed", upload.Plan{Folder: deeds.ID}, vaulttest.PDF(1, "x"), func() error {
			return v.Folders.Remove(t.Context(), vaulttest.Operator, deeds.ID, vault.Match{})
		}, "The folder was deleted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.plan.Filename, tt.plan.Size = "a.pdf", int64(len(tt.body))
			up := vaulttest.BeginUpload(t, v, tt.plan)
			if tt.afterBegin != nil {
				vaulttest.NoError(t, tt.afterBegin())
			}
			for range 2 {
				if up = write(t, v, up.ID, 0, tt.body); up.Rejection != tt.want || up.File != nil {
					t.Errorf("Write() = %+v, want rejection %q", up, tt.want)
				}
			}
		})
	}
	wantNoPartialFiles(t, opts.Dir)
}

// If a document can't be inspected because of a temporary error, it is stored later
// without sending its bytes again.
func TestUploadIsStoredLater(t *testing.T) {
	t.Parallel()
	reader := &busyReader{}
	opts := vaulttest.Options(t)
	opts.Reader = reader
	reader.busy.Store(true)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	body := largePDF(1000)
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	if up := write(t, v, created.ID, 0, body); up.Ended() || up.Offset != up.Size {
		t.Fatalf("Write() = %+v, want all bytes received and the upload open", up)
	}
	_, err = v.Uploads.Get(t.Context(), vaulttest.Operator, created.ID)
	vaulttest.WantKind(t, "get while the reader is busy", err, errs.Unavailable)
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	reader.busy.Store(false)
	up, err := v.Uploads.Get(t.Context(), vaulttest.Operator, created.ID)
	if err != nil {
		t.Fatalf("get upload: %v", err)
	}
	wantStored(t, v, up, body)
}

// Bytes are acknowledged only after they are synced to the disk. After a failed sync,
// they are never acknowledged, even if a later sync succeeds.
func TestUploadAcknowledgesOnlyDurableBytes(t *testing.T) {
	t.Parallel()
	for name, failingSyncs := range map[string]int32{"every sync fails": 1 << 30, "the first sync fails": 1, "no sync fails": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, failures := &busyReader{}, atomic.Int32{}
			reader.busy.Store(true)
			opts := vaulttest.Options(t)
			opts.Reader = reader
			opts.Disk = vaulttest.NewFaultyDisk(disk.OSFiles(), func(step, path string) error {
				if step == "sync" && strings.HasSuffix(path, ".part") && failures.Add(-1) >= 0 {
					return syscall.EIO
				}
				return nil
			})
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatalf("open instance: %v", err)
			}
			defer vaulttest.Close(t, v)
			body := largePDF(1000)
			created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
			failures.Store(failingSyncs)
			up, err := v.Uploads.Write(t.Context(), vaulttest.Operator, created.ID, 0, bytes.NewReader(body))
			if want := failingSyncs == 0; (err == nil) != want || (up.Offset == up.Size) != want {
				t.Errorf("Write(): offset %d of %d, error %v; want all bytes acknowledged: %v", up.Offset, up.Size, err, want)
			}
			if err != nil {
				vaulttest.WantKind(t, "write", err, errs.Unavailable)
			}
		})
	}
}

// busyReader fails every inspection while busy is true.
type busyReader struct {
	vaulttest.Reader
	busy atomic.Bool
}

func (b *busyReader) Inspect(
	ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits,
) (document.Report, error) {
	if b.busy.Load() {
		return document.Report{}, sandbox.ErrBusy
	}
	return b.Reader.Inspect(ctx, doc, size, ext, lim)
}

// While a document is being stored, Offset returns an error because the offset may still
// change.
func TestOffsetWhileStoring(t *testing.T) {
	t.Parallel()
	inspecting, proceed := make(chan struct{}), make(chan struct{})
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(context.Context, string) error { close(inspecting); <-proceed; return nil })
	})
	body := largePDF(1000)
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	done := make(chan upload.Upload, 1)
	go func() {
		up, err := v.Uploads.Write(context.WithoutCancel(t.Context()), vaulttest.Operator, created.ID, 0, bytes.NewReader(body))
		if err != nil {
			t.Errorf("write: %v", err)
		}
		done <- up
	}()
	<-inspecting
	if _, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, created.ID); !errors.Is(err, upload.ErrUploadBusy) {
		t.Errorf("Offset() = %v, want %v", err, upload.ErrUploadBusy)
	}
	if up, err := v.Uploads.Get(t.Context(), vaulttest.Operator, created.ID); err != nil || !up.Received || up.Offset != 0 {
		t.Errorf("Get() = %+v, %v; want all bytes received and 0 durable", up, err)
	}
	close(proceed)
	if up := <-done; up.File == nil || up.Offset != up.Size {
		t.Errorf("Write() = %+v, want a stored file", up)
	}
}
