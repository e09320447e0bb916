package upload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func write(t *testing.T, v *instance.Instance, id string, offset int64, part []byte) upload.Upload {
	t.Helper()
	up, err := v.Uploads.Write(t.Context(), vaulttest.Operator, id, offset, bytes.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// big is a good document of several settlings.
func big(n int) []byte {
	return append(vaulttest.PDF(3, "big"), bytes.Repeat([]byte("0123456789abcdef"), n/16)...)
}

func TestUpload(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v)
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	for i, row := range []struct {
		name string
		plan upload.Plan
	}{
		{"with an abstract", upload.Plan{Abstract: a.Abstract.ID}},
		{"in a folder", upload.Plan{Folder: deeds.ID}},
		{"in none", upload.Plan{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := append(big(40_000), byte(i))
			row.plan.Filename, row.plan.Size = "Deed.pdf", int64(len(body))
			up := vaulttest.BeginUpload(t, v, row.plan)
			if up.Offset != 0 || up.Size != row.plan.Size || up.Ended() || len(up.ID) != 43 {
				t.Fatalf("%+v", up)
			}
			if up = write(t, v, up.ID, 0, body[:1000]); up.Offset != 1000 || up.Ended() {
				t.Fatalf("%+v", up)
			}
			if up = write(t, v, up.ID, 1000, body[1000:]); up.File == nil || up.Offset != up.Size {
				t.Fatalf("%+v", up)
			}
			if up.File.AbstractID != row.plan.Abstract || up.File.FolderID != row.plan.Folder || up.File.Filename != "Deed.pdf" || *up.File.Pages != 3 {
				t.Errorf("%+v", up.File)
			}
			if !bytes.Equal(vaulttest.Content(t, v, up.File.ID), body) {
				t.Error("other bytes")
			}
			// The last answer was lost: the same is told, however it is asked, and nothing happens.
			for _, ask := range []func() (upload.Upload, error){
				func() (upload.Upload, error) { return v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID) },
				func() (upload.Upload, error) { return v.Uploads.Offset(t.Context(), vaulttest.Operator, up.ID) },
				func() (upload.Upload, error) {
					return v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 1000, bytes.NewReader(body[1000:]))
				},
			} {
				if again, err := ask(); err != nil || again.File == nil || again.File.ID != up.File.ID || again.Offset != up.Size {
					t.Errorf("%+v, %v", again, err)
				}
			}
			if err := v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID); err != nil {
				t.Error(err)
			}
			_, err := v.Uploads.Get(t.Context(), model.Actor{Kind: "user", ID: 8}, up.ID)
			vaulttest.WantKind(t, "another user", err, errs.NotFound)
		})
	}
	if page, err := v.Files.List(t.Context(), vault.Query{Limit: 10}); err != nil || len(page.Items) != 3 {
		t.Errorf("%d files, %v", len(page.Items), err)
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if paths := vaulttest.FilesUnder(t, opts.Dir, "uploads"); len(paths) > 0 {
		t.Errorf("left %v", paths)
	}
}

