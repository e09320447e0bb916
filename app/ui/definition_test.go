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

// formFingerprint returns the fingerprint in the forms of a page.
func (s *testUser) formFingerprint(t *testing.T, target string) string {
	t.Helper()
	found := fingerprintField.FindSubmatch(s.get(t, 200, target).body)
	if found == nil {
		t.Fatalf("%s has no mark", target)
	}
	return string(found[1])
}

// submitChange submits a form of the editor with the current fingerprint.
func (s *testUser) submitChange(t *testing.T, status int, target string, pairs ...string) reply {
	t.Helper()
	form := url.Values{"seen": {s.formFingerprint(t, target)}}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return s.post(t, status, target, form)
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
	made := admin.post(t, 303, "/admin/templates", url.Values{"name": {hostile}, "from": {"0"}})
	at := made.Header.Get("Location")
	admin.get(t, 200, at, "&lt;script&gt;alert(").lacks(t, "<script>alert")
	for _, change := range [][]string{
		{"do", "name", "name", "Lot search"},
		{"do", "status-add", "name", "New"}, {"do", "status-add", "name", "Done & sent"}, {"do", "status-up", "status", "Done & sent"},
		{"do", "status-rename", "status", "New", "name", "Begun"}, {"do", "status-add", "name", "Gone"}, {"do", "status-remove", "status", "Gone"},
		{"do", "field-save", "label", "Tax Status", "type", "dropdown", "options", "Paid\r\n Due \r\n\r\nUnknown", "required", "1"},
		{"do", "field-save", "label", "County", "type", "text"}, {"do", "field-save", "label", "3rd party", "type", "checkbox", "options", "left over"},
		{"do", "field-save", "label", "Tax status", "type", "text"},
		{"do", "field-up", "field", "county_2"}, {"do", "field-save", "was", "county_2", "label", "County of record", "type", "paragraph"},
	} {
		admin.submitChange(t, 303, at, change...)
	}
	id := uint64(5)
	got, err := h.vault.Templates.Get(t.Context(), id)
	if err != nil || templatePath(id) != at {
		t.Fatalf("%s: %v", at, err)
	}
	if got.Name != "Lot search" || !slices.Equal(got.Statuses, []string{"Done & sent", "Begun"}) || !slices.Equal(fieldKeys(got.Fields), []string{"county_2", "tax_status", "field_3rd_party", "tax_status_2"}) {
		t.Errorf("%+v", got)
	}
	if f := got.Fields[1]; !f.Required || !slices.Equal(f.Options, []string{"Paid", "Due", "Unknown"}) {
		t.Errorf("%+v", f)
	}
	if f := got.Fields[0]; f.Label != "County of record" || f.Type != model.Paragraph {
		t.Errorf("%+v", f)
	}
	admin.submitChange(t, 303, at, "do", "fields", "order", "tax_status_2", "order", "tax_status", "order", "county_2", "order", "field_3rd_party")
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
		says   []string
	}{
		{"no name", 422, []string{"do", "name", "name", " "}, []string{"The name field is required.", `id="name-problem"`}},
		{"the name of another", 422, []string{"do", "name", "name", "COMMERCIAL abstract"}, []string{"Another template has the name"}},
		{"a status twice", 422, []string{"do", "status-add", "name", "complete"}, []string{"is there twice", `id="new-status-problem"`, `value="complete"`}},
		{"a label is missing", 422, []string{"do", "field-save", "label", "", "type", "text"}, []string{"The label field is required.", `id="label-problem"`}},
		{"options are missing", 422, []string{"do", "field-save", "label", "Result", "type", "dropdown", "options", " \n"}, []string{"needs options", `id="options-problem"`, `value="Result"`}},
		{"a key that is no key", 422, []string{"do", "field-save", "label", "Result", "type", "text", "key", "No Key"}, []string{"begin with a letter", `id="key-problem"`}},
		{"a key that all have", 422, []string{"do", "field-save", "label", "Result", "type", "text", "key", "county"}, []string{"a field that every record has"}},
		{"a type that is none", 422, []string{"do", "field-save", "label", "Result", "type", "<b>"}, []string{"id=\"type-problem\"", "&lt;b&gt;"}},
		{"a status that is gone", 412, []string{"do", "status-remove", "status", "Never"}, []string{"Somebody else changed this meanwhile"}},
		{"a field that is gone", 412, []string{"do", "field-up", "field", "never"}, []string{"Somebody else changed this meanwhile"}},
		{"an order without all", 412, []string{"do", "fields", "order", "tax_status"}, nil},
		{"an order with one twice", 412, []string{"do", "statuses", "order", "New", "order", "New"}, nil},
		{"nothing to do", 412, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := h.vault.Templates.Get(t.Context(), 1)
			admin.submitChange(t, c.status, at, c.form...).has(t, c.says...)
			if after, _ := h.vault.Templates.Get(t.Context(), 1); after.Fingerprint() != before.Fingerprint() {
				t.Errorf("it was changed: %+v", after)
			}
		})
	}
	admin.post(t, 422, "/admin/templates", url.Values{"name": {"residential abstract"}}).has(t, "Another template has the name", `value="residential abstract"`)
	admin.get(t, 404, "/admin/templates/99")
	admin.get(t, 404, "/admin/templates/x")
}

