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

	"golang.org/x/net/html"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/web"
)

// mergePairs is the number of random pairs of edits that are merged.
const mergePairs = 1000

// meaning is a value of a field in its spellings: stored by API clients, and entered in a form.
type meaning struct {
	stored []string // JSON; "" for no value
	typed  []string // content of the control; the checked boxes of a multiselect
}

// meanings are the test values by type of field. The first is blank.
var meanings = map[model.FieldType][]meaning{
	model.Text:        {{[]string{""}, []string{""}}, {[]string{`"Greene"`, `"Gre\nene"`, `"Gre\u202eene"`}, []string{"Greene"}}, {[]string{`"<b>&amp;\"' x"`}, []string{`<b>&amp;"' x`}}},
	model.Paragraph:   {{[]string{""}, []string{""}}, {[]string{`"one\r\ntwo"`, `"one\ntwo"`, `"one\rtwo"`}, []string{"one\ntwo"}}, {[]string{`"\n three "`}, []string{"\n three "}}},
	model.Date:        {{[]string{""}, []string{""}}, {[]string{`"2026-03-14"`}, []string{"2026-03-14"}}, {[]string{`"1899-12-01"`}, []string{"1899-12-01"}}},
	model.Dropdown:    {{[]string{""}, []string{""}}, {[]string{`"A"`}, []string{"A"}}, {[]string{`"B  C"`}, []string{"B  C"}}},
	model.Multiselect: {{[]string{""}, nil}, {[]string{`["X"]`}, []string{"X"}}, {[]string{`["X","Z"]`, `["Z","X"]`}, []string{"X", "Z"}}},
	model.Number:      {{[]string{""}, []string{""}}, {[]string{`387500`, `"387500"`}, []string{"387500", "387,500", "$387,500"}}, {[]string{`-1.50`, `"-1.50"`}, []string{"-1.50"}}},
	model.Checkbox:    {{[]string{""}, nil}, {[]string{`true`}, nil}, {[]string{`false`}, nil}},
	model.Money:       {{[]string{""}, []string{""}}, {[]string{`"387500.00"`}, []string{"387500", "$387,500.00", "387,500.0"}}, {[]string{`"0.05"`}, []string{".05", "$0.05"}}},
	model.Email:       {{[]string{""}, []string{""}}, {[]string{`"a@b.co"`}, []string{"a@b.co", " a@b.co "}}, {[]string{`"ä@bücher.example"`}, []string{"ä@bücher.example"}}},
	model.Phone:       {{[]string{""}, []string{""}}, {[]string{`"(985) 555-0142"`}, []string{"(985) 555-0142", "(985)  555-0142 "}}, {[]string{`"+1 985.555.0142 x7"`}, []string{"+1 985.555.0142 x7"}}},
	model.URL:         {{[]string{""}, []string{""}}, {[]string{`"https://a.b/?c=d&e=\"f\""`}, []string{`https://a.b/?c=d&e="f"`}}, {[]string{`"http://gis01/ü"`}, []string{"http://gis01/ü"}}},
}

var mergeFields = []model.Field{
	{Key: "line", Label: "Line", Type: model.Text}, {Key: "long", Label: "Long", Type: model.Paragraph}, {Key: "day", Label: "Day", Type: model.Date},
	{Key: "few", Label: "Few", Type: model.Dropdown, Options: []string{"A", "B  C"}},
	{Key: "many", Label: "Many", Type: model.Dropdown, Options: []string{"1", "2", "3", "A", "B  C"}},
	{Key: "several", Label: "Several", Type: model.Multiselect, Options: []string{"X", "Y", "Z"}},
	{Key: "amount", Label: "Amount", Type: model.Number}, {Key: "yes", Label: "Yes", Type: model.Checkbox},
	{Key: "fee", Label: "Fee", Type: model.Money}, {Key: "mail", Label: "Mail", Type: model.Email}, {Key: "phone", Label: "Phone", Type: model.Phone}, {Key: "web", Label: "Web", Type: model.URL},
}

