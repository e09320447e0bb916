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

// withSmallLimit limits the file size to smallLimit.
func withSmallLimit(o *instance.Options) { o.Settings.FileSize = smallLimit }

// If a file fails several checks, the reason of the first one is reported. The test cases are in the sequence of the
// checks.
func TestUploadRejections(t *testing.T) {
	t.Parallel()
	long := vaulttest.PDF(501, "")
	tests := []struct {
		vaulttest.Doc
		want string // rejection reason; "": accepted
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
	v, opts := vaulttest.OpenVerified(t, withSmallLimit)
	var docs []vaulttest.Doc
	var accepted []string
	var want []model.RejectedFile
	for _, tt := range tests {
		docs = append(docs, tt.Doc)
		if tt.want == "" {
			accepted = append(accepted, tt.Name)
		} else {
			want = append(want, model.RejectedFile{Filename: tt.Name, Reason: tt.want})
		}
	}
	staged := vaulttest.StageDocs(t, v, docs...)
	result, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Files.Upload: %v", err)
	}
	if fmt.Sprint(result.Failures) != fmt.Sprint(want) {
		t.Errorf("rejected files: got\n%v\nwant\n%v", result.Failures, want)
	}
	var stored []string
	for _, f := range result.Files {
		stored = append(stored, f.Filename)
	}
	if fmt.Sprint(stored) != fmt.Sprint(accepted) {
		t.Errorf("stored files: got %v, want %v", stored, accepted)
	}
	staged.Discard()
	if temporary := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(temporary) > 0 {
		t.Errorf("temporary files: got %v, want none", temporary)
	}
	if blobs := vaulttest.FilesUnder(t, opts.Dir, "blobs"); len(blobs) != len(accepted) {
		t.Errorf("blobs: got %d, want %d", len(blobs), len(accepted))
	}
}

// Files after the 100th are rejected because there are too many, even if they have other defects. Rejected files count
// toward the limit.
func TestUploadTooManyFiles(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, withSmallLimit)
	docs := []vaulttest.Doc{vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)), vaulttest.NewDoc("b.txt", nil)}
	for i := len(docs); i < 100; i++ {
		docs = append(docs, vaulttest.NewDoc(fmt.Sprintf("%d.txt", i), fmt.Appendf(nil, "%d", i)))
	}
	docs = append(docs, vaulttest.NewDoc("101.txt", vaulttest.TextOfSize(1)), vaulttest.NewDoc("102.txt", nil),
		vaulttest.NewDoc("103.txt", vaulttest.TextOfSize(smallLimit+1)), vaulttest.NewDoc("104.exe", vaulttest.TextOfSize(1)))
	result, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v, docs...),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Files.Upload: %v", err)
	}
	if len(result.Files) != 98 || len(result.Failures) != 6 {
		t.Fatalf("Files.Upload: got %d files, %d rejected, want 98 and 6", len(result.Files), len(result.Failures))
	}
	for _, f := range result.Failures[2:] {
		if f.Reason != document.ReasonTooManyFiles {
			t.Errorf("%s: got reason %q, want %q", f.Filename, f.Reason, document.ReasonTooManyFiles)
		}
	}
}

// No request can add more documents to an abstract than the limit allows. Documents over the limit are rejected in the
// order sent and are not stored.
func TestUploadToFullAbstract(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 3 })
	wantFailures := func(result vault.AbstractWithFiles, err error, want ...string) {
		t.Helper()
		var got []string
		for _, f := range result.Failures {
			got = append(got, f.Filename+": "+f.Reason)
		}
		if err != nil || !slices.Equal(got, want) || len(result.Files) != 3 {
			t.Errorf("got %d files, rejected %q, %v, want 3 files, rejected %q", len(result.Files), got, err, want)
		}
	}
	doc := func(n int) vaulttest.Doc {
		return vaulttest.NewDoc(fmt.Sprintf("%d.txt", n), fmt.Appendf(nil, "text %d", n))
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{},
		vaulttest.StageDocs(t, v, doc(1), doc(2), vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)), doc(3), doc(4),
			vaulttest.NewDoc("b.exe", vaulttest.TextOfSize(3)), doc(5)), vault.Idempotency[vault.AbstractWithFiles]{})
	wantFailures(created, err, "a.exe: "+document.ReasonUnsupportedType, "4.txt: "+document.ReasonAbstractFull,
		"b.exe: "+document.ReasonUnsupportedType, "5.txt: "+document.ReasonAbstractFull)
	attach := func(docs ...vaulttest.Doc) (vault.AbstractWithFiles, error) {
		return v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v, docs...),
			vault.Idempotency[vault.AbstractWithFiles]{})
	}
	result, err := attach(doc(6))
	wantFailures(result, err, "6.txt: "+document.ReasonAbstractFull)
	if result.Abstract.Version != created.Abstract.Version {
		t.Errorf("version after no file was attached: got %d, want %d", result.Abstract.Version, created.Abstract.Version)
	}
	detached := created.Files[1].ID
	vaulttest.WantKind(t, "detach from an old version", v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, detached,
		vault.Match{Given: true, Versions: []uint64{99}}), errs.PreconditionFailed)
	if err := v.Abstracts.Detach(t.Context(), vaulttest.Operator, 1, detached, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Detach: %v", err)
	}
	result, err = attach(doc(7), doc(8))
	wantFailures(result, err, "8.txt: "+document.ReasonAbstractFull)
	_, err = v.Files.Restore(t.Context(), vaulttest.Operator, detached, vault.Idempotency[model.File]{})
	vaulttest.WantKind(t, "restore to a full abstract", err, errs.Conflict)
}

