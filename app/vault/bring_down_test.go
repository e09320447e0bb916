package vault_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// customTexts returns custom fields. pairs are keys and JSON values.
func customTexts(pairs ...string) model.Custom {
	custom := model.Custom{Values: model.Inputs{}}
	for n := 0; n < len(pairs); n += 2 {
		custom.Values[pairs[n]] = model.JSONInput(pairs[n+1])
	}
	return custom
}

// A bring-down has the template, search type, and file number of one. It carries over open requirements and
// exceptions, with or without an instrument, and the names to run again. It says what stayed behind.
func TestBringDown(t *testing.T) {
	t.Parallel()
	f := vaulttest.NewUserFixture(t, nil)
	kim, gone := f.CreateUser(t, "Kim", model.RoleStaff), f.CreateUser(t, "Gone", model.RoleStaff)
	v := f.Instance
	order := vaulttest.CreateOrder(t, v, "2026-1")
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator,
		model.AbstractDraft{Fields: model.Inputs{"county": model.StringInput("Wexcombe")},
			Custom: customTexts("file_number", `"26-17"`,
				"search_type", `"60 Year"`, "current_owner", `"Ann Lee"`, "borrower", `"Bo Roe"`, "vesting", `"Fee"`,
				"tax_status", `"Paid"`, "effective_date", `"2026-01-02"`)},
		vaulttest.StageDocs(t, v, vaulttest.PDFDoc("1.pdf", "1")), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	id := created.Abstract.ID
	mortgage := addInstrument(t, v, id, `{"type":"Mortgage"}`)
	set := func(_ model.TitleWork, err error) { t.Helper(); vaulttest.NoError(t, err) }
	set(v.TitleWork.SetOrder(t.Context(), vaulttest.Operator, id, order.ID, vault.Match{}))
	set(v.TitleWork.SetAssignment(t.Context(), vaulttest.Operator, id, model.Inputs{"due_date": model.JSONInput(`"2026-12-01"`),
		"searcher": model.JSONInput(fmt.Sprint(kim.ID)), "examiner": model.JSONInput(fmt.Sprint(gone.ID))}, vault.Match{}))
	set(v.TitleWork.SetNamesRun(t.Context(), vaulttest.Operator, id, model.JSONInput(
		`[{"name":"Lee, Ann","from":"1966-01-01","to":"2026-01-02","indexes":["Deeds"],"result":"None"},{"name":"Lee, Ann","result":"2nd"}]`),
		vault.Match{}))
	set(v.TitleWork.SetRequirements(t.Context(), vaulttest.Operator, id, model.JSONInput(fmt.Sprintf(`[
		{"kind":"exception","text":"Taxes"},{"kind":"requirement","text":"Pay off","instrument_id":%d},
		{"kind":"requirement","text":"Done","cleared":"2026-01-01"}]`, mortgage.ID)), vault.Match{}))
	_, err = v.Users.Disable(t.Context(), vaulttest.Operator, gone.ID)
	vaulttest.NoError(t, err)

	down, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, id, vault.Idempotency[vault.BroughtDown]{})
	vaulttest.NoError(t, err)
	a := down.Abstract
	template, err := v.Templates.Get(t.Context(), a.TemplateID)
	vaulttest.NoError(t, err)
	got := map[string]string{"template": template.Name}
	for key := range a.Custom {
		got[key] = a.Custom.Text(key)
	}
	want := map[string]string{"template": "Update / Bring-Down", "current_owner": "Ann Lee", "borrower": "Bo Roe",
		"file_number": "26-17-BD1", "prior_file_number": "26-17",
		"prior_effective_date": "2026-01-02", "search_from": "2026-01-02"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("fields: got %v, want %v", got, want)
	}
	if got, want := strings.Join(down.NotTaken, ", "), "1 document, 1 cleared requirement or exception, the examiner, "+
		"the field Vesting"; got != want {
		t.Errorf("NotTaken: got %q, want %q", got, want)
	}
	work, err := v.TitleWork.Get(t.Context(), a.ID)
	vaulttest.NoError(t, err)
	if want := (model.Assignment{SearcherID: kim.ID}); work.Assignment != want || work.OrderID != order.ID ||
		!slices.Equal(work.NotTaken, down.NotTaken) {
		t.Errorf("title work: got %+v, want the searcher, the order, and what was not taken", work)
	}
	if run := work.NamesRun; len(run) != 1 || run[0].From != "2026-01-02" || run[0].To+run[0].Result != "" || !run[0].Pending ||
		!slices.Equal(run[0].Indexes, []string{"Deeds"}) {
		t.Errorf("names run: got %+v, want Lee, Ann to be run again", run)
	}
	for result, pending := range map[string]bool{"": true, "clear": false} { // other indexes don't say that the name was run
		row := model.Inputs{"name": model.StringInput(work.NamesRun[0].Name), "from": model.StringInput("2026-01-02"),
			"indexes": model.StringsInput([]string{"Deeds", "UCC"}), "result": model.StringInput(result)}
		list, rejected := model.CheckNamesRun(model.ListInput(model.ObjectInput(row)), work.NamesRun, vaulttest.Operator, v.Now())
		vaulttest.NoError(t, rejected.Err())
		if list[0].Pending != pending || len(list[0].Indexes) != 2 {
			t.Errorf("names run with the result %q: got %+v, want pending: %v", result, list, pending)
		}
	}
	sheet, err := v.Instruments.Runsheet(t.Context(), a.ID)
	vaulttest.NoError(t, err)
	rows := []model.RequirementRow{{Kind: "exception", Text: "Taxes"},
		{Kind: "requirement", Text: "Pay off", InstrumentID: sheet.Instruments[0].ID}}
	if !slices.Equal(work.Requirements, rows) || sheet.Instruments[0].ID == mortgage.ID {
		t.Errorf("requirements: got %+v, want %+v", work.Requirements, rows)
	}

	// The template has no field for the start of the search. It is the prior effective date, also if a person entered that.
	_, err = v.Abstracts.Patch(t.Context(), vaulttest.Operator, a.ID, model.AbstractPatch{Custom: model.Some(model.Custom{
		Values: model.Inputs{"prior_effective_date": model.StringInput("2026-01-03"),
			"new_effective_date": model.StringInput("2026-02-03")}})}, vault.Match{})
	vaulttest.NoError(t, err)
	certificate, err := v.TitleWork.Certify(t.Context(), vaulttest.Operator, a.ID, vault.CertificateRequest{
		Members: model.Inputs{"effective_time": model.JSONInput(`"8:00 am"`)}}, vault.Idempotency[model.Certificate]{})
	if err != nil || certificate.SearchFrom != "2026-01-03" || certificate.EffectiveDate != "2026-02-03" {
		t.Errorf("Certify: got %+v, %v, want the period of the bring-down's own fields", certificate, err)
	}
	_, err = v.TitleWork.Certify(t.Context(), vaulttest.Operator, a.ID, vault.CertificateRequest{
		Members: model.Inputs{"effective_date": model.JSONInput(`"2026-02-04"`), "search_from": model.JSONInput(`"2026-01-01"`)}},
		vault.Idempotency[model.Certificate]{})
	vaulttest.NoError(t, err)
	after, err := v.Abstracts.Get(t.Context(), a.ID)
	if custom := after.Abstract.Custom; err != nil || custom.Text("new_effective_date") != "2026-02-04" ||
		custom.Text("prior_effective_date") != "2026-01-03" {
		t.Errorf("fields after Certify: got %v, %v, want the new effective date", custom, err)
	}

	// A name counts as run once its row changes.
	checks := func() string {
		checks, err := v.TitleWork.Checks(t.Context(), a.ID, nil)
		vaulttest.NoError(t, err)
		return fmt.Sprint(checks.Findings)
	}
	addInstrument(t, v, a.ID, `{"type":"Warranty Deed","grantors":["Ann Lee"]}`)
	if got := checks(); !strings.Contains(got, "Ann Lee hasn't been run again") || !strings.Contains(got, "Bo Roe is the borrower, but not") {
		t.Errorf("Checks: got %s, want the name to run again and the borrower", got)
	}
	set(v.TitleWork.SetNamesRun(t.Context(), vaulttest.Operator, a.ID,
		model.JSONInput(`[{"name":"Lee, Ann","from":"2026-01-02","indexes":["Deeds"],"result":"None"},{"name":"Bo Roe"}]`), vault.Match{}))
	if got := checks(); strings.Contains(got, "Ann Lee") && strings.Contains(got, "name_not_run") {
		t.Errorf("Checks: got %s, want no name to run", got)
	}

	// A second bring-down, and one of the bring-down, have numbers of their own.
	for _, row := range []struct {
		of   uint64
		want string
	}{{id, "26-17-BD2"}, {a.ID, "26-17-BD3"}} {
		again, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, row.of, vault.Idempotency[vault.BroughtDown]{})
		if err != nil || again.Abstract.FileNumber() != row.want {
			t.Errorf("file number: got %q, %v, want %q", again.Abstract.FileNumber(), err, row.want)
		}
	}
}

