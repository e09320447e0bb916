package txn_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/blob/disk"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// An upload never succeeds if a disk operation failed. After a failed sync, the vault is
// read-only.
func TestUploadOnFailingDisk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		step     string
		err      error
		want     errs.Kind
		readOnly bool
	}{
		{"create", "create", syscall.EIO, errs.Internal, false},
		{"write", "write", syscall.EIO, errs.Internal, false},
		{"sync", "sync", syscall.EIO, errs.Unavailable, true},
		{"rename", "rename", syscall.EIO, errs.Internal, false},
		{"sync of a directory", "syncdir", syscall.EIO, errs.Unavailable, true},
		{"opening a directory to sync it", "syncdir", &fs.PathError{Op: "open", Path: "blobs/10", Err: syscall.EMFILE}, errs.Internal, false},
		{"sync of an open directory", "syncdir", &fs.PathError{Op: "sync", Path: "blobs/10", Err: syscall.EIO}, errs.Unavailable, true},
		{"disk full at create", "create", syscall.ENOSPC, errs.InsufficientStorage, false},
		{"disk full at write", "write", syscall.ENOSPC, errs.InsufficientStorage, false},
		{"disk full at sync", "sync", syscall.ENOSPC, errs.InsufficientStorage, false},
		{"disk full at rename", "rename", syscall.ENOSPC, errs.InsufficientStorage, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var failing atomic.Bool
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Disk = vaulttest.NewFaultyDisk(disk.OSFiles(), func(step, _ string) error {
					if failing.Load() && step == tt.step {
						return tt.err
					}
					return nil
				})
			})
			before := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Before.pdf", "before"))[0]
			staged := vaulttest.StageDocs(t, v)
			failing.Store(true)
			err := staged.Add("Deed.pdf", strings.NewReader("%PDF-1.7\n%toy pages=1\n"))
			if err == nil {
				_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
			}
			vaulttest.WantKind(t, "upload", err, tt.want)
			if !errors.Is(err, tt.err) {
				t.Errorf("upload: got %v, want %v in its chain", err, tt.err)
			}
			staged.Discard()
			failing.Store(false)
			if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
				t.Errorf("temporary files = %v, want none", left)
			}
			if s := vaulttest.Status(t, v); s.Files != 1 || s.ReadOnly != tt.readOnly {
				t.Errorf("status = %+v, want 1 file and read-only %v", s, tt.readOnly)
			}
			if got, want := vaulttest.Content(t, v, before.ID), vaulttest.PDF(1, "before"); !bytes.Equal(got, want) {
				t.Errorf("content of the earlier document = %q, want %q", got, want)
			}
			if tt.readOnly {
				wantReadOnly(t, v, opts.Dir)
				return
			}
			if err := v.Ready(t.Context()); err != nil {
				t.Errorf("Ready() = %v, want nil", err)
			}
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("After.pdf", "after"))
		})
	}
}

// wantReadOnly checks that a vault whose disk failed to sync rejects writes but can be
// read.
func wantReadOnly(t *testing.T, v *instance.Instance, dir string) {
	t.Helper()
	vaulttest.WantKind(t, "ready", v.Ready(t.Context()), errs.Unavailable)
	_, err := v.Files.Stage(t.Context())
	vaulttest.WantKind(t, "stage an upload", err, errs.Unavailable)
	order := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("1")}}
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator, order, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "create order", err, errs.Unavailable)
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "x"})
	vaulttest.WantKind(t, "create key", err, errs.Unavailable)
	if _, err := v.Keys.List(t.Context()); err != nil {
		t.Errorf("list keys: %v", err)
	}
	path := vaulttest.AddOrphan(t, dir, []byte("its commit may have succeeded"))
	vaulttest.WantKind(t, "sweep", v.Sweeper.Sweep(t.Context()), errs.Unavailable)
	if paths := vaulttest.FilesUnder(t, dir, filepath.Join("blobs", filepath.Base(filepath.Dir(path)))); len(paths) == 0 {
		t.Error("the sweep removed an orphan blob of a read-only vault, want it kept")
	}
	v.Start(time.Hour) // check that running background jobs don't keep Close from returning
}

