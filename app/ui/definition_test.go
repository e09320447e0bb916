package ui_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

var fingerprintField = regexp.MustCompile(`name="seen" value="([0-9a-f]{16})"`)

// formFingerprint returns the fingerprint contained in the page's forms.
func (tu *testUser) formFingerprint(t *testing.T, target string) string {
	t.Helper()
	found := fingerprintField.FindSubmatch(tu.get(t, 200, target).body)
	if found == nil {
		t.Fatalf("%s has no form with a fingerprint", target)
	}
	return string(found[1])
}

// submitChange submits one of the editor's forms with the current fingerprint.
func (tu *testUser) submitChange(t *testing.T, status int, target string, pairs ...string) reply {
	t.Helper()
	form := url.Values{"seen": {tu.formFingerprint(t, target)}}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return tu.post(t, status, target, form)
}

func fieldKeys(fields []model.Field) (list []string) {
	for _, f := range fields {
		list = append(list, f.Key)
	}
	return list
}

func TestTemplateEditor(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const hostile = `<script>alert("1")</script> & 'x'`
	at := admin.post(t, 303, "/admin/templates", url.Values{"name": {hostile}, "from": {"0"}}).Header.Get("Location")
	admin.get(t, 200, at, "&lt;script&gt;alert(").lacks(t, "<script>alert")
	for _, change := range [][]string{
		{"do", "name", "name", "Lot search"},
		{"do", "status-add", "name", "New"}, {"do", "status-add", "name", "Done & sent"}, {"do", "status-up", "status", "Done & sent"},
		{"do", "status-rename", "status", "New", "name", "Begun"}, {"do", "status-add", "name", "Gone"},
		{"do", "status-remove", "status", "Gone"},
		{"do", "field-save", "label", "Tax Status", "type", "dropdown", "options", "Paid\r\n Due \r\n\r\nUnknown", "required", "1"},
		{"do", "field-save", "label", "County", "type", "text"},
		{"do", "field-save", "label", "3rd party", "type", "checkbox", "options", "left over"},
		{"do", "field-save", "label", "Tax status", "type", "text"},
		{"do", "field-up", "field", "county_2"}, {"do", "field-save", "was", "county_2", "label", "County of record", "type", "paragraph"},
	} {
		admin.submitChange(t, 303, at, change...)
	}
	id := uint64(5)
	got, err := h.vault.Templates.Get(t.Context(), id)
	if err != nil || templatePath(id) != at {
		t.Fatalf("created template is at %s, want %s; Templates.Get: %v", at, templatePath(id), err)
	}
	if got.Name != "Lot search" || !slices.Equal(got.Statuses, []string{"Done & sent", "Begun"}) ||
		!slices.Equal(fieldKeys(got.Fields), []string{"county_2", "tax_status", "field_3rd_party", "tax_status_2"}) {
		t.Errorf("unexpected template: %+v", got)
	}
	if f := got.Fields[1]; !f.Required || !slices.Equal(f.Options, []string{"Paid", "Due", "Unknown"}) {
		t.Errorf("field 1 = %+v, want required, with the options Paid, Due, Unknown", f)
	}
	if f := got.Fields[0]; f.Label != "County of record" || f.Type != model.Paragraph {
		t.Errorf("field 0 = %+v, want the paragraph County of record", f)
	}
	admin.submitChange(t, 303, at, "do", "fields", "order", "tax_status_2", "order", "tax_status", "order", "county_2", "order",
		"field_3rd_party")
	admin.get(t, 200, at+"?field=tax_status", "Paid\nDue\nUnknown", `id="options"`, "Tax Status")
	admin.get(t, 200, "/admin/templates", "Lot search", "Done &amp; sent, Begun")
}

func templatePath(id uint64) string { return "/admin/templates/" + string('0'+rune(id)) }

