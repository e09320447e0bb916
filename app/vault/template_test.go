package vault_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// draftOf returns a draft with the contents of t. If change is not nil, it is applied to the template first.
func draftOf(t model.Template, change func(*model.Template)) model.TemplateDraft {
	t.Fields, t.Statuses = append([]model.Field{}, t.Fields...), append([]string{}, t.Statuses...)
	if change != nil {
		change(&t)
	}
	return model.TemplateDraft{ID: t.ID, Name: t.Name, Default: t.Default, Retired: &t.Retired, Statuses: &t.Statuses, Fields: &t.Fields}
}

// without returns a function that removes the field key from a template.
func without(key string) func(*model.Template) {
	return func(t *model.Template) {
		var kept []model.Field
		for _, f := range t.Fields {
			if f.Key != key {
				kept = append(kept, f)
			}
		}
		t.Fields = kept
	}
}

// sentences returns the messages of all fields, separated by spaces.
func sentences(f errs.Fields) string {
	var all []string
	for _, field := range f {
		all = append(all, field.Sentences()...)
	}
	return strings.Join(all, " ")
}

// fieldsOf returns the invalid fields listed in an error.
func fieldsOf(err error) errs.Fields {
	e, _ := errors.AsType[*errs.Error](err)
	if e == nil {
		return nil
	}
	return e.Fields
}

func TestTemplatesImport(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	all, err := v.Templates.All(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("Templates.All: got %v, %v, want 4 templates", all, err)
	}
	var unchanged []model.TemplateDraft
	for _, template := range all {
		unchanged = append(unchanged, draftOf(template, nil))
	}
	result, err := v.Templates.Import(t.Context(), vaulttest.Operator, unchanged, false)
	if err != nil || len(result.Changed) > 0 {
		t.Errorf("import of the current templates: got %+v, %v, want no changes", result, err)
	}

	draft := model.TemplateDraft{Name: "Mineral", Default: true, Fields: &[]model.Field{{Key: "lease", Label: " Lease ", Type: model.Text}}}
	dry, err := v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{draft}, true)
	if err != nil || len(dry.Changed) != 2 || !dry.Changed[0].Created || dry.Changed[1].Template.ID != 1 {
		t.Errorf("dry run: got %+v, %v, want a new template and a change of template 1", dry, err)
	}
	if after, err := v.Templates.All(t.Context()); err != nil || len(after) != 4 {
		t.Errorf("templates after a dry run: got %v, %v, want 4", after, err)
	}
	result, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{draft}, false)
	if err != nil || len(result.Changed) != 2 || result.Changed[0].Template.ID != 5 {
		t.Errorf("import of a new template: got %+v, %v, want new template 5 and 1 other change", result, err)
	}
	created := vaulttest.CreateAbstractFromTemplate(t, v, 5, map[string]string{"lease": `"7"`})
	if len(created.Custom) != 1 || created.Status != "" {
		t.Errorf("abstract with the new template: got %+v, want 1 custom field and no status", created)
	}
	// A draft without an ID changes the template that has its name. Properties missing from the draft stay unchanged.
	result, err = v.Templates.Import(t.Context(), vaulttest.Operator,
		[]model.TemplateDraft{{Name: "MINERAL", Statuses: &[]string{"Open"}}}, false)
	if err != nil || len(result.Changed) != 1 || result.Changed[0].Template.ID != 5 || len(result.Changed[0].Template.Fields) != 1 ||
		!result.Changed[0].Template.Default {
		t.Errorf("import by name: got %+v, %v, want a change of template 5 only, still the default with 1 field", result, err)
	}
	if list, err := v.Templates.List(t.Context()); err != nil || len(list) != 5 || list[0].Default || !list[4].Default {
		t.Errorf("Templates.List: got %+v, %v, want 5 templates, the last one the default", list, err)
	}
}

