package vault_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestAbstractCreate(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	draft := model.AbstractDraft{Fields: model.Inputs{"city": model.StringInput(" Camden ")},
		Custom: vaulttest.CustomText("file_number", `"24-1"`)}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft,
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1)),
			vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	a := created.Abstract
	if a.ID != 1 || a.TemplateID != 1 || a.Status != "New" || a.City != "Camden" || string(a.Custom["file_number"]) != `"24-1"` ||
		a.Version != 1 {
		t.Errorf("created abstract: got %+v, want version 1 of abstract 1, New, in Camden, with the file number 24-1", a)
	}
	if !a.CreatedAt.Equal(opts.Now()) || !a.UpdatedAt.Equal(a.CreatedAt) {
		t.Errorf("created and updated at: got %v, %v, want %v", a.CreatedAt, a.UpdatedAt, opts.Now())
	}
	if len(created.Files) != 2 || created.Files[0].Filename != "1.pdf" || created.Files[0].AbstractID != a.ID || !created.Files[0].Processing {
		t.Errorf("files: got %+v, want 1.pdf and 2.pdf of abstract %d, in processing", created.Files, a.ID)
	}
	if len(created.Failures) != 1 || created.Failures[0].Filename != "x.exe" {
		t.Errorf("rejected files: got %+v, want x.exe", created.Failures)
	}
	read, err := v.Abstracts.Get(t.Context(), a.ID)
	if err != nil || !reflect.DeepEqual(read.Abstract, a) || !reflect.DeepEqual(read.Files, created.Files) {
		t.Errorf("Abstracts.Get: got %+v, %v, want %+v with files %+v", read, err, a, created.Files)
	}
	_, err = v.Abstracts.Get(t.Context(), a.ID+1)
	vaulttest.WantKind(t, "unknown abstract", err, errs.NotFound)
}

func TestAbstractCreateRejectsInvalidFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		draft model.AbstractDraft
		field string
	}{
		{"unknown template", model.AbstractDraft{TemplateID: vaulttest.IDInput(99)}, "template_id"},
		{"template zero", model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true}}, "template_id"},
		{"negative template", model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: -1}}, "template_id"},
		{"template that is not an integer", model.AbstractDraft{TemplateID: model.IDInput{Present: true}}, "template_id"},
		{"value outside the options", model.AbstractDraft{Custom: vaulttest.CustomText("search_type", `"Psychic"`)}, "custom_fields.search_type"},
		{"control character", model.AbstractDraft{Fields: model.Inputs{"tax_map": model.StringInput("a\x00b")}},
			"tax_map"},
		{"files part without a file", model.AbstractDraft{NonFilePart: true}, "files"},
	}
	v, opts := vaulttest.OpenVerified(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
			_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, tt.draft, staged, vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.WantKind(t, tt.name, err, errs.Invalid)
			var invalid *errs.Error
			if errors.As(err, &invalid) && (len(invalid.Fields) != 1 || invalid.Fields[0].Field != tt.field) {
				t.Errorf("invalid fields: got %+v, want %s only", invalid.Fields, tt.field)
			}
			staged.Discard()
			vaulttest.WantNoDocuments(t, opts.Dir)
		})
	}
	if n := vaulttest.Status(t, v).Abstracts; n != 0 {
		t.Errorf("number of abstracts: got %d, want 0", n)
	}
}

// retireTemplate retires a template directly in the store.
func retireTemplate(v *instance.Instance, id uint64) error {
	return v.Store.Update(context.Background(), nil, func(tx *store.Tx) error {
		template, err := tx.Template(id)
		if err != nil {
			return err
		}
		template.Retired = true
		return tx.PutTemplate(template)
	})
}

// If a template is retired while documents are inspected, the request that uses it is invalid. The sweeper removes the
// stored documents soon, without waiting for its next scheduled run.
func TestAbstractCreateTemplateRetiredDuringInspection(t *testing.T) {
	t.Parallel()
	var v *instance.Instance
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(context.Context, string) error { return retireTemplate(v, 2) })
	})
	v.Start(24 * time.Hour)
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{TemplateID: vaulttest.IDInput(2)}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "template retired during the inspection", err, errs.Invalid)
	staged.Discard()
	vaulttest.Eventually(t, "the sweep of the stored document", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
	vaulttest.WantNoDocuments(t, opts.Dir)
	if n := vaulttest.Status(t, v).Abstracts; n != 0 {
		t.Errorf("number of abstracts: got %d, want 0", n)
	}
}