func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const at = "/admin/templates/1"
	for _, c := range []struct {
		name   string
		status int
		form   []string
		has    []string
	}{
		{"blank name", 422, []string{"do", "name", "name", " "}, []string{"The name field is required.", `id="name-problem"`}},
		{"name of another template", 422, []string{"do", "name", "name", "COMMERCIAL abstract"}, []string{"Another template is named"}},
		{"duplicate status", 422, []string{"do", "status-add", "name", "complete"},
			[]string{"is listed twice", `id="new-status-problem"`, `value="complete"`}},
		{"blank label", 422, []string{"do", "field-save", "label", "", "type", "text"},
			[]string{"The label field is required.", `id="label-problem"`}},
		{"blank options", 422, []string{"do", "field-save", "label", "Result", "type", "dropdown", "options", " \n"},
			[]string{"needs options", `id="options-problem"`, `value="Result"`}},
		{"invalid key", 422, []string{"do", "field-save", "label", "Result", "type", "text", "key", "No Key"},
			[]string{"starting with a letter", `id="key-problem"`}},
		{"key of a core field", 422, []string{"do", "field-save", "label", "Result", "type", "text", "key", "county"},
			[]string{"is used by a built-in field"}},
		{"invalid type", 422, []string{"do", "field-save", "label", "Result", "type", "<b>"}, []string{"id=\"type-problem\"", "&lt;b&gt;"}},
		{"removed status", 412, []string{"do", "status-remove", "status", "Never"}, []string{"Someone else changed this while you were editing"}},
		{"removed field", 412, []string{"do", "field-up", "field", "never"}, []string{"Someone else changed this while you were editing"}},
		{"incomplete order", 412, []string{"do", "fields", "order", "tax_status"}, nil},
		{"order with a duplicate", 412, []string{"do", "statuses", "order", "New", "order", "New"}, nil},
		{"no action", 412, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := h.vault.Templates.Get(t.Context(), 1)
			admin.submitChange(t, c.status, at, c.form...).has(t, c.has...)
			if after, _ := h.vault.Templates.Get(t.Context(), 1); after.Fingerprint() != before.Fingerprint() {
				t.Errorf("template = %+v, want it unchanged", after)
			}
		})
	}
	admin.post(t, 422, "/admin/templates", url.Values{"name": {"residential abstract"}}).has(t, "Another template is named",
		`value="residential abstract"`)
	admin.get(t, 404, "/admin/templates/99")
	admin.get(t, 404, "/admin/templates/x")
}

// A change that would delete values is rejected, and the affected values are listed.
func TestTemplateChangeLosingValues(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	staged, err := h.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer staged.Discard()
	_, err = h.vault.Abstracts.Create(t.Context(), admin.actor,
		model.AbstractDraft{Custom: model.Custom{Values: model.Inputs{"search_type": model.StringInput("30 Year"),
			"tax_status": model.StringInput("Paid")}}}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	const at = "/admin/templates/1"
	admin.submitChange(t, 409, at, "do", "field-remove", "field", "tax_status").has(t, "1 abstract has a value.", `role="alert"`)
	admin.submitChange(t, 409, at, "do", "status-remove", "status", "New").has(t, "1 abstract uses it")
	admin.submitChange(t, 409, at, "do", "field-save", "was", "search_type", "label", "Search Type", "type", "dropdown", "options",
		"Full").has(t, "1 abstract uses it", ">Full</textarea>")
	admin.submitChange(t, 303, at, "do", "field-remove", "field", "borrower")
	admin.get(t, 200, "/admin/templates", `<a href="/abstracts?template=1">1</a>`)
}

// If two administrators edit the same definitions, the second change is rejected, and that
// administrator sees the current definitions.
func TestTemplateConcurrentEdits(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	ada, ben := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "ben", model.RoleAdmin)
	for _, at := range []string{"/admin/templates/1", "/admin/fields"} {
		form := url.Values{"seen": {ben.formFingerprint(t, at)}, "do": {"field-save"}, "label": {"Of Ben"}, "type": {"text"}}
		ada.submitChange(t, 303, at, "do", "field-save", "label", "Of Ada", "type", "text")
		got := ben.post(t, 412, at, form)
		got.has(t, "Someone else changed this while you were editing", "Of Ada", `value="Of Ben"`)
		form.Set("seen", string(fingerprintField.FindSubmatch(got.body)[1]))
		ben.post(t, 303, at, form)
		part := ben.post(t, 422, at, form, "HX-Request: true")
		part.has(t, `id="editor"`, "Of Ada")
		part.lacks(t, "<html")
	}
}