func TestTemplatesImportRejectsInvalidDrafts(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for _, row := range []struct {
		name   string
		drafts []model.TemplateDraft
		want   string
	}{
		{"unknown ID", []model.TemplateDraft{{ID: 9, Name: "X"}}, "Template 9 doesn't exist. Omit the ID to create a template."},
		{"same template twice", []model.TemplateDraft{{ID: 2, Name: "X"}, {Name: "Commercial Abstract"}},
			"Template 2 is listed twice. It is also at position 1."},
		{"no name", []model.TemplateDraft{{ID: 2}}, "The name field is required."},
		{"name of another template", []model.TemplateDraft{{ID: 2, Name: "residential abstract"}},
			`Another template is named "residential abstract" (ignoring case).`},
		{"key of a core field", []model.TemplateDraft{{Name: "X",
			Fields: &[]model.Field{{Key: "county", Label: "C", Type: model.Text}}}}, `The key "county" is used by a built-in field.`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Templates.Import(t.Context(), vaulttest.Operator, row.drafts, false)
			vaulttest.WantKind(t, row.name, err, errs.Invalid)
			if got := sentences(fieldsOf(err)); got != row.want {
				t.Errorf("sentences: got %s, want %s", got, row.want)
			}
		})
	}
}

func TestTemplatesDefaultAndRetire(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	_, err := v.Templates.Retire(t.Context(), vaulttest.Operator, 1)
	vaulttest.WantKind(t, "retire the default template", err, errs.Conflict)
	_, err = v.Templates.Retire(t.Context(), vaulttest.Operator, 9)
	vaulttest.WantKind(t, "retire an unknown template", err, errs.NotFound)
	if got, err := v.Templates.Retire(t.Context(), vaulttest.Operator, 3); err != nil || !got.Retired {
		t.Errorf("Templates.Retire: got %+v, %v, want a retired template", got, err)
	}
	if _, err := v.Templates.Retire(t.Context(), vaulttest.Operator, 3); err != nil {
		t.Errorf("retire a retired template: %v", err)
	}
	_, err = v.Templates.SetDefault(t.Context(), vaulttest.Operator, 3)
	vaulttest.WantKind(t, "make a retired template the default", err, errs.Conflict)
	if got, err := v.Templates.SetDefault(t.Context(), vaulttest.Operator, 2); err != nil || !got.Default {
		t.Errorf("Templates.SetDefault: got %+v, %v, want the default template", got, err)
	}
	if list, err := v.Templates.List(t.Context()); err != nil || len(list) != 3 || list[0].Default || !list[1].Default {
		t.Errorf("Templates.List: got %+v, %v, want 3 templates, the second one the default", list, err)
	}
	// An import can make a retired template active again.
	retired := false
	if _, err := v.Templates.Import(t.Context(), vaulttest.Operator,
		[]model.TemplateDraft{{ID: 3, Name: "Ownership", Retired: &retired}}, false); err != nil {
		t.Errorf("Templates.Import: %v", err)
	}
	if list, err := v.Templates.List(t.Context()); err != nil || len(list) != 4 {
		t.Errorf("Templates.List after the import: got %+v, %v, want 4 templates", list, err)
	}
}

