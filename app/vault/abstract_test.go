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
	draft := model.AbstractDraft{PropertyDraft: model.PropertyDraft{City: model.StringInput(" Camden ")}, Custom: vaulttest.CustomText("file_number", `"24-1"`)}
	filed, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, draft, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1)), vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	a := filed.Abstract
	if a.ID != 1 || a.TemplateID != 1 || a.Status != "New" || a.City != "Camden" || string(a.Custom["file_number"]) != `"24-1"` || a.Version != 1 {
		t.Errorf("%+v", a)
	}
	if !a.CreatedAt.Equal(opts.Now()) || !a.UpdatedAt.Equal(a.CreatedAt) {
		t.Errorf("made at %v, %v", a.CreatedAt, a.UpdatedAt)
	}
	if len(filed.Files) != 2 || filed.Files[0].Filename != "1.pdf" || filed.Files[0].AbstractID != a.ID || !filed.Files[0].Processing {
		t.Errorf("%+v", filed.Files)
	}
	if len(filed.Failures) != 1 || filed.Failures[0].Filename != "x.exe" {
		t.Errorf("%+v", filed.Failures)
	}
	read, err := v.Abstracts.Get(t.Context(), a.ID)
	if err != nil || !reflect.DeepEqual(read.Abstract, a) || !reflect.DeepEqual(read.Files, filed.Files) {
		t.Errorf("reads %+v, %v", read, err)
	}
	_, err = v.Abstracts.Get(t.Context(), a.ID+1)
	vaulttest.WantKind(t, "unknown abstract", err, errs.NotFound)
}

func TestAbstractCreateRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		draft model.AbstractDraft
		field string
	}{
		{"unknown template", model.AbstractDraft{TemplateID: vaulttest.IDInput(99)}, "template_id"},
		{"template zero", model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true}}, "template_id"},
		{"template below zero", model.AbstractDraft{TemplateID: model.IDInput{Present: true, Valid: true, Value: -1}}, "template_id"},
		{"no integer", model.AbstractDraft{TemplateID: model.IDInput{Present: true}}, "template_id"},
		{"outside the options", model.AbstractDraft{Custom: vaulttest.CustomText("search_type", `"Psychic"`)}, "custom_fields.search_type"},
		{"bad characters", model.AbstractDraft{TaxMap: model.StringInput("a\x00b")}, "tax_map"},
		{"no file", model.AbstractDraft{NonFilePart: true}, "files"},
	}
	v, opts := vaulttest.OpenVerified(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
			_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, tt.draft, tr, vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.WantKind(t, tt.name, err, errs.Invalid)
			var refused *errs.Error
			if errors.As(err, &refused) && (len(refused.Fields) != 1 || refused.Fields[0].Field != tt.field) {
				t.Errorf("%+v", refused.Fields)
			}
			tr.Discard()
			vaulttest.WantNoDocuments(t, opts.Dir)
		})
	}
	if n := vaulttest.Status(t, v).Abstracts; n != 0 {
		t.Errorf("%d abstracts", n)
	}
}

func retire(v *instance.Instance, id uint64) error {
	return v.Store.Update(context.Background(), nil, func(tx *store.Tx) error {
		template, err := tx.Template(id)
		if err != nil {
			return err
		}
		template.Retired = true
		return tx.PutTemplate(template)
	})
}

// Inspection ends between the first check of the fields and the write. What was
// kept by then is swept soon, not in a day.
func TestAbstractTemplateRetiredBeforeTheWrite(t *testing.T) {
	t.Parallel()
	var v *instance.Instance
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Reader = vaulttest.NewHookedReader(func(context.Context, string) error { return retire(v, 2) })
	})
	v.Start(24 * time.Hour)
	tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{TemplateID: vaulttest.IDInput(2)}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "retired meanwhile", err, errs.Invalid)
	tr.Discard()
	vaulttest.Eventually(t, "the sweep of what was kept", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 0 })
	vaulttest.WantNoDocuments(t, opts.Dir)
	if n := vaulttest.Status(t, v).Abstracts; n != 0 {
		t.Errorf("%d abstracts", n)
	}
}

func TestAbstractRetiredTemplate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	before, err := v.Templates.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := retire(v, 2); err != nil {
		t.Fatal(err)
	}
	_, err = v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{TemplateID: vaulttest.IDInput(2)}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "retired template", err, errs.Invalid)
	after, err := v.Templates.List(t.Context())
	if err != nil || len(after) != len(before)-1 || slices.ContainsFunc(after, func(x model.Template) bool { return x.ID == 2 }) {
		t.Errorf("%v, %v", after, err)
	}
}

// A vault without templates makes abstracts without one (API.md, "Abstracts").
func TestAbstractWithoutAnyTemplate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.SetDefaultTemplate(0) }); err != nil {
		t.Fatal(err)
	}
	filed, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{Custom: vaulttest.CustomText("file_number", `"1"`)}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || filed.Abstract.TemplateID != 0 || filed.Abstract.Status != "" || len(filed.Abstract.Custom) != 0 {
		t.Errorf("%+v, %v", filed, err)
	}
}

// The clock of the test stands still: updated_at moves all the same.
func TestAttach(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	filed, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1")), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"1.pdf"}
	last := filed.Abstract
	for i := range 3 {
		a, b := vaulttest.PDFDoc(fmt.Sprintf("a%d.pdf", i), "a"), vaulttest.PDFDoc(fmt.Sprintf("b%d.pdf", i), fmt.Sprint(i))
		filed, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, last.ID, model.UploadDraft{FolderID: vaulttest.IDInput(1)}, vaulttest.StageDocs(t, v, a, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1)), b), vault.Idempotency[vault.AbstractWithFiles]{})
		if err != nil || len(filed.Failures) != 1 {
			t.Fatalf("%+v, %v", filed.Failures, err)
		}
		names = append(names, a.Name, b.Name)
		now := filed.Abstract
		if now.Version != last.Version+1 || !now.UpdatedAt.After(last.UpdatedAt) || !now.CreatedAt.Equal(last.CreatedAt) {
			t.Errorf("version %d, %v after %d, %v", now.Version, now.UpdatedAt, last.Version, last.UpdatedAt)
		}
		last = now
	}
	read, err := v.Abstracts.Get(t.Context(), last.ID)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, f := range read.Files {
		have = append(have, f.Filename)
		if f.FolderID != 0 || f.AbstractID != last.ID {
			t.Errorf("%+v", f)
		}
	}
	if !slices.Equal(have, names) {
		t.Errorf("in the order %v, want %v", have, names)
	}
}

func TestAttachNothingGood(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	filed, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.NewDoc("x.exe", vaulttest.TextOfSize(1))), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(again.Failures) != 1 || again.Abstract.Version != filed.Abstract.Version {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "no file", err, errs.Invalid)
	tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err = v.Abstracts.Attach(t.Context(), vaulttest.Operator, 99, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.WantKind(t, "no abstract", err, errs.NotFound)
	tr.Discard()
	vaulttest.WantNoDocuments(t, opts.Dir)
}

func TestAttachFromAllSides(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v), vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 8 {
		tr := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("a.pdf", fmt.Sprint(n)))
		all.Go(func() {
			if _, err := v.Abstracts.Attach(t.Context(), vaulttest.Operator, 1, model.UploadDraft{}, tr, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	read, err := v.Abstracts.Get(t.Context(), 1)
	if err != nil || len(read.Files) != 8 || read.Abstract.Version != 9 {
		t.Errorf("%d files, version %d, %v", len(read.Files), read.Abstract.Version, err)
	}
}
