package instance_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// While the data directory is missing from its path, nothing is written or created in its place. Once it is back,
// everything works again.
func TestDataDirectoryMissing(t *testing.T) {
	t.Parallel()
	for name, mountPoint := range map[string]bool{"moved": false, "unmounted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = &vaulttest.FakeReader{} })
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"))[0]
			up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "2.pdf", Size: 10})
			away := opts.Dir + ".away"
			vaulttest.NoError(t, os.Rename(opts.Dir, away))
			if mountPoint {
				vaulttest.NoError(t, os.Mkdir(opts.Dir, 0o700))
			}
			v.Start(time.Hour)
			vaulttest.WantKind(t, "ready", v.Ready(t.Context()), errs.Unavailable)
			vaulttest.WantKind(t, "status", vaulttest.Status(t, v).Denied, errs.Unavailable)
			_, err := v.Orders.Create(t.Context(), vaulttest.Operator,
				model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("A-1")}},
				vault.Idempotency[model.Order]{})
			vaulttest.WantKind(t, "create an order", err, errs.Unavailable)
			_, err = v.Files.Stage(t.Context())
			vaulttest.WantKind(t, "stage an upload", err, errs.Unavailable)
			_, err = v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 0, bytes.NewReader([]byte("0123456789")))
			vaulttest.WantKind(t, "resume an upload", err, errs.Unavailable)
			vaulttest.WantKind(t, "move a file to the trash", v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}),
				errs.Unavailable)
			if _, err := v.Previews.PageImage(t.Context(), vaulttest.Operator, file.ID, 1, 600); err == nil {
				t.Error("PageImage returned a preview, want an error")
			}
			left, err := os.ReadDir(opts.Dir)
			if os.IsNotExist(err) != !mountPoint || len(left) > 0 {
				t.Errorf("entries in the data directory: got %v, %v; want none", left, err)
			}
			if mountPoint {
				vaulttest.NoError(t, os.Remove(opts.Dir))
			}
			vaulttest.NoError(t, os.Rename(away, opts.Dir))
			vaulttest.NoError(t, v.Ready(t.Context()))
			vaulttest.NoError(t, vaulttest.Status(t, v).Denied)
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("3.pdf", "3"))
		})
	}
}

// If another vault.db replaces the open one, the instance isn't ready and doesn't write to it.
func TestDatabaseReplaced(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	away := opts.Dir + ".away"
	vaulttest.NoError(t, os.Rename(opts.Dir, away))
	other := opts
	other.Create = true
	second, err := instance.Open(t.Context(), other)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.Close(t, second)
	vaulttest.WantKind(t, "ready", v.Ready(t.Context()), errs.Unavailable)
	vaulttest.NoError(t, os.RemoveAll(opts.Dir))
	vaulttest.NoError(t, os.Rename(away, opts.Dir))
	vaulttest.NoError(t, v.Ready(t.Context()))
}
