package ui_test

import (
	"fmt"
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// Forms reject years before 1600. The API accepts them.
func TestYearsBefore1600(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	const sentence = "The year must be 1600 or later."
	order := url.Values{"order_number": {"1"}, "due_date": {"0026-06-02"}}
	kim.post(t, 422, "/orders", order).has(t, sentence, `aria-describedby="due_date-problem"`, `value="0026-06-02"`)
	order.Set("due_date", "1600-01-01")
	at := kim.post(t, 303, "/orders", order).Header.Get("Location")
	kim.get(t, 200, at).has(t, "155,742 days overdue")
	kim.post(t, 422, at, url.Values{"group": {"property"}, "due_date": {"1599-12-31"}}).has(t, sentence)
	kim.post(t, 422, at, url.Values{"group": {"property"}, "due_date": {"1599-12-31"}}, "HX-Request", "true").has(t, sentence)

	fields := []model.Field{{Key: "day", Label: "Day", Type: model.Date}}
	imported, err := h.vault.Templates.Import(t.Context(), model.Actor{Kind: "operator"},
		[]model.TemplateDraft{{Name: "Days", Fields: &fields}}, false)
	if err != nil {
		t.Fatalf("Templates.Import: %v", err)
	}
	form := url.Values{"template": {fmt.Sprint(imported.Changed[0].Template.ID)}, "custom_fields.day": {"0019-04-17"}}
	kim.post(t, 422, "/abstracts", form).has(t, sentence)
	form.Set("custom_fields.day", "2019-04-17")
	at = kim.post(t, 303, "/abstracts", form).Header.Get("Location")
	kim.post(t, 422, at, url.Values{"group": {"details"}, "custom_fields.day": {"0019-04-17"}}).has(t, sentence)
}
