package phrases

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
)

// words returns the words of a text for comparisons.
func words(text string) []string { return strings.Fields(model.Fold(text)) }

// maxTyped is the maximum length of a text to find phrases by, in bytes. A name has at most 100 characters.
const maxTyped = 1000

// ByName returns the phrase with a name, ignoring case and repeated spaces.
func ByName(list []model.Phrase, name string) (model.Phrase, bool) {
	if len(name) > maxTyped {
		return model.Phrase{}, false
	}
	typed := words(name)
	n := slices.IndexFunc(list, func(p model.Phrase) bool { return slices.Equal(words(p.Name), typed) })
	if n < 0 {
		return model.Phrase{}, false
	}
	return list[n], true
}

// Find returns the phrases that have all words of a text, or words that start with them, in their name or text. A phrase
// with that name is the only one. Those with all words in their name come first.
func Find(list []model.Phrase, text string) (found []model.Phrase) {
	if phrase, ok := ByName(list, text); ok {
		return []model.Phrase{phrase}
	}
	if len(text) > maxTyped {
		return nil
	}
	typed := words(text)
	var others []model.Phrase
	for _, phrase := range list {
		switch {
		case len(typed) == 0:
		case hasAll(phrase.Name, typed):
			found = append(found, phrase)
		case hasAll(phrase.Name+" "+phrase.Text, typed):
			others = append(others, phrase)
		}
	}
	return append(found, others...)
}

// letters matches the words of a phrase without punctuation.
var letters = regexp.MustCompile(`[\pL\pN']+`)

func hasAll(text string, typed []string) bool {
	have := letters.FindAllString(model.Fold(text), -1)
	return !slices.ContainsFunc(typed, func(word string) bool {
		return !slices.ContainsFunc(have, func(w string) bool { return strings.HasPrefix(w, word) })
	})
}

// placeholder matches a placeholder, such as {book}.
var placeholder = regexp.MustCompile(`\{[^{}\n]{1,60}\}`)

// Blanks returns the placeholders of a text that aren't filled in, such as "{book}", each once.
func Blanks(text string) (blanks []string) {
	for _, blank := range placeholder.FindAllString(text, -1) {
		if !slices.Contains(blanks, blank) {
			blanks = append(blanks, blank)
		}
	}
	return blanks
}

// maxFilled is the maximum length of a text that is filled in, in bytes. A requirement can have as many characters.
const maxFilled = 65_535

// Fill returns a text with the placeholders filled in that an instrument of the given type has a value for. The others
// stay as they are, and so do those with which the text would be longer than a requirement can be.
func Fill(text string, i model.Instrument, t model.DocumentType) string {
	left := maxFilled - len(text)
	return placeholder.ReplaceAllStringFunc(text, func(blank string) string {
		if left < 0 {
			return blank
		}
		if value := valueOf(strings.Join(words(strings.ReplaceAll(blank[1:len(blank)-1], "_", " ")), " "), i, t); value != "" && len(value) <= left {
			left -= len(value)
			return value
		}
		return blank
	})
}

// aliases are placeholders for fields of instruments that have another name.
var aliases = map[string]string{
	"number": "instrument_number", "grantor": "grantors", "grantee": "grantees", "amount": "consideration", "parcel": "parcels",
	"parcel id": "parcels", "parcel ids": "parcels", "legal description": "legal", "date": "dated", "recording date": "recorded",
	"filed":     "recorded",
	"last page": "page_to", "expiration date": "expires",
}

// Placeholders returns placeholders that users know. Other fields of instruments have some, too.
func Placeholders() []string {
	return []string{"{type}", "{grantor}", "{grantee}", "{dated}", "{recorded}", "{reference}", "{book}", "{page}", "{instrument number}", "{amount}",
		"{trustee}", "{beneficiary}", "{decedent}", "{county}", "{state}", "{case number}", "{court}", "{parcel}", "{legal description}", "{expires}"}
}

// valueOf returns the value of a placeholder as the runsheet has it, or "". The name is a field of instruments, the label of
// a party of the type, such as mortgagor, or the role of another party, such as trustee.
func valueOf(name string, i model.Instrument, t model.DocumentType) string {
	switch name {
	case "type":
		return t.Name
	case "reference":
		return i.RecordingReference()
	}
	field := strings.ReplaceAll(name, " ", "_")
	if alias, ok := aliases[name]; ok {
		field = alias
	}
	if f, found := model.InstrumentFieldByName(field); found && f.Name != "status" && (f.Text != nil || f.List != nil) {
		return format(f, i)
	}
	var parties []string
	for _, party := range i.OtherParties {
		if slices.Equal(words(party.Role), words(name)) {
			parties = append(parties, party.Name)
		}
	}
	grantor, grantee := t.Parties()
	switch {
	case len(parties) > 0:
	case strings.Join(words(grantor.Label), " ") == name:
		parties = i.Grantors
	case strings.Join(words(grantee.Label), " ") == name:
		parties = i.Grantees
	}
	return joinNames(parties)
}

// joinNames joins names for a sentence: Ann Lee, Bea Lee, and Cy Lee. Names with commas are separated by semicolons.
func joinNames(names []string) string {
	separator := ", "
	if strings.Contains(strings.Join(names, ""), ",") {
		separator = "; "
	}
	switch n := len(names); n {
	case 0, 1:
		return strings.Join(names, "")
	case 2:
		return names[0] + " and " + names[1]
	default:
		return strings.Join(names[:n-1], separator) + separator + "and " + names[n-1]
	}
}

// format returns the value of a field of an instrument for a sentence.
func format(f model.InstrumentField, i model.Instrument) string {
	values := f.Values(&i)
	switch {
	case f.List != nil:
		return joinNames(values)
	case f.Name == "consideration" && len(values) == 0:
		return i.ConsiderationText
	case len(values) == 0:
		return ""
	case f.Type == model.Date:
		if day, err := time.Parse(time.DateOnly, values[0]); err == nil {
			return day.Format("January 2, 2006")
		}
	case f.Type == model.Money:
		return model.FormatAmount(f.Type, values[0])
	}
	return values[0]
}
