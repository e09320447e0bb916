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

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// A step of the disk that fails is never a false success (PROMISES.md, row 7): the
// request fails; after a failed sync the vault takes no writes any more.
func TestDiskFails(t *testing.T) {
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
		{"sync of a folder", "syncdir", syscall.EIO, errs.Unavailable, true},
		{"opening a folder for its sync", "syncdir", &fs.PathError{Op: "open", Path: "blobs/10", Err: syscall.EMFILE}, errs.Internal, false},
		{"sync of an open folder", "syncdir", &fs.PathError{Op: "sync", Path: "blobs/10", Err: syscall.EIO}, errs.Unavailable, true},
		{"full at create", "create", syscall.ENOSPC, errs.InsufficientStorage, false},
		{"full at write", "write", syscall.ENOSPC, errs.InsufficientStorage, false},
		{"full at sync", "sync", syscall.ENOSPC, errs.InsufficientStorage, false},
		{"full at rename", "rename", syscall.ENOSPC, errs.InsufficientStorage, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var bad atomic.Bool
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Disk = vaulttest.NewFaultyDisk(blobstore.OSFiles(), func(step, _ string) error {
					if bad.Load() && step == tt.step {
						return tt.err
					}
					return nil
				})
			})
			before := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Before.pdf", "before"))[0]
			tr := vaulttest.StageDocs(t, v)
			bad.Store(true)
			err := tr.Add("Deed.pdf", strings.NewReader("%PDF-1.7\n%toy pages=1\n"))
			if err == nil {
				_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
			}
			vaulttest.WantKind(t, tt.name, err, tt.want)
			if !errors.Is(err, tt.err) {
				t.Errorf("%v", err)
			}
			tr.Discard()
			bad.Store(false)
			if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
				t.Errorf("tmp holds %v", left)
			}
			if s := vaulttest.Status(t, v); s.Files != 1 || s.ReadOnly != tt.readOnly {
				t.Errorf("%+v", s)
			}
			if string(vaulttest.Content(t, v, before.ID)) != string(vaulttest.PDF(1, "before")) {
				t.Error("reading does not go on")
			}
			if tt.readOnly {
				refusesWrites(t, v, opts.Dir)
				return
			}
			if err := v.Ready(t.Context()); err != nil {
				t.Error(err)
			}
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("After.pdf", "after"))
		})
	}
}

// refusesWrites: a vault that saw a failed sync says so, changes nothing, and goes
// on reading.
func refusesWrites(t *testing.T, v *instance.Instance, dir string) {
	t.Helper()
	vaulttest.WantKind(t, "ready", v.Ready(t.Context()), errs.Unavailable)
	_, err := v.Files.Stage(t.Context())
	vaulttest.WantKind(t, "tray", err, errs.Unavailable)
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("1")}, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "order", err, errs.Unavailable)
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "x"})
	vaulttest.WantKind(t, "key", err, errs.Unavailable)
	if _, err := v.Keys.List(t.Context()); err != nil {
		t.Errorf("list keys: %v", err)
	}
	path := vaulttest.AddOrphan(t, dir, []byte("of a commit that nobody knows the end of"))
	vaulttest.WantKind(t, "sweep", v.Sweeper.Sweep(t.Context()), errs.Unavailable)
	if paths := vaulttest.FilesUnder(t, dir, filepath.Join("blobs", filepath.Base(filepath.Dir(path)))); len(paths) == 0 {
		t.Error("a read-only vault swept")
	}
	v.Start(time.Hour) // the background work ends or rests, and does not hold up the end
}