func TestTemplateUse(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	admin.post(t, 409, "/admin/templates/1/retire", nil).has(t, "The default template can&#39;t be retired")
	admin.post(t, 303, "/admin/templates/2/default", nil)
	admin.post(t, 303, "/admin/templates/1/retire", nil)
	admin.post(t, 409, "/admin/templates/1/default", nil).has(t, "A retired template can&#39;t be the default")
	admin.get(t, 200, "/admin/templates/1", "Retired", "Restore template")
	list, err := h.vault.Templates.List(t.Context())
	if err != nil || len(list) != 3 || !list[0].Default {
		t.Errorf("Templates.List = %+v, %v, want 3 templates with the default first", list, err)
	}
	admin.post(t, 303, "/admin/templates", url.Values{"name": {"Residential Abstract"}, "from": {"1"}})
	admin.post(t, 409, "/admin/templates/1/return", nil).has(t, "Another template is named")
	admin.post(t, 303, "/admin/templates/5/retire", nil)
	admin.post(t, 303, "/admin/templates/1/return", nil)
	admin.post(t, 404, "/admin/templates/1/burn", nil)
	admin.post(t, 404, "/admin/templates/99/retire", nil)
}

func TestOrderDefinitions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	order, err := h.vault.Orders.Create(t.Context(), admin.actor,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("2026-1")},
			Custom: model.Custom{Values: model.Inputs{"rush": model.StringInput("Rush")}}},
		vault.Idempotency[model.Order]{})
	if err != nil || order.Status != "active" {
		t.Fatalf("Orders.Create = %+v, %v, want an active order", order, err)
	}
	admin.get(t, 200, "/admin/fields", "Transaction Type", "Every order also has a number")
	admin.submitChange(t, 409, "/admin/fields", "do", "field-remove", "field", "rush").has(t, "1 order has a value.")
	admin.submitChange(t, 303, "/admin/fields", "do", "field-save", "label", "Order number", "type", "text")
	fields, _ := h.vault.Orders.Fields(t.Context())
	if !slices.Contains(fieldKeys(fields), "order_number_2") {
		t.Errorf("field keys = %q, want them to contain order_number_2", fieldKeys(fields))
	}
	admin.get(t, 200, "/admin/statuses", "On hold", "New orders start with")
	admin.submitChange(t, 409, "/admin/statuses", "do", "status-remove", "status", "active").has(t, "1 order uses it")
	admin.submitChange(t, 303, "/admin/statuses", "do", "status-up", "status", "on_hold")
	for _, status := range []string{"completed", "cancelled"} {
		admin.submitChange(t, 303, "/admin/statuses", "do", "status-remove", "status", status)
	}
	if err := h.vault.Orders.Trash(t.Context(), admin.actor, order.ID, vault.Match{}); err != nil {
		t.Fatalf("Orders.Trash: %v", err)
	}
	admin.submitChange(t, 409, "/admin/statuses", "do", "status-remove", "status", "active").has(t, "1 order")
	admin.submitChange(t, 303, "/admin/statuses", "do", "status-rename", "status", "on_hold", "name", "waiting")
	admin.submitChange(t, 412, "/admin/statuses", "do", "name", "name", "x")
	admin.submitChange(t, 412, "/admin/statuses", "do", "field-save", "label", "x", "type", "text")
}

