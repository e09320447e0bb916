package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/web"
)

// mergePairs is the number of random pairs of edits to merge for each record type.
const mergePairs = 1000

// fieldValue is a value, with the ways in which API clients may store it and users may enter it.
type fieldValue struct {
	storedAs []string // JSON; "" means no value
	typedAs  []string // contents of the control; for a multiselect, the selected options
}

// fieldValues contains test values for each field type. The first value of each type is blank.
var fieldValues = map[model.FieldType][]fieldValue{
	model.Text: {{[]string{""}, []string{""}}, {[]string{`"Greene"`, `"Gre\nene"`, `"Gre\u202eene"`}, []string{"Greene"}},
		{[]string{`"<b>&amp;\"' x"`}, []string{`<b>&amp;"' x`}}},
	model.Paragraph: {{[]string{""}, []string{""}}, {[]string{`"one\r\ntwo"`, `"one\ntwo"`, `"one\rtwo"`}, []string{"one\ntwo"}},
		{[]string{`"\n three "`}, []string{"\n three "}}},
	model.Date: {{[]string{""}, []string{""}}, {[]string{`"2026-03-14"`}, []string{"2026-03-14"}},
		{[]string{`"1899-12-01"`}, []string{"1899-12-01"}}},
	model.Dropdown:    {{[]string{""}, []string{""}}, {[]string{`"A"`}, []string{"A"}}, {[]string{`"B  C"`}, []string{"B  C"}}},
	model.Multiselect: {{[]string{""}, nil}, {[]string{`["X"]`}, []string{"X"}}, {[]string{`["X","Z"]`, `["Z","X"]`}, []string{"X", "Z"}}},
	model.Number: {{[]string{""}, []string{""}}, {[]string{`387500`, `"387500"`}, []string{"387500", "387,500", "$387,500"}},
		{[]string{`-1.50`, `"-1.50"`}, []string{"-1.50"}}},
	model.Checkbox: {{[]string{""}, nil}, {[]string{`true`}, nil}, {[]string{`false`}, nil}},
	model.Money: {{[]string{""}, []string{""}}, {[]string{`"387500.00"`}, []string{"387500", "$387,500.00", "387,500.0"}},
		{[]string{`"0.05"`}, []string{".05", "$0.05"}}},
	model.Email: {{[]string{""}, []string{""}}, {[]string{`"a@b.co"`}, []string{"a@b.co", " a@b.co "}},
		{[]string{`"ä@bücher.example"`}, []string{"ä@bücher.example"}}},
	model.Phone: {{[]string{""}, []string{""}}, {[]string{`"(985) 555-0142"`}, []string{"(985) 555-0142", "(985)  555-0142 "}},
		{[]string{`"+1 985.555.0142 x7"`}, []string{"+1 985.555.0142 x7"}}},
	model.URL: {{[]string{""}, []string{""}}, {[]string{`"https://a.b/?c=d&e=\"f\""`}, []string{`https://a.b/?c=d&e="f"`}},
		{[]string{`"http://gis01/ü"`}, []string{"http://gis01/ü"}}},
}

var mergeFields = []model.Field{
	{Key: "line", Label: "Line", Type: model.Text}, {Key: "long", Label: "Long", Type: model.Paragraph},
	{Key: "day", Label: "Day", Type: model.Date},
	{Key: "few", Label: "Few", Type: model.Dropdown, Options: []string{"A", "B  C"}},
	{Key: "many", Label: "Many", Type: model.Dropdown, Options: []string{"1", "2", "3", "A", "B  C"}},
	{Key: "several", Label: "Several", Type: model.Multiselect, Options: []string{"X", "Y", "Z"}},
	{Key: "amount", Label: "Amount", Type: model.Number}, {Key: "yes", Label: "Yes", Type: model.Checkbox},
	{Key: "fee", Label: "Fee", Type: model.Money}, {Key: "mail", Label: "Mail", Type: model.Email},
	{Key: "phone", Label: "Phone", Type: model.Phone}, {Key: "web", Label: "Web", Type: model.URL},
}

// mergeRecord is an abstract or order that two users edit.
type mergeRecord interface {
	groups() []fieldGroup
	apply(sent map[string][]string) (mergeRecord, errs.Fields)
	storedJSON(field string) string // JSON of the field's value; "" if there is none
}

type mergeAbstract struct{ model.Abstract }

func (a mergeAbstract) groups() []fieldGroup {
	return abstractGroups(a.Abstract, model.Template{Name: "Every type", Fields: mergeFields}, nil)
}

