//go:build browser

package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pageproto "github.com/chromedp/cdproto/page"

	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
	"deedkeep/web"
)

// The client's copy of a search on paper: a draft on every sheet until it is certified, and nothing that is meant for
// the screen. Reasons are typed by hand. The certificate names the examiner.
func testCertificateOnPaper(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	abstract := printedSearch(t, srv)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	srv.command("", "users", "profile", staff, "--full-name", "Mary Jones", "--title", "Senior Examiner")
	b.goTo("/me")
	b.waitVisible("dd | Mary Jones")
	b.checkAccessible(t, "account with a full name")

	draft := b.printedPages(t, abstract, "certificate-draft")
	for n, text := range draft {
		if !strings.Contains(text, "DRAFT: search not certified") {
			t.Errorf("sheet %d of the draft doesn't say so:\n%s", n+1, text)
		}
	}
	if len(draft) < 2 {
		t.Errorf("got %d sheets, want several", len(draft))
	}

	b.goTo(abstract)
	b.click("#certificates a | Certify search")
	b.waitVisible("#certificates p | The certificate names you as Mary Jones, Senior Examiner.")
	b.fill("#effective_date", "2026-11-20")
	b.fill("#effective_time", "8:00 AM")
	b.fill("#search_from", "1966-01-01")
	b.click("#certificates label | Judgments")
	b.click("#certificates label | UCC")
	b.fill("#reason-1", "Heirs of Farmer: see the probate file.")
	for _, id := range eval[[]string](b, `[...document.querySelectorAll("#certificates [name^='all.']")].map(e => e.id)`) {
		b.fill("#"+strings.ReplaceAll(id, ".", `\\.`), "Seen by the examiner.")
	}
	for _, n := range eval[[]string](b, `[...document.querySelectorAll("#certificates fieldset")]
		.filter(f => !f.querySelector("[name^='all.']"))
		.flatMap(f => [...f.querySelectorAll("[name=reason]")]).map(e => e.id)`) {
		b.fill("#"+n, "Seen by the examiner.")
	}
	b.clickLink("#certificates button.primary")
	b.waitVisible(".notice | Search certified.")
	b.waitVisible("#certificates td | Mary Jones, Senior Examiner")
	b.waitVisible("#certificates li | Seen by the examiner.")

	certified := strings.Join(b.printedPages(t, abstract, "certificate-certified"), "\n")
	for _, want := range []string{"Search certificate", "Nov 20, 2026, 8:00 AM", "Jan 1, 1966", "Judgments, UCC",
		"Mary Jones, Senior Examiner", "not an opinion of title or a commitment"} {
		if !strings.Contains(strings.Join(strings.Fields(certified), " "), want) {
			t.Errorf("the certified copy lacks %q:\n%s", want, certified)
		}
	}
	id := strings.TrimPrefix(abstract, "/abstracts/")
	if _, err := srv.apiClient().CreateInstrument(t.Context(), id, client.InstrumentDraft{Type: "Plat"}); err != nil {
		t.Fatalf("create instrument: %v", err)
	}
	changed := strings.Join(b.printedPages(t, abstract, "certificate-changed"), "\n")
	for text, copies := range map[string][2]bool{"DRAFT": {false, true}, "Mary Jones": {true, false}, "before you send this": {},
		"Seen by the examiner": {}, "Accepted by": {}} {
		if got := [2]bool{strings.Contains(certified, text), strings.Contains(changed, text)}; got != copies {
			t.Errorf("%q in the certified copy and in that of a changed runsheet: got %v, want %v", text, got, copies)
		}
	}
}

