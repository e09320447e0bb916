package upload_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// A document that is canceled while it is looked at is not filed.
func TestUploadCanceledWhileFiling(t *testing.T) {
	t.Parallel()
	looking, proceed := make(chan struct{}), make(chan struct{})
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(context.Context, string) error {
			close(looking)
			<-proceed
			return nil
		})
	})
	body := vaulttest.PDF(1, "x")
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	ended := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), vaulttest.Operator, up.ID, 0, bytes.NewReader(body))
		ended <- err
	}()
	<-looking
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	_, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "once cancelled", err, errs.NotFound)
	close(proceed)
	vaulttest.WantKind(t, "its writer", <-ended, errs.NotFound)
	_, err = v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "for good", err, errs.NotFound)
	if page, err := v.Files.List(t.Context(), vault.Query{Limit: 10}); err != nil || len(page.Items) != 0 {
		t.Errorf("%d documents, %v", len(page.Items), err)
	}
	if paths := vaulttest.FilesUnder(t, v.Dir, "uploads"); len(paths) > 0 {
		t.Errorf("left %v", paths)
	}
}

// Whoever is disabled while the bytes arrive is told so, and leaves no blob.
func TestUploadOfADisabledUser(t *testing.T) {
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
	ended := make(chan error, 1)
	go func() {
		_, err := p.Uploads.Write(context.Background(), sam, up.ID, 0, r)
		ended <- err
	}()
	if _, err := w.Write(body[:1]); err != nil {
		t.Fatal(err)
	}
	vaulttest.NoError(t, p.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1"))
	if _, err := w.Write(body[1:]); err != nil {
		t.Fatal(err)
	}
	vaulttest.NoError(t, w.Close())
	vaulttest.WantKind(t, "its last bytes", <-ended, errs.Unauthenticated)
	if blobs, err := filepath.Glob(filepath.Join(p.Dir, "blobs", "*", "*")); err != nil || len(blobs) > 0 {
		t.Errorf("%v, %v", blobs, err)
	}
}

// Uploads that nobody goes on with keep no room from others, and one user does not
// take all of it.
func TestUploadsWithoutAByteKeepNoRoom(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.FileSize = 1 << 60 })
	other := model.Actor{Kind: vaulttest.Operator.Kind, ID: vaulttest.Operator.ID + 1}
	status, err := p.Status(t.Context())
	vaulttest.NoError(t, err)
	plan := func(n, of int64) upload.Plan {
		return upload.Plan{Filename: "a.pdf", Size: int64(status.DiskFree) / of * n}
	}
	vaulttest.BeginUpload(t, p.Instance, plan(1, 3))
	_, err = p.Uploads.Begin(t.Context(), vaulttest.Operator, plan(1, 3))
	vaulttest.WantKind(t, "more than one's share", err, errs.Conflict)
	_, err = p.Uploads.Begin(t.Context(), other, plan(5, 6))
	vaulttest.WantKind(t, "what was just promised", err, errs.InsufficientStorage)
	p.Clock.Advance(3 * time.Minute)
	_, err = p.Uploads.Begin(t.Context(), other, plan(5, 6))
	vaulttest.NoError(t, err)
}