func (a mergeAbstract) apply(sent map[string][]string) (mergeRecord, errs.Fields) {
	now, rejected := abstractPatch(mergeFields, sent, time.Now()).Check(a.Abstract, &model.Template{Fields: mergeFields}, model.Rules{})
	return mergeAbstract{now}, rejected
}

func (a mergeAbstract) storedJSON(field string) string {
	return storedField(field, map[string]string{"address": a.Address, "city": a.City, "county": a.County, "state": a.State,
		"tax_map": a.TaxMap}, a.Custom)
}

type mergeOrder struct{ model.Order }

func (o mergeOrder) groups() []fieldGroup { return orderGroups(o.Order, mergeFields) }

func (o mergeOrder) apply(sent map[string][]string) (mergeRecord, errs.Fields) {
	now, rejected := orderPatch(mergeFields, sent, time.Now()).Check(o.Order, nil, mergeFields, model.Rules{}, nil)
	return mergeOrder{now}, rejected
}

func (o mergeOrder) storedJSON(field string) string {
	return storedField(field, map[string]string{"order_number": o.Number, "due_date": o.DueDate, "address": o.Address,
		"city": o.City, "county": o.County, "state": o.State}, o.Custom)
}

func storedField(field string, core map[string]string, custom model.CustomValues) string {
	if key, is := strings.CutPrefix(field, "custom_fields."); is {
		return string(custom[key])
	}
	if core[field] == "" {
		return ""
	}
	return string(model.StringInput(core[field]).JSON())
}

// randomRecord returns an abstract or order with random values. Each field is blank half of the
// time.
func randomRecord(random *rand.Rand, order bool) mergeRecord {
	value := func(kind model.FieldType) string {
		if random.IntN(2) == 0 {
			return ""
		}
		values := fieldValues[kind]
		return pickOne(random, values[1+random.IntN(len(values)-1)].storedAs)
	}
	line := func(kind model.FieldType) string {
		var text string
		if raw := value(kind); raw != "" && json.Unmarshal([]byte(raw), &text) != nil {
			panic(raw)
		}
		return text
	}
	custom := model.CustomValues{}
	for _, def := range mergeFields {
		if raw := value(def.Type); raw != "" {
			custom[def.Key] = json.RawMessage(raw)
		}
	}
	property := model.Property{Address: line(model.Text), City: line(model.Text), County: line(model.Text), State: line(model.Text)}
	if order {
		return mergeOrder{model.Order{Number: "26-1", DueDate: line(model.Date), Property: property, Custom: custom}}
	}
	return mergeAbstract{model.Abstract{Property: property, TaxMap: line(model.Text), Custom: custom}}
}

func pickOne[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// control is a form control.
type control struct {
	name, kind, value string
	checked           bool
}

// browserForm simulates a form in a browser.
type browserForm struct{ controls []*control }

// parseForm parses the form controls in an HTML page like a browser.
func parseForm(t *testing.T, body []byte) *browserForm {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("html.Parse: %v", err)
	}
	b := &browserForm{}
	for n := range root.Descendants() {
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
		}
		_, checked := attrs["checked"]
		switch n.Data {
		case "input":
			value, kind := attrs["value"], attrs["type"]
			if kind == "" {
				value = strings.NewReplacer("\r", "", "\n", "").Replace(value)
			}
			b.controls = append(b.controls, &control{attrs["name"], kind, value, checked})
		case "textarea":
			text := ""
			if n.FirstChild != nil {
				text = n.FirstChild.Data
			}
			b.controls = append(b.controls, &control{name: attrs["name"], kind: "textarea", value: text})
		case "select":
			c := &control{name: attrs["name"], kind: "select"}
			for option := range n.Descendants() {
				for _, a := range option.Attr {
					if a.Key == "selected" {
						c.value = option.Attr[0].Val
					}
				}
			}
			b.controls = append(b.controls, c)
		}
	}
	return b
}

// clone returns a copy of the form, as if another browser had opened the same page.
func (b *browserForm) clone() *browserForm {
	other := &browserForm{}
	for _, c := range b.controls {
		controlCopy := *c
		other.controls = append(other.controls, &controlCopy)
	}
	return other
}