// A change that would lose values is rejected with the affected values.
func TestTemplateChangeLosingValues(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	tray, err := h.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer tray.Discard()
	_, err = h.vault.Abstracts.Create(t.Context(), admin.actor, model.AbstractDraft{Custom: model.Custom{Values: map[string]rawJSON{"search_type": rawJSON(`"30 Year"`), "tax_status": rawJSON(`"Paid"`)}}}, tray, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	const at = "/admin/templates/1"
	admin.submitChange(t, 409, at, "do", "field-remove", "field", "tax_status").has(t, "1 abstract has a value for it", `role="alert"`)
	admin.submitChange(t, 409, at, "do", "status-remove", "status", "New").has(t, "1 abstract is in it")
	admin.submitChange(t, 409, at, "do", "field-save", "was", "search_type", "label", "Search Type", "type", "dropdown", "options", "Full").has(t, "1 abstract has chosen it", ">Full</textarea>")
	admin.submitChange(t, 303, at, "do", "field-remove", "field", "borrower")
	admin.get(t, 200, "/admin/templates", `<a href="/abstracts?template=1">1</a>`)
}

// When two administrators edit at the same time, the second is rejected and sees the current
// definitions.
func TestTemplateConcurrentEdits(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	ada, ben := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "ben", model.RoleAdmin)
	for _, at := range []string{"/admin/templates/1", "/admin/fields"} {
		form := url.Values{"seen": {ben.formFingerprint(t, at)}, "do": {"field-save"}, "label": {"Of Ben"}, "type": {"text"}}
		ada.submitChange(t, 303, at, "do", "field-save", "label", "Of Ada", "type", "text")
		got := ben.post(t, 412, at, form)
		got.has(t, "Somebody else changed this meanwhile", "Of Ada", `value="Of Ben"`)
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
	admin.post(t, 409, "/admin/templates/1/retire", nil).has(t, "The default template cannot be retired")
	admin.post(t, 303, "/admin/templates/2/default", nil)
	admin.post(t, 303, "/admin/templates/1/retire", nil)
	admin.post(t, 409, "/admin/templates/1/default", nil).has(t, "A retired template cannot be the default")
	admin.get(t, 200, "/admin/templates/1", "Retired", "Bring back")
	list, err := h.vault.Templates.List(t.Context())
	if err != nil || len(list) != 3 || !list[0].Default {
		t.Errorf("%+v, %v", list, err)
	}
	admin.post(t, 303, "/admin/templates", url.Values{"name": {"Residential Abstract"}, "from": {"1"}})
	admin.post(t, 409, "/admin/templates/1/return", nil).has(t, "Another template has the name")
	admin.post(t, 303, "/admin/templates/5/retire", nil)
	admin.post(t, 303, "/admin/templates/1/return", nil)
	admin.post(t, 404, "/admin/templates/1/burn", nil)
	admin.post(t, 404, "/admin/templates/99/retire", nil)
}

func TestOrderDefinitions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	order, err := h.vault.Orders.Create(t.Context(), admin.actor, model.OrderDraft{
		Number: model.StringInput("2026-1"), Custom: model.Custom{Values: map[string]rawJSON{"rush": rawJSON(`"Rush"`)}},
	}, vault.Idempotency[model.Order]{})
	if err != nil || order.Status != "active" {
		t.Fatal(order, err)
	}
	admin.get(t, 200, "/admin/fields", "Transaction Type", "Every order has its number")
	admin.submitChange(t, 409, "/admin/fields", "do", "field-remove", "field", "rush").has(t, "1 order has a value for it")
	admin.submitChange(t, 303, "/admin/fields", "do", "field-save", "label", "Order number", "type", "text")
	fields, _ := h.vault.Orders.Fields(t.Context())
	if !slices.Contains(fieldKeys(fields), "order_number_2") {
		t.Errorf("%v", fieldKeys(fields))
	}
	admin.get(t, 200, "/admin/statuses", "On hold", "given to new orders")
	admin.submitChange(t, 409, "/admin/statuses", "do", "status-remove", "status", "active").has(t, "1 order is in it")
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

// Only administrators see these pages; staff can use the trash, viewers can't.
func TestAdminPermissions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.newUser(t, "sue", model.RoleStaff), h.newUser(t, "vic", model.RoleViewer)
	for _, target := range []string{"/admin/templates", "/admin/templates/1", "/admin/fields", "/admin/statuses", "/admin/activity", "/admin/activity.csv", "/trash"} {
		if h.request(t, 303, "GET", target).Header.Get("Location") != "/sign-in?to="+url.QueryEscape(target) {
			t.Errorf("%s does not lead to signing in", target)
		}
		viewer.get(t, 403, target)
		if target != "/trash" {
			staff.get(t, 403, target)
		}
	}
	for _, target := range []string{"/admin/templates", "/admin/templates/1", "/admin/templates/1/retire", "/admin/fields", "/admin/statuses", "/admin/activity/verify", "/trash"} {
		viewer.post(t, 403, target, url.Values{"do": {"name"}})
		if target != "/trash" {
			staff.post(t, 403, target, url.Values{"do": {"name"}})
		}
		staff.post(t, 403, target, url.Values{"do": {"name"}}, "Sec-Fetch-Site: cross-site")
	}
	staff.get(t, 200, "/trash", "The trash is empty", "30 days")
	if strings.Contains(string(staff.get(t, 200, "/trash").body), `href="/admin`) {
		t.Error("staff is shown the way to the administration")
	}
}