// Administrators add, rename, move, retire, and restore document types.
func TestDocumentTypes(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	names := func() (list []string) {
		types, err := h.vault.Instruments.Types(t.Context())
		if err != nil {
			t.Fatalf("Types: %v", err)
		}
		for _, kind := range types {
			if kind.Retired {
				list = append(list, "-"+kind.Name)
			} else {
				list = append(list, kind.Name)
			}
		}
		return list
	}
	change := func(status int, pairs ...string) reply {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			form.Add(pairs[i], pairs[i+1])
		}
		return admin.post(t, status, "/admin/types", form)
	}
	admin.get(t, 200, "/admin/types", "Warranty Deed", "Encumbrance", "New document type")
	admin.get(t, 200, "/admin/types?type=7", `value="Mortgage"`, "Save type")
	before := names()
	change(303, "do", "add", "name", "Timber Deed", "category", "Conveyance")
	change(422, "do", "add", "name", "timber deed", "category", "Conveyance").has(t, "has already been taken", `value="timber deed"`)
	change(422, "do", "add", "name", "", "category", "Conveyance")
	change(422, "do", "add", "name", "X", "category", "Y").has(t, "category")
	change(303, "do", "save", "type", "1", "name", "General Warranty Deed", "category", "Conveyance")
	change(303, "do", "down", "type", "1")
	change(303, "do", "retire", "type", "3")
	got := names()
	if got[0] != before[1] || got[1] != "General Warranty Deed" || !slices.Contains(got,
		"-Quitclaim Deed") || got[len(got)-1] != "Timber Deed" {
		t.Errorf("types = %q", got)
	}
	page := admin.get(t, 200, "/admin/types?type=8", `placeholder="Grantor"`, `placeholder="Trustee or beneficiary"`,
		"Mortgages and Security Instruments")
	page.lacks(t, ">Security<")
	save := []string{"do", "save", "type", "8", "name", "Deed of Trust", "category", "Security", "encumbrance", "1",
		"grantor_label", "Trustor"}
	change(422, append(save, "grantee_label", strings.Repeat("x", 41))...).has(t, `id="grantee_label-problem"`, `value="Trustor"`)
	change(303, append(save, "grantee_label", "Beneficiary")...)
	admin.get(t, 200, "/admin/types", "Trustor / Beneficiary")
	change(303, "do", "use", "type", "3")
	change(412, "do", "retire", "type", "999")
	change(412, "do", "order", "order", "1")
	if list := names(); !slices.Contains(list, "Quitclaim Deed") {
		t.Errorf("types = %q, want Quitclaim Deed restored", list)
	}
}

// Only administrators can open these pages. Staff can use the trash, but viewers can't.
func TestAdminPermissions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.newUser(t, "sue", model.RoleStaff), h.newUser(t, "vic", model.RoleViewer)
	for _, target := range []string{"/admin/templates", "/admin/templates/1", "/admin/fields", "/admin/statuses", "/admin/types",
		"/admin/activity",
		"/admin/activity.csv", "/trash"} {
		if h.request(t, 303, "GET", target).Header.Get("Location") != "/sign-in?to="+url.QueryEscape(target) {
			t.Errorf("%s without a session doesn't redirect to the sign-in page", target)
		}
		viewer.get(t, 403, target)
		if target != "/trash" {
			staff.get(t, 403, target)
		}
	}
	for _, target := range []string{"/admin/templates", "/admin/templates/1", "/admin/templates/1/retire", "/admin/fields",
		"/admin/statuses", "/admin/activity/verify", "/trash"} {
		viewer.post(t, 403, target, url.Values{"do": {"name"}})
		if target != "/trash" {
			staff.post(t, 403, target, url.Values{"do": {"name"}})
		}
		staff.post(t, 403, target, url.Values{"do": {"name"}}, "Sec-Fetch-Site: cross-site")
	}
	staff.get(t, 200, "/trash", "The trash is empty", "30 days")
	if strings.Contains(string(staff.get(t, 200, "/trash").body), `href="/admin`) {
		t.Error("the trash shows staff a link to administration")
	}
}
