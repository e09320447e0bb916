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
)

// While the data directory is not where it was opened, nothing is written, and nothing
// is created in its place; once it is back, all works again.
func TestDataDirectoryGone(t *testing.T) {
	t.Parallel()
	for name, mountPoint := range map[string]bool{"moved": false, "unmounted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := opened(t, func(o *instance.Options) { o.Reader = &fakeReader{} })
			file := uploadDocs(t, v, pdf("1.pdf", "1"))[0]
			up := begin(t, v, upload.Plan{Filename: "2.pdf", Size: 10})
			away := opts.Dir + ".away"
			done(t, os.Rename(opts.Dir, away))
			if mountPoint {
				done(t, os.Mkdir(opts.Dir, 0o700))
			}
			v.Start(time.Hour)
			kind(t, "ready", v.Ready(t.Context()), errs.Unavailable)
			kind(t, "status", status(t, v).Denied, errs.Unavailable)
			_, err := v.Orders.Create(t.Context(), clerk, model.OrderDraft{Number: model.StringInput("A-1")}, vault.Idempotency[model.Order]{})
			kind(t, "an order", err, errs.Unavailable)
			_, err = v.Files.Stage(t.Context())
			kind(t, "an upload", err, errs.Unavailable)
			_, err = v.Uploads.Write(t.Context(), clerk, up.ID, 0, bytes.NewReader([]byte("0123456789")))
			kind(t, "a resumed upload", err, errs.Unavailable)
			kind(t, "a deletion", v.Files.Trash(t.Context(), clerk, file.ID, vault.Match{}), errs.Unavailable)
			if _, err := v.Previews.PageImage(t.Context(), clerk, file.ID, 1, 600); err == nil {
				t.Error("a preview was made")
			}
			left, err := os.ReadDir(opts.Dir)
			if os.IsNotExist(err) != !mountPoint || len(left) > 0 {
				t.Errorf("in the old place: got %v, %v; want nothing", left, err)
			}
			if mountPoint {
				done(t, os.Remove(opts.Dir))
			}
			done(t, os.Rename(away, opts.Dir))
			done(t, v.Ready(t.Context()))
			done(t, status(t, v).Denied)
			uploadDocs(t, v, pdf("3.pdf", "3"))
		})
	}
}

// A vault.db that another one replaced is not written to by name.
func TestAnotherDatabaseInPlace(t *testing.T) {
	t.Parallel()
	v, opts := opened(t, nil)
	away := opts.Dir + ".away"
	done(t, os.Rename(opts.Dir, away))
	other := opts
	other.Create = true
	second, err := instance.Open(t.Context(), other)
	done(t, err)
	closed(t, second)
	kind(t, "ready", v.Ready(t.Context()), errs.Unavailable)
	done(t, os.RemoveAll(opts.Dir))
	done(t, os.Rename(away, opts.Dir))
	done(t, v.Ready(t.Context()))
}