func TestUploadForesees(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) {
		o.Settings.FileSize, o.Settings.FilesPerAbstract = 1000, 1
	})
	v := p.Instance
	full := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	gone := vaulttest.CreateAbstract(t, v)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, gone.Abstract.ID, vault.Match{}))
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "vera", model.RoleViewer)
	viewer := p.Actor(t, "vera")
	for _, row := range []struct {
		name  string
		actor model.Actor
		plan  upload.Plan
		kind  errs.Kind
		says  string
	}{
		{"an extension", vaulttest.Operator, upload.Plan{Filename: "a.exe", Size: 1}, errs.Invalid, document.ReasonUnsupportedType},
		{"nothing", vaulttest.Operator, upload.Plan{Filename: "a.pdf"}, errs.Invalid, document.ReasonEmpty},
		{"too large", vaulttest.Operator, upload.Plan{Filename: "a.pdf", Size: 1001}, errs.Invalid, document.ReasonTooLarge(1000)},
		{"a full abstract", vaulttest.Operator, upload.Plan{Abstract: full.Abstract.ID, Filename: "a.pdf", Size: 1}, errs.Invalid, document.ReasonAbstractFull},
		{"an abstract in the trash", vaulttest.Operator, upload.Plan{Abstract: gone.Abstract.ID, Filename: "a.pdf", Size: 1}, errs.NotFound, ""},
		{"no abstract", vaulttest.Operator, upload.Plan{Abstract: 99, Filename: "a.pdf", Size: 1}, errs.NotFound, ""},
		{"no folder", vaulttest.Operator, upload.Plan{Folder: 99, Filename: "a.pdf", Size: 1}, errs.NotFound, ""},
		{"a viewer", viewer, upload.Plan{Filename: "a.pdf", Size: 1}, errs.Forbidden, ""},
		{"signed out", model.Actor{Kind: model.ActorUser, ID: 1}, upload.Plan{Filename: "a.pdf", Size: 1}, errs.Unauthenticated, ""},
	} {
		_, err := v.Uploads.Begin(t.Context(), row.actor, row.plan)
		vaulttest.WantKind(t, row.name, err, row.kind)
		if err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// The room on the disk is counted with what was promised to others.
func TestUploadReservesRoom(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FileSize = 1 << 60 })
	_, err := v.Uploads.Begin(t.Context(), vaulttest.Operator, upload.Plan{Filename: "a.pdf", Size: 1 << 59})
	vaulttest.WantKind(t, "more than there is", err, errs.InsufficientStorage)
	status, err := v.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	most := int64(status.DiskFree) * 2 / 3
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: most})
	_, err = v.Uploads.Begin(t.Context(), vaulttest.Operator, upload.Plan{Filename: "b.pdf", Size: most})
	vaulttest.WantKind(t, "as much again", err, errs.InsufficientStorage)
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	vaulttest.BeginUpload(t, v, upload.Plan{Filename: "b.pdf", Size: most})
}

// What is found out with the bytes is a result, told as often as it is asked for.
func TestUploadRefused(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 1 })
	a, trashed, deeds := vaulttest.CreateAbstract(t, v), vaulttest.CreateAbstract(t, v), vaulttest.CreateFolder(t, v, "Deeds", 0)
	for _, row := range []struct {
		name  string
		plan  upload.Plan
		body  []byte
		after func() error
		says  string
	}{
		{"a password", upload.Plan{}, []byte("%PDF-1.7\n/Encrypt %toy pages=1\n%%EOF\n"), nil, document.ReasonPDFPassword},
		{"other content", upload.Plan{}, []byte("hello"), nil, document.ReasonMismatch("pdf")},
		{"the abstract is full by now", upload.Plan{Abstract: a.Abstract.ID}, vaulttest.PDF(1, "x"), func() error {
			_, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, a.Abstract.ID, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("b.pdf", "b")), vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, document.ReasonAbstractFull},
		{"the abstract has gone", upload.Plan{Abstract: trashed.Abstract.ID}, vaulttest.PDF(1, "x"), func() error {
			return v.Abstracts.Trash(t.Context(), vaulttest.Operator, trashed.Abstract.ID, vault.Match{})
		}, "The abstract is no longer there"},
		{"the folder has gone", upload.Plan{Folder: deeds.ID}, vaulttest.PDF(1, "x"), func() error {
			return v.Folders.Remove(t.Context(), vaulttest.Operator, deeds.ID, vault.Match{})
		}, "The folder is no longer there"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.plan.Filename, row.plan.Size = "a.pdf", int64(len(row.body))
			up := vaulttest.BeginUpload(t, v, row.plan)
			if row.after != nil {
				vaulttest.NoError(t, row.after())
			}
			for range 2 {
				if up = write(t, v, up.ID, 0, row.body); up.Rejection != row.says || up.File != nil {
					t.Errorf("%+v", up)
				}
			}
		})
	}
	if paths := vaulttest.FilesUnder(t, opts.Dir, "uploads"); len(paths) > 0 {
		t.Errorf("left %v", paths)
	}
}

