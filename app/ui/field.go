package ui

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// fewOptions is up to how many of them stand open as radio buttons.
const fewOptions = 4

// input is one field of a form as web/pages/part_field.html shows it: a control that
// fits its type, its label, and what is wrong with it.
type input struct {
	Name     string          // in the form, as in the API: county, custom_fields.search_type
	Label    string          // in words
	Type     model.FieldType // which control it gets
	Values   []string        // what stands in it: one, or several of a multiselect
	Options  []string        // of a dropdown or multiselect; also one that the field has lost since
	Required bool            // marked; whether it may stay empty is the vault's to say
	Problem  string          // why it was refused
	Hint     string
	Was      string // fingerprint of what the form shows; "" for none
	Clash    bool   // others changed it while the form was open, to another value
	Others   string // who did, and when
	Theirs   string // that value as people read it; "" for blank
	Lookup   string // the address of a part that says more about what is typed; "" for none
	Wide     bool   // takes the whole width
	Focus    bool   // begins here
	Fresh    bool   // of a record that is not made yet: nothing is missing
}

// ID is the element's, unique in a page with one form.
func (i input) ID() string { return strings.ReplaceAll(i.Name, ".", "-") }

// Value is what stands in a field of one value.
func (i input) Value() string {
	if len(i.Values) == 0 {
		return ""
	}
	return i.Values[0]
}

// Has reports whether an option is chosen.
func (i input) Has(option string) bool { return slices.Contains(i.Values, option) }

// Empty reports whether it has no value.
func (i input) Empty() bool {
	return !slices.ContainsFunc(i.Values, func(v string) bool { return v != "" })
}

// Missing reports a value that should be there.
func (i input) Missing() bool { return i.Required && i.Empty() && !i.Fresh }

// Radios reports a dropdown whose options all stand open.
func (i input) Radios() bool { return i.Type == model.Dropdown && len(i.Options) <= fewOptions }

// Grouped reports a field of several controls, which share a legend.
func (i input) Grouped() bool { return i.Radios() || i.Type == model.Multiselect }

// Described names the elements that say more about the field.
func (i input) Described() string {
	var ids []string
	for _, d := range []struct{ text, id string }{{i.Hint, "-hint"}, {i.Others, "-others"}, {i.Problem, "-problem"}} {
		if d.text != "" {
			ids = append(ids, i.ID()+d.id)
		}
	}
	return strings.Join(ids, " ")
}

// customName is the name of a custom field in a form.
func customName(key string) string { return "custom_fields." + key }

// newInput is a custom field with values that stand in it.
func newInput(def model.Field, values []string) input {
	in := input{Name: customName(def.Key), Label: def.Label, Type: def.Type, Values: values, Required: def.Required, Options: def.Options, Wide: def.Type == model.Paragraph || def.Type == model.Multiselect}
	in.offer(values)
	return in
}

// offer adds values to the options of a field that has options, where they are none.
func (i *input) offer(values []string) {
	for _, v := range values {
		if v != "" && i.Type.HasOptions() && !slices.Contains(i.Options, v) {
			i.Options = append(slices.Clone(i.Options), v)
		}
	}
}

// untouched is what a form sends of a field that no one edits in it: a control holds
// only what fits its type, whatever the type was when the value was stored.
func (i input) untouched() []string {
	switch i.Type {
	case model.Multiselect:
		return i.Values
	case model.Dropdown:
		for _, option := range slices.Backward(i.Options) {
			if i.Has(option) {
				return []string{option} // of several, the last one stays chosen
			}
		}
		return nil
	case model.Checkbox:
		if !i.Empty() && i.Value() != "true" {
			return []string{"false"}
		}
	case model.Date:
		if day, err := time.Parse(time.DateOnly, i.Value()); err != nil || day.Year() < 1 {
			return nil
		}
	}
	return []string{i.Value()}
}

// newLine is a field of one line that every record has.
func newLine(name, label, value string) input {
	return input{Name: name, Label: label, Type: model.Text, Values: []string{value}}
}

// stored are inputs of a definition set with the values of a record.
func stored(defs []model.Field, values model.Values) []input {
	list := make([]input, 0, len(defs))
	for _, def := range defs {
		list = append(list, newInput(def, texts(values[def.Key])))
	}
	return list
}

