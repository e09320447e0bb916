package instrumentform

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// Values that can't be right for their field are asked about, and others aren't.
func TestQuestion(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	old := model.Instrument{Grantors: []string{"3/9/1998"}, Book: "Miscellany", County: "Story", State: "OH"}
	for _, c := range []struct{ field, value, want string }{
		{"grantees", "3/9/1998", "“3/9/1998” looks like a date. Keep it as a grantee?"},
		{"grantees", "Ned Cole\nMarch 9, 1998", "“March 9, 1998” looks like a date. Keep it as a grantee?"},
		{"grantees", "4800/12", "“4800/12” looks like a book and page. Keep it as a grantee?"},
		{"grantees", "Deed Book 1022 Page 311", "looks like a book and page"},
		{"grantees", "$201,500,099", "“$201,500,099” looks like an amount. Keep it as a grantee?"},
		{"grantees", "201904170093382", "looks like a number"},
		{"grantees", "n", "“n” is only one character. Keep it as a grantee?"},
		{"other_parties", "Trustee: 1998-03-09", "“1998-03-09” looks like a date. Keep it as a party?"},
		{"book", "nAssign", "“nAssign” looks like words. Keep it as the book?"},
		{"book", "Cole", "looks like words"},
		{"page", "1st National Bank", "looks like words"},
		{"instrument_number", "3/9/1998", "looks like a date"},
		{"instrument_number", "$88,000.00", "looks like an amount"},
		{"book_type", "1022", "“1022” looks like a number. Keep it as the book type?"},
		{"recorded", "2098-03-09", "“3/9/2098” is in the future. Keep it as the recording date?"},
		{"dated", "0198-03-09", "“3/9/0198” is before 1600. Keep it as the date of the instrument?"},
		{"consideration", "201500099.00", "“201500099” is unusually large. Keep it as the amount?"},
		{"consideration", "x", "“x” is only one letter. Keep it as the amount?"},
		{"consideration", "12.5.00", "“12.5.00” can't be read as an amount. Keep it as the amount?"},
		{"consideration", "$98.5K", "can't be read as an amount"},
		{"consideration", "7", ""}, {"consideration", "love and affection", ""}, {"consideration", "$10 & OVC", ""},
		{"remarks", "d", "is only one character"},
		{"grantors", "3/9/1998\nNed Cole", ""}, // the instrument has it already
		{"county", "Polk", "Check the state: keep OH with the county Polk?"}, {"county", "Story County", ""}, {"county", "", ""},
		{"book", "Miscellany", ""},
		{"grantees", "84 Lumber", ""}, {"grantees", "4800 Oak Street LLC", ""}, {"grantees", "Cole Trust dated 3/9/1998", ""},
		{"grantees", "1st National Bank", ""}, {"grantees", "X Y", ""}, {"other_parties", "Trustee: First Title Co.", ""},
		{"book", "1022", ""}, {"book", "A", ""}, {"book", "XIV", ""}, {"book", "AA-2", ""}, {"book_type", "Deed Book", ""},
		{"page", "311A", ""}, {"page", "Slide 35", ""}, {"instrument_number", "2021-117", ""}, {"instrument_number", "CFN 2019R0012345", ""},
		{"recorded", "2026-11-28", ""}, {"recorded", "2/30/2019", ""}, {"expires", "2056-01-01", ""}, {"consideration", "1.00", ""},
		{"consideration", "99999999.00", ""}, {"parcels", "21-4-117", ""}, {"remarks", "3/9/1998", ""}, {"type_id", "7", ""}, {"book", "", ""},
	} {
		got := Question(old, model.DocumentType{}, c.field, c.value, now)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("Question(%s, %q) = %q, want %q", c.field, c.value, got, c.want)
		}
	}
}

// A question calls the parties as the type of the instrument does.
func TestQuestionOfType(t *testing.T) {
	types := model.NewDocumentTypes()
	for _, c := range []struct{ kind, field, want string }{
		{"Mortgage", "grantors", "Keep it as a mortgagor?"}, {"Mortgage", "grantees", "Keep it as a mortgagee?"},
		{"Assignment", "grantors", "Keep it as an assignor?"}, {"Judgment", "grantees", "Keep it as a plaintiff?"},
		{"Quitclaim Deed", "grantors", "Keep it as a grantor?"}, {"Mortgage", "other_parties", "Keep it as a party?"},
	} {
		of, _ := types.ByName(c.kind)
		if got := Question(model.Instrument{}, of, c.field, "3/9/1998", time.Now()); !strings.HasSuffix(got, c.want) {
			t.Errorf("Question(%s, %s) = %q, want %q", c.kind, c.field, got, c.want)
		}
	}
}

// A date that makes an instrument dated after it was recorded is asked about, from either side.
func TestDatedAfterRecorded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	deed := model.Instrument{Dated: "2015-08-01", Recorded: "2015-08-03"}
	const want = "The instrument is dated Aug 9, 2015, after it was recorded on Aug 3, 2015. Keep both dates?"
	judgment, _ := model.NewDocumentTypes().ByName("Judgment")
	if got := Question(deed, judgment, "dated", "8/9/2015", now); got != strings.Replace(want, "recorded", "filed", 1) {
		t.Errorf("Question about a judgment = %q, want it filed", got)
	}
	for _, c := range []struct {
		old                model.Instrument
		field, value, want string
	}{
		{deed, "dated", "8/9/2015", want}, {deed, "dated", "2015-08-03", ""},
		{model.Instrument{Dated: "2015-08-09"}, "recorded", "2015-08-03", want},
		{model.Instrument{Dated: "2015-08-09"}, "recorded", "soon", ""}, {model.Instrument{}, "dated", "2015-08-09", ""},
		{model.Instrument{Dated: "2015-08-09", Recorded: "2015-08-03"}, "dated", "2015-08-08", ""}, {deed, "remarks", "8/9/2015", ""},
	} {
		if got := Question(c.old, model.DocumentType{}, c.field, c.value, now); got != c.want {
			t.Errorf("Question(%+v, %s, %q) = %q, want %q", c.old, c.field, c.value, got, c.want)
		}
	}
}