// Without a template for bring-downs, a bring-down keeps the template. Its search type is that of updates. A closed
// order isn't linked.
func TestBringDownWithoutTemplate(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	list, err := v.Templates.List(t.Context())
	vaulttest.NoError(t, err)
	for _, template := range list {
		if template.Name == "Update / Bring-Down" {
			_, err := v.Templates.Retire(t.Context(), vaulttest.Operator, template.ID)
			vaulttest.NoError(t, err)
		}
	}
	created, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{Custom: customTexts("file_number", `"26-17"`,
		"search_type", `"60 Year"`, "current_owner", `"Ann Lee"`, "borrower", `"Bo Roe"`, "vesting", `"Fee"`, "tax_status", `"Paid"`)}, vaulttest.StageDocs(t, v),
		vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	order := vaulttest.CreateOrder(t, v, "2026-1")
	_, err = v.TitleWork.SetOrder(t.Context(), vaulttest.Operator, created.Abstract.ID, order.ID, vault.Match{})
	vaulttest.NoError(t, err)
	done := model.OrderPatch{Fields: model.Inputs{"status": model.StringInput("completed")}}
	_, err = v.Orders.Patch(t.Context(), vaulttest.Operator, order.ID, done, vault.Match{})
	vaulttest.NoError(t, err)
	down, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, created.Abstract.ID, vault.Idempotency[vault.BroughtDown]{})
	vaulttest.NoError(t, err)
	custom := down.Abstract.Custom
	if down.Abstract.TemplateID != created.Abstract.TemplateID || custom.Text("search_type") != "Update" ||
		custom.Text("current_owner") != "Ann Lee" || custom.Text("tax_status") != "" {
		t.Errorf("BringDown: got template %d and %v, want the same template, an update, and the owner", down.Abstract.TemplateID, custom)
	}
	if want := []string{"order 2026-1"}; !slices.Equal(down.NotTaken, want) {
		t.Errorf("NotTaken: got %q, want %q", down.NotTaken, want)
	}
}