// Below the reserve nothing grows, and all else goes on (PROMISES.md, row 6).
func TestDiskBelowTheReserve(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	text, key := vaulttest.CreateKey(t, v, model.KeyDraft{})
	_, leaked := vaulttest.CreateKey(t, v, model.KeyDraft{})
	vaulttest.Close(t, v)
	opts.Settings.DiskReserve = math.MaxUint64
	v = vaulttest.Open(t, opts)

	vaulttest.WantKind(t, "ready", v.Ready(t.Context()), errs.InsufficientStorage)
	_, err = v.Files.Stage(t.Context())
	vaulttest.WantKind(t, "tray", err, errs.InsufficientStorage)
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("1")}, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "order", err, errs.InsufficientStorage)
	_, err = v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput("x")}, vault.Idempotency[model.Folder]{})
	vaulttest.WantKind(t, "folder", err, errs.InsufficientStorage)
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "x"})
	vaulttest.WantKind(t, "key", err, errs.InsufficientStorage)

	v.Start(time.Hour)
	vaulttest.Eventually(t, "the end of the processing", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	vaulttest.WantKeyValid(t, v, text, true)
	if string(vaulttest.Content(t, v, f.ID)) != string(vaulttest.PDF(1, "a")) {
		t.Error("the document differs")
	}
	if _, err := v.Folders.List(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := v.Keys.Rotate(t.Context(), vaulttest.Operator, leaked.ID, 0); err != nil {
		t.Errorf("rotate: %v", err)
	}
	if _, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID); err != nil {
		t.Errorf("revoke: %v", err)
	}
	vaulttest.WantKeyValid(t, v, text, false)
	s := vaulttest.Status(t, v)
	if s.DiskReserve != math.MaxUint64 || s.ReadOnly || s.DiskFree == 0 {
		t.Errorf("%+v", s)
	}
	vaulttest.WantKind(t, "status", s.Denied, errs.InsufficientStorage)
}

// A request of many documents outlasts the room there was when it began.
func TestDiskReachesTheReserveInARequest(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	tr := vaulttest.StageDocs(t, v, vaulttest.NewDoc("first.txt", vaulttest.TextOfSize(9)))
	v.MinFree = math.MaxUint64
	vaulttest.WantKind(t, "second document", tr.Add("second.txt", strings.NewReader("x")), errs.InsufficientStorage)
	_, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "commit", err, errs.InsufficientStorage)
	tr.Discard()
	if s := vaulttest.Status(t, v); s.Files != 0 || len(vaulttest.FilesUnder(t, opts.Dir, "tmp")) != 0 {
		t.Errorf("%+v", s)
	}
}

// A vault that takes no writes for a while does not fill its log each second, and its
// background work goes on; it ends only when the disk failed to sync.
func TestBackgroundWorkWhileNothingIsWritten(t *testing.T) {
	t.Parallel()
	log := new(bytes.Buffer)
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	for _, tt := range []struct {
		name string
		err  error
		told bool
	}{
		{"nothing came of it", nil, false},
		{"a full disk", fmt.Errorf("purge: %w", &errs.Error{Kind: errs.InsufficientStorage, Message: "The disk is full."}), false},
		{"indexes are being made anew", &errs.Error{Kind: errs.Unavailable, Message: "Try again soon."}, false},
		{"anything else", errors.New("broken"), true},
	} {
		log.Reset()
		if !v.ShouldContinue(t.Context(), "turn", tt.err) || (log.Len() > 0) != tt.told {
			t.Errorf("%s: it ended, or the log is wrong: %q", tt.name, log)
		}
	}
	v.Store.Fail(syscall.EIO)
	if v.ShouldContinue(t.Context(), "turn", nil) {
		t.Error("it goes on after a failed sync")
	}
}

// A disk that keeps failing shows where monitors look; uploads are tried all the same,
// and the first that succeeds ends it.
func TestADiskThatKeepsFailingIsNotReady(t *testing.T) {
	t.Parallel()
	var bad atomic.Bool
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Disk = vaulttest.NewFaultyDisk(blobstore.OSFiles(), func(step, _ string) error {
			if bad.Load() && step == "rename" {
				return &os.LinkError{Op: step, Err: syscall.EIO}
			}
			return nil
		})
	})
	bad.Store(true)
	for n := 1; n <= 3; n++ {
		vaulttest.NoError(t, v.Healthy(t.Context()))
		_, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "a")), vault.Idempotency[vault.AbstractWithFiles]{})
		vaulttest.WantKind(t, "upload", err, errs.Internal)
	}
	vaulttest.WantKind(t, "after 3 errors", v.Healthy(t.Context()), errs.Unavailable)
	bad.Store(false)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	vaulttest.NoError(t, v.Healthy(t.Context()))
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("got %d documents, want 1", n)
	}
}
