package document

import (
	"strings"
	"testing"
)

const deedText = `THIS INDENTURE, made the 15th day of April, 2019, between John A. Smith and Mary B. Smith, husband and wife,
parties of the first part, and Acme Holdings LLC, party of the second part, WITNESSETH, that the parties of the first part, in
consideration of Ten Dollars and other good and valuable consideration, do hereby grant and release unto the party of the
second part all that certain plot, piece, or parcel of land.`

// shift moves every visible character, as fonts without a Unicode table do.
func shift(text string, by rune) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' {
			return r + by
		}
		return r
	}, text)
}

func TestUsableText(t *testing.T) {
	for name, row := range map[string]struct {
		text            string
		usable, legible bool
	}{
		"empty":      {"", false, true},
		"blank":      {" \n\f\t ", false, true},
		"a deed":     {deedText, true, true},
		"upper case": {strings.ToUpper(deedText), true, true},
		"a recording stamp": {"ERECORDED ID: 201904170093382 County: Rensselaer Date: 04/17/2019 Time: 10:42 AM\n" +
			"Book 2417 Page 0883 Simplifile.com 800.460.5657 Clerk of the Court", false, true},
		"metes and bounds":   {strings.Repeat("THENCE N 89°15'30\" E 125.00 FT TO A PT; S 00°44'30\" W 87.50 FT; ", 8), true, true},
		"a table of numbers": {strings.Repeat("1,204.55 20190417 0883 ", 20), true, true},
		"Spanish":            {strings.Repeat("Escritura de compraventa otorgada ante el señor juez público. ", 6), true, true},
		"Greek":              {strings.Repeat("Συμβόλαιο αγοραπωλησίας ακινήτου. ", 12), true, true},
		"no mapping":         {strings.Repeat("\uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\n", 100), false, false},
		"private use":        {strings.Repeat("\uF0A1\uF0B2\uF0C3 ", 100), false, false},
		"control characters": {strings.Repeat("\x03\x04\x11 \x12", 100), false, false},
		"a few bad glyphs":   {deedText + "\uFFFD\uFFFD\uF0B7", true, true},
		"shifted by 29":      {shift(strings.ToLower(deedText), -29), false, false},
		"no vowels":          {strings.Repeat("bcdfg hjkl mnpqr ", 30), false, false},
		"only vowels":        {strings.Repeat("aeiou aeio ", 60), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := UsableText(row.text); got != row.usable {
				t.Errorf("UsableText = %t, want %t; profile %+v", got, row.usable, profileText(row.text))
			}
			if got := LegibleText(row.text); got != row.legible {
				t.Errorf("LegibleText = %t, want %t; profile %+v", got, row.legible, profileText(row.text))
			}
		})
	}
}