// If there is less free space than the disk reserve, requests that need disk space fail and
// all others work.
func TestDiskReserve(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	_, rotatedKey := vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.Close(t, v)
	opts.Settings.DiskReserve = math.MaxUint64
	v = vaulttest.Open(t, opts)

	vaulttest.WantKind(t, "ready", v.Ready(t.Context()), errs.InsufficientStorage)
	_, err = v.Files.Stage(t.Context())
	vaulttest.WantKind(t, "stage an upload", err, errs.InsufficientStorage)
	order := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("1")}}
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator, order, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "create order", err, errs.InsufficientStorage)
	folder := model.FolderDraft{Name: model.StringInput("x")}
	_, err = v.Folders.Create(t.Context(), vaulttest.Operator, folder, vault.Idempotency[model.Folder]{})
	vaulttest.WantKind(t, "create folder", err, errs.InsufficientStorage)

	v.Start(time.Hour)
	vaulttest.Eventually(t, "the queue is empty", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	vaulttest.WantKeyValid(t, v, text, true)
	if got, want := vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, "a"); !bytes.Equal(got, want) {
		t.Errorf("content of the document = %q, want %q", got, want)
	}
	if _, err := v.Folders.List(t.Context()); err != nil {
		t.Errorf("list folders: %v", err)
	}
	if _, _, err := v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "x"}); err != nil {
		t.Errorf("create key: %v", err)
	}
	if _, _, err := v.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "ada", Role: model.RoleStaff}); err != nil {
		t.Errorf("create user: %v", err)
	}
	if _, _, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, rotatedKey.ID, 0); err != nil {
		t.Errorf("rotate key: %v", err)
	}
	if _, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID); err != nil {
		t.Errorf("revoke key: %v", err)
	}
	vaulttest.WantKeyValid(t, v, text, false)
	s := vaulttest.Status(t, v)
	if s.DiskReserve != math.MaxUint64 || s.ReadOnly || s.DiskFree == 0 {
		t.Errorf("status = %+v, want the disk reserve, free space, and not read-only", s)
	}
	vaulttest.WantKind(t, "status", s.Denied, errs.InsufficientStorage)
}

// During an upload request, the free space is checked again for each document and before
// the commit.
func TestDiskReserveReachedDuringRequest(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	staged := vaulttest.StageDocs(t, v, vaulttest.NewDoc("first.txt", vaulttest.TextOfSize(9)))
	v.MinFree = math.MaxUint64
	vaulttest.WantKind(t, "add a second document", staged.Add("second.txt", strings.NewReader("x")), errs.InsufficientStorage)
	_, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "commit", err, errs.InsufficientStorage)
	staged.Discard()
	if s, left := vaulttest.Status(t, v), vaulttest.FilesUnder(t, opts.Dir, "tmp"); s.Files != 0 || len(left) != 0 {
		t.Errorf("status = %+v, temporary files = %v; want no files", s, left)
	}
}

// Errors that mean that the vault is temporarily not writable are not logged, because
// background jobs would log them every second. The jobs stop only after a failed sync.
func TestShouldContinue(t *testing.T) {
	t.Parallel()
	log := new(bytes.Buffer)
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	for _, tt := range []struct {
		name   string
		err    error
		logged bool
	}{
		{"success", nil, false},
		{"disk full", fmt.Errorf("purge: %w", &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}), false},
		{"unavailable", &errs.Error{Kind: errs.Unavailable, Message: "Try again soon."}, false},
		{"other error", errors.New("broken"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log.Reset()
			if got := v.ShouldContinue(t.Context(), "job", tt.err); !got {
				t.Errorf("ShouldContinue(%v) = false, want true", tt.err)
			}
			if logged := log.Len() > 0; logged != tt.logged {
				t.Errorf("ShouldContinue(%v) logged %q, want a log line: %v", tt.err, log, tt.logged)
			}
		})
	}
	v.Store.Fail(syscall.EIO)
	if v.ShouldContinue(t.Context(), "job", nil) {
		t.Error("ShouldContinue() after a failed sync = true, want false")
	}
}

// After several consecutive uploads failed, the health check fails. Uploads are still
// attempted, and the first successful one makes the health check pass again.
func TestHealthyAfterDiskFailures(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Disk = vaulttest.NewFaultyDisk(disk.OSFiles(), func(step, _ string) error {
			if failing.Load() && step == "rename" {
				return &os.LinkError{Op: step, Err: syscall.EIO}
			}
			return nil
		})
	})
	failing.Store(true)
	for range 3 {
		vaulttest.NoError(t, v.Healthy(t.Context()))
		_, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{},
			vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "a")), vault.Idempotency[vault.AbstractWithFiles]{})
		vaulttest.WantKind(t, "upload", err, errs.Internal)
	}
	vaulttest.WantKind(t, "health check after 3 failures", v.Healthy(t.Context()), errs.Unavailable)
	failing.Store(false)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	vaulttest.NoError(t, v.Healthy(t.Context()))
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("stored documents = %d, want 1", n)
	}
}
