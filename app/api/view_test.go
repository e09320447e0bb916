package api_test

import (
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// viewData contains the parts of a view that the tests look at.
type viewData struct {
	ID      int64
	Name    string
	Filters map[string]string
	Columns []string
	Shared  bool
}

// createView saves a view with an API key.
func (srv *testServer) createView(t *testing.T, as, body string) viewData {
	t.Helper()
	return decodeBody[struct{ Data viewData }](t, srv.do(t, call{as: as, method: "POST", path: "/v1/views", header: []string{asJSON},
		body:   body,
		status: 201})).Data
}

// viewNames returns the names of the views that an API key can use.
func (srv *testServer) viewNames(t *testing.T, as string) (names []string) {
	t.Helper()
	for _, v := range decodeBody[struct{ Data []viewData }](t, srv.do(t, call{as: as, method: "GET", path: "/v1/views", status: 200})).Data {
		names = append(names, v.Name)
	}
	return names
}

// A view belongs to the key that saved it. Others use it only if it is shared, and don't change it.
func TestViewsOfOthers(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	own := srv.createView(t, "full", `{"name":"mine","record":"orders"}`)
	shared := srv.createView(t, "full", `{"name":"Ours","record":"orders","filters":{"county":"Kent"},"shared":true}`)
	srv.createView(t, "other", `{"name":"Theirs","record":"abstracts"}`)
	for as, want := range map[string][]string{"full": {"mine", "Ours"}, "other": {"Ours", "Theirs"}, "read": {"Ours"}} {
		if got := srv.viewNames(t, as); !slices.Equal(got, want) {
			t.Errorf("views of %s = %q, want %q", as, got, want)
		}
	}
	path := fmt.Sprintf("/v1/views/%d", own.ID)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		srv.do(t, call{as: "other", method: method, path: path, header: []string{asJSON}, body: `{}`, status: 404})
	}
	srv.do(t, call{as: "other", method: "GET", path: fmt.Sprintf("/v1/orders?view=%d", own.ID), status: 422,
		want: invalidField("view", "The selected view is invalid.")})
	path = fmt.Sprintf("/v1/views/%d", shared.ID)
	srv.do(t, call{as: "read", method: "GET", path: path, status: 200, has: []string{`"filters":{"county":"Kent"}`, `"sort":null`,
		`"columns":[]`}})
	const notOwner = "Only the owner of a view or an administrator can change it."
	srv.do(t, call{as: "other", method: "PATCH", path: path, header: []string{asJSON}, body: `{"name":"x"}`, status: 403,
		want: messageBody(notOwner)})
	srv.do(t, call{as: "other", method: "DELETE", path: path, status: 403, want: messageBody(notOwner)})
	tag := srv.do(t, call{as: "full", method: "PATCH", path: path, header: []string{asJSON}, body: `{"shared":false}`,
		status: 200}).Header.Get("ETag")
	if got := srv.viewNames(t, "other"); !slices.Equal(got, []string{"Theirs"}) {
		t.Errorf("views of other = %q after sharing ended, want Theirs", got)
	}
	srv.do(t, call{as: "full", method: "PATCH", path: path, header: []string{asJSON}, body: `{"name":"Ours again","filters":null}`,
		status: 200})
	srv.do(t, call{as: "full", method: "DELETE", path: path, header: []string{"If-Match: " + tag}, status: 412})
	srv.do(t, call{as: "full", method: "DELETE", path: path, status: 204})
	srv.do(t, call{as: "full", method: "GET", path: path, status: 404})
	srv.vaultIsIntact(t)
}

