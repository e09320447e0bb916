package extract_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// score counts the values of a field in the generated documents.
type score struct{ right, wrong, missing int }

func (s *score) add(o score) {
	s.right, s.wrong, s.missing = s.right+o.right, s.wrong+o.wrong, s.missing+o.missing
}

func (s score) total() int { return max(s.right+s.wrong+s.missing, 1) }

// percent returns a share in percent.
func (s score) percent(n int) float64 { return 100 * float64(n) / float64(s.total()) }

func (s score) String() string {
	return fmt.Sprintf("%4d right (%5.1f%%)  %3d wrong (%4.1f%%)  %3d missing (%4.1f%%)", s.right, s.percent(s.right), s.wrong,
		s.percent(s.wrong),
		s.missing, s.percent(s.missing))
}

// numberFields are the fields that are numbers, dates, or times.
var numberFields = []string{"instrument_number", "book", "page", "recorded", "recorded_time", "dated", "consideration", "parcels",
	"case_number"}

// TestGeneratedDocuments measures the suggested fields of 300 generated documents of 30 forms. 10 of
// the forms were kept unseen while the rules were written.
func TestGeneratedDocuments(t *testing.T) {
	rules := extract.DefaultRules()
	byField, byForm := map[string]*score{}, map[string]*score{}
	var all, numbers, unseen, unseenNumbers score
	for n, d := range generateDocuments(t, 1, 300) {
		pages := read(d, uint64(n))
		fields := extract.Read(pages, rules, model.NewDocumentTypes(), time.Now())
		names := map[string]bool{}
		for field := range fields {
			names[field] = true
		}
		for field := range d.fields {
			names[field] = true
		}
		if d.fields["state"] == nil { // most forms name the states of several counties
			delete(names, "state")
		}
		delete(names, extract.ConsiderationText) // the forms don't say what it is
		for field := range names {
			s := compare(field, fields, d)
			if byField[field] == nil {
				byField[field] = &score{}
			}
			if byForm[d.form] == nil {
				byForm[d.form] = &score{}
			}
			byField[field].add(s)
			byForm[d.form].add(s)
			all.add(s)
			if slices.Contains(numberFields, field) {
				numbers.add(s)
			}
			if d.unseen() {
				unseen.add(s)
				if slices.Contains(numberFields, field) {
					unseenNumbers.add(s)
				}
			}
			if verbose := os.Getenv("EXTRACT_SHOW"); verbose != "" && s.right == 0 && strings.Contains(d.form+" "+field, verbose) &&
				(!d.unseen() || strings.Contains(verbose, "unseen")) {
				t.Logf("%s #%d ocr=%v %s: %v (line %q), want %v", d.form, n, pages[0].Lines[0].Confidence != nil, field,
					fields[field].Values, fields[field].Line, d.fields[field])
			}
		}
	}
	for _, table := range []map[string]*score{byField, byForm} {
		for _, name := range sortedKeys(table) {
			t.Logf("%-28s %v", name, *table[name])
		}
	}
	t.Logf("%-28s %v", "all", all)
	t.Logf("%-28s %v", "numbers and dates", numbers)
	t.Logf("%-28s %v", "unseen forms", unseen)
	t.Logf("%-28s %v", "unseen numbers and dates", unseenNumbers)
	for name, s := range map[string]score{"all": all, "unseen forms": unseen} {
		if s.percent(s.right) < 80 || s.percent(s.wrong) > 5 {
			t.Errorf("%s: %v, want at least 80%% right and at most 5%% wrong", name, s)
		}
	}
	for name, s := range map[string]score{"numbers and dates": numbers, "unseen numbers and dates": unseenNumbers} {
		if s.percent(s.wrong) > 2 {
			t.Errorf("%s: %v, want at most 2%% wrong", name, s)
		}
	}
}

func sortedKeys(m map[string]*score) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// compare compares a field with what the document says.
func compare(field string, fields extract.Fields, d document) score {
	var got []string
	got = append(got, fields[field].Values...)
	want := d.fields[field]
	switch {
	case len(got) == 0:
		return score{missing: 1}
	case len(got) != len(want):
		return score{wrong: 1}
	}
	for n, value := range got {
		if !slices.ContainsFunc(strings.Split(want[n], "|"), func(w string) bool { return plain(field, w) == plain(field, value) }) {
			return score{wrong: 1}
		}
	}
	return score{right: 1}
}

// plain returns the form of a value for comparisons. Only letters and digits matter.
func plain(field, value string) string {
	if field == "book" || field == "page" {
		return model.NormalizeRecordingNumber(value)
	}
	if field == "consideration" || field == "recorded_time" {
		return value
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, value)
}