// typed are inputs with what a form holds, and what was refused of it.
func typed(defs []model.Field, form url.Values, refused map[string]string) []input {
	list := make([]input, 0, len(defs))
	for _, def := range defs {
		in := newInput(def, sentTexts(def.Type, form[customName(def.Key)]))
		in.Problem = spokenProblem(def.Type, refused[in.Name])
		list = append(list, in)
	}
	return list
}

// noDate is what is said of a text that is no date.
const noDate = "This is no date. Write it as month/day/year, like 3/14/2026."

// spokenProblem is the sentence of a refusal as people need it.
func spokenProblem(kind model.FieldType, sentence string) string {
	if sentence != "" && sentence != tooOld && kind == model.Date {
		return noDate
	}
	return sentence
}

// dateText spells a date as 2026-03-14 that people in the US write by hand, where a
// browser has no calendar for it; any other text stays as it is. A year has four
// digits: of two nobody knows the century of a deed.
func dateText(text string) string {
	text = strings.TrimSpace(text)
	for _, layout := range []string{"1/2/2006", "1-2-2006", "Jan 2, 2006", "January 2, 2006"} {
		if day, err := time.Parse(layout, text); err == nil {
			return day.Format(time.DateOnly)
		}
	}
	return text
}

// sentTexts are the values of a form's field; several controls of one name are led
// by an empty one, which says that the field was there.
func sentTexts(kind model.FieldType, sent []string) []string {
	if kind == model.Multiselect {
		return slices.DeleteFunc(slices.Clone(sent), func(v string) bool { return v == "" })
	}
	if len(sent) == 0 {
		return nil
	}
	text := plainText(sent[len(sent)-1])
	if kind == model.Date {
		text = dateText(text)
	}
	return []string{text}
}

// plainText is text as it stood in the page: a browser sends each end of a line as two
// characters.
func plainText(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// sentCustom reads the custom fields of a form; a field that is not in it was not
// sent.
func sentCustom(defs []model.Field, form url.Values) model.Custom {
	sent := map[string]json.RawMessage{}
	for _, def := range defs {
		if values, there := form[customName(def.Key)]; there {
			sent[def.Key] = rawOf(def.Type, sentTexts(def.Type, values))
		}
	}
	return model.Custom{Values: sent}
}

// rawOf is the JSON of what stands in a field; null for nothing.
func rawOf(kind model.FieldType, values []string) json.RawMessage {
	switch {
	case kind == model.Multiselect:
		return encoded(values)
	case len(values) == 0 || values[0] == "":
		return json.RawMessage("null")
	case kind == model.Checkbox && values[0] == "true":
		return json.RawMessage("true")
	case kind == model.Checkbox:
		return json.RawMessage("false")
	case kind == model.Money:
		return encoded(plainMoney(values[0])) // which is refused, if it is no amount
	case kind == model.Number && len(values) == 1:
		text := plainNumber(values[0])
		if number := json.RawMessage(text); json.Valid(number) && strings.ContainsAny(text[:1], "-0123456789") {
			return number
		}
		return encoded(values[0]) // which is refused, if it is no number
	}
	return encoded(values[0])
}

// plainNumber gives a number without what people write around its digits: a dollar
// sign, spaces, and commas between the thousands; any other text as it is.
func plainNumber(text string) string {
	text = strings.TrimSpace(text)
	m := writtenNumber.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, m[2])
	return m[1] + digits + m[3]
}

// Amount is a number, or an amount of money, with commas between its thousands.
func (i input) Amount() string { return amount(i.Type, i.Value()) }

// amount is Amount of a text; what is none stays as it is.
func amount(kind model.FieldType, text string) string {
	if kind != model.Money {
		return grouped(text)
	}
	plain := plainMoney(text)
	whole, cents, _ := strings.Cut(plain, ".")
	if amount, ok := model.NormalizeMoney(plain); !ok || amount != plain {
		return text
	}
	return "$" + commas(whole) + "." + cents
}

// plainMoney is an amount of money as it is stored, of any way in which people write one;
// any other text stays as it is.
func plainMoney(text string) string {
	if amount, ok := model.NormalizeMoney(plainNumber(text)); ok {
		return amount
	}
	return text
}

