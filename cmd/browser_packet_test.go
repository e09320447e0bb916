//go:build browser

package cmd_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// packetPages returns the text of a packet of 30 pages with eight instruments. In two of them, the parcel number differs
// from page to page, and the last one may belong to the previous one.
func packetPages() (pages []string) {
	givers := []string{"John Alder", "Dana Birch", "Amos Reed", "Bea Cole", "Carl Dunn", "Ella Ford", "Hugh Gray", "Iris Hale"}
	for n, giver := range givers {
		taker, kind, body, sides := givers[(n+1)%len(givers)], "WARRANTY DEED", "THIS DEED", [2]string{"Grantor", "Grantee"}
		if n%2 == 1 {
			taker, kind, body, sides = "First Bank", "MORTGAGE", "THIS MORTGAGE", [2]string{"Mortgagor", "Mortgagee"}
		}
		book := strings.Fields(kind)[len(strings.Fields(kind))-1]
		pages = append(pages, fmt.Sprintf("%s Book 24%02d Page %04d\nRecorded 04/%02d/2019 at 10:42 AM\n%s\n"+
			"%s, made this %dth day of April, 2019, by and between\n%s, %s, and %s, %s,\nbeing Parcel No. 12-003%02d.000\n",
			strings.ToUpper(book[:1])+strings.ToLower(book[1:]), n+10, n+100, n+10, kind, body, n+4, giver, sides[0], taker, sides[1], n))
		if n == len(givers)-1 { // without a stamp, so that its boundary isn't sure
			pages[len(pages)-1] = "SATISFACTION OF MORTGAGE\n" +
				strings.Repeat("the loan that was made and recorded before is now paid and it is discharged\n", 5)
		}
		for more := range 2 + n%2 {
			pages = append(pages, fmt.Sprintf("Page %d of %d\nThe land is described as follows and lies in the county.\n", more+2, 3+n%2))
		}
		if n%4 == 2 {
			pages[len(pages)-1] += "and again Parcel No. 12-009" + fmt.Sprintf("%02d.000\n", n)
		}
		pages[len(pages)-1] += "IN WITNESS WHEREOF, the party signs.\n"
	}
	return append(pages, "Notary Public\n", "Notary Public\n")
}

// checkPacket reviews all instruments of a document by keyboard: it starts one at another page, takes that back, goes through
// the doubtful fields, adds all, and undoes that in one step.
func (ta *tab) checkPacket(t *testing.T, c *client.Client) {
	t.Helper()
	created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{
		Files: []client.Upload{{Filename: "County packet.pdf", Reader: bytes.NewReader(vaulttest.TextPDF(packetPages()))}}})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	file := created.Data.Files[0].ID
	address := fmt.Sprintf("/documents/%d/packet", file)
	ta.goTo(address)
	for range 100 {
		if eval[bool](ta, `document.querySelectorAll(".packet-part").length == 8`) {
			break
		}
		ta.goTo(address)
	}
	ta.waitFor(`document.querySelectorAll(".packet-part").length == 8 && document.querySelector(".packet-field :focus") != null`)
	ta.waitFor(`[...document.querySelectorAll(".packet-sheet img")].every(i => i.complete)`)
	ta.setSize(1440, 900)
	for _, theme := range []string{"light", "dark"} {
		ta.setTheme(theme)
		ta.checkAccessible(t, "packet, "+theme)
		ta.screenshot("scene-packet-wide-" + theme)
	}
	eval[bool](ta, `document.querySelector(".packet-boundary input").focus({ focusVisible: true }) || true`)
	ta.screenshot("scene-packet-boundary")
	doubtful := eval[int](ta, `document.querySelectorAll("[data-doubtful]").length`)
	if doubtful == 0 {
		t.Fatal("doubtful fields of the packet: got none, want some to go through")
	}
	ta.click(`a[data-page="2"]`)
	ta.waitNavigation(func() { ta.press("s") })
	ta.waitFor(`document.querySelectorAll(".packet-part").length == 9 && document.activeElement.dataset.page == "2"`)
	ta.waitNavigation(func() { ta.press("m") })
	ta.waitFor(`document.querySelectorAll(".packet-part").length == 8 && document.activeElement.dataset.page == "2"`)
	ta.press(kb.ArrowRight)
	ta.waitFor(`document.activeElement.dataset.page == "3" && document.querySelector("[data-open]").textContent == "Page 3"`)
	for range doubtful + 1 {
		ta.press(kb.F4)
	}
	ta.waitFor(`document.activeElement.matches("[data-add]") && !document.querySelector("[data-doubtful]")`)
	ta.waitNavigation(func() { ta.press(kb.Enter) })
	ta.waitVisible(".notice | 8 instruments added.")
	ta.waitNavigation(func() { ta.click(".notice button | Undo") })
	ta.waitVisible(".notice | Undone: 8 instruments.")
	ta.setSize(1024, 768)
	ta.goTo(address)
	ta.screenshot("scene-packet-medium")
	ta.setSize(360, 740)
	ta.goTo(address)
	ta.checkFits(360)
	ta.screenshot("scene-packet-narrow")
	ta.checkAccessible(t, "packet, narrow")
}
