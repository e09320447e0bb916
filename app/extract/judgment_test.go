package extract_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// certificateOfJudgment is what the clerk of an Ohio court certifies, so that it can be filed as a lien.
const certificateOfJudgment = `CERTIFICATE OF JUDGMENT FOR LIEN UPON LANDS AND TENEMENTS
(O.R.C. Sec. 2329.02)

COURT OF COMMON PLEAS, SUMMIT COUNTY, OHIO

MIDLAND FUNDING LLC
          Plaintiff                        Case No. CV-2021-04-1234
    vs.
JOHN A. DOE
          Defendant                        Certificate No. CJ-2021-5678

I, SANDRA KURZ, Clerk of the Court of Common Pleas in and for said County, hereby certify that on the 3rd day of May, 2021,
Judgment was rendered by said Court in the above entitled action in favor of MIDLAND FUNDING LLC and against JOHN A. DOE
in the amount of $12,345.67 plus interest and costs of $150.00.
`

func TestCertificateOfJudgment(t *testing.T) {
	const stamp = "FILED FOR RECORD IN SUMMIT COUNTY, OHIO\nINSTRUMENT NO. 56612345\n05/10/2021 10:32 AM\n\n"
	for _, c := range []struct {
		name, text string
		want       map[string]string
	}{
		{"caption", stamp + certificateOfJudgment, map[string]string{extract.Type: "Judgment", extract.InstrumentNumber: "56612345",
			extract.Recorded: "2021-05-10", extract.RecordedTime: "10:32", extract.Grantees: "MIDLAND FUNDING LLC",
			extract.Grantors: "JOHN A. DOE", extract.CaseNumber: "CV-2021-04-1234", extract.Consideration: "12345.67",
			extract.Dated: "2021-05-03", extract.County: "Summit"}},
		{"stamp of the clerk", "FILED\n2021 MAY 10 AM 10:32\nSANDRA KURZ\nCLERK OF COURTS\nSUMMIT COUNTY, OHIO\n\n" + certificateOfJudgment,
			map[string]string{extract.Recorded: "2021-05-10", extract.RecordedTime: "10:32", extract.CaseNumber: "CV-2021-04-1234"}},
		{"stamp below", certificateOfJudgment + "\nWITNESS my hand and the seal of said Court this 7th day of May, 2021.\n\n\n" + stamp,
			map[string]string{extract.InstrumentNumber: "56612345", extract.Recorded: "2021-05-10", extract.RecordedTime: "10:32",
				extract.Dated: "2021-05-03"}},
		{"labels", `CERTIFICATE OF JUDGMENT FOR LIEN UPON LANDS AND TENEMENTS
Akron Municipal Court, Summit County, Ohio
Filed: 05/10/2021 at 2:15 P.M.     Instrument Number: 2021-0012345

JUDGMENT CREDITOR: MIDLAND FUNDING LLC
JUDGMENT DEBTOR: JOHN A. DOE
CASE NUMBER: 21 CVF 01234
DATE OF JUDGMENT: May 3, 2021
AMOUNT OF JUDGMENT: $12,345.67 plus interest at 4% per annum and costs

I hereby certify that the foregoing is a true copy of the judgment.
`, map[string]string{extract.Type: "Judgment", extract.InstrumentNumber: "2021-0012345", extract.Recorded: "2021-05-10",
			extract.RecordedTime: "14:15", extract.Grantees: "MIDLAND FUNDING LLC", extract.Grantors: "JOHN A. DOE",
			extract.CaseNumber: "21 CVF 01234", extract.Consideration: "12345.67", extract.Dated: "2021-05-03"}},
		{"sentence", `CERTIFICATE OF JUDGMENT FOR LIEN
UPON LANDS AND TENEMENTS
Case No. 2021-CV-0456

Judgment was rendered on May 3, 2021, in favor of FIRST BANK, N.A., Plaintiff, and against JOHN A. DOE and JANE DOE, Defendants, in
the amount of $12,345.67 plus interest and costs.
`, map[string]string{extract.Type: "Judgment", extract.Grantees: "FIRST BANK, N.A.", extract.Grantors: "JOHN A. DOE|JANE DOE",
			extract.CaseNumber: "2021-CV-0456", extract.Consideration: "12345.67", extract.Dated: "2021-05-03"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := readText(c.text)
			for field, want := range c.want {
				if got := strings.Join(fields[field].Values, "|"); got != want {
					t.Errorf("%s is %q, want %q", field, got, want)
				}
			}
		})
	}
}

// A certificate of judgment in a packet is an instrument of its own, even if it has no stamp.
func TestCertificateOfJudgmentInPacket(t *testing.T) {
	const release = `INSTRUMENT NO. 56600001
RECORDED 04/02/2021 09:15 AM
SUMMIT COUNTY RECORDER

RELEASE OF MORTGAGE

KNOW ALL MEN BY THESE PRESENTS that FIRST BANK, N.A. does hereby certify that the mortgage executed by JANE ROE, recorded as
Instrument No. 55500001, is fully paid and satisfied.

IN WITNESS WHEREOF, it has executed this release this 1st day of April, 2021.
`
	for _, c := range []struct{ name, page string }{
		{"without a stamp", certificateOfJudgment},
		{"with the stamp of the clerk", "FILED\n2021 MAY 10 AM 10:32\nCLERK OF COURTS\n\n" + certificateOfJudgment},
		{"caption above the heading", "IN THE COURT OF COMMON PLEAS\nSUMMIT COUNTY, OHIO\n\n" + certificateOfJudgment},
		{"heading of two lines", strings.Replace(certificateOfJudgment, "LIEN UPON", "LIEN\nUPON", 1)},
		{"labels only", "CERTIFICATE OF JUDGMENT FOR LIEN UPON LANDS AND TENEMENTS\n\nJudgment Creditor: MIDLAND FUNDING LLC\n" +
			"Judgment Debtor: JOHN A. DOE\nCase No. CV-2021-04-1234\nAmount: $12,345.67\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pages := []extract.Page{extract.PlainText(release), extract.PlainText(c.page)}
			list := extract.ReadAll(pages, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())
			if len(list) != 2 || list[1].First != 2 {
				t.Fatalf("instruments are %v, want one on each page", list)
			}
			if number := list[0].Fields[extract.CaseNumber].Value(); number != "" {
				t.Errorf("case number of the release is %s, want none", number)
			}
			if kind := list[1].Fields[extract.Type].Value(); kind != "Judgment" {
				t.Errorf("type of the second instrument is %q, want Judgment", kind)
			}
		})
	}
}
