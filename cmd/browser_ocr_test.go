//go:build browser

package cmd_test

import (
	"bytes"
	"fmt"
	"image/png"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// scanOfDeed returns a PNG of the first page of a recorded deed.
func scanOfDeed(t *testing.T) []byte {
	t.Helper()
	page := vaulttest.Scan(t, 1700, 1100,
		"Instrument No. 201904170093382",
		"Recorded 04/17/2019 10:42 AM",
		"Deed Book 2417 Page 883",
		"WARRANTY DEED",
		"Eudora Pennyfarthing, a widow, Grantor, grants and",
		"conveys to Obadiah Quillfeather, Grantee, all that",
		"parcel of land in the county of Wexcombe.",
	)
	var out bytes.Buffer
	if err := png.Encode(&out, page); err != nil {
		t.Fatalf("encode PNG: %v", err)
	}
	return out.Bytes()
}

// An examiner finds a name on a scan, sees it marked, selects it, and copies it into an instrument.
func testOCR(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t, "DEEDKEEP_OCR_ENABLED=true")
	c := srv.apiClient()
	created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{
		Address: "14 Orchard Ridge Road", County: "Wexcombe", State: "PA", TaxMap: "21-4-117",
		CustomFields: map[string]any{"file_number": "A-1"},
		Files:        []client.Upload{{Filename: "Scan 17.png", Reader: bytes.NewReader(scanOfDeed(t))}},
	})
	if err != nil || len(created.Data.Files) != 1 {
		t.Fatalf("create abstract: got %+v, %v, want a document", created.Errors, err)
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	const name = "Eudora Pennyfarthing"
	b.goTo("/find?kind=file&q=pennyfarthing")
	const found = `fetch(location.href).then(r => r.text()).then(t => t.includes("Scan 17.png"))`
	for end := time.Now().Add(3 * time.Minute); !eval[bool](b, found); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("search for a word of the scan finds nothing:\n%s", srv.stderr)
		}
	}
	b.goTo("/find?kind=file&q=%22Eudora+Pennyfarthing%22")
	b.waitVisible("mark | Pennyfarthing")
	b.screenshot("scene-scan-found")
	b.clickLink("main a | Scan 17.png")
	b.waitPageImage(1)
	b.waitFor(`document.querySelectorAll(".viewer-marks i").length > 0`)
	b.screenshot("scene-scan-marked")
	b.press("i")
	b.waitFor(inType)
	b.waitVisible(".panel-suggested | Warranty Deed")
	b.press(kb.F4)
	b.click("#instrument-grantors")
	b.checkSelection(t, name+",")
	b.press(kb.F2)
	b.waitFor(fmt.Sprintf(`document.activeElement.id == "instrument-grantors" && document.activeElement.value == %q`, name))
	b.screenshot("scene-scan-copied")
	b.checkAccessible(t, "name copied from a scan")
	b.pressWith(withCtrl, kb.Enter)
	b.waitVisible(".panel-body .notice | This was the last document.")
	got, err := c.Instrument(t.Context(), 1)
	if err != nil || len(got.Grantors) != 1 || got.Grantors[0] != name {
		t.Errorf("instrument: got %+v, %v, want the grantor %q", got, err, name)
	}
	checkPriorSearch(t, b, c)
}

// checkPriorSearch enters an order whose seller the scan names. The abstract with the scan is a prior
// search of the order, which says why.
func checkPriorSearch(t *testing.T, b *tab, c *client.Client) {
	t.Helper()
	order, err := c.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-0231", County: "Wexcombe", State: "PA",
		CustomFields: map[string]any{"seller_owner": "Pennyfarthing, Eudora"}})
	if err != nil || order.ID == "" {
		t.Fatalf("create order: got %+v, %v, want an ID", order, err)
	}
	b.goTo("/orders/" + order.ID)
	b.waitVisible("#prior-searches li | Pennyfarthing, Eudora in Scan 17.png")
	b.screenshot("scene-prior-search")
	b.checkAccessible(t, "prior searches of an order")
	b.clickLink("#prior-searches a | A-1")
	b.waitVisible("h1 | A-1")
}