// mergeRecord is an abstract or an order that two users edit.
type mergeRecord interface {
	groups() []fieldGroup
	changed(sent map[string][]string) (mergeRecord, errs.Fields)
	text(field string) string // the stored JSON; "" for no value
}

type mergeAbstract struct{ model.Abstract }

func (a mergeAbstract) groups() []fieldGroup {
	return abstractGroups(a.Abstract, model.Template{Name: "Every type", Fields: mergeFields})
}

func (a mergeAbstract) changed(sent map[string][]string) (mergeRecord, errs.Fields) {
	now, rejected := abstractPatch(mergeFields, sent).Check(a.Abstract, &model.Template{Fields: mergeFields}, model.Rules{})
	return mergeAbstract{now}, rejected
}

func (a mergeAbstract) text(field string) string {
	return storedText(field, map[string]string{"address": a.Address, "city": a.City, "county": a.County, "state": a.State, "tax_map": a.TaxMap}, a.Custom)
}

type mergeOrder struct{ model.Order }

func (o mergeOrder) groups() []fieldGroup { return orderGroups(o.Order, mergeFields) }

func (o mergeOrder) changed(sent map[string][]string) (mergeRecord, errs.Fields) {
	now, rejected := orderPatch(mergeFields, sent).Check(o.Order, nil, mergeFields, model.Rules{})
	return mergeOrder{now}, rejected
}

func (o mergeOrder) text(field string) string {
	return storedText(field, map[string]string{"order_number": o.Number, "due_date": o.DueDate, "address": o.Address, "city": o.City, "county": o.County, "state": o.State}, o.Custom)
}

func storedText(field string, core map[string]string, custom model.Values) string {
	if key, is := strings.CutPrefix(field, "custom_fields."); is {
		return string(custom[key])
	}
	if core[field] == "" {
		return ""
	}
	return string(page.EncodeJSON(core[field]))
}

// drawn returns a random record. Each field is blank half of the time.
func drawn(random *rand.Rand, order bool) mergeRecord {
	value := func(kind model.FieldType) string {
		if random.IntN(2) == 0 {
			return ""
		}
		of := meanings[kind]
		return pickOne(random, of[1+random.IntN(len(of)-1)].stored)
	}
	line := func(kind model.FieldType) string {
		var text string
		if raw := value(kind); raw != "" && json.Unmarshal([]byte(raw), &text) != nil {
			panic(raw)
		}
		return text
	}
	custom := model.Values{}
	for _, def := range mergeFields {
		if raw := value(def.Type); raw != "" {
			custom[def.Key] = json.RawMessage(raw)
		}
	}
	place := model.Property{Address: line(model.Text), City: line(model.Text), County: line(model.Text), State: line(model.Text)}
	if order {
		return mergeOrder{model.Order{Number: "26-1", DueDate: line(model.Date), Property: place, Custom: custom}}
	}
	return mergeAbstract{model.Abstract{Property: place, TaxMap: line(model.Text), Custom: custom}}
}

