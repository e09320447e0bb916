package ui_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// The filters of a list read like a sentence, and each can be removed.
func TestFilterChips(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "A-1", 3, model.Inputs{"county": model.StringInput("Warren"), "state": model.StringInput("NJ")})
	viewer := h.openBrowser(t, model.RoleViewer)
	chip := func(text, without string) string {
		return `<a href="` + html.EscapeString(without) + `" title="Remove this filter">` + text + `<svg`
	}
	viewer.get(t, 200, "/orders?county=Warren&assignee=none&due_to=2026-12-01&sort=order_number&show=open").has(t,
		chip("County is Warren", "/orders?assignee=none&due_to=2026-12-01&show=open&sort=order_number"),
		chip("Assigned to no one", "/orders?county=Warren&due_to=2026-12-01&show=open&sort=order_number"),
		chip("Due Dec 1, 2026 or earlier", "/orders?assignee=none&county=Warren&show=open&sort=order_number"),
		`<a href="/orders?show=open&amp;sort=order_number">Clear all</a>`)
	one := viewer.get(t, 200, "/orders?status=late+%3Cb%3E")
	one.has(t, chip("Status is late &lt;b&gt;", "/orders"))
	one.lacks(t, "Clear all")
	viewer.get(t, 200, "/orders").lacks(t, "Remove this filter")
	viewer.get(t, 200, "/orders?due_to=soon").lacks(t, "Remove this filter") // the page shows the problem
	viewer.get(t, 200, "/abstracts?template=1&from=2026-01-31&q=smith").has(t,
		"Template is ", "Created Jan 31, 2026 or later", "Contains “smith”")
	viewer.get(t, 200, "/instruments?type_id=1&recorded_to=1998-03-09&book=12").has(t,
		"Type is ", "Recorded Mar 9, 1998 or earlier", "Book is 12")
}

// Forms and filters offer values that other records have.
func TestUsedValuesAreOffered(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	for n, county := range []string{"Warren", "Kent", "Warren"} {
		h.createOrder(t, fmt.Sprint("A-", n), 3, model.Inputs{"county": model.StringInput(county), "city": model.StringInput(county + " City"),
			"address": model.StringInput(fmt.Sprint(n, " Elm St"))})
	}
	const counties = `<datalist id="county-used"><option value="Warren"></option><option value="Kent"></option></datalist>`
	kim := h.openBrowser(t, model.RoleStaff)
	for _, path := range []string{"/orders", "/abstracts", "/instruments", "/orders/new", "/abstracts/new"} {
		kim.get(t, 200, path).has(t, `list="county-used"`, counties)
	}
	form := kim.get(t, 200, "/orders/new")
	form.has(t, `<datalist id="city-used"><option value="Warren City"></option></datalist>`)
	form.lacks(t, "Kent City", "Elm St", "A-1", `id="state-used"`)
	order := h.createOrder(t, "B", 3, model.Inputs{})
	path := h.orderPath(order)
	kim.get(t, 200, path+"?edit=property").has(t, counties)
	kim.get(t, 200, path).lacks(t, "datalist")
}

// The list of instruments has those of all abstracts.
func TestInstrumentList(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, "/instruments").has(t, "No instruments yet", `href="/abstracts"`)
	for n, county := range []string{"Warren", "Kent"} {
		_, created := h.createAbstract(t, model.Actor{Kind: "operator"}, map[string]string{"file_number": fmt.Sprintf("26-%d", n)},
			model.Property{County: county, State: "NJ"})
		h.createInstrument(t, created.Abstract.ID, `{"type":"Warranty Deed","grantors":["Amos Reed"],"grantees":["Bea Cole"],
			"recorded":"1998-03-0`+fmt.Sprint(n+1)+`","book":"12","page":"`+fmt.Sprint(n+7)+`"}`)
		h.createInstrument(t, created.Abstract.ID, `{"type":"Mortgage","grantors":["Bea Cole"],"grantees":["First Bank"],
			"instrument_number":"2001-00`+fmt.Sprint(n)+`"}`)
	}
	names := func(query string) string {
		var list []string
		rows := viewer.screenTable(t, "/instruments"+query)
		for _, row := range rows[min(len(rows), 1):] {
			list = append(list, row[0]+" "+row[1])
		}
		return strings.Join(list, ", ")
	}
	for query, want := range map[string]string{
		"?sort=recorded&county=warren":                   "Warranty Deed 26-0, Mortgage 26-0",
		"?book=12&page=8":                                "Warranty Deed 26-1",
		"?recorded_from=1998-03-02":                      "Warranty Deed 26-1",
		"?q=2001-000":                                    "Mortgage 26-0",
		"?status=open&sort=recorded&county=Kent":         "Mortgage 26-1",
		"?columns=abstract,status&county=Kent&book=0012": "Warranty Deed 26-1",
	} {
		if got := names(query); got != want {
			t.Errorf("instruments%s = %s, want %s", query, got, want)
		}
	}
	viewer.get(t, 200, "/instruments.csv?county=Kent&columns=abstract,book&sort=recorded").has(t,
		"\ufeffType,Abstract,Book\nWarranty Deed,26-1,12\nMortgage,26-1,\n")
	h.waitForIndex(t)
	for query, want := range map[string]string{
		"?q=cole&status=open":                                "Mortgage 26-1, Mortgage 26-0",
		"?q=cole&book=0012&page=7":                           "Warranty Deed 26-0",
		"?q=cole&recorded_from=1998-03-02&county=Kent":       "Warranty Deed 26-1",
		"?q=cole&status=not_applicable&recorded_to=1998-3-1": "Warranty Deed 26-0",
		"?q=Reed&status=open":                                "",
	} {
		if got := names(query); got != want {
			t.Errorf("instruments%s = %s, want %s", query, got, want)
		}
	}
	viewer.get(t, 200, "/instruments?recorded_from=soon").has(t, `id="recorded_from-problem"`)
	address := viewer.post(t, 303, "/views", map[string][]string{"record": {"instruments"}, "name": {"Kent deeds"},
		"back": {"/instruments?county=Kent&book=12"}}).Header.Get("Location")
	viewer.get(t, 200, address).has(t, `Kent deeds <span class="muted">1</span>`, ">All</a>")
}