// A certificate that was issued by mistake is voided by its issuer or an administrator, with a reason. It stays in the list, but
// nothing continues it: neither the reasons that the next one proposes nor a bring-down.
func TestVoidCertificate(t *testing.T) {
	t.Parallel()
	f := vaulttest.NewUserFixture(t, nil)
	v := f.Instance
	id := vaulttest.CreateAbstract(t, v).Abstract.ID
	f.CreateUser(t, "Kim", model.RoleStaff)
	f.CreateUser(t, "Lee", model.RoleStaff)
	f.CreateUser(t, "Ann", model.RoleAdmin)
	kim, lee, admin := f.Actor(t, "Kim"), f.Actor(t, "Lee"), f.Actor(t, "Ann")
	certify := func(date string) model.Certificate {
		t.Helper()
		c, err := v.TitleWork.Certify(t.Context(), kim, id, vault.CertificateRequest{Members: model.Inputs{
			"effective_date": model.StringInput(date), "accepted": model.JSONInput(`[{"check":"effective_time","reason":"Not known"}]`)}},
			vault.Idempotency[model.Certificate]{})
		vaulttest.NoError(t, err)
		return c
	}
	void := func(actor model.Actor, n uint64, reason string) (model.Certificate, error) {
		return v.TitleWork.Void(t.Context(), actor, id, n, model.StringInput(reason), vault.Idempotency[model.Certificate]{})
	}
	last := func() (last model.Certificate, proposals int, since string) {
		t.Helper()
		work, err := v.TitleWork.Get(t.Context(), id)
		vaulttest.NoError(t, err)
		checks, err := v.TitleWork.Checks(t.Context(), id, nil)
		vaulttest.NoError(t, err)
		down, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, id, vault.Idempotency[vault.BroughtDown]{})
		vaulttest.NoError(t, err)
		return work.LastCertificate(), len(checks.Before), down.Abstract.Custom.Text("search_from")
	}
	first := certify("2026-05-02")
	_, err := void(lee, first.ID, "Not mine")
	vaulttest.WantKind(t, "void as another user", err, errs.Forbidden)
	_, err = void(kim, first.ID, " ")
	vaulttest.WantKind(t, "void without a reason", err, errs.Invalid)
	_, err = void(kim, 99, "Wrong date")
	vaulttest.WantKind(t, "void no certificate", err, errs.NotFound)
	before, err := v.Abstracts.Get(t.Context(), id)
	vaulttest.NoError(t, err)
	voided, err := void(kim, first.ID, "Wrong date")
	if err != nil || voided.Voided == nil || voided.Voided.Reason != "Wrong date" || voided.Voided.By.Name != "Kim" {
		t.Fatalf("void: got %+v, %v, want Kim and the reason", voided.Voided, err)
	}
	after, err := v.Abstracts.Get(t.Context(), id)
	if err != nil || after.Abstract.Version != before.Abstract.Version+1 || !after.Abstract.UpdatedAt.After(before.Abstract.UpdatedAt) {
		t.Errorf("abstract after voiding: got version %d of %v, %v, want one after %d of %v, as certifying gives it",
			after.Abstract.Version, after.Abstract.UpdatedAt, err, before.Abstract.Version, before.Abstract.UpdatedAt)
	}
	_, err = void(admin, first.ID, "Again")
	vaulttest.WantKind(t, "void twice", err, errs.Conflict)
	if c, proposals, since := last(); c.ID != 0 || proposals != 0 || since != "" {
		t.Errorf("after the only one is void: got certificate %d, %d proposals, a bring-down since %q; want none", c.ID, proposals, since)
	}

	second, third := certify("2026-05-01"), certify("2026-05-03")
	if second.ID != 2 || third.ID != 3 {
		t.Errorf("got IDs %d and %d, want 2 and 3", second.ID, third.ID)
	}
	_, err = void(admin, third.ID, "Wrong date")
	vaulttest.NoError(t, err)
	if c, proposals, since := last(); c.ID != second.ID || proposals != 1 || since != "2026-05-01" {
		t.Errorf("after the latest is void: got certificate %d, %d proposals, a bring-down since %q; want those of 2", c.ID, proposals, since)
	}
}