// A certificate that was issued by mistake is voided with a reason. The list and each sheet of the print say so until the search
// is certified again.
func testVoidCertificate(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	abstract := printedSearch(t, srv)
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	certify := func(date string) {
		b.goTo(abstract)
		b.click("#certificates a | Certify search")
		b.waitVisible("#effective_date")
		b.fill("#effective_date", date)
		b.fill("#effective_time", "8:00 AM")
		b.acceptFindings("Seen by the examiner.")
		b.clickLink("#certificates button.primary")
		b.waitVisible(".notice | Search certified.")
	}
	certify("2026-11-20")
	b.click("#certificates summary | Void this certificate")
	b.fill("#void-1", "Searched through Nov 19 only.")
	b.checkAccessible(t, "form to void a certificate")
	b.screenSizes("certificate-void")
	b.click("#certificates button.danger")
	b.waitVisible("dialog p | Void the search certificate through Nov 20, 2026, 8:00 AM?")
	b.clickLink("dialog button.danger")
	b.waitVisible(".notice | Certificate voided.")
	b.waitVisible("#certificates .badge.bad | Void")
	b.waitVisible("#certificates b | Searched through Nov 19 only.")
	for n, text := range b.printedPages(t, abstract, "certificate-voided") {
		if !strings.Contains(text, "VOID: search not certified") {
			t.Errorf("sheet %d after the certificate was voided doesn't say so:\n%s", n+1, text)
		}
	}
	b.waitVisible(".draft | VOID: the search certificate through Nov 20, 2026, 8:00 AM was voided on ")
	certify("2026-11-19")
	again := strings.Join(b.printedPages(t, abstract, "certificate-again"), "\n")
	if strings.Contains(again, "VOID") || strings.Contains(again, "DRAFT") || !strings.Contains(again, "Nov 19, 2026, 8:00 AM") {
		t.Errorf("the copy that was certified again: got\n%s\nwant only the new certificate", again)
	}
}

// printedSearch creates an abstract whose print has several sheets, and returns its path.
func printedSearch(t *testing.T, srv *testServer) string {
	t.Helper()
	c := srv.apiClient()
	created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{Address: "14 Orchard Ridge Road", City: "Harlow", County: "Wexcombe",
		State: "PA", TaxMap: "21-4-117", CustomFields: map[string]any{"file_number": "26-9001", "search_type": "60 Year",
			"current_owner": "Dana Birch", "vesting": "Dana Birch, a single woman", "deed_book_page": "2417/883",
			"names_run":         "Also run: Birch, D. in Harlow County.",
			"legal_description": "Lot 14, Block 2, Orchard Ridge, as shown on the plat in Plat Book 7, Page 21, Wexcombe County.",
			"tax_status":        "Paid", "exceptions": "Rights of parties in possession."}})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	owner := "Farmer, Ann"
	for n := range 40 {
		draft := client.InstrumentDraft{Recorded: fmt.Sprintf("%d-03-09", 1966+n), InstrumentNumber: fmt.Sprintf("%d-%d", 1966+n, 883+n)}
		buyer := fmt.Sprintf("Owner %c, Pat", 'A'+n%26)
		switch n % 3 {
		case 0:
			draft.Type, draft.Grantors, draft.Grantees, owner = "Warranty Deed", []string{owner}, []string{buyer}, buyer
		case 1:
			draft.Type, draft.Grantors, draft.Grantees = "Mortgage", []string{owner}, []string{"Harlow Savings Bank"}
		default:
			draft.Type, draft.Grantors, draft.Grantees = "Easement or Right of Way", []string{owner}, []string{"Wexcombe Light and Power"}
		}
		if _, err := c.CreateInstrument(t.Context(), created.Data.ID, draft); err != nil {
			t.Fatalf("create instrument: %v", err)
		}
	}
	return "/abstracts/" + created.Data.ID
}

// printedPages prints the client's copy of an abstract and returns the text of each sheet. If screenshots are saved, it saves
// the PDF, too.
func (ta *tab) printedPages(t *testing.T, abstract, name string) (texts []string) {
	t.Helper()
	ta.goTo(abstract + "/print")
	ta.checkAccessible(t, name)
	preferred := true
	printed := call(ta, pageproto.PrintToPDF, pageproto.PrintToPDFParams{PreferCSSPageSize: &preferred})
	content := printed.Data
	if dir := os.Getenv("DEEDKEEP_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), content, 0o644); err != nil {
			t.Fatalf("write PDF: %v", err)
		}
	}
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatalf("web.PDFium: %v", err)
	}
	engine, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: vaulttest.CacheDir()})
	if err != nil {
		t.Fatalf("pdf.New: %v", err)
	}
	defer engine.Close(context.Background())
	document, err := engine.Open(t.Context(), bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatalf("open PDF: %v", err)
	}
	defer document.Close(context.Background())
	for page := range document.Pages() {
		text, err := document.Text(t.Context(), page+1, 1<<20)
		if err != nil {
			t.Fatalf("text of sheet %d: %v", page+1, err)
		}
		texts = append(texts, text)
	}
	return texts
}
