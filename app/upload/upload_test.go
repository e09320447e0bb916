package upload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"deedkeep/app/blob/disk"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// otherUser is an actor other than the owner of the uploads, vaulttest.Operator.
var otherUser = model.Actor{Kind: "user", ID: 8}

func write(t *testing.T, v *instance.Instance, id string, offset int64, part []byte) upload.Upload {
	t.Helper()
	up, err := v.Uploads.Write(t.Context(), vaulttest.Operator, id, offset, bytes.NewReader(part))
	if err != nil {
		t.Fatalf("write %d bytes at %d: %v", len(part), offset, err)
	}
	return up
}

// largePDF returns a valid PDF with 3 pages and more than n bytes.
func largePDF(n int) []byte {
	return append(vaulttest.PDF(3, "large"), bytes.Repeat([]byte("0123456789abcdef"), n/16)...)
}

// wantNoPartialFiles checks that no files of uploads are left in the data directory.
func wantNoPartialFiles(t *testing.T, dir string) {
	t.Helper()
	if paths := vaulttest.FilesUnder(t, dir, "uploads"); len(paths) > 0 {
		t.Errorf("files left in uploads = %v, want none", paths)
	}
}

// wantStored checks that the upload has ended and stored a document with the given
// content.
func wantStored(t *testing.T, v *instance.Instance, up upload.Upload, content []byte) {
	t.Helper()
	if up.File == nil {
		t.Fatalf("upload = %+v, want a stored file", up)
	}
	if got := vaulttest.Content(t, v, up.File.ID); !bytes.Equal(got, content) {
		t.Errorf("content of the file: got %d bytes, want the %d uploaded bytes", len(got), len(content))
	}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v)
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	for i, tt := range []struct {
		name string
		plan upload.Plan
	}{
		{"to an abstract", upload.Plan{Abstract: a.Abstract.ID}},
		{"to a folder", upload.Plan{Folder: deeds.ID}},
		{"without a folder", upload.Plan{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := append(largePDF(40_000), byte(i))
			tt.plan.Filename, tt.plan.Size = "Deed.pdf", int64(len(body))
			up := vaulttest.BeginUpload(t, v, tt.plan)
			if up.Offset != 0 || up.Size != tt.plan.Size || up.Ended() || len(up.ID) != 43 {
				t.Fatalf("Begin() = %+v, want an open upload of %d bytes with an ID of 43 bytes", up, tt.plan.Size)
			}
			if up = write(t, v, up.ID, 0, body[:1000]); up.Offset != 1000 || up.Ended() {
				t.Fatalf("first Write() = %+v, want an open upload at offset 1000", up)
			}
			if up = write(t, v, up.ID, 1000, body[1000:]); up.File == nil || up.Offset != up.Size {
				t.Fatalf("last Write() = %+v, want a stored file", up)
			}
			if f := up.File; f.AbstractID != tt.plan.Abstract || f.FolderID != tt.plan.Folder || f.Filename != "Deed.pdf" || *f.Pages != 3 {
				t.Errorf("stored file = %+v, want Deed.pdf with 3 pages, abstract %d, and folder %d", f, tt.plan.Abstract, tt.plan.Folder)
			}
			wantStored(t, v, up, body)
			wantSameOutcome(t, v, up, body[1000:])
			if err := v.Uploads.Cancel(t.Context(), vaulttest.Operator, up.ID); err != nil {
				t.Errorf("cancel an upload that has ended: %v", err)
			}
			_, err := v.Uploads.Get(t.Context(), otherUser, up.ID)
			vaulttest.WantKind(t, "get an upload of another user", err, errs.NotFound)
		})
	}
	if page, err := v.Files.List(t.Context(), vault.Query{Limit: 10}); err != nil || len(page.Items) != 3 {
		t.Errorf("listed files = %d, %v; want 3", len(page.Items), err)
	}
	if got, err := v.Abstracts.Get(t.Context(), a.Abstract.ID); err != nil || len(got.Files) != 1 {
		t.Errorf("abstract = %+v, %v; want 1 file", got, err)
	}
	wantNoPartialFiles(t, opts.Dir)
}

