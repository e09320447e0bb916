package extract_test

import (
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"
)

//go:embed testdata/forms testdata/fit testdata/heldout
var forms embed.FS

// document is a generated recorded document. Its fields are those that its text contains.
type document struct {
	form   string
	text   string
	fields map[string][]string // by name; a value may have alternatives, separated by a bar
}

// unseen reports whether the rules were written without looking at the results of the form.
func (d document) unseen() bool { return strings.HasPrefix(d.form, "unseen-") }

// generateDocuments returns count documents of all forms in testdata/forms, always the same for a seed.
func generateDocuments(t testing.TB, seed uint64, count int) (list []document) {
	t.Helper()
	names, err := fs.Glob(forms, "testdata/forms/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for n := range count {
		list = append(list, generate(t, names[n%len(names)], seed, uint64(n)))
	}
	return list
}

// generate returns a document of a form.
func generate(t testing.TB, form string, seed, n uint64) document {
	t.Helper()
	raw, err := forms.ReadFile(form)
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(rand.New(rand.NewPCG(seed, n)))
	parsed, err := template.New(form).Funcs(w.functions()).Parse(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := parsed.Execute(&text, nil); err != nil {
		t.Fatal(err)
	}
	return document{form: strings.TrimSuffix(path.Base(form), ".txt"), text: wrap(text.String(), 62+w.r.IntN(32)), fields: w.fields}
}

// wrap breaks lines that are wider than a page.
func wrap(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if len(line) <= 100 {
			b.WriteString(line + "\n")
			continue
		}
		column := 0
		for _, word := range strings.Fields(line) {
			if column > 0 && column+1+len(word) > width {
				b.WriteByte('\n')
				column = 0
			}
			if column > 0 {
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// writer fills in one form.
type writer struct {
	r               *rand.Rand
	fields          map[string][]string
	dated, recorded time.Time
	bookNo, pageNo  int
	county, state   string
	capitals        bool // names of parties are in capital letters
	merge           bool // columns are on the same lines
	cents           int
}

func newWriter(r *rand.Rand) *writer {
	w := &writer{r: r, fields: map[string][]string{}, capitals: r.IntN(2) == 0, merge: r.IntN(2) == 0}
	w.dated = time.Date(1988+r.IntN(37), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
	w.recorded = w.dated.AddDate(0, 0, r.IntN(30)).Add(8*time.Hour + time.Duration(r.IntN(8*3600))*time.Second)
	w.bookNo, w.pageNo = 100+r.IntN(9000), 1+r.IntN(1400)
	w.county, w.state = pick(r, counties), pick(r, states)
	w.cents = (20+r.IntN(900))*100000 + r.IntN(2)*(r.IntN(10)*10000+r.IntN(100))
	return w
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (w *writer) set(field string, values ...string) {
	if w.fields[field] == nil {
		w.fields[field] = values
	}
}

// functions returns the functions of the forms. Those that print a field also note it.
func (w *writer) functions() template.FuncMap {
	return template.FuncMap{
		"kind":   func(name string) string { w.set("type", name); return "" },
		"series": func(name string) string { w.set("book_type", name); return "" },
		"pick":   func(list ...string) string { return pick(w.r, list) },
		"chance": func(percent int) bool { return w.r.IntN(100) < percent },
		"upper":  strings.ToUpper, "plain": func(s string) string { return strings.Trim(s, "$") },
		"lines":   func(list ...string) string { return strings.Join(list, "\n") },
		"columns": w.columns,
		"book":    func() string { return w.number("book", fmt.Sprint(w.bookNo)) },
		"page": func() string {
			return w.number("page", fmt.Sprintf(pick(w.r, []string{"%d", "%04d", "%03d"}), w.pageNo))
		},
		"pagerange": func() string {
			w.set("page_to", fmt.Sprint(w.pageNo+2))
			return w.number("page", fmt.Sprint(w.pageNo)) + fmt.Sprintf("-%d", w.pageNo+2)
		},
		"number": func() string { return w.number("instrument_number", w.instrumentNumber()) },
		"case": func() string {
			year, n := w.dated.Year(), w.r.IntN(90000)
			return w.number("case_number", pick(w.r, []string{fmt.Sprintf("%d-CA-%06d", year, n), fmt.Sprintf("%02d CV %d", year%100, 100+n),
				fmt.Sprintf("%d CVD %d", year, 100+n)}))
		},
		"otherNumber": w.instrumentNumber,
		"recorded": func(layout string) string {
			w.set("recorded", w.recorded.Format(time.DateOnly))
			return format(w.recorded, layout)
		},
		"clock": w.clock,
		"dated": func(layout string) string {
			w.set("dated", w.dated.Format(time.DateOnly))
			return format(w.dated, layout)
		},
		"after":  func(_, layout string) string { return format(w.dated.AddDate(0, 0, w.r.IntN(5)), layout) },
		"day":    func(layout string) string { return format(w.dated.AddDate(-1-w.r.IntN(15), 0, -w.r.IntN(300)), layout) },
		"future": func(layout string) string { return format(w.dated.AddDate(2+w.r.IntN(28), w.r.IntN(12), 0), layout) },
		"year":   func() int { return w.dated.Year() - 1 },
		"amount": w.amount, "nominal": w.nominal,
		"dollars": func() string { return "$" + grouped((1+w.r.IntN(300000))*100+w.r.IntN(2)*50) },
		"other":   func() string { return fmt.Sprint(1 + w.r.IntN(3000)) },
		"serial":  func() string { return fmt.Sprint(1000000 + w.r.IntN(8999999)) },
		"initials": func() string {
			return string([]byte{byte('A' + w.r.IntN(26)), byte('A' + w.r.IntN(26))})
		},
		"county": func() string { w.set("county", w.county); return w.county }, "state": func() string { return w.state },
		"instate": func(name string) string { w.set("state", name); return name }, "trusteename": func() string { return pick(w.r, trustees) },
		"city":    func() string { return pick(w.r, cities) },
		"address": w.address, "person": func() string { return w.person(false) }, "bank": func() string { return pick(w.r, banks) },
		"parcel": func() string { return w.number("parcels", w.parcelNumber()) },
		"lot": func() string {
			return w.number("lot", pick(w.r, []string{fmt.Sprint(1 + w.r.IntN(240)), fmt.Sprintf("%d%c", 1+w.r.IntN(40), 'A'+w.r.IntN(3))}))
		},
		"square": func() string {
			return w.number("block", pick(w.r, []string{fmt.Sprint(1 + w.r.IntN(30)), string(rune('A' + w.r.IntN(8)))}))
		},
		"subdivision": func() string { w.set("subdivision", pick(w.r, subdivisions)); return w.fields["subdivision"][0] },
		"grantors":    func(style ...string) string { return w.parties("grantors", style...) },
		"grantees":    func(style ...string) string { return w.parties("grantees", style...) },
		"block2":      w.partyBlock, "again": w.again, "again2": func(field string) string { return strings.Join(w.peek(field), " and ") },
		"sellers": func() string { return w.parties("grantors") }, "buyers": func() string { return w.parties("grantees") },
		"plaintiff":      func() string { return w.company("grantees", pick(w.r, slices.Concat(banks, companies))) },
		"claimant":       func() string { return w.company("grantees", pick(w.r, companies)) },
		"utility":        func() string { return w.company("grantees", pick(w.r, utilities)) },
		"lender":         func() string { return w.company("grantees", pick(w.r, banks)) },
		"releasor":       func() string { return w.company("grantors", pick(w.r, banks)) },
		"assignor":       func() string { return w.company("grantors", pick(w.r, banks)) },
		"trusteeGrantor": func() string { return w.company("grantors", pick(w.r, trustees)) },
		"declarant":      func() string { return w.company("grantors", pick(w.r, companies)) + ", a limited liability company" },
		"defendant":      func() string { return w.parties("grantors", "plain") },
		"owner":          func() string { return w.parties("grantors", "plain") },
		"affiant":        func() string { return w.parties("grantors", "one") },
		"taxpayer":       func() string { return w.parties("grantors", "plain") },
		"fiduciary":      w.fiduciary, "mersas": w.nominee,
		"trustee": func() string { return w.company("trustee", pick(w.r, trustees)) },
		"mers":    func() string { w.set("nominee", "Mortgage Electronic Registration Systems, Inc."); return "" },
	}
}

// columns prints two columns beside each other or, as OCR also reads them, one after the other.
func (w *writer) columns(left, right string) string {
	if !w.merge {
		return right + "\n\n" + left
	}
	l, r := strings.Split(left, "\n"), strings.Split(right, "\n")
	var b strings.Builder
	for n := range max(len(l), len(r)) {
		var one, two string
		if n < len(l) {
			one = l[n]
		}
		if n < len(r) {
			two = r[n]
		}
		fmt.Fprintf(&b, "%-*s%s\n", 40+w.r.IntN(4), one, two)
	}
	return b.String()
}

func (w *writer) number(field, value string) string {
	if w.fields[field] == nil {
		w.set(field, value)
	}
	return w.fields[field][0]
}

func (w *writer) instrumentNumber() string {
	year, n := w.recorded.Year(), w.r.IntN(900000)
	return pick(w.r, []string{fmt.Sprintf("%d%07d", year, n), fmt.Sprintf("%d-%07d", year, n), fmt.Sprintf("%d%02d%02d%05d", year,
		w.recorded.Month(), w.recorded.Day(), n%100000), fmt.Sprint(1000000 + n), fmt.Sprintf("%02d-%06d", year%100, n)})
}

func (w *writer) parcelNumber() string {
	d := func(digits int) string {
		s := ""
		for range digits {
			s += fmt.Sprint(w.r.IntN(10))
		}
		return s
	}
	return pick(w.r, []string{d(2) + "-" + d(4) + "-" + d(3), d(3) + "-" + d(3) + "-" + d(2),
		d(2) + "-" + d(4) + "-" + string(rune('A'+w.r.IntN(6))) + "-" + d(3) + "." + d(2),
		d(10), d(2) + "-" + d(2) + "-" + d(3) + "-" + d(3) + "-" + d(4), "R" + d(6), d(3) + "." + d(2) + "-" + d(2) + "-" + d(3),
		d(4) + " " + d(3) + " " + d(3)})
}

// clock prints the time of recording. The value has seconds if the text has them.
func (w *writer) clock(layout string) string {
	layout = strings.Replace(layout, "03:04P", "03:04PM", 1)
	layout = strings.Replace(layout, "PMM", "PM", 1)
	stored := "15:04"
	if strings.Contains(layout, ":05") {
		stored = time.TimeOnly
	}
	w.set("recorded_time", w.recorded.Format(stored))
	return w.recorded.Format(layout)
}

// format formats a date. In a layout, "2nd" is the day as an ordinal number.
func format(at time.Time, layout string) string {
	text := at.Format(strings.Replace(layout, "2nd", "\x01", 1))
	suffix := "th"
	if day := at.Day(); day < 10 || day > 20 {
		switch day % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strings.Replace(text, "\x01", fmt.Sprint(at.Day())+suffix, 1)
}

// again prints a field once more, for example the names above which the parties sign.
func (w *writer) again(field, prefix string) string {
	switch field {
	case "dated":
		return format(w.dated, prefix)
	case "recorded":
		return strings.ToUpper(format(w.recorded, prefix))
	}
	var b strings.Builder
	for n, name := range w.fields[field] {
		name, _, _ = strings.Cut(name, "|")
		if w.capitals {
			name = strings.ToUpper(name)
		}
		if prefix == " " {
			if n > 0 {
				b.WriteString(" and ")
			}
			b.WriteString(name)
			continue
		}
		b.WriteString(prefix + name + "\n")
	}
	return b.String()
}