// A server that is killed in the middle goes on at an offset whose bytes are true, and
// no zeros of a power cut get into the document.
func TestUploadAfterAPowerCut(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	body := big(3_000_000)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	broke := errors.New("broke off")
	told, err := v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 0, io.MultiReader(bytes.NewReader(body[:2_000_000]), iotest.ErrReader(broke)))
	if !errors.Is(err, broke) || told.Offset != 2_000_000 {
		t.Fatalf("%+v, %v", told, err)
	}
	parts, err := filepath.Glob(filepath.Join(opts.Dir, "uploads", "*.part"))
	if err != nil || len(parts) != 1 || strings.Contains(parts[0], up.ID) {
		t.Fatalf("%v, %v", parts, err)
	}
	vaulttest.Close(t, v)
	// What came after the last sync is there in its length alone.
	vaulttest.NoError(t, os.Truncate(parts[0], 2_500_000))

	v = vaulttest.Open(t, opts)
	if told, err = v.Uploads.Offset(t.Context(), vaulttest.Operator, up.ID); err != nil || told.Offset != 2_000_000 {
		t.Fatalf("%+v, %v", told, err)
	}
	_, err = v.Uploads.Offset(t.Context(), model.Actor{Kind: "user", ID: 8}, up.ID)
	vaulttest.WantKind(t, "another user", err, errs.NotFound)
	if _, err = v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 2_500_000, bytes.NewReader(body[2_500_000:])); !errors.Is(err, upload.ErrOffset) {
		t.Errorf("another offset: %v", err)
	}
	told = write(t, v, up.ID, 2_000_000, body[2_000_000:])
	if told.File == nil || !bytes.Equal(vaulttest.Content(t, v, told.File.ID), body) {
		t.Errorf("%+v", told)
	}
}

// Two that send the same document do not mix.
func TestUploadTwoWriters(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	body := big(10_000)
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	r, w := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), vaulttest.Operator, up.ID, 0, r)
		first <- err
	}()
	if _, err := w.Write(body[:1]); err != nil { // it reads
		t.Fatal(err)
	}
	if _, err := v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 0, bytes.NewReader(body)); !errors.Is(err, upload.ErrUploadBusy) {
		t.Errorf("the second: %v", err)
	}
	if told, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID); err != nil || told.Offset != 0 {
		t.Errorf("meanwhile %+v, %v", told, err)
	}
	vaulttest.NoError(t, w.Close())
	if err := <-first; err != nil {
		t.Error(err)
	}
	if told := write(t, v, up.ID, 1, body[1:]); told.File == nil || !bytes.Equal(vaulttest.Content(t, v, told.File.ID), body) {
		t.Errorf("%+v", told)
	}
}

