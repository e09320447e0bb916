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

// redraft is a template as a draft, changed.
func redraft(t model.Template, change func(*model.Template)) model.TemplateDraft {
	t.Fields, t.Statuses = append([]model.Field{}, t.Fields...), append([]string{}, t.Statuses...)
	if change != nil {
		change(&t)
	}
	return model.TemplateDraft{ID: t.ID, Name: t.Name, Default: t.Default, Retired: &t.Retired, Statuses: &t.Statuses, Fields: &t.Fields}
}

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

func sentences(f errs.Fields) string {
	var all []string
	for _, field := range f {
		all = append(all, field.Sentences...)
	}
	return strings.Join(all, " ")
}

func fieldsOf(err error) errs.Fields {
	named, _ := errors.AsType[*errs.Error](err)
	if named == nil {
		return nil
	}
	return named.Fields
}

func TestTemplatesImport(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	all, err := v.Templates.All(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %v", all, err)
	}
	var same []model.TemplateDraft
	for _, template := range all {
		same = append(same, redraft(template, nil))
	}
	done, err := v.Templates.Import(t.Context(), vaulttest.Operator, same, false)
	if err != nil || len(done.Changed) > 0 {
		t.Errorf("of the same: %+v, %v", done, err)
	}

	draft := model.TemplateDraft{Name: "Mineral", Default: true, Fields: &[]model.Field{{Key: "lease", Label: " Lease ", Type: model.Text}}}
	dry, err := v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{draft}, true)
	if err != nil || len(dry.Changed) != 2 || !dry.Changed[0].Created || dry.Changed[1].Template.ID != 1 {
		t.Errorf("dry: %+v, %v", dry, err)
	}
	if after, err := v.Templates.All(t.Context()); err != nil || len(after) != 4 {
		t.Errorf("a dry run wrote: %v, %v", after, err)
	}
	done, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{draft}, false)
	if err != nil || len(done.Changed) != 2 || done.Changed[0].Template.ID != 5 {
		t.Errorf("%+v, %v", done, err)
	}
	made := vaulttest.CreateAbstractFromTemplate(t, v, 5, map[string]string{"lease": `"7"`})
	if len(made.Custom) != 1 || made.Status != "" {
		t.Errorf("%+v", made)
	}
	// By its name, and what is left out stays.
	done, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{{Name: "MINERAL", Statuses: &[]string{"Open"}}}, false)
	if err != nil || len(done.Changed) != 1 || done.Changed[0].Template.ID != 5 || len(done.Changed[0].Template.Fields) != 1 || !done.Changed[0].Template.Default {
		t.Errorf("%+v, %v", done, err)
	}
	if list, err := v.Templates.List(t.Context()); err != nil || len(list) != 5 || list[0].Default || !list[4].Default {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestTemplatesImportRefuses(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for _, row := range []struct {
		name   string
		drafts []model.TemplateDraft
		want   string
	}{
		{"an id that is not there", []model.TemplateDraft{{ID: 9, Name: "X"}}, "There is no template 9; without an id a new one is made."},
		{"one template twice", []model.TemplateDraft{{ID: 2, Name: "X"}, {Name: "Commercial Abstract"}}, "This is template 2 once more, which stands at place 1."},
		{"no name", []model.TemplateDraft{{ID: 2}}, "The name field is required."},
		{"a name that is there", []model.TemplateDraft{{ID: 2, Name: "residential abstract"}}, `Another template has the name "residential abstract"; capital letters make no difference.`},
		{"a core key", []model.TemplateDraft{{Name: "X", Fields: &[]model.Field{{Key: "county", Label: "C", Type: model.Text}}}}, `The key "county" is a field that every record has.`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Templates.Import(t.Context(), vaulttest.Operator, row.drafts, false)
			vaulttest.WantKind(t, row.name, err, errs.Invalid)
			if got := sentences(fieldsOf(err)); got != row.want {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestTemplatesDefaultAndRetire(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	_, err := v.Templates.Retire(t.Context(), vaulttest.Operator, 1)
	vaulttest.WantKind(t, "retire the default", err, errs.Conflict)
	_, err = v.Templates.Retire(t.Context(), vaulttest.Operator, 9)
	vaulttest.WantKind(t, "retire none", err, errs.NotFound)
	if one, err := v.Templates.Retire(t.Context(), vaulttest.Operator, 3); err != nil || !one.Retired {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := v.Templates.Retire(t.Context(), vaulttest.Operator, 3); err != nil {
		t.Errorf("once more: %v", err)
	}
	_, err = v.Templates.SetDefault(t.Context(), vaulttest.Operator, 3)
	vaulttest.WantKind(t, "a retired default", err, errs.Conflict)
	if one, err := v.Templates.SetDefault(t.Context(), vaulttest.Operator, 2); err != nil || !one.Default {
		t.Errorf("%+v, %v", one, err)
	}
	if list, err := v.Templates.List(t.Context()); err != nil || len(list) != 3 || list[0].Default || !list[1].Default {
		t.Errorf("%+v, %v", list, err)
	}
	// An import brings it back.
	back := false
	if _, err := v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{{ID: 3, Name: "Ownership", Retired: &back}}, false); err != nil {
		t.Error(err)
	}
	if list, err := v.Templates.List(t.Context()); err != nil || len(list) != 4 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What abstracts have values for cannot go, and is named with their number.
func TestTemplatesImportOrphans(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 3 {
		vaulttest.CreateAbstractFromTemplate(t, v, 1, map[string]string{"vesting": fmt.Sprintf(`"v%d"`, n), "tax_status": `"Paid"`, "indices_searched": `["UCC","Plats"]`})
	}
	vaulttest.CreateAbstractFromTemplate(t, v, 2, map[string]string{"zoning": `"R1"`})
	all, err := v.Templates.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change := func(key string, fn func(*model.Field)) func(*model.Template) {
		return func(t *model.Template) {
			for i := range t.Fields {
				if t.Fields[i].Key == key {
					t.Fields[i].Options = append([]string{}, t.Fields[i].Options...)
					fn(&t.Fields[i])
				}
			}
		}
	}
	drop := func(option string) func(*model.Field) {
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
		{"a field with values", without("vesting"), `The field "vesting" of "Residential Abstract" cannot go: 3 abstracts have a value for it.`},
		{"of another template", without("zoning"), ""},
		{"a field without values", without("borrower"), ""},
		{"a type", change("vesting", func(f *model.Field) { f.Type = model.Date }), `The field "vesting" of "Residential Abstract" cannot become a date: 3 abstracts have a value of type text for it.`},
		{"an option in use", change("tax_status", drop("Paid")), `The option "Paid" of the field "tax_status" of "Residential Abstract" cannot go: 3 abstracts have chosen it.`},
		{"an option of many in use", change("indices_searched", drop("UCC")), `The option "UCC" of the field "indices_searched" of "Residential Abstract" cannot go: 3 abstracts have chosen it.`},
		{"an option not in use", change("tax_status", drop("Due")), ""},
		{"a status in use", func(t *model.Template) { t.Statuses = t.Statuses[1:] }, `The status "New" of "Residential Abstract" cannot go: 3 abstracts are in it.`},
		{"a status not in use", func(t *model.Template) { t.Statuses = t.Statuses[:5] }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			drafts := []model.TemplateDraft{redraft(all[0], row.change)}
			dry, err := v.Templates.Import(t.Context(), vaulttest.Operator, drafts, true)
			if err != nil || sentences(dry.Conflicts) != row.want {
				t.Errorf("dry: %s, %v", sentences(dry.Conflicts), err)
			}
			if row.want == "" {
				return
			}
			_, err = v.Templates.Import(t.Context(), vaulttest.Operator, drafts, false)
			vaulttest.WantKind(t, row.name, err, errs.Conflict)
			if got := sentences(fieldsOf(err)); got != row.want {
				t.Errorf("%s", got)
			}
		})
	}
	if after, err := v.Templates.All(t.Context()); err != nil || fmt.Sprint(after) != fmt.Sprint(all) {
		t.Errorf("something was written: %v", err)
	}
}

// What is in the trash may come back, and keeps its definitions.
func TestTemplatesImportOrphansInTheTrash(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	made := vaulttest.CreateAbstractFromTemplate(t, v, 2, map[string]string{"zoning": `"R1"`})
	if err := v.Abstracts.Trash(t.Context(), vaulttest.Operator, made.ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	all, err := v.Templates.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{redraft(all[1], without("zoning"))}, false)
	vaulttest.WantKind(t, "a field of one in the trash", err, errs.Conflict)
}

// Abstracts that are made while a field goes are either seen, and it stays, or are
// made without it: none has a value that no definition knows.
func TestTemplatesImportRace(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	const rounds = 20
	refused := 0
	for n := range rounds {
		key := fmt.Sprintf("k%d", n)
		add := model.TemplateDraft{Name: "Race", Fields: &[]model.Field{{Key: key, Label: "K", Type: model.Text}}}
		done, err := v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{add}, false)
		if err != nil {
			if errs.KindOf(err) != errs.Conflict {
				t.Fatal(err)
			}
			add.Name += key // a round left a value: begin another template
			if done, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{add}, false); err != nil {
				t.Fatal(err)
			}
		}
		id := done.Changed[0].Template.ID
		var all sync.WaitGroup
		made := make([]model.Abstract, 8)
		for i := range made {
			all.Go(func() { made[i] = vaulttest.CreateAbstractFromTemplate(t, v, int64(id), map[string]string{key: `"v"`}) })
		}
		_, err = v.Templates.Import(t.Context(), vaulttest.Operator, []model.TemplateDraft{{ID: id, Name: add.Name, Fields: &[]model.Field{}}}, false)
		all.Wait()
		with := 0
		for _, a := range made {
			with += len(a.Custom)
		}
		switch {
		case errs.KindOf(err) == errs.Conflict:
			refused++
		case err != nil:
			t.Fatal(err)
		case with > 0:
			t.Fatalf("round %d: the field went, and %d abstracts have a value for it", n, with)
		}
	}
	t.Logf("refused in %d of %d rounds", refused, rounds)
}

func TestOrderDefinitionsImport(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	for n := range 2 {
		if _, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput(fmt.Sprint(n)), Custom: vaulttest.CustomText("rush", `"Rush"`)}, vault.Idempotency[model.Order]{}); err != nil {
			t.Fatal(err)
		}
	}
	fields, err := v.Orders.Fields(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, err := v.Orders.ImportFields(t.Context(), vaulttest.Operator, fields, false); err != nil || len(done.Changed) > 0 {
		t.Errorf("of the same: %+v, %v", done, err)
	}
	_, err = v.Orders.ImportFields(t.Context(), vaulttest.Operator, fields[:8], false)
	vaulttest.WantKind(t, "a field in use", err, errs.Conflict)
	if got := sentences(fieldsOf(err)); got != `The field "rush" cannot go: 2 orders have a value for it.` {
		t.Error(got)
	}
	done, err := v.Orders.ImportFields(t.Context(), vaulttest.Operator, fields[:9], true)
	if err != nil || len(done.Changed) != 1 || len(done.Changed[0].Changes) != 1 || done.Changed[0].Changes[0].Field != "custom_fields.notes" {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err = v.Orders.ImportFields(t.Context(), vaulttest.Operator, fields[:9], false); err != nil {
		t.Error(err)
	}
	if after, err := v.Orders.Fields(t.Context()); err != nil || len(after) != 9 {
		t.Errorf("%v, %v", after, err)
	}
	_, err = v.Orders.ImportStatuses(t.Context(), vaulttest.Operator, []string{"open", "completed"}, false)
	vaulttest.WantKind(t, "a status in use", err, errs.Conflict)
	if got := sentences(fieldsOf(err)); got != `The status "active" cannot go: 2 orders are in it.` {
		t.Error(got)
	}
	if _, err := v.Orders.ImportStatuses(t.Context(), vaulttest.Operator, []string{"open", " active"}, false); err != nil {
		t.Error(err)
	}
	if list, err := v.Orders.Statuses(t.Context()); err != nil || strings.Join(list, ",") != "open,active" {
		t.Errorf("%v, %v", list, err)
	}
	if made, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("n")}, vault.Idempotency[model.Order]{}); err != nil || made.Status != "open" {
		t.Errorf("%+v, %v", made, err)
	}
	_, err = v.Orders.ImportStatuses(t.Context(), vaulttest.Operator, nil, true)
	vaulttest.WantKind(t, "no statuses", err, errs.Invalid)
}