// Control is the type of the control of one line. In a control of a type of its own, a
// browser rewrites foreign letters and sends nothing that it finds fault with. A value
// that this could happen to gets a plain control.
func (i input) Control() string {
	kind, special := map[model.FieldType]string{model.Email: "email", model.Phone: "tel", model.URL: "url"}[i.Type]
	foreign := strings.ContainsFunc(i.Value(), func(r rune) bool { return r > unicode.MaxASCII }) || strings.Contains(strings.ToLower(i.Value()), "xn--")
	if !special || foreign || !i.Empty() && !i.Type.Accepts(i.Value()) {
		return "text"
	}
	return kind
}

// Link is the address that a value leads to; "" for none.
func (i input) Link() string {
	switch {
	case i.Type == model.URL && i.Type.Accepts(i.Value()):
		return i.Value()
	case i.Type == model.Email && i.Type.Accepts(i.Value()):
		return "mailto:" + i.Value()
	}
	return ""
}

// Keyboard is the one that a telephone shows for the field.
func (i input) Keyboard() string {
	switch i.Type {
	case model.Number, model.Money:
		return "decimal"
	case model.Phone:
		return "tel"
	}
	return string(i.Type)
}

// longNumber is a number that is hard to read without commas. A shorter one may be a
// year.
var longNumber = regexp.MustCompile(`^(-?)([0-9]{5,})(\.[0-9]+)?$`)

// grouped gives a number from 10,000 on with commas between its thousands; any other
// text as it is.
func grouped(text string) string {
	m := longNumber.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	return m[1] + commas(m[2]) + m[3]
}

// commas puts a comma between the thousands.
func commas(digits string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// writtenNumber is a number as people in the US write it: commas or spaces stand between
// groups of three digits, or nowhere.
var writtenNumber = regexp.MustCompile(`^(-?)[\s\xA0]*\$?[\s\xA0]*([0-9]{1,3}(?:[, \xA0][0-9]{3})+|[0-9]+)(?:(\.[0-9]+)|\.)?$`)

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // texts and lists of them always encode
	}
	return raw
}

// texts are the values that a stored custom field shows, whatever its type was when
// it was filled in; nil for none.
func texts(raw json.RawMessage) []string {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return []string{plainText(s)}
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			var all []string
			for _, one := range list {
				all = append(all, texts(one)...)
			}
			return all
		}
	}
	return []string{string(bytes.TrimSpace(raw))}
}

// shown is a stored value as people read it.
func shown(kind model.FieldType, values []string) string {
	switch {
	case len(values) == 0:
		return ""
	case kind == model.Date:
		return date(values[0])
	case (kind == model.Number || kind == model.Money) && len(values) == 1:
		return amount(kind, values[0])
	case kind == model.Checkbox && values[0] == "true":
		return "Yes"
	case kind == model.Checkbox && values[0] == "false":
		return "No"
	}
	return strings.Join(values, ", ")
}

// printer gives a short text for the values of a field.
type printer func(kind model.FieldType, values []string) string

// fingerprint tells two values of a field apart as far as a form can: a blank is a
// blank, however it is sent, and what a browser changes on the way is no change.
func fingerprint(kind model.FieldType, values []string) string {
	plain := make([]string, 0, len(values))
	for _, v := range values {
		v = string(legible([]byte(strings.ReplaceAll(plainText(v), "\r", "\n"))))
		if kind != model.Paragraph {
			v = strings.TrimSpace(strings.ReplaceAll(v, "\n", ""))
		}
		switch kind {
		case model.Number:
			v = plainNumber(v)
		case model.Money:
			v = plainMoney(v)
		case model.Phone:
			v = strings.Join(strings.Fields(v), " ")
		}
		if v != "" {
			plain = append(plain, v)
		}
	}
	if kind == model.Multiselect {
		slices.Sort(plain)
		plain = slices.Compact(plain)
	}
	sum := sha256.Sum256(encoded(plain))
	return hex.EncodeToString(sum[:6])
}

// remember notes in each field what the form shows. by is fingerprint.
func (g *fieldGroup) remember(by printer) {
	for i := range g.Fields {
		g.Fields[i].Was = by(g.Fields[i].Type, g.Fields[i].untouched())
	}
}