func TestUploadCancel(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: 100})
	write(t, v, up.ID, 0, []byte("abc"))
	vaulttest.WantKind(t, "another user's", v.Uploads.Cancel(t.Context(), model.Actor{Kind: "user", ID: 8}, up.ID), errs.NotFound)
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID))
	vaulttest.WantKind(t, "twice", v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID), errs.NotFound)
	vaulttest.WantKind(t, "no id", v.Uploads.Cancel(t.Context(), vaulttest.Operator, "x"), errs.NotFound)

	up = vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: 100})
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), vaulttest.Operator, up.ID, 0, r)
		ended <- err
	}()
	if _, err := w.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	vaulttest.NoError(t, v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID)) // under way
	vaulttest.NoError(t, w.CloseWithError(io.ErrUnexpectedEOF))
	if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("its writer: %v", err)
	}
	_, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "afterwards", err, errs.NotFound)
	if paths := vaulttest.FilesUnder(t, opts.Dir, "uploads"); len(paths) > 0 {
		t.Errorf("left %v", paths)
	}
}

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
	vaulttest.WantKind(t, "too many", err, errs.Conflict)
	p.Clock.Advance(40 * time.Minute)
	if told, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, first.ID); err != nil || told.Offset != 3 || !told.ExpiresAt.Equal(p.Clock.Now().Add(20*time.Minute)) {
		t.Errorf("%+v, %v", told, err)
	}
	write(t, v, second.ID, 0, []byte("abcd"))
	vaulttest.BeginUpload(t, v, plan) // the first stood still and makes room
	_, err = v.Uploads.Offset(t.Context(), vaulttest.Operator, first.ID)
	vaulttest.WantKind(t, "the first", err, errs.NotFound)
	p.Clock.Advance(time.Hour)
	_, err = v.Uploads.Write(t.Context(), vaulttest.Operator, second.ID, 4, strings.NewReader("x"))
	vaulttest.WantKind(t, "over", err, errs.NotFound)
	vaulttest.NoError(t, v.Uploads.Expire())
	if paths := vaulttest.FilesUnder(t, v.Dir, "uploads"); len(paths) > 0 {
		t.Errorf("left %v", paths)
	}
}

// A server that stops ends what arrives, and waits until it is settled.
func TestUploadPause(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: 100})
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		told, err := v.Uploads.Write(context.Background(), vaulttest.Operator, up.ID, 0, r)
		if told.Offset != 3 {
			err = errors.Join(err, errors.New("another offset"))
		}
		ended <- err
	}()
	if _, err := w.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	v.Uploads.Pause()
	<-v.Uploads.Paused()
	vaulttest.NoError(t, w.CloseWithError(os.ErrDeadlineExceeded)) // as the voice does
	vaulttest.Close(t, v)
	vaulttest.WantKind(t, "what was under way", <-ended, errs.Unavailable)
	_, err = v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 3, strings.NewReader("x"))
	vaulttest.WantKind(t, "afterwards", err, errs.Unavailable)
	v = vaulttest.Open(t, opts)
	if told, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, up.ID); err != nil || told.Offset != 3 {
		t.Errorf("%+v, %v", told, err)
	}
}

// A document that cannot be read just now is filed later, without its bytes again.
func TestUploadFiledLater(t *testing.T) {
	t.Parallel()
	busy := &busyReader{}
	opts := vaulttest.Options(t)
	opts.Reader = busy
	busy.fail.Store(true)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	body := big(1000)
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	if told := write(t, v, up.ID, 0, body); told.Ended() || told.Offset != told.Size {
		t.Fatalf("%+v", told)
	}
	_, err = v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	vaulttest.WantKind(t, "still busy", err, errs.Unavailable)
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	busy.fail.Store(false)
	told, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID)
	if err != nil || told.File == nil || !bytes.Equal(vaulttest.Content(t, v, told.File.ID), body) {
		t.Errorf("%+v, %v", told, err)
	}
}

// All bytes are acknowledged only where they are durable: not after a sync that failed,
// even where a later one succeeds.
func TestUploadAcknowledgesWhatIsDurable(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]int32{"every sync fails": 1 << 30, "the first sync fails": 1, "no sync fails": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			busy, left := &busyReader{}, atomic.Int32{}
			busy.fail.Store(true)
			opts := vaulttest.Options(t)
			opts.Reader = busy
			opts.Disk = vaulttest.NewFaultyDisk(blobstore.OSFiles(), func(step, path string) error {
				if step == "sync" && strings.HasSuffix(path, ".part") && left.Add(-1) >= 0 {
					return syscall.EIO
				}
				return nil
			})
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer vaulttest.Close(t, v)
			body := big(1000)
			up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
			left.Store(failing)
			told, err := v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, 0, bytes.NewReader(body))
			if sound := failing == 0; (err == nil) != sound || (told.Offset == told.Size) != sound {
				t.Errorf("got offset %d of %d, %v; want all of it: %v", told.Offset, told.Size, err, sound)
			}
			if err != nil {
				vaulttest.WantKind(t, "the last part", err, errs.Unavailable)
			}
		})
	}
}