// fill enters a value into a field like a user. It reports false if the form doesn't allow the
// value; for example, a checkbox can't be set to blank.
func (b *browserForm) fill(random *rand.Rand, field string, kind model.FieldType, index int) bool {
	value := fieldValues[kind][index]
	wasBlank := b.hidden(field) == ""
	if kind == model.Checkbox && (index == 0 && !wasBlank || index == 2 && wasBlank) {
		return false
	}
	for _, c := range b.controls {
		if c.name != field {
			continue
		}
		switch c.kind {
		case "hidden":
		case "radio":
			c.checked = c.value == value.typedAs[0]
		case "checkbox":
			c.checked = kind == model.Checkbox && index == 1 || slices.Contains(value.typedAs, c.value)
		default:
			c.value = pickOne(random, value.typedAs)
		}
	}
	return true
}

func (b *browserForm) hidden(field string) string {
	for _, c := range b.controls {
		if c.name == field && c.kind == "hidden" {
			return c.value
		}
	}
	return ""
}

// pick selects one of the two values of a field in conflict.
func (b *browserForm) pick(field, choice string) {
	for _, c := range b.controls {
		if c.name == "pick."+field {
			c.checked = c.value == choice
		}
	}
}

// submit returns the form data that a browser would submit.
func (b *browserForm) submit(t *testing.T) url.Values {
	t.Helper()
	values := url.Values{}
	for _, c := range b.controls {
		if (c.kind == "radio" || c.kind == "checkbox") && !c.checked {
			continue
		}
		values.Add(c.name, strings.ReplaceAll(strings.ReplaceAll(c.value, "\r\n", "\n"), "\n", "\r\n"))
	}
	form, err := url.ParseQuery(values.Encode())
	if err != nil {
		t.Fatalf("url.ParseQuery: %v", err)
	}
	return form
}

// editTest simulates two users who edit the same field group of a record.
type editTest struct {
	t           *testing.T
	set         *template.Template
	random      *rand.Rand
	fingerprint page.FingerprintFunc
	failures    []string
}

func (e *editTest) fail(format string, args ...any) {
	e.failures = append(e.failures, fmt.Sprintf(format, args...))
}

func (e *editTest) group(r mergeRecord, name string) fieldGroup {
	for _, g := range r.groups() {
		if g.Name == name {
			g.Path = "/x"
			g.setFingerprints(e.fingerprint)
			return g
		}
	}
	e.t.Fatalf("record has no group %q", name)
	return fieldGroup{}
}

func (e *editTest) open(g fieldGroup) *browserForm {
	e.t.Helper()
	var b bytes.Buffer
	if err := e.set.ExecuteTemplate(&b, "group-form", g); err != nil {
		e.t.Fatalf("ExecuteTemplate: %v", err)
	}
	return parseForm(e.t, page.StripBidi(b.Bytes()))
}

// edit fills in some fields. It returns the index in fieldValues of each field's new value.
func (e *editTest) edit(b *browserForm, g fieldGroup) map[string]int {
	edited := map[string]int{}
	for _, in := range g.Fields {
		index := e.random.IntN(len(fieldValues[in.Type]))
		if e.random.IntN(3) == 0 && in.Name != "order_number" && b.fill(e.random, in.Name, in.Type, index) {
			edited[in.Name] = index
		}
	}
	return edited
}

// valueIndex returns the index in fieldValues of the stored value, or -1 if it isn't there.
func (e *editTest) valueIndex(r mergeRecord, in page.Input) int {
	return slices.IndexFunc(fieldValues[in.Type], func(m fieldValue) bool {
		texts := slices.Clone(m.storedAs)
		if in.Type == model.Text || in.Type == model.Paragraph {
			for _, text := range m.typedAs {
				texts = append(texts, string(model.StringInput(text).JSON()))
			}
		}
		return slices.ContainsFunc(texts, func(s string) bool { return normalizeJSON(s) == normalizeJSON(r.storedJSON(in.Name)) })
	})
}

// normalizeJSON returns the normalized form of a JSON text.
func normalizeJSON(raw string) string {
	var value any
	if raw == "" || json.Unmarshal([]byte(raw), &value) != nil {
		return raw
	}
	return fmt.Sprintf("%#v", value)
}

func (e *editTest) save(r mergeRecord, m mergedForm) mergeRecord {
	now, rejected := r.apply(m.changes)
	if len(rejected) > 0 {
		e.t.Fatalf("apply: rejected fields %v, want none", rejected)
	}
	return now
}

