package extract_test

import (
	"strings"
	"testing"

	"deedkeep/app/extract"
)

// The label of a party, in quotes or brackets right after its name, says on which side it is.
func TestLabeledParties(t *testing.T) {
	const doe, roe = "JOHN A. DOE|JANE DOE", "MARY ROE|RICHARD ROE"
	for _, c := range []struct{ name, text, grantors, grantees string }{
		{"ohio", `GENERAL WARRANTY DEED

KNOW ALL MEN BY THESE PRESENTS that JOHN A. DOE and JANE DOE, husband and wife ("Grantors"), for valuable consideration paid,
grant(s), with general warranty covenants, to MARY ROE and RICHARD ROE, husband and wife ("Grantees"), whose tax-mailing address
is 12 Elm Street, Akron, OH 44301, the following described real property:
`, doe, roe},
		{"one grantee", `SURVIVORSHIP DEED
KNOW ALL MEN BY THESE PRESENTS THAT JOHN A. DOE and JANE DOE, husband and wife, ("Grantor") of Summit County, Ohio, in consideration
of the sum of Ten Dollars ($10.00) and other good and valuable consideration received to their full satisfaction of
ACME HOMES, LLC, an Ohio limited liability company ("Grantee"), whose tax mailing address is 9 Main Street, do give, grant,
bargain, sell and convey unto the said Grantee, its successors and assigns, the following described premises:
`, doe, "ACME HOMES, LLC"},
		{"without labels", `GENERAL WARRANTY DEED
JOHN A. DOE and JANE DOE, husband and wife, of Summit County, Ohio, for valuable consideration paid, grant(s), with general
warranty covenants, to MARY ROE and RICHARD ROE, husband and wife, for their joint lives, remainder to the survivor of them, whose
tax-mailing addresses are 12 Elm Street, Akron, OH 44301, the following REAL PROPERTY:
`, doe, roe},
		{"limited warranty without labels", `LIMITED WARRANTY DEED
KNOW ALL MEN BY THESE PRESENTS, that ACME HOMES, LLC, an Ohio limited liability company, for valuable consideration paid, grants,
with limited warranty covenants, to MARY ROE, unmarried, whose tax-mailing address is 12 Elm Street, the following described real
property:
`, "ACME HOMES, LLC", "MARY ROE"},
		{"brackets", `WARRANTY DEED
THIS DEED is made by JOHN A. DOE and JANE DOE, husband and wife [Grantors], who for valuable consideration convey to
MARY ROE and RICHARD ROE [Grantees] the following described real estate:
`, doe, roe},
		{"referred to as", `WARRANTY DEED
The undersigned, JOHN A. DOE and JANE DOE, a married couple (hereinafter collectively referred to as "Grantor"), hereby convey unto
MARY ROE and RICHARD ROE (herein, the "Grantee"), the following tract:
`, doe, roe},
		{"after an address", `QUIT CLAIM DEED
KNOW ALL MEN BY THESE PRESENTS that JOHN A. DOE and JANE DOE, whose address is 9 Oak Lane, Akron, Ohio 44301 ("Grantors"), for
$10.00 and other consideration, remise, release and forever quit-claim to MARY ROE and RICHARD ROE, of 12 Elm Street, Akron, Ohio
44301 ("Grantees"), their heirs and assigns, the following described real property:
`, doe, roe},
		{"label of another instrument", `SATISFACTION OF MORTGAGE
FIRST BANK, N.A. does hereby certify that the mortgage executed by JOHN A. DOE and JANE DOE ("Grantors") to FIRST BANK, N.A.
("Grantee"), dated May 2, 2003, is paid.
`, "FIRST BANK, N.A.", doe},
		{"mortgage", `OPEN-END MORTGAGE
KNOW ALL MEN BY THESE PRESENTS that JOHN A. DOE and JANE DOE, husband and wife ("Mortgagors"), for value received, grant, with
mortgage covenants, to FIRST BANK, N.A. ("Mortgagee"), whose address is 1 Main Street, the following real property:
`, doe, "FIRST BANK, N.A."},
		{"misread label", `THIS DEED, by and between JOHN A. DOE and JANE DOE (hereinafter -
called tbe Grant0r-), and MARY ROE and RICHARD ROE (hereinafter called the Grantees), witnesseth
`, "", ""},
		{"called", `THIS INDENTURE, by and between JOHN A. DOE and JANE DOE, as parties of the first part, hereinafter called Grantor, and
MARY ROE, a single woman, and RICHARD ROE, a single man, as parties of the second part, hereinafter called Grantee:
`, doe, roe},
		{"stamp above", `E-RECORDED simplifile
WARRANTY DEED
of the real property described below, by the estate of the decedent named in it, whose heirs, legatees, and devisees, known
and unknown, are all of age and were given notice as required by the law of this State, the "Grantor," and others
`, "", ""},
		{"not a name", `WARRANTY DEED
In consideration of the covenants of each of the parties described below ("Grantors") the following is agreed.
`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := readText(c.text)
			for field, want := range map[string]string{extract.Grantors: c.grantors, extract.Grantees: c.grantees} {
				if got := strings.Join(fields[field].Values, "|"); got != want {
					t.Errorf("%s are %q, want %q", field, got, want)
				}
			}
		})
	}
}
