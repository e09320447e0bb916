package extract_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// paginate returns the pages of a text, with a running header on all but the first page if there is one.
func paginate(text string, height int, header string) (pages []extract.Page) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for part := range slices.Chunk(lines, height) {
		page := strings.Join(part, "\n")
		if len(pages) > 0 && header != "" {
			page = header + "\n\n" + page
		}
		pages = append(pages, extract.PlainText(page+"\n"))
	}
	return pages
}

// attached are pages that are recorded as a part of an instrument.
var attached = []string{
	"EXHIBIT A\nLEGAL DESCRIPTION\n\nALL THAT CERTAIN tract or parcel of land situate in the Township of Nether Gossamer, being Lot 12.\n" +
		"BEING the same premises conveyed by deed dated September 3, 1998 and recorded in Deed Book 1106, Page 0241.\n",
	"ACKNOWLEDGMENT\n\nSTATE OF OHIO\nCOUNTY OF SUMMIT, SS:\nBEFORE ME, the undersigned, a Notary, personally appeared John Smith.\n" +
		"IN WITNESS WHEREOF, I have hereunto set my hand.\nNotary Public. My commission expires January 4, 2022.\n",
	"1-4 FAMILY RIDER\n(Assignment of Rents)\n\nTHIS 1-4 FAMILY RIDER is made this 2nd day of May, 2003, and is incorporated into\n" +
		"and shall be deemed to amend and supplement the Mortgage, Deed of Trust, or Security Deed of the same date.\n",
	"PLANNED UNIT DEVELOPMENT RIDER\n\nTHIS PLANNED UNIT DEVELOPMENT RIDER is made this 2nd day of May, 2003, and is incorporated into\n" +
		"the Mortgage of the same date given by the undersigned.\n",
	"AFFIDAVIT OF CONSIDERATION FOR USE BY SELLER\n\nSTATE OF NEW JERSEY\nBEFORE ME, the undersigned, deponent says that the full\n" +
		"consideration was as stated.\n",
	"SIGNATURE PAGE\n\nIN WITNESS WHEREOF, Borrower has executed this Security Instrument.\n____________ John A. Smith\n",
	"",
}

// An instrument stays one, however many pages it has.
func TestOneInstrument(t *testing.T) {
	rules := extract.DefaultRules()
	r := rand.New(rand.NewPCG(6, 1))
	split := 0
	for n, d := range generateDocuments(t, 6, 300) {
		header := pick(r, []string{"", "", strings.ToUpper(strings.Join(d.fields["type"], "")), fmt.Sprintf("Page 2 of %d", 3+n%4)})
		pages := paginate(d.text, 14+r.IntN(30), header)
		for range r.IntN(4) {
			pages = append(pages, extract.PlainText(pick(r, attached)))
		}
		if starts := extract.Starts(pages, rules, time.Now()); len(starts) != 1 {
			split++
			t.Errorf("%s #%d: instruments start on pages %v of %d, want one (header %q)\n%s", d.form, n,
				extract.CutReasons(pages, rules, time.Now()), len(pages), header,
				show(pages[starts[1]-1]))
		}
	}
	t.Logf("%d of 300 instruments split", split)
}

func show(page extract.Page) string {
	var b strings.Builder
	for _, line := range page.Lines[:min(len(page.Lines), 30)] {
		b.WriteString("    " + line.Text + "\n")
	}
	return b.String()
}

// Each instrument of a packet has its pages, and no field of another one.
func TestPackets(t *testing.T) {
	rules, types := extract.DefaultRules(), model.NewDocumentTypes()
	r := rand.New(rand.NewPCG(6, 2))
	all := generateDocuments(t, 66, 300)
	found, total, mixed := 0, 0, 0
	for n := 0; n+5 < len(all); n += 5 {
		var pages []extract.Page
		var want []int
		for _, d := range all[n : n+5] {
			want = append(want, len(pages)+1)
			pages = append(pages, paginate(d.text, 40+r.IntN(30), "")...)
			for range r.IntN(2) {
				pages = append(pages, extract.PlainText(pick(r, attached)))
			}
		}
		list := extract.ReadAll(pages, rules, types, time.Now())
		total += len(want)
		for k, i := range list {
			at := slices.Index(want, i.First)
			if at < 0 {
				t.Errorf("packet %d: an instrument starts on page %d, want those of %v", n/5, i.First, want)
				continue
			}
			found++
			last := len(pages)
			if at+1 < len(want) {
				last = want[at+1] - 1
			}
			if i.Last != last {
				mixed++
				d := all[n+at+1]
				t.Logf("packet %d, instrument %d: pages %d-%d, want %d-%d; missed %s\n%s", n/5, k, i.First, i.Last, i.First, last, d.form,
					show(pages[last]))
			}
		}
	}
	t.Logf("%d of %d instruments of packets found, %d have pages of the next one", found, total, mixed)
	if 100*found < 95*total {
		t.Errorf("%d of %d instruments of packets found, want 95%%", found, total)
	}
}
