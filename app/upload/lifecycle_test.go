package upload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/upload"
	"deedkeep/app/vaulttest"
)

func TestUploadExpires(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.Uploads = upload.Settings{Keep: time.Hour, PerUser: 2} })
	v := p.Instance
	plan := upload.Plan{Filename: "a.pdf", Size: 10}
	first := vaulttest.BeginUpload(t, v, plan)
	p.Clock.Advance(40 * time.Minute)
	write(t, v, first.ID, 0, []byte("abc"))
	second := vaulttest.BeginUpload(t, v, plan)
	_, err := v.Uploads.Begin(t.Context(), vaulttest.Operator, plan)
	vaulttest.WantKind(t, "begin a third upload", err, errs.Conflict)
	p.Clock.Advance(40 * time.Minute)
	wantExpiration := p.Clock.Now().Add(20 * time.Minute)
	up, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, first.ID)
	if err != nil || up.Offset != 3 || !up.ExpiresAt.Equal(wantExpiration) {
		t.Errorf("Offset() = %+v, %v; want offset 3 and expiration %v", up, err, wantExpiration)
	}
	write(t, v, second.ID, 0, []byte("abcd"))
	vaulttest.BeginUpload(t, v, plan) // evicts the first upload because it is idle
	_, err = v.Uploads.Offset(t.Context(), vaulttest.Operator, first.ID)
	vaulttest.WantKind(t, "offset of the evicted upload", err, errs.NotFound)
	p.Clock.Advance(time.Hour)
	_, err = v.Uploads.Write(t.Context(), vaulttest.Operator, second.ID, 4, strings.NewReader("x"))
	vaulttest.WantKind(t, "write to an expired upload", err, errs.NotFound)
	vaulttest.NoError(t, v.Uploads.Expire())
	wantNoPartialFiles(t, v.Dir)
}

// When the server stops, it interrupts requests in progress and waits until the bytes
// they received are synced to the disk.
func TestUploadPause(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: 100})
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		up, err := v.Uploads.Write(context.Background(), vaulttest.Operator, created.ID, 0, r)
		if up.Offset != 3 {
			err = errors.Join(err, fmt.Errorf("offset = %d, want 3", up.Offset))
		}
		done <- err
	}()
	if _, err := w.Write([]byte("abc")); err != nil {
		t.Fatalf("send bytes: %v", err)
	}
	v.Uploads.Pause()
	<-v.Uploads.Paused()
	vaulttest.NoError(t, w.CloseWithError(os.ErrDeadlineExceeded)) // request handlers do the same
	vaulttest.Close(t, v)
	vaulttest.WantKind(t, "write in progress", <-done, errs.Unavailable)
	_, err = v.Uploads.Write(t.Context(), vaulttest.Operator, created.ID, 3, strings.NewReader("x"))
	vaulttest.WantKind(t, "write after the pause", err, errs.Unavailable)
	v = vaulttest.Open(t, opts)
	if up, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, created.ID); err != nil || up.Offset != 3 {
		t.Errorf("Offset() after a restart = %+v, %v; want 3", up, err)
	}
}
