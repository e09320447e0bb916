package extract_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

const judgmentLien = `CERTIFICATE OF JUDGMENT FOR LIEN UPON LANDS AND TENEMENTS
(Ohio Revised Code Section 2329.02)
IN THE COURT OF COMMON PLEAS, FRANKLIN COUNTY, OHIO
Case No. 19 CV 004512

CAPITAL BANK (USA), N.A.                 Judgment Creditor
vs.
JOHN A. DOE                              Judgment Debtor

I, the Clerk of Courts, certify that on March 4, 2019, judgment was rendered in favor of Capital Bank (USA), N.A.
against John A. Doe in the amount of $12,345.67 plus interest at 5.00% per annum and costs of $143.00.
`

const satisfaction = `201100098765
Filed for Record in WEXCOMBE COUNTY, OHIO
10-03-2011 At 09:01 am.
SATISFACTN 28.00
OR Book 1500 Page 22 - 22

SATISFACTION OF MORTGAGE
FIRST NATIONAL BANK OF WEXCOMBE, holder of a certain mortgage from
JOHN A. DOE and JANE B. DOE, dated February 27, 2004, in the amount of
$125,000.00, recorded March 9, 2004 in OR Book 1234, Page 567, Instrument No.
200400012345, hereby certifies that the same is fully paid and satisfied.
Dated: September 21, 2011
`

// The forms of Ohio name the parties, the amount, and the court in their own ways.
func TestFormsOfOhio(t *testing.T) {
	rules, types := extract.DefaultRules(), model.NewDocumentTypes()
	for _, row := range []struct {
		name, text string
		want       map[string]string // values, joined by semicolons
	}{
		{"labels in quotes", `GENERAL WARRANTY DEED

KNOW ALL MEN BY THESE PRESENTS that JOHN A. DOE and JANE DOE, husband and wife ("Grantors"), of
Franklin County, Ohio, for valuable consideration paid, grant, with general warranty covenants, to
MARY ROE and RICHARD ROE, husband and wife ("Grantees"), whose tax-mailing address is
12 Elm Street, Columbus, Ohio 43215, the following described real property:
`, map[string]string{"type": "Warranty Deed", "grantors": "JOHN A. DOE;JANE DOE", "grantees": "MARY ROE;RICHARD ROE"}},
		{"statutory form", `WARRANTY DEED
(O.R.C. 5302.05)

JOHN A. DOE, married, of Franklin County, Ohio, for valuable consideration paid, grants with general
warranty covenants to MARY ROE, whose tax mailing address is 12 Elm Street, Columbus, Ohio 43215, the
following real property:
`, map[string]string{"type": "Warranty Deed", "grantors": "JOHN A. DOE", "grantees": "MARY ROE"}},
		{"received from", `LIMITED WARRANTY DEED

Know all men by these presents, that Elm Homes, LLC, an Ohio limited liability company (the "Grantor"), for the
sum of Ten Dollars ($10.00) and other good and valuable consideration received to its full satisfaction of Mary Roe
and Richard Roe (the "Grantees"), does hereby grant, bargain, sell and convey unto the said Grantees the following:
`, map[string]string{"type": "Special Warranty Deed", "grantors": "Elm Homes, LLC", "grantees": "Mary Roe;Richard Roe",
			"consideration": "10.00"}},
		{"amount paid", `QUIT CLAIM DEED

For the sum of $185,000.00 paid, JOHN DOE, unmarried, releases and quitclaims to MARY ROE all right, title, and interest.
`, map[string]string{"type": "Quitclaim Deed", "grantors": "JOHN DOE", "grantees": "MARY ROE", "consideration": "185000.00"}},
		{"stamp above a release", satisfaction, map[string]string{"type": "Release or Satisfaction",
			"instrument_number": "201100098765", "book": "1500", "page": "22", "recorded": "2011-10-03"}},
		{"a mortgage that stays", `QUIT-CLAIM DEED

KNOW ALL MEN BY THESE PRESENTS, That Robert J. Smith, the Grantor, does remise, release and forever quit-claim the
premises in Wexcombe County, being Permanent Parcel No. 12-
00345.000, subject to a mortgage to Citizens Bank, of Wexcombe County, which the grantee assumes.
`, map[string]string{"type": "Quitclaim Deed", "grantees": "", "parcels": "12-00345.000"}},
		{"certificate of judgment", judgmentLien, map[string]string{"type": "Judgment", "grantors": "JOHN A. DOE",
			"grantees": "CAPITAL BANK (USA), N.A.", "case_number": "19 CV 004512", "dated": "2019-03-04", "consideration": "12345.67"}},
		{"labeled judgment", `CERTIFICATE OF JUDGMENT

Judgment Creditor: CAPITAL BANK (USA), N.A.
Judgment Debtor: JOHN A. DOE
Amount of judgment: $12,345.67
`, map[string]string{"type": "Judgment", "grantors": "JOHN A. DOE", "grantees": "CAPITAL BANK (USA), N.A.", "consideration": "12345.67"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			fields := extract.Read([]extract.Page{extract.PlainText(row.text)}, rules, types, time.Now())
			for name, want := range row.want {
				if got := strings.Join(fields[name].Values, ";"); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

// A certificate of judgment behind a release is an instrument of its own: the release gets none of its fields.
func TestJudgmentBehindRelease(t *testing.T) {
	release := `SATISFACTION OF MORTGAGE

Instrument No. 201903050012345
Recorded 03/05/2019 10:15 AM, Franklin County Recorder

KNOW ALL MEN BY THESE PRESENTS that First National Bank does hereby certify that the mortgage of John A. Doe,
recorded in Official Record 512, Page 88, is paid and satisfied.

IN WITNESS WHEREOF, the undersigned has set its hand this 1st day of March, 2019.
First National Bank
`
	for _, first := range []string{release, satisfaction} {
		list := extract.ReadAll([]extract.Page{extract.PlainText(first), extract.PlainText(judgmentLien)}, extract.DefaultRules(),
			model.NewDocumentTypes(), time.Now())
		var got []string
		for _, i := range list {
			got = append(got, i.Fields["type"].Value()+" "+i.Fields["case_number"].Value())
		}
		if want := []string{"Release or Satisfaction ", "Judgment 19 CV 004512"}; !slices.Equal(got, want) {
			t.Errorf("ReadAll() = %q, want %q; the release is\n%s", got, want, first)
		}
	}
}