// An import can't remove a field, an option, or a status that abstracts use. The error names it and the number of
// abstracts.
func TestTemplatesImportKeepsDefinitionsInUse(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 3 {
		vaulttest.CreateAbstractFromTemplate(t, v, 1,
			map[string]string{"vesting": fmt.Sprintf(`"v%d"`, n), "tax_status": `"Paid"`, "indices_searched": `["UCC","Plats"]`})
	}
	vaulttest.CreateAbstractFromTemplate(t, v, 2, map[string]string{"zoning": `"R1"`})
	all, err := v.Templates.All(t.Context())
	if err != nil {
		t.Fatalf("Templates.All: %v", err)
	}
	changeField := func(key string, fn func(*model.Field)) func(*model.Template) {
		return func(t *model.Template) {
			for i := range t.Fields {
				if t.Fields[i].Key == key {
					t.Fields[i].Options = append([]string{}, t.Fields[i].Options...)
					fn(&t.Fields[i])
				}
			}
		}
	}
	dropOption := func(option string) func(*model.Field) {
		return func(f *model.Field) {
			var kept []string
			for _, o := range f.Options {
				if o != option {
					kept = append(kept, o)
				}
			}
			f.Options = kept
		}
	}
	for _, row := range []struct {
		name   string
		change func(*model.Template)
		want   string
	}{
		{"field with values", without("vesting"), `Can't remove the field "vesting" of "Residential Abstract": 3 abstracts have a value.`},
		{"field of another template", without("zoning"), ""},
		{"field without values", without("borrower"), ""},
		{"type of a field with values", changeField("vesting", func(f *model.Field) { f.Type = model.Date }),
			`Can't change the field "vesting" of "Residential Abstract" to a date: 3 abstracts have a value of type text.`},
		{"option in use", changeField("tax_status", dropOption("Paid")),
			`Can't remove the option "Paid" of the field "tax_status" of "Residential Abstract": 3 abstracts use it.`},
		{"option in use among several values", changeField("indices_searched", dropOption("UCC")),
			`Can't remove the option "UCC" of the field "indices_searched" of "Residential Abstract": 3 abstracts use it.`},
		{"option not in use", changeField("tax_status", dropOption("Due")), ""},
		{"status in use", func(t *model.Template) { t.Statuses = t.Statuses[1:] },
			`Can't remove the status "New" of "Residential Abstract": 3 abstracts use it.`},
		{"status not in use", func(t *model.Template) { t.Statuses = t.Statuses[:5] }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			drafts := []model.TemplateDraft{draftOf(all[0], row.change)}
			dry, err := v.Templates.Import(t.Context(), vaulttest.Operator, drafts, true)
			if err != nil || sentences(dry.Conflicts) != row.want {
				t.Errorf("conflicts of a dry run: got %s, %v, want %s", sentences(dry.Conflicts), err, row.want)
			}
			if row.want == "" {
				return
			}
			_, err = v.Templates.Import(t.Context(), vaulttest.Operator, drafts, false)
			vaulttest.WantKind(t, row.name, err, errs.Conflict)
			if got := sentences(fieldsOf(err)); got != row.want {
				t.Errorf("sentences: got %s, want %s", got, row.want)
			}
		})
	}
	if after, err := v.Templates.All(t.Context()); err != nil || fmt.Sprint(after) != fmt.Sprint(all) {
		t.Errorf("Templates.All after rejected imports: got %v, %v, want %v", after, err, all)
	}
}

// An import can't remove a field that an abstract in the trash uses, because the abstract may be restored.
func TestTemplatesImportKeepsDefinitionsUsedInTrash(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := vaulttest.CreateAbstractFromTemplate(t, v, 2, map[string]string{"zoning": `"R1"`})
	if err := v.Abstracts.Trash(t.Context(), vaulttest.Operator, created.ID, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Trash: %v", err)
	}
	all, err := v.Templates.All(t.Context())
	if err != nil {
		t.Fatalf("Templates.All: %v", err)
	}
	_, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{draftOf(all[1], without("zoning"))}, false)
	vaulttest.WantKind(t, "remove a field that an abstract in the trash uses", err, errs.Conflict)
}

// If abstracts are created while an import removes a field, either the import fails or no abstract has a value for the
// field. An abstract never has a value without a definition.
func TestTemplatesImportDuringCreation(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	const rounds = 20
	rejected := 0
	for n := range rounds {
		key := fmt.Sprintf("k%d", n)
		add := model.TemplateDraft{Name: "Race", Fields: &[]model.Field{{Key: key, Label: "K", Type: model.Text}}}
		result, err := v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{add}, false)
		if err != nil {
			if errs.KindOf(err) != errs.Conflict {
				t.Fatalf("Templates.Import: got %v, want nil or a conflict", err)
			}
			add.Name += key // use another template if an earlier round left a value
			if result, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{add}, false); err != nil {
				t.Fatalf("Templates.Import: %v", err)
			}
		}
		id := result.Changed[0].Template.ID
		var wg sync.WaitGroup
		created := make([]model.Abstract, 8)
		for i := range created {
			wg.Go(func() {
				created[i] = vaulttest.CreateAbstractFromTemplate(t, v, int64(id), map[string]string{key: `"v"`})
			})
		}
		_, err = v.Templates.Import(t.Context(), vaulttest.Operator,
			[]model.TemplateDraft{{ID: id, Name: add.Name, Fields: &[]model.Field{}}}, false)
		wg.Wait()
		values := 0
		for _, a := range created {
			values += len(a.Custom)
		}
		switch {
		case errs.KindOf(err) == errs.Conflict:
			rejected++
		case err != nil:
			t.Fatalf("round %d: Templates.Import: got %v, want nil or a conflict", n, err)
		case values > 0:
			t.Fatalf("round %d: got %d abstracts with a value of the removed field, want 0", n, values)
		}
	}
	t.Logf("rejected in %d of %d rounds", rejected, rounds)
}

