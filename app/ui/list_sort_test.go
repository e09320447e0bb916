package ui_test

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

var sortLink = regexp.MustCompile(`<th scope="col"([^>]*)><a href="([^"]+)">([^<]+)</a>`)

// A list can be sorted by each of its columns, by a click on the heading, in both directions, with the same rows in its file.
func TestSortByEveryColumn(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	client := func(n int) string { return []string{"beta", "Alpha", "", "client 10", "Client 9"}[n%5] }
	for n := range 60 { // two pages
		draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput(fmt.Sprintf("N%02d", n)),
			"city": model.StringInput([]string{"Troy", "", "albany"}[n%3])}, Custom: vaulttest.CustomText("client", fmt.Sprintf("%q", client(n)))}
		if _, err := h.vault.Orders.Create(t.Context(), kim.actor, draft, vault.Idempotency[model.Order]{}); err != nil {
			t.Fatalf("create order: %v", err)
		}
	}
	for n := range 3 {
		_, a := h.createAbstract(t, kim.actor, map[string]string{"file_number": fmt.Sprintf("26-%d", n)},
			model.Property{County: []string{"B", "", "a"}[n]})
		for at, amount := range []string{"900", "1000.50", ""} {
			h.createInstrument(t, a.Abstract.ID, fmt.Sprintf(`{"type":%q,"book":"%d","consideration":%q,"grantors":["G%d"]}`,
				[]string{"Mortgage", "Warranty Deed", "Release or Satisfaction"}[at], 8+at+n, amount, at))
		}
	}
	for path, columns := range map[string]string{
		"/orders":    "city,status,assignee,due_date,custom_fields.client,county_state,created_at,updated_at",
		"/abstracts": "template,status,documents,county,tax_map,custom_fields.borrower",
		"/instruments": "abstract,position,recorded,book,page,grantors,grantees,consideration,status,other_parties,relations,created_at," +
			"updated_at",
	} {
		shown := path + "?columns=" + columns
		links := sortLink.FindAllStringSubmatch(string(kim.get(t, 200, shown).body), -1)
		if want := strings.Count(columns, ",") + 2; len(links) != want {
			t.Errorf("%s: %d headings sort the list, want all %d", path, len(links), want)
		}
		all := len(kim.screenTable(t, shown))
		for n, link := range links {
			for _, direction := range []string{"first click", "second click"} {
				to := html.UnescapeString(link[2])
				page := string(kim.get(t, 200, to).body)
				now := sortLink.FindAllStringSubmatch(page, -1)[n]
				rows := kim.screenTable(t, to)
				if !strings.Contains(now[1], "aria-sort=") || len(rows) != all {
					t.Errorf("%s by %s, %s: heading <th%s>, %d rows, want %d", path, link[3], direction, now[1], len(rows), all)
				}
				blank := false
				for _, row := range rows[1:] { // blank values are last, unless an index sorts them
					if value := strings.TrimSuffix(row[n], "—"); value == "" {
						blank = true
					} else if blank && !slices.Contains([]string{"Due date", "Recorded", "Parcel ID"}, link[3]) {
						t.Errorf("%s by %s, %s: %q is after a blank value", path, link[3], direction, value)
					}
				}
				file := kim.get(t, 200, strings.Replace(to, path, path+".csv", 1))
				lines := strings.Split(strings.TrimSpace(string(file.body)), "\n")
				if first := strings.SplitN(lines[1], ",", 2)[0]; len(lines) != all || strings.Trim(first, `"`) != rows[1][0] {
					t.Errorf("%s by %s, %s: the file has %d rows and %q first, want %d and %q", path, link[3], direction, len(lines), first,
						all, rows[1][0])
				}
				link = now
			}
		}
	}
	rows := func(path string, column int) (list []string) {
		for _, row := range kim.screenTable(t, path)[1:] {
			list = append(list, row[column])
		}
		return list
	}
	clients := rows("/orders?columns=custom_fields.client&sort=custom_fields.client", 1)
	if got := slices.Compact(clients); !slices.Equal(got, []string{"Alpha", "beta", "Client 9", "client 10", ""}) {
		t.Errorf("clients = %q", got)
	}
	for _, row := range []struct{ sort, want string }{{"consideration", "$900.00 $1,000.50 "}, {"-consideration", "$1,000.50 $900.00 "},
		{"book", "8 9 10 11 12"}} {
		name := strings.TrimPrefix(row.sort, "-")
		if got := strings.Join(slices.Compact(rows("/instruments?columns="+name+"&sort="+row.sort, 1)), " "); got != row.want {
			t.Errorf("instruments by %s = %q, want %q", row.sort, got, row.want)
		}
	}
	if got := rows("/instruments?columns=abstract&sort=-abstract&status=open", 1); cmp.Compare(got[0], "26-2") != 0 || len(got) != 3 {
		t.Errorf("open instruments by abstract = %q, want those of 3 abstracts", got)
	}
	kim.get(t, 200, "/orders?sort=custom_fields.nonsense").has(t, `aria-sort="descending"><a href="/orders?sort=created_at">Created`)
}
