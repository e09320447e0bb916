package instance_test

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
	v, _ := opened(t, func(o *instance.Options) {
		o.Reader = hooked(func(context.Context, string) error {
			close(looking)
			<-proceed
			return nil
		})
	})
	body := vaulttest.PDF(1, "x")
	up := begin(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	ended := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), clerk, up.ID, 0, bytes.NewReader(body))
		ended <- err
	}()
	<-looking
	done(t, v.Uploads.Cancel(t.Context(), clerk, up.ID))
	_, err := v.Uploads.Get(t.Context(), clerk, up.ID)
	kind(t, "once cancelled", err, errs.NotFound)
	close(proceed)
	kind(t, "its writer", <-ended, errs.NotFound)
	_, err = v.Uploads.Get(t.Context(), clerk, up.ID)
	kind(t, "for good", err, errs.NotFound)
	if page, err := v.Files.List(t.Context(), vault.Query{Limit: 10}); err != nil || len(page.Items) != 0 {
		t.Errorf("%d documents, %v", len(page.Items), err)
	}
	if paths := under(t, v.Dir, "uploads"); len(paths) > 0 {
		t.Errorf("left %v", paths)
	}
}

// Whoever is disabled while the bytes arrive is told so, and leaves no blob.
func TestUploadOfADisabledUser(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "admin", model.RoleAdmin)
	p.user(t, "sam", model.RoleStaff)
	in := p.signIn(t, "sam")
	sam := p.speaks(t, in.Token)
	body := vaulttest.PDF(1, "x")
	up, err := p.Uploads.Begin(t.Context(), sam, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	done(t, err)
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := p.Uploads.Write(context.Background(), sam, up.ID, 0, r)
		ended <- err
	}()
	if _, err := w.Write(body[:1]); err != nil {
		t.Fatal(err)
	}
	done(t, p.Sessions.SignOut(t.Context(), in.Token, "192.0.2.1"))
	if _, err := w.Write(body[1:]); err != nil {
		t.Fatal(err)
	}
	done(t, w.Close())
	kind(t, "its last bytes", <-ended, errs.Unauthenticated)
	if blobs, err := filepath.Glob(filepath.Join(p.Dir, "blobs", "*", "*")); err != nil || len(blobs) > 0 {
		t.Errorf("%v, %v", blobs, err)
	}
}

// Uploads that nobody goes on with keep no room from others, and one user does not
// take all of it.
func TestUploadsWithoutAByteKeepNoRoom(t *testing.T) {
	t.Parallel()
	p := peopled(t, func(o *instance.Options) { o.Settings.FileSize = 1 << 60 })
	other := model.Actor{Kind: clerk.Kind, ID: clerk.ID + 1}
	status, err := p.Status(t.Context())
	done(t, err)
	plan := func(n, of int64) upload.Plan {
		return upload.Plan{Filename: "a.pdf", Size: int64(status.DiskFree) / of * n}
	}
	begin(t, p.Instance, plan(1, 3))
	_, err = p.Uploads.Begin(t.Context(), clerk, plan(1, 3))
	kind(t, "more than one's share", err, errs.Conflict)
	_, err = p.Uploads.Begin(t.Context(), other, plan(5, 6))
	kind(t, "what was just promised", err, errs.InsufficientStorage)
	p.clock.Advance(3 * time.Minute)
	_, err = p.Uploads.Begin(t.Context(), other, plan(5, 6))
	done(t, err)
}