func TestUploadNoAcceptedFiles(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, withSmallLimit)
	staged := vaulttest.StageDocs(t, v, vaulttest.NewDoc("a.exe", vaulttest.TextOfSize(3)))
	result, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(result.Files) != 0 || len(result.Failures) != 1 {
		t.Errorf("Files.Upload: got %+v, %v, want no files and 1 rejected", result, err)
	}
	_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "upload without a file", err, errs.Invalid)
	vaulttest.WantNoDocuments(t, opts.Dir)
}

func TestUploadErrors(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{FolderID: vaulttest.IDInput(99)}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "unknown folder", err, errs.Invalid)
	_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{NonFilePart: true}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "files part without a file", err, errs.Invalid)
	staged.Discard()
	staged.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
	result, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{FolderID: vaulttest.IDInput(1)},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || result.Files[0].FolderID != 1 {
		t.Errorf("Files.Upload: got %+v, %v, want a file in folder 1", result, err)
	}
}

// If the connection fails, Add returns the connection error and doesn't reject the document, even if the document is
// already over the size limit.
func TestUploadConnectionError(t *testing.T) {
	t.Parallel()
	connErr := errors.New("connection reset")
	for _, name := range []string{"a.txt", "a.exe"} {
		for _, n := range []int{10, smallLimit + 1, 700_000} {
			t.Run(fmt.Sprintf("%s of %d bytes", name, n), func(t *testing.T) {
				v, opts := vaulttest.OpenVerified(t, withSmallLimit)
				staged := vaulttest.StageDocs(t, v)
				err := staged.Add(name, io.MultiReader(bytes.NewReader(vaulttest.TextOfSize(n)), iotest.ErrReader(connErr)))
				if !errors.Is(err, connErr) {
					t.Errorf("Add: got %v, want %v", err, connErr)
				}
				staged.Discard()
				vaulttest.WantNoDocuments(t, opts.Dir)
			})
		}
	}
}

func TestUploadCanceledDuringTransfer(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, withSmallLimit)
	ctx, cancel := context.WithCancel(t.Context())
	staged, err := v.Files.Stage(ctx)
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	endless := readerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	})
	if err := staged.Add("endless.txt", endless); !errors.Is(err, context.Canceled) {
		t.Errorf("Add: got %v, want %v", err, context.Canceled)
	}
	staged.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
}

// readerFunc is a function that implements io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestUploadCanceledDuringInspection(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(ctx context.Context, _ string) error {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	staged, err := v.Files.Stage(ctx)
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	if err := staged.Add("Deed.pdf", strings.NewReader("%PDF-")); err != nil {
		t.Fatalf("staged.Add: %v", err)
	}
	<-started
	cancel()
	if _, err := v.Files.Upload(context.WithoutCancel(ctx), vaulttest.Operator, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Files.Upload: got %v, want %v", err, context.Canceled)
	}
	staged.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
}

// If the inspection of one document fails with an internal error, the complete request fails.
func TestUploadInspectionFails(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		want errs.Kind
	}{
		"no worker":      {errors.New("no worker"), errs.Internal},
		"killed workers": {fmt.Errorf("start: %w", sandbox.ErrKilled), errs.Unavailable},
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
			staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.NewDoc("x.png", vaulttest.TextOfSize(3)))
			_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, staged,
				vault.Idempotency[vault.AbstractWithFiles]{})
			if !errors.Is(err, row.err) || errs.KindOf(err) != row.want {
				t.Errorf("got %v, want kind %d", err, row.want)
			}
			staged.Discard()
			vaulttest.WantNoDocuments(t, opts.Dir)
			if n := vaulttest.Status(t, v).Abstracts; n != 0 {
				t.Errorf("got %d abstracts, want 0", n)
			}
		})
	}
}

// The server inspects a document while it receives the next one.
func TestUploadInspectsConcurrently(t *testing.T) {
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
				return errors.New("timeout waiting for the inspection of the second document")
			}
		})
	})
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.NewDoc("later.txt", vaulttest.TextOfSize(3)))
}

// Files with the same content share one blob.
func TestUploadSameContent(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Copy.pdf", "a"))
	files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Again.pdf", "a"))...)
	if files[0].ID == files[1].ID || files[1].ID == files[2].ID || files[0].Digest != files[2].Digest {
		t.Errorf("files: got %+v, want different IDs and the same digest", files)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 1 {
		t.Errorf("blobs: got %d, want 1", n)
	}
	for _, f := range files {
		if !bytes.Equal(vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, "a")) {
			t.Errorf("content of file %d: got other bytes than were uploaded", f.ID)
		}
	}
	if s := vaulttest.Status(t, v); s.Files != 3 || s.Bytes != uint64(3*files[0].Size) {
		t.Errorf("status: got %+v, want 3 files with %d bytes", s, 3*files[0].Size)
	}
}
