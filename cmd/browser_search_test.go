//go:build browser

package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// searchDocument is a document of a search and what an examiner types to record its instrument, without
// the Enter key that saves it. The names of some documents describe the instrument.
type searchDocument struct{ name, sample, typed string }

// typedFields returns the keys for the values of the first fields of the form.
func typedFields(values ...string) string { return strings.Join(values, kb.Tab) }

const (
	pageSample = "title/index-of-deeds-rotated.pdf"
	// release releases the only mortgage so far. The form puts the focus on the list of instruments.
	release = "04_Satisfaction_2003-09-11_Bk588-Pg3_First Wexcombe Bank-to-Alder.pdf"
)

var searchDocuments = []searchDocument{
	{"01_Scan.pdf", "title/warranty-deed-g4-ocr-layer.pdf",
		typedFields("w", "194800012", "Deed Book", "211", "17", "3/1/1948", "022748", "Hollis, Ezra", "Cedar", "4500")},
	{"02_Deed_1998-06-02_Bk611-Pg87_Cedar-to-Alder.pdf", pageSample, "w"},
	{"03_Scan.pdf", pageSample, typedFields("mo", "", "Mortgage Book", "320", "41", "060298", "", "Alder", "First Wexcombe Bank", "70400")},
	{release, pageSample, "m"},
	{"05_Warranty Deed_2019-03-14_Bk1022-Pg311_Finch-to-Birch.pdf", pageSample, ""},
	{"06_Mortgage_2019-03-14_Bk1022-Pg315_Birch-to-First Wexcombe Bank.pdf", pageSample, ""},
	{"07_Scan.pdf", pageSample, typedFields("eas", "", "", "455", "9", "050276", "", "Cedar", "Wexcombe Power Co.", "")},
	{"08_Scan.pdf", pageSample, typedFields("j", "2021-117", "", "", "", "110321", "", "Birch", "Harlow Supply", "2400.50")},
	{"09_Scan.pdf", pageSample, typedFields("pl", "", "Plat Cabinet", "4", "12", "080569")},
	{"10_Quitclaim Deed_2020-05-05_Bk1040-Pg7_Birch-to-Ash.pdf", pageSample, ""},
	{"11_Title report.docx", "title/title-report.docx", ""},
	{"12_Search of judgments.txt", "title/judgment-search-utf8.txt", ""},
	{"13_Title block.webp", "title/plat-title-block.webp", ""},
	{"14_Photo.jpg", "title/recorded-deed-phone-photo.jpg", ""},
	{"15_Page 2.png", "title/deed-page-2-legal-description.png", ""},
}

// recordedInstruments is the number of searchDocuments with an instrument. They come first.
const recordedInstruments = 10

// copySearchDocuments writes the documents to a temporary directory and returns their paths. The PDF
// files are different.
func copySearchDocuments(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for n, d := range searchDocuments {
		content, err := os.ReadFile(sampleFile(t, d.sample))
		if err != nil {
			t.Fatalf("read sample: %v", err)
		}
		if strings.HasSuffix(d.name, ".pdf") {
			content = append(bytes.Clone(content), fmt.Sprintf("\n%% copy %d\n", n)...)
		}
		path := filepath.Join(dir, d.name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatalf("write document: %v", err)
		}
		paths = append(paths, path)
	}
	return paths
}

// A title search from the order to the bring-down: an abstract of the order, fifteen documents, ten
// instruments recorded from the viewer, the runsheet, and the certificate.
func testSearch(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	order, err := srv.apiClient().CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "2026-9001", DueDate: "2026-12-01",
		Address: "14 Orchard Ridge Road", City: "Harlow", County: "Wexcombe", State: "PA", CustomFields: map[string]any{
			"client": "Harlow Savings Bank", "client_file_number": "HSB-44", "product": "60 Year", "buyer_borrower": "Dana Birch",
			"parcel_id": "21-4-117",
		}})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/orders/" + order.ID)
	b.screenSizes("search-order")
	abstract := b.startSearch(t)
	b.uploadSearch(t)
	b.recordSearch(t)
	b.checkSearch(t)
	b.certifySearch(t, abstract)
	b.bringDownSearch(t, abstract)
	b.goTo("/orders/" + order.ID)
	b.waitVisible("#abstracts a.name | 2026-9001")
	b.screenSizes("search-order-after")
}

// screenSizes saves screenshots of the page in a wide window and in a narrow one.
func (ta *tab) screenSizes(name string) {
	ta.t.Helper()
	if os.Getenv("DEEDKEEP_SCREENSHOTS") == "" {
		return
	}
	ta.setSize(1440, 900)
	ta.screenshot(name + "-1440")
	ta.setSize(360, 740)
	ta.screenshot(name + "-360")
	ta.setSize(1280, 900)
}

