package extract

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
)

// maxFuzzed is the length of the fuzzed texts. It is enough for all rules, and short enough for thousands of runs a second.
const maxFuzzed = 120

// FuzzRules runs one rule on a text and checks what it finds. The words of the text have the confidence that unsure repeats.
func FuzzRules(f *testing.F) {
	rules := DefaultRules()
	for n, text := range ruleSamples(f, rules) {
		f.Add(uint8(n), text, "\x60\x40")
	}
	types := model.NewDocumentTypes()
	f.Fuzz(func(t *testing.T, rule uint8, text, unsure string) {
		r := reader{rules: rules, now: time.Now(), types: types, fields: Fields{}}
		r.source = newSource([]Page{fuzzedPage(text[:min(len(text), maxFuzzed)], unsure)}, rules)
		for _, c := range r.runRule(int(rule) % (len(rules.patterns.list) + 1)) {
			if !c.doubtful {
				r.fields[c.name] = c.field
			}
		}
		r.drop()
		r.compareFields()
		r.calibrate()
		for name, field := range r.fields {
			checkField(t, name, field)
		}
	})
}

// runRule returns what a pattern finds, or what the labels say for the number after those of the patterns.
func (r *reader) runRule(number int) (found []candidate) {
	if number == len(r.rules.patterns.list) {
		r.kind = "Deed of Trust"
		return r.readLabels()
	}
	p := r.rules.patterns.list[number]
	if len(p.types) > 0 {
		r.kind = p.types[0]
	}
	if len(p.at) == 0 {
		return r.try(p, 0, r.source.text)
	}
	for at, word := range textWords(r.source.text) {
		if slices.Contains(p.at, word) && r.mayStart(p, at) {
			found = append(found, r.try(p, at, r.source.text[at:])...)
		}
	}
	return found
}

// fuzzedPage returns a page of OCR, or of plain text if there is no confidence.
func fuzzedPage(text, confidence string) Page {
	page := PlainText(text)
	if confidence == "" {
		return page
	}
	word := 0
	for n, line := range page.Lines {
		for range strings.Fields(line.Text) {
			page.Lines[n].Confidence = append(page.Lines[n].Confidence, int(confidence[word%len(confidence)])%101)
			word++
		}
	}
	return page
}

// checkField checks that a field has values of its kind, on a page, and how sure they are.
func checkField(t *testing.T, name string, f Field) {
	t.Helper()
	isWrong := func(value string) bool {
		switch {
		case value != strings.TrimSpace(value) || value == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			return true
		case name == Recorded || name == Dated:
			_, err := time.Parse(time.DateOnly, value)
			return err != nil || value < firstDay
		case name == RecordedTime:
			_, err := time.Parse(time.TimeOnly, (value + ":00")[:len(time.TimeOnly)])
			return err != nil
		case name == Consideration:
			amount, _ := model.ParseConsideration(value)
			return amount != value
		case name == Book || name == PageNumber || name == PageTo:
			return strings.Trim(value, "0123456789") != ""
		case kindsOfFields[name] == "name":
			return len(value) > model.MaxNameLength || !strings.ContainsFunc(value, unicode.IsLetter)
		}
		return false
	}
	if len(f.Values) == 0 || len(f.Values) > model.MaxListItems || slices.ContainsFunc(f.Values, isWrong) {
		t.Errorf("%s has the values %q, want valid ones", name, f.Values)
	}
	if f.Page != 1 || f.Confidence != nil && (*f.Confidence < 0 || *f.Confidence > 100) {
		t.Errorf("%s is on page %d with the confidence %v, want page 1 and a percentage", name, f.Page, f.Confidence)
	}
	if len(f.Readings) > 0 && !f.Doubtful || slices.Contains(f.Readings, "") {
		t.Errorf("%s %q has the readings %q and isn't doubtful", name, f.Values, f.Readings)
	}
}

// ruleSamples returns a text for each rule, in which it finds something if there is one on the scans that the rules were
// written for.
func ruleSamples(t testing.TB, rules *Rules) []string {
	t.Helper()
	samples := make([]string, len(rules.patterns.list), len(rules.patterns.list)+1)
	for _, scan := range readScans(t, "rules") {
		r := reader{rules: rules, now: time.Now(), types: model.NewDocumentTypes(), fields: Fields{}, kind: strings.Join(scan.Fields[Type], ""),
			source: newSource(scan.pages(), rules)}
		text := r.source.text
		for at, word := range textWords(text) {
			for _, p := range rules.patterns.byWord[word] {
				end := windowEnd(text, at)
				if samples[p.rank] == "" && r.mayStart(p, at) && len(r.try(p, at, text[at:end])) > 0 {
					samples[p.rank] = text[at:min(at+maxFuzzed, end)]
				}
			}
		}
		for n, p := range rules.patterns.list {
			if m := p.find.FindStringIndex(text); len(p.at) == 0 && samples[n] == "" && m != nil {
				samples[n] = text[m[0]:min(m[0]+maxFuzzed, len(text))]
			}
		}
	}
	return append(samples, `between John Doe ("Grantor") and Acme Bank, N.A., hereinafter called the "Lender"`)
}
