//go:build browser

package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// saveFile downloads a file with the session of the page and returns its path.
func (ta *tab) saveFile(address, name string) string {
	ta.t.Helper()
	text := eval[string](ta, fmt.Sprintf(`fetch(%q).then(r => r.arrayBuffer()).then(a => String.fromCharCode(...new Uint8Array(a)))`, address))
	raw := make([]byte, 0, len(text))
	for _, r := range text {
		raw = append(raw, byte(r))
	}
	path := filepath.Join(ta.t.TempDir(), name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		ta.t.Fatalf("write %s: %v", name, err)
	}
	return path
}

// importFile uploads a runsheet file to an abstract and waits for its review.
func (ta *tab) importFile(abstract, path string) {
	ta.t.Helper()
	ta.goTo(abstract + "/runsheet/upload")
	ta.chooseFiles(func() { ta.click("#file") }, path)
	ta.waitNavigation(func() { ta.click("button | Review rows") })
}

// rowsOf returns what a runsheet has in its cells, with relations by position.
func (f *firm) rowsOf(abstract string) (list []string) {
	f.t.Helper()
	var got apitypes.Runsheet
	f.must(f.client.Do(f.t.Context(), http.MethodGet, "/v1/abstracts/"+abstract+"/instruments", nil, &got))
	positions := map[int64]int64{}
	for _, i := range got.Data {
		positions[i.ID] = i.Position
	}
	for _, i := range got.Data {
		for n, r := range i.Relations {
			if r.InstrumentID != nil {
				at := positions[*r.InstrumentID]
				i.Relations[n].InstrumentID = &at
			}
		}
		i.ID, i.AbstractID, i.CreatedAt, i.UpdatedAt, i.StatusSetBy = 0, "", apitypes.Time{}, apitypes.Time{}, nil
		text, err := json.Marshal(i)
		f.must(err)
		list = append(list, string(text))
	}
	return list
}

// A runsheet that was exported to Excel is imported without any change, and its rows aren't added twice. The rows of
// another file that can't be added are corrected on the page.
func testImportRunsheet(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	source := strings.TrimPrefix(s.path, "/abstracts/")
	s.addInstrument(t.Context(), source, map[string]any{"type": "Judgment", "recorded": "2021-03-04", "recorded_time": "10:42",
		"case_number": "21-117", "court": "Common Pleas", "grantors": []string{"Harlow Supply"}, "grantees": []string{"Bea Cole"},
		"consideration": "2400.50", "expires": "2026-03-04", "status": "released", "exception": "Judgment of Harlow Supply"})
	s.addInstrument(t.Context(), source, map[string]any{"type": "Warranty Deed", "recorded": "2022-03-04", "dated": "2022-03-01",
		"book_type": "Deed Book", "book": "0007", "page": "0012", "page_to": "0014", "consideration": "10",
		"consideration_text": "$10 & OVC", "parcels": []string{"21-4-117", "0021"}, "legal": "Lot 7\nBlock 2",
		"other_parties": []map[string]any{{"role": "Trustee", "name": "First Title Co."}}, "remarks": "Faint; see \"plat\"",
		"grantors": []string{"Carl Diaz", "Dora Finch"}, "grantees": []string{"Ezra Ives, Jr."}})
	file := s.saveFile(s.path+"/runsheet.xlsx", "Runsheet.xlsx")

	other, err := s.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	s.must(err)
	s.importFile("/abstracts/"+other.Data.ID, file)
	s.waitVisible("h2 | 7 instruments in the file")
	s.screenshot("scene-import")
	if eval[bool](s.tab, `document.querySelector(".rejected, .unknown") != null`) {
		t.Error("import of an exported runsheet: got rejected rows or unknown columns, want none")
	}
	s.clickLink("button | Add selected instruments")
	s.waitVisible("main > .notice | 7 instruments added.")
	want, got := s.rowsOf(source), s.rowsOf(other.Data.ID)
	for n := range max(len(want), len(got)) {
		if n >= len(got) || n >= len(want) || got[n] != want[n] {
			t.Errorf("row %d:\ngot  %s\nwant %s", n+1, got[min(n, len(got)-1):min(n+1, len(got))], want[min(n, len(want)-1):min(n+1, len(want))])
		}
	}
	s.importFile("/abstracts/"+other.Data.ID, file)
	// The release has neither parties nor a place, so it may be another one.
	if got := eval[int](s.tab, `[...document.querySelectorAll("main td b")].filter(e => e.innerText.startsWith("Already on the")).length`); got != 6 {
		t.Errorf("rows of the second import that are on the runsheet: got %d, want 6", got)
	}

	path := filepath.Join(t.TempDir(), "Sheet.csv")
	const rows = "Type,Bk,Pg,Filed,From,To,Color\nmtg,5,6,2/30/2010,Bea Cole,First Bank,blue\nSpaceship,5,7,3/1/2010,Bea Cole,Ned Cole,red\n" +
		"Plat,5,8,3/1/2010,Bea Cole,,green\n"
	s.must(os.WriteFile(path, []byte(rows), 0o600))
	s.importFile(s.path, path)
	s.waitVisible(".warning | 2 rows can't be added yet.")
	s.waitVisible(".paste-columns .unknown label | Color")
	s.checkAccessible(t, "import with rejected rows")
	s.screenshot("scene-import-rejected")
	s.setSize(360, 740)
	s.checkFits(360)
	s.screenshot("scene-import-rejected-narrow")
	s.setSize(1440, 900)
	s.fill("[name='cell.2.3']", "2/28/2010")
	s.fill("[name='cell.3.0']", "Deed")
	s.waitNavigation(func() { s.press(kb.Enter) }) // in a cell
	s.waitVisible("h2 | 3 instruments in the file")
	s.clickLink("button | Add selected instruments")
	s.waitVisible("main > .notice | 3 instruments added.")
	s.clickLink("main > .notice button | Undo")
	s.waitVisible("main > .notice | Undone: 3 instruments.")
}