// wantSameOutcome simulates a client that lost the response to its last write. It checks
// that every call returns the same outcome and that the document isn't stored again.
func wantSameOutcome(t *testing.T, v *instance.Instance, up upload.Upload, lastPart []byte) {
	t.Helper()
	for name, call := range map[string]func() (upload.Upload, error){
		"Get":    func() (upload.Upload, error) { return v.Uploads.Get(t.Context(), vaulttest.Operator, up.ID) },
		"Offset": func() (upload.Upload, error) { return v.Uploads.Offset(t.Context(), vaulttest.Operator, up.ID) },
		"Write": func() (upload.Upload, error) {
			return v.Uploads.Write(t.Context(), vaulttest.Operator, up.ID, up.Size-int64(len(lastPart)), bytes.NewReader(lastPart))
		},
	} {
		if got, err := call(); err != nil || got.File == nil || got.File.ID != up.File.ID || got.Offset != up.Size {
			t.Errorf("%s() after the end = %+v, %v; want file %d", name, got, err, up.File.ID)
		}
	}
}

func TestBeginRejects(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) {
		o.Settings.FileSize, o.Settings.FilesPerAbstract = 1000, 1
	})
	v := p.Instance
	full := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	trashed := vaulttest.CreateAbstract(t, v)
	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, trashed.Abstract.ID, vault.Match{}))
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "vera", model.RoleViewer)
	viewer := p.Actor(t, "vera")
	for _, tt := range []struct {
		name    string
		actor   model.Actor
		plan    upload.Plan
		kind    errs.Kind
		message string
	}{
		{"unsupported extension", vaulttest.Operator, upload.Plan{Filename: "a.exe", Size: 1}, errs.Invalid, document.ReasonUnsupportedType},
		{"empty document", vaulttest.Operator, upload.Plan{Filename: "a.pdf"}, errs.Invalid, document.ReasonEmpty},
		{"too large", vaulttest.Operator, upload.Plan{Filename: "a.pdf", Size: 1001}, errs.Invalid, document.ReasonTooLarge(1000)},
		{"full abstract", vaulttest.Operator, upload.Plan{Abstract: full.Abstract.ID, Filename: "a.pdf", Size: 1},
			errs.Invalid, document.ReasonAbstractFull},
		{"abstract in the trash", vaulttest.Operator, upload.Plan{Abstract: trashed.Abstract.ID, Filename: "a.pdf", Size: 1}, errs.NotFound, ""},
		{"unknown abstract", vaulttest.Operator, upload.Plan{Abstract: 99, Filename: "a.pdf", Size: 1}, errs.NotFound, ""},
		{"unknown folder", vaulttest.Operator, upload.Plan{Folder: 99, Filename: "a.pdf", Size: 1}, errs.NotFound, ""},
		{"viewer", viewer, upload.Plan{Filename: "a.pdf", Size: 1}, errs.Forbidden, ""},
		{"signed out", model.Actor{Kind: model.ActorUser, ID: 1}, upload.Plan{Filename: "a.pdf", Size: 1}, errs.Unauthenticated, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := v.Uploads.Begin(t.Context(), tt.actor, tt.plan)
			vaulttest.WantKind(t, "begin", err, tt.kind)
			if err != nil && !strings.Contains(err.Error(), tt.message) {
				t.Errorf("Begin(%+v): got %v, want an error with %q", tt.plan, err, tt.message)
			}
		})
	}
}

// If the server was killed during a write, the upload resumes at an offset before which
// all bytes are synced to the disk. If a power failure replaced bytes with zeros, the
// zeros don't get into the document.
func TestUploadResumesAfterPowerFailure(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	body := largePDF(3_000_000)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	errConnection := errors.New("connection lost")
	r := io.MultiReader(bytes.NewReader(body[:2_000_000]), iotest.ErrReader(errConnection))
	up, err := v.Uploads.Write(t.Context(), vaulttest.Operator, created.ID, 0, r)
	if !errors.Is(err, errConnection) || up.Offset != 2_000_000 {
		t.Fatalf("Write() = %+v, %v; want offset 2,000,000 and %v", up, err, errConnection)
	}
	parts, err := filepath.Glob(filepath.Join(opts.Dir, "uploads", "*.part"))
	if err != nil || len(parts) != 1 || strings.Contains(parts[0], created.ID) {
		t.Fatalf("partial files = %v, %v; want one without the ID in its name", parts, err)
	}
	vaulttest.Close(t, v)
	// Simulate a power failure: the file is longer than its synced bytes, and the rest is
	// zeros.
	vaulttest.NoError(t, os.Truncate(parts[0], 2_500_000))

	v = vaulttest.Open(t, opts)
	if up, err = v.Uploads.Offset(t.Context(), vaulttest.Operator, created.ID); err != nil || up.Offset != 2_000_000 {
		t.Fatalf("Offset() after a restart = %+v, %v; want 2,000,000", up, err)
	}
	_, err = v.Uploads.Offset(t.Context(), otherUser, created.ID)
	vaulttest.WantKind(t, "offset of an upload of another user", err, errs.NotFound)
	_, err = v.Uploads.Write(t.Context(), vaulttest.Operator, created.ID, 2_500_000, bytes.NewReader(body[2_500_000:]))
	if !errors.Is(err, upload.ErrOffset) {
		t.Errorf("Write() at a wrong offset: got %v, want %v", err, upload.ErrOffset)
	}
	wantStored(t, v, write(t, v, created.ID, 2_000_000, body[2_000_000:]), body)
}

