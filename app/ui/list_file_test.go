package ui_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

var (
	listRow     = regexp.MustCompile(`(?s)<th scope="row">(.*?)</tr>`)
	listCell    = regexp.MustCompile(`(?s)<(?:td|th)[^>]*>(.*?)</(?:td|th)>`)
	listHeading = regexp.MustCompile(`(?s)<thead><tr>(.*?)</tr></thead>`)
	markup      = regexp.MustCompile(`(?s)<label.*?</label>|<[^>]*>`)
	nextPage    = regexp.MustCompile(`href="([^"]+)" rel="next"`)
)

// screenTable returns the headings and the rows of a list on all pages, as people read them.
func (b *browser) screenTable(t *testing.T, path string) (rows [][]string) {
	t.Helper()
	cells := func(row string) (list []string) {
		for _, cell := range listCell.FindAllStringSubmatch(row, -1) {
			list = append(list, strings.TrimSpace(html.UnescapeString(markup.ReplaceAllString(cell[1], ""))))
		}
		return list
	}
	for path != "" {
		page := string(b.get(t, 200, path).body)
		if rows == nil {
			rows = append(rows, cells(listHeading.FindString(page)))
		}
		for _, row := range listRow.FindAllString(page, -1) {
			rows = append(rows, cells(row))
		}
		next := nextPage.FindStringSubmatch(page)
		if path = ""; next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	return rows
}

// asOnScreen returns a cell of a file as the page shows it.
func asOnScreen(cell string) string {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04"} {
		if at, err := time.Parse(layout, cell); err == nil {
			return at.Format("Jan 2, 2006")
		}
	}
	return cell
}

// A downloaded list has exactly the rows, columns, and sequence of the list on the screen, on all of its pages.
func TestDownloadIsWhatIsShown(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	for n := range 130 {
		h.createOrder(t, fmt.Sprintf("N%03d", n), 30+n%7, model.Inputs{"address": model.StringInput(fmt.Sprintf("%d Elm St", n)),
			"city": model.StringInput("Troy"), "county": model.StringInput([]string{"Albany", "=Kent"}[n%2]), "state": model.StringInput("NY")})
		if n < 3 {
			h.createAbstract(t, model.Actor{Kind: "operator"}, map[string]string{"file_number": fmt.Sprintf("26-%d", n)},
				model.Property{Address: fmt.Sprintf("%d Oak St", n), County: "Albany"})
		}
	}
	viewer := h.openBrowser(t, model.RoleViewer)
	dash := func(cell string) string { return strings.TrimSuffix(cell, "—") } // of a missing status
	for _, row := range []struct {
		path, query string
		rows        int
	}{{"/orders", "", 130}, {"/orders", "?county=Albany&sort=-order_number", 65}, {"/orders", "?show=open&county=%3DKent", 65},
		{"/orders", "?q=N01", 10}, {"/orders", "?q=N1&county=albany", 15}, {"/orders", "?county=nowhere", 0},
		{"/abstracts", "?sort=file_number", 3}, {"/abstracts", "", 3}} {
		t.Run(row.path+row.query, func(t *testing.T) {
			screen := viewer.screenTable(t, row.path+row.query)
			if row.rows == 0 {
				screen = [][]string{{"Order number", "Address", "County, state", "Parcel ID", "Status", "Assignee", "Due date", "Created"}}
			}
			if len(screen) != row.rows+1 {
				t.Fatalf("the screen shows %d rows, want %d", len(screen)-1, row.rows)
			}
			file := viewer.get(t, 200, row.path+".csv"+row.query)
			lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file.body, []byte("\ufeff")))).ReadAll()
			if err != nil || len(lines) != len(screen) {
				t.Fatalf("the file has %d lines, %v, want %d", len(lines), err, len(screen))
			}
			book, err := excelize.OpenReader(bytes.NewReader(viewer.get(t, 200, row.path+".xlsx"+row.query).body))
			if err != nil {
				t.Fatalf("open workbook: %v", err)
			}
			sheet, err := book.GetRows(book.GetSheetName(0))
			if err != nil || len(sheet) != len(screen) {
				t.Fatalf("the workbook has %d rows, %v, want %d", len(sheet), err, len(screen))
			}
			for n, want := range screen {
				for at := range want {
					want[at] = dash(want[at])
				}
				for len(sheet[n]) < len(want) {
					sheet[n] = append(sheet[n], "") // GetRows leaves out blank cells at the end
				}
				for kind, got := range map[string][]string{"CSV": lines[n], "Excel": sheet[n]} {
					shown := make([]string, 0, len(got))
					for _, cell := range got {
						shown = append(shown, asOnScreen(strings.TrimPrefix(cell, "'")))
					}
					if !slices.Equal(shown, want) {
						t.Fatalf("%s row %d = %q, want %q as on the screen", kind, n, shown, want)
					}
				}
			}
			if formula := strings.Contains(string(file.body), ",=Kent") || strings.Contains(string(file.body), `"=Kent`); formula {
				t.Error("the CSV file has a formula, want an apostrophe in front")
			}
		})
	}
	downloads, err := h.vault.Events.List(t.Context(), vault.Query{Filters: []vault.Filter{{Column: model.ColumnKind, Value: "list.downloaded"}},
		Limit: 100})
	if err != nil || len(downloads.Items) != 16 || downloads.Items[0].Actor.ID != viewer.actor.ID ||
		downloads.Items[0].Detail["list"] != "orders" || downloads.Items[0].Detail["format"] != "csv" {
		t.Errorf("audit entries of downloads = %+v, %v, want 16", downloads.Items, err)
	}
	viewer.get(t, 303, "/orders.csv?due_from=soon").checkHeaders(t, map[string]string{"Location": "/orders?due_from=soon"})
	viewer.get(t, 200, "/orders?county=Albany&sort=address").has(t, `href="/orders.xlsx?county=Albany&amp;sort=address" download`)
	viewer.get(t, 200, "/orders.csv").checkHeaders(t, map[string]string{"Content-Disposition": "attachment; filename=Orders.csv",
		"Content-Type": "text/csv; charset=utf-8", "X-Content-Type-Options": "nosniff"})
}