func pickOne[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// control is a control of a form.
type control struct {
	name, kind, value string
	checked           bool
}

// browser is a form in a browser.
type browser struct{ controls []*control }

// opened parses the controls of a page as a browser does.
func opened(t *testing.T, page []byte) *browser {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatalf("html.Parse: %v", err)
	}
	b := &browser{}
	for n := range root.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
		}
		_, checked := at["checked"]
		switch n.Data {
		case "input":
			value, kind := at["value"], at["type"]
			if kind == "" {
				value = strings.NewReplacer("\r", "", "\n", "").Replace(value)
			}
			b.controls = append(b.controls, &control{at["name"], kind, value, checked})
		case "textarea":
			text := ""
			if n.FirstChild != nil {
				text = n.FirstChild.Data
			}
			b.controls = append(b.controls, &control{name: at["name"], kind: "textarea", value: text})
		case "select":
			c := &control{name: at["name"], kind: "select"}
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

// copied returns a copy of the form in another browser.
func (b *browser) copied() *browser {
	other := &browser{}
	for _, c := range b.controls {
		one := *c
		other.controls = append(other.controls, &one)
	}
	return other
}

// enter fills in a field as a user does. It reports whether the form allows that value: a checkbox
// can't be set to blank.
func (b *browser) enter(random *rand.Rand, field string, kind model.FieldType, of int) bool {
	m := meanings[kind][of]
	wasBlank := b.hidden(field) == ""
	if kind == model.Checkbox && (of == 0 && !wasBlank || of == 2 && wasBlank) {
		return false
	}
	for _, c := range b.controls {
		if c.name != field {
			continue
		}
		switch c.kind {
		case "hidden":
		case "radio":
			c.checked = c.value == m.typed[0]
		case "checkbox":
			c.checked = kind == model.Checkbox && of == 1 || slices.Contains(m.typed, c.value)
		default:
			c.value = pickOne(random, m.typed)
		}
	}
	return true
}

func (b *browser) hidden(field string) string {
	for _, c := range b.controls {
		if c.name == field && c.kind == "hidden" {
			return c.value
		}
	}
	return ""
}

// pick chooses one of the two values of a field in conflict.
func (b *browser) pick(field, which string) {
	for _, c := range b.controls {
		if c.name == "pick."+field {
			c.checked = c.value == which
		}
	}
}

// sent returns the submitted form.
func (b *browser) sent(t *testing.T) url.Values {
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

// editors are two users who edit a group of a record.
type editors struct {
	t      *testing.T
	set    *template.Template
	random *rand.Rand
	print  page.FingerprintFunc
	wrong  []string
}

func (e *editors) fail(format string, args ...any) {
	e.wrong = append(e.wrong, fmt.Sprintf(format, args...))
}

func (e *editors) group(r mergeRecord, name string) fieldGroup {
	for _, g := range r.groups() {
		if g.Name == name {
			g.Path = "/x"
			g.setFingerprints(e.print)
			return g
		}
	}
	e.t.Fatalf("there is no group %q", name)
	return fieldGroup{}
}

func (e *editors) open(g fieldGroup) *browser {
	e.t.Helper()
	var b bytes.Buffer
	if err := e.set.ExecuteTemplate(&b, "group-form", g); err != nil {
		e.t.Fatalf("ExecuteTemplate: %v", err)
	}
	return opened(e.t, page.StripBidi(b.Bytes()))
}

// edit fills in some of the fields and returns the indexes of the meanings by field.
func (e *editors) edit(b *browser, g fieldGroup) map[string]int {
	done := map[string]int{}
	for _, in := range g.Fields {
		of := e.random.IntN(len(meanings[in.Type]))
		if e.random.IntN(3) == 0 && in.Name != "order_number" && b.enter(e.random, in.Name, in.Type, of) {
			done[in.Name] = of
		}
	}
	return done
}

// is returns the index of the stored value's meaning, -1 if it has none of them.
func (e *editors) is(r mergeRecord, in page.Input) int {
	return slices.IndexFunc(meanings[in.Type], func(m meaning) bool {
		spelled := slices.Clone(m.stored)
		if in.Type == model.Text || in.Type == model.Paragraph {
			for _, text := range m.typed {
				spelled = append(spelled, string(page.EncodeJSON(text)))
			}
		}
		return slices.ContainsFunc(spelled, func(s string) bool { return decoded(s) == decoded(r.text(in.Name)) })
	})
}

// decoded normalizes the spelling of JSON.
func decoded(raw string) string {
	var value any
	if raw == "" || json.Unmarshal([]byte(raw), &value) != nil {
		return raw
	}
	return fmt.Sprintf("%#v", value)
}

func (e *editors) save(r mergeRecord, m mergedForm) mergeRecord {
	now, rejected := r.changed(m.changes)
	if len(rejected) > 0 {
		e.t.Fatalf("refused: %v", rejected)
	}
	return now
}

// pair makes two users edit a group at the same time, and checks each field.
func (e *editors) pair(base mergeRecord, name string) {
	g := e.group(base, name)
	first := e.open(g)
	second := first.copied()
	one := e.edit(first, g)
	m := mergeForm(e.group(base, name), first.sent(e.t), e.print)
	if m.conflict {
		e.fail("a form alone is in conflict")
	}
	now := e.save(base, m)
	for _, in := range g.Fields {
		if of, edited := one[in.Name]; !edited && now.text(in.Name) != base.text(in.Name) || edited && e.is(now, in) != of {
			e.fail("first %s (%s): %q became %q", in.Name, in.Type, base.text(in.Name), now.text(in.Name))
		}
	}
	two := e.edit(second, g)
	m = mergeForm(e.group(now, name), second.sent(e.t), e.print)
	picked := map[string]string{}
	for i, in := range g.Fields {
		of, edited := two[in.Name]
		was, is := e.is(base, in), e.is(now, in)
		if want := edited && of != was && is != was && of != is; m.group.Fields[i].Clash != want {
			e.fail("%s (%s): conflict is %t, want %t; it was %q, is %q", in.Name, in.Type, !want, want, base.text(in.Name), now.text(in.Name))
		}
		if m.group.Fields[i].Clash {
			picked[in.Name] = pickOne(e.random, []string{"mine", pickTheirs})
		}
	}
	if m.conflict {
		again := e.open(m.group)
		for field, which := range picked {
			again.pick(field, which)
		}
		if m = mergeForm(e.group(now, name), again.sent(e.t), e.print); m.conflict {
			e.fail("a conflict is not settled by choosing")
		}
	}
	e.check(base, now, e.save(now, m), g, two, picked)
}

// check compares each field after the second save with the expected value.
func (e *editors) check(base, now, after mergeRecord, g fieldGroup, two map[string]int, picked map[string]string) {
	for _, in := range g.Fields {
		of, edited := two[in.Name]
		if !edited || of == e.is(base, in) || picked[in.Name] == pickTheirs {
			if after.text(in.Name) != now.text(in.Name) {
				e.fail("%s (%s): the second, who left it alone, made %q of %q", in.Name, in.Type, after.text(in.Name), now.text(in.Name))
			}
		} else if e.is(after, in) != of {
			e.fail("%s (%s): the second entered %q, and %q is stored", in.Name, in.Type, meanings[in.Type][of].typed, after.text(in.Name))
		}
	}
}

// mergeAll merges random pairs of edits and returns the failures.
func mergeAll(t *testing.T, by page.FingerprintFunc, pairs int) []string {
	t.Helper()
	functions := template.FuncMap{"icon": func(string) string { return "" }, "date": page.FormatDate}
	set := template.Must(template.New("").Funcs(functions).ParseFS(web.Pages(), "part_field.html", "part_group.html"))
	e := &editors{t: t, set: set, print: by, random: rand.New(rand.NewPCG(1, 2))} // #nosec G404 -- a test that is the same each time
	for n := range 2 * pairs {
		base := drawn(e.random, n%2 == 0)
		names := []string{}
		for _, g := range base.groups() {
			names = append(names, g.Name)
		}
		if e.pair(base, pickOne(e.random, names)); len(e.wrong) > 0 {
			return e.wrong
		}
	}
	return nil
}

// When two users edit the same group, neither loses or erases the other's values, whatever the
// types of the fields and whether they were blank before. The same pairs detect a fingerprint that
// confuses blank with another value.
func TestTwoEditors(t *testing.T) {
	t.Parallel()
	for _, problem := range mergeAll(t, page.Fingerprint, mergePairs) {
		t.Error(problem)
	}
	for name, mutant := range map[string]page.FingerprintFunc{
		"takes an absent value for another than a blank one": func(kind model.FieldType, values []string) string {
			return fmt.Sprint(values == nil, page.Fingerprint(kind, values))
		},
		"compares what is stored with what a browser sends, byte by byte": func(_ model.FieldType, values []string) string {
			sum := sha256.Sum256(page.EncodeJSON(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })))
			return hex.EncodeToString(sum[:6])
		},
	} {
		if wrong := mergeAll(t, mutant, mergePairs); len(wrong) == 0 {
			t.Errorf("a fingerprint that %s is not noticed", name)
		}
	}
}
