package upload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestUploadCancel(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: 100})
	write(t, v, up.ID, 0, []byte("abc"))
	vaulttest.WantKind(t, "cancel an upload of another user", v.Uploads.Cancel(t.Context(), otherUser, up.ID), errs.NotFound)
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	vaulttest.WantKind(t, "cancel a second time", v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID), errs.NotFound)
	vaulttest.WantKind(t, "cancel with an invalid ID", v.Uploads.Cancel(t.Context(), vaulttest.Operator, "x"), errs.NotFound)
	wantNoPartialFiles(t, opts.Dir)
}

func TestUploadCancelDuringWrite(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: 100})
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), vaulttest.Operator, up.ID, 0, r)
		done <- err
	}()
	if _, err := w.Write([]byte("abc")); err != nil {
		t.Fatalf("send bytes: %v", err)
	}
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	vaulttest.NoError(t, w.CloseWithError(io.ErrUnexpectedEOF))
	if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Write() = %v, want %v or %v", err, context.Canceled, io.ErrUnexpectedEOF)
	}
	_, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "get a canceled upload", err, errs.NotFound)
	wantNoPartialFiles(t, opts.Dir)
}

// If an upload is canceled while its document is being inspected, the document is not
// stored.
func TestUploadCancelDuringInspection(t *testing.T) {
	t.Parallel()
	inspecting, proceed := make(chan struct{}), make(chan struct{})
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(context.Context, string) error {
			close(inspecting)
			<-proceed
			return nil
		})
	})
	body := vaulttest.PDF(1, "x")
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	done := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), vaulttest.Operator, up.ID, 0, bytes.NewReader(body))
		done <- err
	}()
	<-inspecting
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	_, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "get a canceled upload", err, errs.NotFound)
	close(proceed)
	vaulttest.WantKind(t, "write in progress", <-done, errs.NotFound)
	_, err = v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "get after the inspection", err, errs.NotFound)
	if page, err := v.Files.List(t.Context(), vault.Query{Limit: 10}); err != nil || len(page.Items) != 0 {
		t.Errorf("listed files = %d, %v; want 0", len(page.Items), err)
	}
	wantNoPartialFiles(t, v.Dir)
}

// If the user signs out while bytes arrive, the upload fails and no blob is stored.
func TestUploadSignedOutDuringWrite(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "sam", model.RoleStaff)
	in := p.SignIn(t, "sam")
	sam := p.Authenticate(t, in.Token)
	body := vaulttest.PDF(1, "x")
	up, err := p.Uploads.Begin(t.Context(), sam, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	vaulttest.NoError(t, err)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := p.Uploads.Write(context.Background(), sam, up.ID, 0, r)
		done <- err
	}()
	if _, err := w.Write(body[:1]); err != nil {
		t.Fatalf("send the first byte: %v", err)
	}
	vaulttest.NoError(t, p.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1"))
	if _, err := w.Write(body[1:]); err != nil {
		t.Fatalf("send the other bytes: %v", err)
	}
	vaulttest.NoError(t, w.Close())
	vaulttest.WantKind(t, "write after sign-out", <-done, errs.Unauthenticated)
	if blobs, err := filepath.Glob(filepath.Join(p.Dir, "blobs", "*", "*")); err != nil || len(blobs) > 0 {
		t.Errorf("blobs = %v, %v; want none", blobs, err)
	}
}