// A list with a view has its filters, sort order, and columns, unless the request has its own.
func TestListOfView(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for n, county := range []string{"Kent", "Essex", "Kent"} {
		srv.do(t, orderCall(fmt.Sprintf(`{"order_number":"T-%d","county":%q,"due_date":"2026-05-2%d"}`, n, county, 9-n), 201, ""))
	}
	view := srv.createView(t, "full", `{"name":"Kent","record":"orders","filters":{"county":"Kent","show":"open"},"sort":"due_date",
		"columns":["order_number","due_date"]}`)
	numbers := func(query string) (list []string) {
		for _, o := range decodeBody[struct {
			Data []struct {
				Number string `json:"order_number"`
			}
		}](t, srv.do(t, call{as: "full", method: "GET", path: "/v1/orders?" + query, status: 200})).Data {
			list = append(list, o.Number)
		}
		return list
	}
	v := fmt.Sprintf("view=%d", view.ID)
	for query, want := range map[string][]string{v: {"T-2", "T-0"}, v + "&sort=-due_date": {"T-0", "T-2"}, v + "&county=Essex": {"T-1"},
		v + "&county=": {"T-2", "T-1", "T-0"}, v + "&due_from=2026-05-28": {"T-0"}, "show=overdue": {"T-2", "T-1"},
		"show=overdue&due_to=2026-05-27": {"T-2"}} {
		if got := numbers(query); !slices.Equal(got, want) {
			t.Errorf("orders?%s = %q, want %q", query, got, want)
		}
	}
	file := call{as: "full", method: "GET", path: "/v1/orders.csv?" + v, status: 200, media: "text/csv; charset=utf-8",
		want: "\ufeffOrder number,Due date\nT-2,2026-05-27\nT-0,2026-05-29\n"}
	srv.do(t, file)
	file.path, file.want = file.path+"&columns=status", "\ufeffStatus\nActive\nActive\n"
	srv.do(t, file)
	// A view can be sorted by any column, and so can a file, but not a list without a view.
	byColumn := fmt.Sprintf("view=%d", srv.createView(t, "full", `{"name":"By county","record":"orders","sort":"-county",
		"columns":["order_number"]}`).ID)
	for query, want := range map[string][]string{byColumn: {"T-2", "T-0", "T-1"}, byColumn + "&sort=county": {"T-1", "T-0", "T-2"},
		byColumn + "&per_page=2": {"T-2", "T-0"}} {
		if got := numbers(query); !slices.Equal(got, want) {
			t.Errorf("orders?%s = %q, want %q", query, got, want)
		}
	}
	file.path, file.want = "/v1/orders.csv?"+byColumn, "\ufeffOrder number\nT-2\nT-0\nT-1\n"
	srv.do(t, file)
	file.path, file.want = "/v1/orders.csv?sort=county&columns=order_number", "\ufeffOrder number\nT-1\nT-0\nT-2\n"
	srv.do(t, file)
	// A view whose sort field was deleted has the default order.
	editFields := func(fields ...model.Field) {
		t.Helper()
		if _, err := srv.vault.Orders.EditFields(t.Context(), vaulttest.Operator, fields, "", false); err != nil {
			t.Fatalf("EditFields: %v", err)
		}
	}
	editFields(model.Field{Key: "branch", Label: "Branch", Type: model.Text})
	byBranch := fmt.Sprintf("view=%d", srv.createView(t, "full", `{"name":"By branch","record":"orders","sort":"custom_fields.branch"}`).ID)
	sorted := numbers(byBranch)
	editFields()
	if got, want := numbers(byBranch), numbers(""); len(sorted) != 3 || !slices.Equal(got, want) {
		t.Errorf("orders of a view whose sort field was deleted: got %q, want %q", got, want)
	}
	srv.do(t, call{as: "full", method: "GET", path: "/v1/orders?sort=county", status: 422, want: invalidField("sort",
		"The selected sort is invalid.")})
	srv.do(t, call{as: "full", method: "GET", path: "/v1/abstracts?" + v, status: 422, want: invalidField("view",
		"The selected view is invalid.")})
	srv.do(t, call{as: "full", method: "GET", path: "/v1/orders?view=x", status: 422, want: invalidField("view",
		"The view field must be an integer.")})
}

func TestInvalidViews(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for body, want := range map[string]string{
		`{"record":"orders"}`:            invalidField("name", "The name field is required."),
		`{"name":" ","record":"orders"}`: invalidField("name", "The name field is required."),
		`{"name":"a\nb","record":"orders"}`: invalidField("name",
			"The name field contains invalid characters."),
		`{"name":7,"record":"orders"}`:  invalidField("name", "The name field must be a string."),
		`{"name":"x"}`:                  invalidField("record", "The record field is required."),
		`{"name":"x","record":"files"}`: invalidField("record", "The selected record is invalid."),
		`{"name":"x","record":"orders","filters":{"template_id":"1"}}`: invalidField("filters.template_id",
			"The selected template id is invalid."),
		`{"name":"x","record":"orders","filters":{"due_from":"soon"}}`: invalidField("filters.due_from",
			"The due from field must match the format Y-m-d."),
		`{"name":"x","record":"orders","filters":"open"}`:                     invalidField("filters", "The filters field must be an array."),
		`{"name":"x","record":"orders","sort":"file_number"}`:                 invalidField("sort", "The selected sort is invalid."),
		`{"name":"x","record":"orders","columns":["order_number","heading"]}`: invalidField("columns", "The selected columns is invalid."),
		`{"name":"x","record":"orders","columns":"status"}`:                   invalidField("columns", "The columns field must be an array."),
		`{"name":"x","record":"orders","shared":"yes"}`:                       invalidField("shared", "The shared field must be true or false."),
	} {
		t.Run(body, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "POST", path: "/v1/views", header: []string{asJSON}, body: body, status: 422, want: want})
		})
	}
	view := srv.createView(t, "full", `{"name":"x","record":"orders"}`)
	srv.do(t, call{as: "full", method: "PATCH", path: fmt.Sprintf("/v1/views/%d", view.ID), header: []string{asJSON},
		body:   `{"record":"abstracts"}`,
		status: 422, want: invalidField("record", "The record field cannot be changed.")})
	for range 99 {
		srv.createView(t, "full", `{"name":"x","record":"orders"}`)
	}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/views", header: []string{asJSON}, body: `{"name":"x","record":"orders"}`,
		status: 409})
}