func TestOrderDefinitionsImport(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 2 {
		draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(fmt.Sprint(n))},
			Custom: vaulttest.CustomText("rush", `"Rush"`)}
		if _, err := v.Orders.Create(t.Context(), vaulttest.Operator, draft, vault.Idempotency[model.Order]{}); err != nil {
			t.Fatalf("Orders.Create: %v", err)
		}
	}
	fields, err := v.Orders.Fields(t.Context())
	if err != nil {
		t.Fatalf("Orders.Fields: %v", err)
	}
	if result, err := v.Orders.EditFields(t.Context(), vaulttest.Operator, fields, "", false); err != nil || len(result.Changed) > 0 {
		t.Errorf("import of the current fields: got %+v, %v, want no changes", result, err)
	}
	_, err = v.Orders.EditFields(t.Context(), vaulttest.Operator, fields[:8], "", false)
	vaulttest.WantKind(t, "remove a field in use", err, errs.Conflict)
	if got, want := sentences(fieldsOf(err)), `Can't remove the field "rush": 2 orders have a value.`; got != want {
		t.Errorf("sentences: got %s, want %s", got, want)
	}
	result, err := v.Orders.EditFields(t.Context(), vaulttest.Operator, fields[:9], "", true)
	if err != nil || len(result.Changed) != 1 || len(result.Changed[0].Changes) != 1 ||
		result.Changed[0].Changes[0].Field != "custom_fields.notes" {
		t.Errorf("dry run without the last field: got %+v, %v, want one change, of custom_fields.notes", result, err)
	}
	if _, err = v.Orders.EditFields(t.Context(), vaulttest.Operator, fields[:9], "", false); err != nil {
		t.Errorf("Orders.ImportFields: %v", err)
	}
	if after, err := v.Orders.Fields(t.Context()); err != nil || len(after) != 9 {
		t.Errorf("Orders.Fields: got %v, %v, want 9 fields", after, err)
	}
	_, err = v.Orders.EditStatuses(t.Context(), vaulttest.Operator, []string{"open", "completed"}, "", false)
	vaulttest.WantKind(t, "remove a status in use", err, errs.Conflict)
	if got, want := sentences(fieldsOf(err)), `Can't remove the status "active": 2 orders use it.`; got != want {
		t.Errorf("sentences: got %s, want %s", got, want)
	}
	if _, err := v.Orders.EditStatuses(t.Context(), vaulttest.Operator, []string{"open", " active"}, "", false); err != nil {
		t.Errorf("Orders.ImportStatuses: %v", err)
	}
	if list, err := v.Orders.Statuses(t.Context()); err != nil || strings.Join(list, ",") != "open,active" {
		t.Errorf("Orders.Statuses: got %v, %v, want open, active", list, err)
	}
	if created, err := v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("n")}},
		vault.Idempotency[model.Order]{}); err != nil || created.Status != "open" {
		t.Errorf("Orders.Create: got %+v, %v, want status open", created, err)
	}
	_, err = v.Orders.EditStatuses(t.Context(), vaulttest.Operator, nil, "", true)
	vaulttest.WantKind(t, "no statuses", err, errs.Invalid)
}