// momentDisk calls at after every change of the disk that a crash can separate from the next one.
type momentDisk struct {
	disk.Files
	at func()
}

func (d momentDisk) after(err error) error {
	d.at()
	return err
}

func (d momentDisk) Link(from, to string) error   { return d.after(d.Files.Link(from, to)) }
func (d momentDisk) Rename(from, to string) error { return d.after(d.Files.Rename(from, to)) }
func (d momentDisk) SyncDir(path string) error    { return d.after(d.Files.SyncDir(path)) }
func (d momentDisk) Remove(path string) error     { return d.after(d.Files.Remove(path)) }

// If the server is killed at any moment of the completion of an upload, the confirmed bytes are still there or the
// document is stored.
func TestConfirmedBytesSurviveCompletion(t *testing.T) {
	t.Parallel()
	opts, body := vaulttest.Options(t), largePDF(10_000)
	var moments []string
	record := false
	opts.Disk = momentDisk{disk.OSFiles(), func() {
		if record {
			dir := t.TempDir()
			vaulttest.NoError(t, os.CopyFS(dir, os.DirFS(opts.Dir)))
			moments = append(moments, dir)
		}
	}}
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	write(t, v, created.ID, 0, body[:len(body)-1])
	record = true
	wantStored(t, v, write(t, v, created.ID, int64(len(body)-1), body[len(body)-1:]), body)
	record = false
	vaulttest.Close(t, v)
	if len(moments) < 4 { // at least: renamed, synced, and both files of the upload removed
		t.Fatalf("moments = %d, want at least 4", len(moments))
	}
	stored := 0
	opts.Disk = nil
	for i, dir := range moments {
		opts.Dir = dir
		v := vaulttest.Open(t, opts)
		up, err := v.Uploads.Offset(t.Context(), vaulttest.Operator, created.ID)
		if err != nil || !up.Ended() && up.Offset != int64(len(body)-1) {
			t.Errorf("moment %d: Offset() = %+v, %v; want %d or the stored document", i, up, err, len(body)-1)
			continue
		}
		if up.Ended() {
			stored++
		} else {
			up = write(t, v, created.ID, up.Offset, body[up.Offset:])
		}
		wantStored(t, v, up, body)
		vaulttest.NoError(t, v.Uploads.Expire())
		wantNoPartialFiles(t, dir) // they could become a second document when the outcome is no longer kept
	}
	if stored == 0 || stored == len(moments) {
		t.Errorf("moments with a stored document = %d of %d, want some", stored, len(moments))
	}
}

// If the record of a complete upload can't be committed, its bytes are kept and stored later.
func TestUploadKeepsBytesAfterFailedCommit(t *testing.T) {
	t.Parallel()
	opts, body := vaulttest.Options(t), largePDF(10_000)
	broken := false
	opts.Disk = vaulttest.NewFaultyDisk(disk.OSFiles(), func(step, path string) error {
		if broken && step == "syncdir" && strings.Contains(path, "blobs") {
			return syscall.ENOSPC
		}
		return nil
	})
	v := vaulttest.Open(t, opts)
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	write(t, v, created.ID, 0, body[:5000])
	broken = true
	if up := write(t, v, created.ID, 5000, body[5000:]); up.Ended() || up.Offset != up.Size {
		t.Fatalf("Write() = %+v, want all bytes received and the upload open", up)
	}
	broken = false
	up, err := v.Uploads.Get(t.Context(), vaulttest.Operator, created.ID)
	vaulttest.NoError(t, err)
	wantStored(t, v, up, body)
	wantNoPartialFiles(t, opts.Dir)
}