// While a document is added to the vault, no offset is sent: none is right for long.
func TestUploadOffsetWhileFiling(t *testing.T) {
	t.Parallel()
	looks, goOn := make(chan struct{}), make(chan struct{})
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(context.Context, string) error { close(looks); <-goOn; return nil })
	})
	body := big(1000)
	up := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	ended := make(chan upload.Upload, 1)
	go func() {
		told, err := v.Uploads.Write(context.WithoutCancel(t.Context()), vaulttest.Operator, up.ID, 0, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
		}
		ended <- told
	}()
	<-looks
	if _, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, up.ID); !errors.Is(err, upload.ErrUploadBusy) {
		t.Errorf("got %v, want ErrUploadBusy", err)
	}
	if told, err := v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID); err != nil || !told.Received || told.Offset != 0 {
		t.Errorf("got %+v, %v; want all arrived, and 0 durable bytes", told, err)
	}
	close(goOn)
	if told := <-ended; told.File == nil || told.Offset != told.Size {
		t.Errorf("got %+v, want it uploaded", told)
	}
}

// busyReader has no time to look at anything while it fails.
type busyReader struct {
	vaulttest.Reader
	fail atomic.Bool
}

func (b *busyReader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	if b.fail.Load() {
		return document.Report{}, sandbox.ErrBusy
	}
	return b.Reader.Inspect(ctx, doc, size, ext, lim)
}

// Documents that were chosen together stand in their order, whichever is there first,
// behind those of another time.
func TestUploadTurns(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("0.pdf", "0"))
	names := []string{"a.pdf", "b.pdf", "c.pdf", "d.pdf"}
	for _, n := range []int{2, 0, 3, 1} {
		body := vaulttest.PDF(1, names[n])
		plan := upload.Plan{Abstract: a.Abstract.ID, Filename: names[n], Size: int64(len(body)), Batch: "x", Position: n}
		if up := write(t, v, vaulttest.BeginUpload(t, v, plan).ID, 0, body); up.File == nil || up.File.Filename != names[n] {
			t.Fatalf("%+v", up)
		}
	}
	got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID)
	if err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, f := range got.Files {
		order += f.Filename[:1]
	}
	if order != "0abcd" {
		t.Errorf("in the order %s", order)
	}
}

func TestTwins(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	draft := model.AbstractDraft{PropertyDraft: model.PropertyDraft{Address: model.StringInput("12 Oak St")}}
	a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "same")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	body := vaulttest.PDF(1, "same")
	in := func(plan upload.Plan) model.File {
		plan.Filename, plan.Size = "b.pdf", int64(len(body))
		return *write(t, v, vaulttest.BeginUpload(t, v, plan).ID, 0, body).File
	}
	inFolder := in(upload.Plan{Folder: deeds.ID})
	gone := in(upload.Plan{})
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, gone.ID, vault.Match{}))
	again := in(upload.Plan{Folder: deeds.ID})
	twins, err := v.Files.Duplicates(t.Context(), again, 5)
	if err != nil || len(twins) != 2 || twins[0].File.ID != inFolder.ID || twins[0].Location != "Deeds" || twins[1].File.AbstractID != a.Abstract.ID || twins[1].Location != "12 Oak St" {
		t.Errorf("%+v, %v", twins, err)
	}
	if twins, err = v.Files.Duplicates(t.Context(), again, 1); err != nil || len(twins) != 1 {
		t.Errorf("%+v, %v", twins, err)
	}
	other := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("c.pdf", "other"))[0]
	if twins, err = v.Files.Duplicates(t.Context(), other, 5); err != nil || len(twins) != 0 {
		t.Errorf("%+v, %v", twins, err)
	}
}