func TestAbstractCreateRejectsRetiredTemplate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before, err := v.Templates.List(t.Context())
	if err != nil {
		t.Fatalf("Templates.List: %v", err)
	}
	if err := retireTemplate(v, 2); err != nil {
		t.Fatalf("retire template 2: %v", err)
	}
	_, err = v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{TemplateID: vaulttest.IDInput(2)},
		vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "retired template", err, errs.Invalid)
	after, err := v.Templates.List(t.Context())
	if err != nil || len(after) != len(before)-1 || slices.ContainsFunc(after, func(x model.Template) bool { return x.ID == 2 }) {
		t.Errorf("Templates.List: got %v, %v, want all of %v except template 2", after, err, before)
	}
}

// Without a default template, an abstract has no template, status, or custom fields.
func TestAbstractCreateWithoutTemplates(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.SetDefaultTemplate(0) }); err != nil {
		t.Fatalf("Store.Update: %v", err)
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
		model.AbstractDraft{Custom: vaulttest.CustomText("file_number", `"1"`)}, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || created.Abstract.TemplateID != 0 || created.Abstract.Status != "" || len(created.Abstract.Custom) != 0 {
		t.Errorf("Abstracts.Create: got %+v, %v, want no template, status, or custom fields", created, err)
	}
}

// Attach adds files at the end of the abstract and increases updated_at, even if the clock doesn't advance.
func TestAttach(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	names := []string{"1.pdf"}
	last := created.Abstract
	for i := range 3 {
		a, b := vaulttest.PDFDoc(fmt.Sprintf("a%d.pdf", i), "a"), vaulttest.PDFDoc(fmt.Sprintf("b%d.pdf", i), fmt.Sprint(i))
		attached, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, last.ID, model.UploadDraft{FolderID: vaulttest.IDInput(1)},
			vaulttest.StageDocs(t, v, a, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1)), b), vault.Idempotency[vault.AbstractWithFiles]{})
		if err != nil || len(attached.Failures) != 1 {
			t.Fatalf("Abstracts.Attach: rejected files: got %+v, %v, want x.exe", attached.Failures, err)
		}
		names = append(names, a.Name, b.Name)
		now := attached.Abstract
		if now.Version != last.Version+1 || !now.UpdatedAt.After(last.UpdatedAt) || !now.CreatedAt.Equal(last.CreatedAt) {
			t.Errorf("got version %d updated at %v, want one more than %d and later than %v", now.Version, now.UpdatedAt, last.Version,
				last.UpdatedAt)
		}
		last = now
	}
	read, err := v.Abstracts.Get(t.Context(), last.ID)
	if err != nil {
		t.Fatalf("Abstracts.Get: %v", err)
	}
	var got []string
	for _, f := range read.Files {
		got = append(got, f.Filename)
		if f.FolderID != 0 || f.AbstractID != last.ID {
			t.Errorf("file: got %+v, want it in abstract %d and in no folder", f, last.ID)
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("files: got %v, want %v", got, names)
	}
}

func TestAttachNoAcceptedFiles(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	attached, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{},
		vaulttest.StageDocs(t, v, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(attached.Failures) != 1 || attached.Abstract.Version != created.Abstract.Version {
		t.Errorf("Abstracts.Attach: got %+v, %v, want x.exe rejected and version %d", attached, err, created.Abstract.Version)
	}
	_, err = v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "attach without a file", err, errs.Invalid)
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err = v.Abstracts.Attach(t.Context(), vaulttest.Operator, 99, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "attach to an unknown abstract", err, errs.NotFound)
	staged.Discard()
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	vaulttest.WantNoDocuments(t, opts.Dir)
}

func TestAttachConcurrently(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	var wg sync.WaitGroup
	for n := range 8 {
		staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", fmt.Sprint(n)))
		wg.Go(func() {
			if _, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, staged,
				vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
				t.Errorf("Abstracts.Attach: %v", err)
			}
		})
	}
	wg.Wait()
	read, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || len(read.Files) != 8 || read.Abstract.Version != 9 {
		t.Errorf("Abstracts.Get: got %d files, version %d, %v, want 8 files, version 9", len(read.Files), read.Abstract.Version, err)
	}
}
