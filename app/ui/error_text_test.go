package ui_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// Pages show validation errors in their own wording, not in the API's.
func TestErrorsInPlainWords(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	long := strings.Repeat("x", 3000)
	_, created := h.createAbstract(t, kim.actor, nil, model.Property{County: "Albany"}, "a.pdf")
	row := "/documents/" + fmt.Sprint(created.Files[0].ID)
	for _, page := range []reply{
		kim.post(t, 422, row+"/rename", url.Values{"name": {" "}}, "HX-Request", "true"),
		kim.post(t, 422, row+"/rename", url.Values{"name": {" "}}),
	} {
		page.has(t, "The name field is required.")
		page.lacks(t, "filename field", "greater than")
	}
	kim.post(t, 422, "/orders", url.Values{"order_number": {"1"}, "city": {long}}).has(t, "The city can have at most ")
	kim.post(t, 422, "/abstracts", url.Values{"tax_map": {long}}).has(t, "The Parcel ID can have at most ")
	kim.post(t, 422, "/vault", url.Values{"name": {long}}).has(t, "The name can have at most ")
}
