package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const smallLimit = 1000 // bytes

func small(o *instance.Options) { o.Settings.FileSize = smallLimit }

// The rows stand in the order of API.md's table: what fails two checks is refused
// for the first.
func TestIntakeRefusals(t *testing.T) {
	t.Parallel()
	long := vaulttest.PDF(501, "")
	tests := []struct {
		vaulttest.Doc
		want string // "" is accepted
	}{
		{vaulttest.NewDoc("empty.pdf", nil), "File is empty"},
		{vaulttest.NewDoc("empty.exe", nil), "File is empty"},
		{vaulttest.NewDoc("limit.txt", vaulttest.TextOfSize(smallLimit)), ""},
		{vaulttest.NewDoc("above.txt", vaulttest.TextOfSize(smallLimit+1)), "File exceeds 1000 B limit"},
		{vaulttest.NewDoc("far above.txt", vaulttest.TextOfSize(700_000)), "File exceeds 1000 B limit"},
		{vaulttest.NewDoc("limit.exe", vaulttest.TextOfSize(smallLimit)), document.ReasonUnsupportedType},
		{vaulttest.NewDoc("above.exe", vaulttest.TextOfSize(smallLimit+1)), "File exceeds 1000 B limit"},
		{vaulttest.NewDoc("one.exe", vaulttest.TextOfSize(1)), document.ReasonUnsupportedType},
		{vaulttest.NewDoc("noextension", vaulttest.TextOfSize(1)), document.ReasonUnsupportedType},
		{vaulttest.NewDoc("text.PDF", vaulttest.TextOfSize(9)), "File content does not match its .pdf extension"},
		{vaulttest.NewDoc("locked.pdf", []byte("%PDF-1.7\n/Encrypt\n")), "PDF is password-protected"},
		{vaulttest.NewDoc("broken.pdf", []byte("%PDF-1.7\n\n")), "PDF could not be read"},
		{vaulttest.NewDoc("501.pdf", long), "PDF exceeds 500 page limit"},
		{vaulttest.NewDoc("500.pdf", vaulttest.PDF(500, "")), ""},
	}
	v, opts := vaulttest.OpenVerified(t, small)
	var docs []vaulttest.Doc
	var good []string
	var want []model.RejectedFile
	for _, tt := range tests {
		docs = append(docs, tt.Doc)
		if tt.want == "" {
			good = append(good, tt.Name)
		} else {
			want = append(want, model.RejectedFile{Filename: tt.Name, Reason: tt.want})
		}
	}
	tray := vaulttest.StageDocs(t, v, docs...)
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, tray, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(filed.Failures) != fmt.Sprint(want) {
		t.Errorf("refused\n%v, want\n%v", filed.Failures, want)
	}
	var stored []string
	for _, f := range filed.Files {
		stored = append(stored, f.Filename)
	}
	if fmt.Sprint(stored) != fmt.Sprint(good) {
		t.Errorf("stored %v, want %v", stored, good)
	}
	tray.Discard()
	if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
		t.Errorf("tmp holds %v", left)
	}
	if blobs := vaulttest.FilesUnder(t, opts.Dir, "blobs"); len(blobs) != len(good) {
		t.Errorf("%d blobs for %d good documents", len(blobs), len(good))
	}
}

// The 101st part is refused for that, whatever else is wrong with it, and the
// refused ones before it count.
func TestIntakeTooManyFiles(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, small)
	docs := []vaulttest.Doc{vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)), vaulttest.NewDoc("b.txt", nil)}
	for i := len(docs); i < 100; i++ {
		docs = append(docs, vaulttest.NewDoc(fmt.Sprintf("%d.txt", i), fmt.Appendf(nil, "%d", i)))
	}
	docs = append(docs, vaulttest.NewDoc("101.txt", vaulttest.TextOfSize(1)), vaulttest.NewDoc("102.txt", nil), vaulttest.NewDoc("103.txt", vaulttest.TextOfSize(smallLimit+1)), vaulttest.NewDoc("104.exe", vaulttest.TextOfSize(1)))
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v, docs...), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	if len(filed.Files) != 98 || len(filed.Failures) != 6 {
		t.Fatalf("%d stored, %d refused", len(filed.Files), len(filed.Failures))
	}
	for _, f := range filed.Failures[2:] {
		if f.Reason != document.ReasonTooManyFiles {
			t.Errorf("%s: %s", f.Filename, f.Reason)
		}
	}
}