// startSearch creates an abstract from the page of its order and returns its path.
func (ta *tab) startSearch(t *testing.T) string {
	t.Helper()
	ta.clickLink(".page-head a.primary | New abstract")
	ta.waitVisible("legend + p | Filled in from order 2026-9001")
	for selector, want := range map[string]string{"[name='custom_fields.file_number']": "2026-9001",
		"[name='custom_fields.borrower']": "Dana Birch", "[name=address]": "14 Orchard Ridge Road", "[name=county]": "Wexcombe",
		"[name=tax_map]": "21-4-117", "[name='custom_fields.search_type']": "60 Year", "[name=due_date]": "2026-12-01"} {
		if got := eval[string](ta, findJS(selector)+`.value`); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	ta.fill("[name='custom_fields.borrower']", "Dana R. Birch")
	ta.fill("[name=due_date]", "2026-11-30")
	ta.screenSizes("search-new-abstract")
	ta.clickLink("main form button.primary")
	ta.waitVisible("#abstract-work a | 2026-9001")
	ta.waitVisible("#abstract-work dd | Harlow Savings Bank")
	ta.waitVisible(".abstract-work time | Nov 30, 2026")
	ta.waitVisible("main dd | Dana R. Birch")
	if eval[bool](ta, `!!document.getElementById("ordered")`) {
		t.Error("page of the abstract: got a card with other orders, want none, because the only order is linked")
	}
	return eval[string](ta, "location.pathname")
}

// uploadSearch drops the documents on the page. Their names suggest instruments.
func (ta *tab) uploadSearch(t *testing.T) {
	t.Helper()
	eval[bool](ta, `window.notReloaded = true`)
	ta.dropFiles("h1", copySearchDocuments(t)...)
	ta.waitFor(fmt.Sprintf(`document.querySelectorAll("#document-list .document").length == %d`, len(searchDocuments)))
	ta.waitFor(`[...document.querySelectorAll(".upload")].every(e => e.dataset.state == "filed")`)
	ta.waitVisible("#suggestions-heading | 5 suggested instruments")
	if !eval[bool](ta, `window.notReloaded`) {
		t.Error("after uploads: got a page that was reloaded, want the same page")
	}
	names := eval[[]string](ta, `[...document.querySelectorAll("#document-list .document-name")].map(e => e.innerText)`)
	for n, d := range searchDocuments {
		if n >= len(names) || names[n] != d.name {
			t.Fatalf("documents: got %q, want %q in position %d", names, d.name, n+1)
		}
	}
	ta.screenSizes("search-documents")
}

// recordSearch records the instruments in the panel of the viewer. It reports how many keys that
// takes.
func (ta *tab) recordSearch(t *testing.T) {
	t.Helper()
	ta.clickLink("#document-list .document a | " + searchDocuments[0].name)
	ta.waitPageImage(1)
	ta.press("i")
	total, control, filled, maxControl := 0, 0, 0, 0
	for n, d := range searchDocuments[:recordedInstruments] {
		ta.waitRecording(d.name)
		if n == 2 {
			ta.screenSizes("search-viewer")
		}
		ta.press(d.typed)
		ta.press(kb.Enter)
		tabs := strings.Count(d.typed, kb.Tab)
		total, control, maxControl = total+len([]rune(d.typed))+1, control+tabs+1, max(maxControl, tabs+1)
		if tabs == 0 {
			filled++
		}
	}
	ta.waitRecording(searchDocuments[recordedInstruments].name)
	t.Logf("%d instruments, %d of them with fields from the document's name: %.1f keys per instrument, %.1f of them Tab and Enter, at most %d",
		recordedInstruments, filled, float64(total)/recordedInstruments, float64(control)/recordedInstruments, maxControl)
	if limit := 6; control > limit*recordedInstruments {
		t.Errorf("Tab and Enter: got %d for %d instruments, want at most %d each", control, recordedInstruments, limit)
	}
}

// waitRecording waits until the viewer shows a document and the form for its instrument has the focus.
// The image of its page may be loading.
func (ta *tab) waitRecording(name string) {
	ta.t.Helper()
	const ready = `!new URLSearchParams(location.search).has("panel") && ` // the script removes the parameter when it is ready
	focused := inType
	if name == release {
		focused = `document.activeElement?.name == "instrument.relations.0.instrument_id"`
	}
	ta.waitFor(fmt.Sprintf(`document.title.includes(%q) && `, name) + ready + focused)
}

// sheetRow returns a JavaScript expression for the row of the runsheet with a book and page.
func sheetRow(place string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".runsheet tbody tr[data-id]")].find(tr => tr.cells[4].innerText.includes(%q))`, place)
}

// checkSearch opens the runsheet, which shows the released mortgage and the gap.
func (ta *tab) checkSearch(t *testing.T) {
	t.Helper()
	ta.clickLink(".panel-facts a | 2026-9001")
	ta.waitVisible("#view-runsheet | 10")
	want := []string{
		"1 Warranty Deed 3/1/1948 Deed Book 211/17", "2 Plat 8/5/1969 Plat Cabinet 4/12", "3 Easement or Right of Way 5/2/1976 455/9",
		"4 Mortgage 6/2/1998 Mortgage Book 320/41", "5 Warranty Deed 6/2/1998 Deed Book 611/87", "6 Release or Satisfaction 9/11/2003 588/3",
		"7 Warranty Deed 3/14/2019 1022/311", "8 Mortgage 3/14/2019 1022/315", "9 Quitclaim Deed 5/5/2020 1040/7", "10 Judgment 11/3/2021",
	}
	if got := eval[[]string](ta, sheetRows); !slices.Equal(got, want) {
		t.Errorf("runsheet: got rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for place, want := range map[string]string{"320/41": "Released", "1022/315": "Open", "588/3": "No. 4"} {
		if got := eval[string](ta, sheetRow(place)+`.cells[9].innerText`); !strings.Contains(got, want) {
			t.Errorf("status of %s: got %q, want %q in it", place, got, want)
		}
	}
	ta.waitVisible(".runsheet .gap | Possible gap in the chain of title: no earlier instrument in this runsheet names Finch")
	if n := eval[int](ta, `document.querySelectorAll(".runsheet .gap").length`); n != 1 {
		t.Errorf("gaps in the chain: got %d, want 1", n)
	}
	ta.screenSizes("search-runsheet")
}

// certifySearch certifies the search. A later change of the runsheet is visible.
func (ta *tab) certifySearch(t *testing.T, abstract string) {
	t.Helper()
	ta.click("#certificates a | Certify search")
	ta.fill("#effective_date", "2026-11-20")
	ta.fill("#search_from", "1948-01-01")
	ta.click("#certificates label | Judgments")
	ta.acceptFindings("Checked.")
	ta.screenSizes("search-certify")
	ta.clickLink("#certificates button | Certify")
	ta.waitVisible(".notice | Search certified.")
	ta.waitVisible("#certificates th | Nov 20, 2026")
	ta.waitVisible("#certificates td | Jan 1, 1948")
	ta.waitVisible("#certificates td | Judgments")
	ta.waitVisible("#certificates a | As certified")
	ta.screenSizes("search-certified")
	ta.press("d")
	ta.waitFor(`document.activeElement.closest("#document-list .document-name")`)
	ta.waitVisible("#document-list .document-name | Runsheet certified")
	if n := eval[int](ta, `document.querySelectorAll("#document-list .document").length`); n != len(searchDocuments)+1 {
		t.Errorf("documents: got %d, want the %d of the search and the certified runsheet", n, len(searchDocuments))
	}
	if eval[bool](ta, findJS("#certificates .badge | Changed since certified")+` != null`) {
		t.Error("certificate: got a change, want none")
	}
	ta.press("r")
	ta.waitFor(`document.activeElement.id == "runsheet"`)
	eval[bool](ta, `document.querySelector(".runsheet td[tabindex]").focus(), true`)
	ta.pressWith(withCtrl, kb.Home)
	ta.press(kb.End)
	ta.press("Recorded again in 1950" + kb.Enter)
	ta.waitSaved()
	ta.goTo(abstract)
	ta.waitVisible(".runsheet td | Recorded again in 1950")
	ta.waitVisible("#certificates .badge | Changed since certified")
	ta.goTo(abstract + "/print?remarks=1")
	ta.waitText("Recorded again in 1950")
	ta.screenSizes("search-print")
}

// bringDownSearch brings the search down: the new abstract has its instruments and starts where it
// ends.
func (ta *tab) bringDownSearch(t *testing.T, abstract string) {
	t.Helper()
	ta.goTo(abstract)
	ta.clickLink("#certificates button | Create bring-down")
	ta.waitVisible("#people dt | Bring-down of")
	ta.waitVisible("#people dd a | 2026-9001")
	if at := eval[string](ta, "location.pathname"); at == abstract {
		t.Errorf("after the bring-down: got the page %s, want a new abstract", at)
	}
	ta.waitVisible("#view-runsheet | 10")
	if n := eval[int](ta, `document.querySelectorAll(".runsheet tbody th .badge").length`); n != recordedInstruments {
		t.Errorf("prior instruments: got %d, want %d", n, recordedInstruments)
	}
	ta.waitVisible(".runsheet th .badge | Prior")
	if eval[bool](ta, `[...document.querySelectorAll(".runsheet .badge")].some(e => e.innerText == "Moved")`) {
		t.Error("documents of the prior search: got marked as moved, want not marked")
	}
	const searchFrom = `[...document.querySelectorAll("main dt")].find(e => e.innerText == "Prior Effective Date")`
	from := eval[string](ta, searchFrom+`?.nextElementSibling.innerText ?? ""`)
	if from != "Nov 20, 2026" {
		t.Errorf("start of the search: got %q, want Nov 20, 2026", from)
	}
	ta.waitVisible("#certificates p | Not certified yet.")
	ta.screenSizes("search-bring-down")
}
