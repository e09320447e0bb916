package ui_test

import (
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// An order and its abstract link to each other. The order's values prefill the form for the
// abstract.
func TestAbstractFromOrder(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	order := kim.post(t, 303, "/orders",
		url.Values{"order_number": {"26 <1>"}, "address": {"12 Elm St"}, "city": {"Troy"}, "county": {"Rensselaer"},
			"custom_fields.buyer_borrower": {"Ann Lee"}, "custom_fields.seller_owner": {"Bo Roe"},
			"custom_fields.parcel_id": {"12.-3"}}).Header.Get("Location")
	to := kim.get(t, 200, order).matches(t, `href="(/abstracts/new\?order=[^"]+)"`)[0]
	form := kim.get(t, 200, to)
	form.has(t, `Filled in from order <a href="`+order+`">26 &lt;1&gt;</a>`, `value="12 Elm St"`, `value="Troy"`,
		`value="Rensselaer"`, `value="Ann Lee"`, `value="Bo Roe"`, `value="12.-3"`)
	opaque := form.matches(t, `name="order" value="([^"]+)"`)[0]
	// Typed values are kept when the user selects another template.
	again := kim.post(t, 200, "/abstracts/new",
		url.Values{"order": {opaque}, "template": {"3"}, "once": {"x"}, "city": {""}, "county": {"Albany"}})
	again.has(t, `value="Albany"`, `value="Bo Roe"`)
	again.lacks(t, `value="Troy"`, `name="county" autocomplete="off" value="Rensselaer"`)
	created := kim.post(t, 303, "/abstracts",
		url.Values{"order": {opaque}, "address": {"12 Elm St"}, "tax_map": {"12.-3"}}).Header.Get("Location")
	kim.get(t, 200, created).has(t, `href="`+order+`"`)
	kim.get(t, 200, order).has(t, `href="`+created+`"`)
	kim.get(t, 404, "/abstracts/new?order=AAAAAAAAAAA")
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, order).lacks(t, "/abstracts/new")
}

func TestSameFileNumber(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	create := func(number string) string {
		return kim.post(t, 303, "/abstracts", url.Values{"custom_fields.file_number": {number}, "county": {"Albany"}}).Header.Get("Location")
	}
	first, second, third := create("2026-7"), create("2026-7"), create("2026-70")
	kim.get(t, 200, first).has(t, "Another abstract has the file number 2026-7:", `href="`+second+`"`)
	kim.get(t, 200, first).lacks(t, `href="`+third+`"`)
	kim.get(t, 200, third).lacks(t, "has the file number")
	create("2026-7")
	kim.get(t, 200, second).has(t, "2 other abstracts have the file number")
	kim.post(t, 303, first+"/trash", nil)
	kim.get(t, 200, second).has(t, "Another abstract has the file number")
}
