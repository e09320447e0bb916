package extract_test

import (
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// citingDeed is the second page of a deed, which cites earlier deeds.
const citingDeed = `BEING the same premises which Eudora Pennyfarthing, widow, by deed dated September 3,
1998 and recorded in the Office of the Recorder of Deeds of Wexcombe County in Deed
Book 1106, Page 0241, granted and conveyed unto Harlan T. Quillfeather and Odessa M.
Quillfeather, husband and wife, Grantors herein.

UNDER AND SUBJECT to a right of way thirty (30) feet in width granted to Gossamer
Valley Electric Cooperative, recorded in Deed Book 0877, Page 0412, and to the building
set-back lines shown on the plan recorded in Plan Book 31, Page 17.

EXCEPTING AND RESERVING thereout and therefrom all the coal, oil, gas and other
minerals heretofore severed of record by deed of Ambrose Lanternhouse, dated June 30,
1921, Deed Book 212, Page 77.

TOGETHER with all and singular the ways, waters, water-courses, rights, liberties,
privileges, hereditaments and appurtenances whatsoever thereunto belonging, or in any wise
appertaining, and the reversions and remainders, rents, issues and profits thereof.

TO HAVE AND TO HOLD the said tract of land hereby granted, with the appurtenances,
unto the said Grantee, its successors and assigns, to and for the only proper use and behoof of
the said Grantee forever. AND the said Grantors do hereby covenant that they will
WARRANT GENERALLY the property hereby conveyed.
`

func TestCitedDeedIsNotItsOwn(t *testing.T) {
	for _, c := range []struct{ name, text, book, page string }{
		{"no stamp", citingDeed, "", ""},
		{"stamp", citingDeed + "\n\n\nBK 2417 PG 0885\n", "2417", "0885"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := extract.Read([]extract.Page{extract.PlainText(c.text)}, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())
			if book, page := fields[extract.Book].Value(), fields[extract.PageNumber].Value(); book != c.book || page != c.page {
				t.Errorf("book %q, page %q, want %q and %q; all: %+v", book, page, c.book, c.page, fields)
			}
		})
	}
}