// Only one request at a time can write to an upload.
func TestUploadConcurrentWrites(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	body := largePDF(10_000)
	created := vaulttest.BeginUpload(t, v, upload.Plan{Filename: "a.pdf", Size: int64(len(body))})
	r, w := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := v.Uploads.Write(context.Background(), vaulttest.Operator, created.ID, 0, r)
		first <- err
	}()
	if _, err := w.Write(body[:1]); err != nil { // Write returns when the first request starts reading
		t.Fatalf("send a byte: %v", err)
	}
	_, err := v.Uploads.Write(t.Context(), vaulttest.Operator, created.ID, 0, bytes.NewReader(body))
	if !errors.Is(err, upload.ErrUploadBusy) {
		t.Errorf("second Write(): got %v, want %v", err, upload.ErrUploadBusy)
	}
	if up, err := v.Uploads.Get(t.Context(), vaulttest.Operator, created.ID); err != nil || up.Offset != 0 {
		t.Errorf("Get() during the first write = %+v, %v; want offset 0", up, err)
	}
	vaulttest.NoError(t, w.Close())
	if err := <-first; err != nil {
		t.Errorf("first Write(): %v", err)
	}
	wantStored(t, v, write(t, v, created.ID, 1, body[1:]), body)
}

// Documents of a batch appear after the existing documents, in the order of their
// positions, no matter which one arrives first.
func TestUploadBatchOrder(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("0.pdf", "0"))
	names := []string{"a.pdf", "b.pdf", "c.pdf", "d.pdf"}
	for _, n := range []int{2, 0, 3, 1} {
		body := vaulttest.PDF(1, names[n])
		plan := upload.Plan{Abstract: a.Abstract.ID, Filename: names[n], Size: int64(len(body)), Batch: "x", Position: n}
		if up := write(t, v, vaulttest.BeginUpload(t, v, plan).ID, 0, body); up.File == nil || up.File.Filename != names[n] {
			t.Fatalf("upload %s: got %+v, want a stored file", names[n], up)
		}
	}
	stored, err := v.Abstracts.Get(t.Context(), a.Abstract.ID)
	if err != nil {
		t.Fatalf("get abstract: %v", err)
	}
	got := ""
	for _, f := range stored.Files {
		got += f.Filename[:1]
	}
	if want := "0abcd"; got != want {
		t.Errorf("order of the documents = %s, want %s", got, want)
	}
}

func TestUploadDuplicates(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	draft := model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput("12 Oak St")}}
	a, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", "same")),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	deeds := vaulttest.CreateFolder(t, v, "Deeds", 0)
	body := vaulttest.PDF(1, "same")
	uploadSame := func(plan upload.Plan) model.File {
		plan.Filename, plan.Size = "b.pdf", int64(len(body))
		return *write(t, v, vaulttest.BeginUpload(t, v, plan).ID, 0, body).File
	}
	inFolder := uploadSame(upload.Plan{Folder: deeds.ID})
	trashed := uploadSame(upload.Plan{})
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, trashed.ID, vault.Match{}))
	file := uploadSame(upload.Plan{Folder: deeds.ID})
	got, err := v.Files.Duplicates(t.Context(), file, 5)
	if err != nil || len(got) != 2 || got[0].File.ID != inFolder.ID || got[0].Location != "Deeds" ||
		got[1].File.AbstractID != a.Abstract.ID || got[1].Location != "12 Oak St" {
		t.Errorf("Duplicates() = %+v, %v; want file %d in Deeds and the file of abstract %d at 12 Oak St",
			got, err, inFolder.ID, a.Abstract.ID)
	}
	if got, err = v.Files.Duplicates(t.Context(), file, 1); err != nil || len(got) != 1 {
		t.Errorf("Duplicates() with limit 1 = %+v, %v; want 1", got, err)
	}
	other := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("c.pdf", "other"))[0]
	if got, err = v.Files.Duplicates(t.Context(), other, 5); err != nil || len(got) != 0 {
		t.Errorf("Duplicates() of other content = %+v, %v; want none", got, err)
	}
}