// An abstract has so many files and no more, however they come: those above are
// refused in the order sent, and take no room on the disk.
func TestFullAbstract(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 3 })
	reasons := func(filed vault.AbstractWithFiles, err error, want ...string) {
		t.Helper()
		var got []string
		for _, f := range filed.Failures {
			got = append(got, f.Filename+": "+f.Reason)
		}
		if err != nil || !slices.Equal(got, want) || len(filed.Files) != 3 {
			t.Errorf("%d files, %q, %v", len(filed.Files), got, err)
		}
	}
	name := func(n int) vaulttest.Doc {
		return vaulttest.NewDoc(fmt.Sprintf("%d.txt", n), fmt.Appendf(nil, "text %d", n))
	}
	made, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, name(1), name(2), vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)), name(3), name(4), vaulttest.NewDoc("b.exe", vaulttest.TextOfSize(3)), name(5)), vault.Idempotency[vault.AbstractWithFiles]{})
	reasons(made, err, "a.exe: "+document.ReasonUnsupportedType, "4.txt: "+document.ReasonAbstractFull, "b.exe: "+document.ReasonUnsupportedType, "5.txt: "+document.ReasonAbstractFull)
	attach := func(docs ...vaulttest.Doc) (vault.AbstractWithFiles, error) {
		return v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v, docs...), vault.Idempotency[vault.AbstractWithFiles]{})
	}
	filed, err := attach(name(6))
	reasons(filed, err, "6.txt: "+document.ReasonAbstractFull)
	if filed.Abstract.Version != made.Abstract.Version {
		t.Error("nothing was attached, and the abstract is another")
	}
	gone := made.Files[1].ID
	vaulttest.WantKind(t, "stale", v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, gone, vault.Match{Given: true, Versions: []uint64{99}}), errs.PreconditionFailed)
	if err := v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, gone, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	filed, err = attach(name(7), name(8))
	reasons(filed, err, "8.txt: "+document.ReasonAbstractFull)
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, gone, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "restore into a full one", err, errs.Conflict)
}

func TestIntakeNoneGood(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, small)
	tr := vaulttest.StageDocs(t, v, vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)))
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(filed.Files) != 0 || len(filed.Failures) != 1 {
		t.Errorf("%+v, %v", filed, err)
	}
	_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "no file at all", err, errs.Invalid)
	vaulttest.WantNoDocuments(t, opts.Dir)
}

func TestIntakeUploadRefused(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{FolderID: vaulttest.IDInput(99)}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "unknown folder", err, errs.Invalid)
	_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{NonFilePart: true}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "not a file", err, errs.Invalid)
	tr.Discard()
	tr.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{FolderID: vaulttest.IDInput(1)}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || filed.Files[0].FolderID != 1 {
		t.Errorf("%+v, %v", filed, err)
	}
}

// What the sender broke off is no refusal of a document, also when it was over the
// limit already.
func TestIntakeBrokenOff(t *testing.T) {
	t.Parallel()
	cut := errors.New("connection cut")
	for _, name := range []string{"a.txt", "a.exe"} {
		for _, n := range []int{10, smallLimit + 1, 700_000} {
			v, opts := vaulttest.OpenVerified(t, small)
			tr := vaulttest.StageDocs(t, v)
			err := tr.Add(name, io.MultiReader(bytes.NewReader(vaulttest.TextOfSize(n)), iotest.ErrReader(cut)))
			if !errors.Is(err, cut) {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
			tr.Discard()
			vaulttest.WantNoDocuments(t, opts.Dir)
		}
	}
}

func TestIntakeCanceledWhileDraining(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, small)
	ctx, cancel := context.WithCancel(t.Context())
	tr, err := v.Files.Stage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	endless := readerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	})
	if err := tr.Add("endless.txt", endless); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	tr.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestIntakeCanceledMidInspection(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(ctx context.Context, _ string) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr, err := v.Files.Stage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Add("Deed.pdf", strings.NewReader("%PDF-")); err != nil {
		t.Fatal(err)
	}
	<-begun
	cancel()
	if _, err := v.Files.Upload(context.WithoutCancel(ctx), vaulttest.Operator, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	tr.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
}

// An inspector that breaks is our fault: the request fails as a whole.
func TestIntakeInspectorBreaks(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		want errs.Kind
	}{
		"no child":        {errors.New("no child"), errs.Internal},
		"killed children": {fmt.Errorf("start: %w", sandbox.ErrKilled), errs.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Reader = vaulttest.NewHookedReader(func(_ context.Context, ext string) error {
					if ext == "png" {
						return row.err
					}
					return nil
				})
			})
			tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.NewDoc("x.png", vaulttest.TextOfSize(3)))
			_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
			if !errors.Is(err, row.err) || errs.KindOf(err) != row.want {
				t.Errorf("got %v, want kind %d", err, row.want)
			}
			tr.Discard()
			vaulttest.WantNoDocuments(t, opts.Dir)
			if n := vaulttest.Status(t, v).Abstracts; n != 0 {
				t.Errorf("got %d abstracts, want 0", n)
			}
		})
	}
}

func TestIntakeInspectsWhileTheRestArrives(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(ctx context.Context, ext string) error {
			if ext == "txt" {
				close(second)
				return nil
			}
			select {
			case <-second:
				return nil
			case <-time.After(20 * time.Second):
				return errors.New("the second document waited for the first")
			}
		})
	})
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.NewDoc("later.txt", vaulttest.TextOfSize(3)))
}

func TestIntakeSameBytesTwice(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Copy.pdf", "a"))
	files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Again.pdf", "a"))...)
	if files[0].ID == files[1].ID || files[1].ID == files[2].ID || files[0].Digest != files[2].Digest {
		t.Errorf("%+v", files)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("%d blobs", n)
	}
	for _, f := range files {
		if !bytes.Equal(vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, "a")) {
			t.Errorf("file %d differs", f.ID)
		}
	}
	if s := vaulttest.Status(t, v); s.Files != 3 || s.Bytes != uint64(3*files[0].Size) {
		t.Errorf("%+v", s)
	}
}