// Twenty pasted rows are one step, which their notice or Ctrl+Z undoes.
func testPasteManyRows(t *testing.T, env *browserEnv) {
	s := openSheet(t, env, 1440)
	s.goTo(s.path + "/instruments/paste")
	s.waitFor(`document.activeElement.id == "text"`)
	s.checkAccessible(t, "paste rows")
	s.setSize(360, 740)
	s.checkFits(360)
	s.screenshot("scene-paste-narrow")
	s.setSize(1440, 900)
	s.goTo(s.path)
	text := "Type\tRecorded\tBook\tPage\tGrantor\tGrantee\n"
	for n := range 20 {
		text += fmt.Sprintf("Deed\t3/%d/2015\t90\t%d\tBea Cole\tNed Cole\n", n+1, n+100)
	}
	s.click(s.cell(1, columnGrantees))
	s.paste(text)
	s.waitVisible("dialog h2 | Add 20 instruments?")
	s.screenshot("scene-paste-twenty")
	s.setSize(360, 740)
	s.checkFits(360)
	s.screenshot("scene-paste-twenty-narrow")
	s.setSize(1440, 900)
	s.waitNavigation(func() { s.click("dialog button | Add 20 instruments") })
	s.waitVisible("main > .notice | 20 instruments added.")
	s.waitFor(`document.querySelectorAll(".runsheet tr[data-id]:not(.new-row)").length == 25`)
	s.screenshot("scene-paste-twenty-added")
	s.waitNavigation(func() { s.click("main > .notice button | Undo") })
	s.waitVisible("main > .notice | Undone: 20 instruments.")
	s.waitFor(`document.querySelectorAll(".runsheet tr[data-id]:not(.new-row)").length == 5`)
	s.waitFor(`document.querySelector("#runsheet-undo").disabled`)

	// The keyboard does the same, also after another page, and after what was typed since.
	s.click(s.cell(1, columnGrantees))
	s.paste(text)
	s.waitNavigation(func() { s.click("dialog button | Add 20 instruments") })
	s.waitVisible("main > .notice | 20 instruments added.")
	s.goTo("/abstracts")
	s.goTo(s.path)
	s.enter(1, columnRemarks, "north part"+kb.Enter)
	s.waitSaved()
	s.pressWith(withCtrl, "z")
	s.waitCell(1, columnRemarks, "")
	s.waitNavigation(func() { s.pressWith(withCtrl, "z") })
	s.waitVisible("main > .notice | Undone: 20 instruments.")
	s.waitFor(`document.querySelectorAll(".runsheet tr[data-id]:not(.new-row)").length == 5`)
	s.waitFor(`document.querySelector("#runsheet-undo").disabled`)
}