// editConcurrently makes two users edit a field group at the same time and checks every field.
func (e *editTest) editConcurrently(base mergeRecord, name string) {
	g := e.group(base, name)
	first := e.open(g)
	second := first.clone()
	firstEdits := e.edit(first, g)
	m := mergeForm(e.group(base, name), first.submit(e.t), e.fingerprint, time.Now())
	if m.group.Conflict {
		e.fail("the first form is in conflict")
	}
	now := e.save(base, m)
	for _, in := range g.Fields {
		if index, edited := firstEdits[in.Name]; !edited && now.storedJSON(in.Name) != base.storedJSON(in.Name) || edited &&
			e.valueIndex(now, in) != index {
			e.fail("first user, %s (%s): %q became %q", in.Name, in.Type, base.storedJSON(in.Name), now.storedJSON(in.Name))
		}
	}
	secondEdits := e.edit(second, g)
	m = mergeForm(e.group(now, name), second.submit(e.t), e.fingerprint, time.Now())
	picked := map[string]string{}
	for i, in := range g.Fields {
		index, edited := secondEdits[in.Name]
		before, current := e.valueIndex(base, in), e.valueIndex(now, in)
		if want := edited && index != before && current != before && index != current; m.group.Fields[i].Clash != want {
			e.fail("%s (%s): conflict = %t, want %t; the value was %q, is %q", in.Name, in.Type, !want, want, base.storedJSON(in.Name),
				now.storedJSON(in.Name))
		}
		if m.group.Fields[i].Clash {
			picked[in.Name] = pickOne(e.random, []string{"mine", "theirs"})
		}
	}
	if m.group.Conflict {
		again := e.open(m.group)
		for field, choice := range picked {
			again.pick(field, choice)
		}
		if m = mergeForm(e.group(now, name), again.submit(e.t), e.fingerprint, time.Now()); m.group.Conflict {
			e.fail("the form is still in conflict after choosing values")
		}
	}
	e.check(base, now, e.save(now, m), g, secondEdits, picked)
}

// check checks that each field has the expected value after the second user saved.
func (e *editTest) check(base, now, after mergeRecord, g fieldGroup, secondEdits map[string]int, picked map[string]string) {
	for _, in := range g.Fields {
		index, edited := secondEdits[in.Name]
		if !edited || index == e.valueIndex(base, in) || picked[in.Name] == "theirs" {
			if after.storedJSON(in.Name) != now.storedJSON(in.Name) {
				e.fail("%s (%s): value = %q, want %q, which the second user didn't edit", in.Name, in.Type, after.storedJSON(in.Name),
					now.storedJSON(in.Name))
			}
		} else if e.valueIndex(after, in) != index {
			e.fail("%s (%s): the second user typed %q, but %q is stored", in.Name, in.Type, fieldValues[in.Type][index].typedAs,
				after.storedJSON(in.Name))
		}
	}
}

// mergeRandomEdits merges random pairs of edits and returns the failures of the first pair that
// fails.
func mergeRandomEdits(t *testing.T, by page.FingerprintFunc, pairs int) []string {
	t.Helper()
	functions := template.FuncMap{"icon": func(string) string { return "" }, "date": page.FormatDate, "plural": page.Plural}
	set := template.Must(template.New("").Funcs(functions).ParseFS(web.Pages(), "part-field.html", "part-group.html", "part-notice.html"))
	e := &editTest{t: t, set: set, fingerprint: by, random: rand.New(rand.NewPCG(1, 2))} // #nosec G404 -- a repeatable test needs a fixed seed
	for n := range 2 * pairs {
		base := randomRecord(e.random, n%2 == 0)
		names := []string{}
		for _, g := range base.groups() {
			names = append(names, g.Name)
		}
		if e.editConcurrently(base, pickOne(e.random, names)); len(e.failures) > 0 {
			return e.failures
		}
	}
	return nil
}

// When two users edit the same field group, neither user's changes are lost. This holds for all
// field types, even if a field was blank before. The same pairs must also detect a fingerprint
// function that confuses blank with another value.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	for _, problem := range mergeRandomEdits(t, page.Fingerprint, mergePairs) {
		t.Error(problem)
	}
	for name, mutant := range map[string]page.FingerprintFunc{
		"distinguishes missing from blank values": func(kind model.FieldType, values []string) string {
			return fmt.Sprint(values == nil, page.Fingerprint(kind, values))
		},
		"compares stored with submitted bytes": func(_ model.FieldType, values []string) string {
			sum := sha256.Sum256(model.StringsInput(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })).JSON())
			return hex.EncodeToString(sum[:6])
		},
	} {
		t.Run(name, func(t *testing.T) {
			if wrong := mergeRandomEdits(t, mutant, mergePairs); len(wrong) == 0 {
				t.Errorf("no failures with a fingerprint that %s, want some", name)
			}
		})
	}
}
