package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// splitOwners returns the people in an owner field, such as "John and Mary Quill" or "Quill, John and
// Mary; Sam Poe". A first name alone gets the last name that follows, or that of the person before.
func splitOwners(text string) (owners []string) {
	for _, part := range model.SplitNames(text) {
		people := strings.SplitN(strings.NewReplacer(" and ", "&", " AND ", "&").Replace(part), "&", maxPriorNames+1)
		people = people[:min(len(people), maxPriorNames)]
		before := "" // last name of the person before if it is written first
		for n, person := range people {
			person = strings.TrimSpace(person)
			last, _, inverted := cutInverted(person)
			switch {
			case inverted:
				before = last
			case before != "" && (isFirstName(person) || isGivenNames(withoutSuffix(person))):
				person = before + ", " + person
			case n < len(people)-1 && isFirstName(person):
				person += " " + lastName(people[len(people)-1])
			}
			owners = append(owners, person)
		}
	}
	return owners
}

// isFirstName reports whether a name is a single word, besides initials.
func isFirstName(name string) bool {
	return !strings.Contains(name, ",") && len(longWords(name)) == 1
}

// isGivenNames reports whether a name consists of common first names, such as "Mary Ann".
func isGivenNames(name string) bool {
	return !slices.ContainsFunc(longWords(name), func(word string) bool { return !extract.IsGivenName(word) })
}

// lastName returns the last name in a name such as "Mary Quill Jr." or "Quill, Mary".
func lastName(name string) string {
	name, _, _ = strings.Cut(name, ",")
	words := strings.Fields(name)
	if end := len(words) - 1; end > 1 && extract.IsNameSuffix(words[end]) {
		words = words[:end]
	}
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// longWords returns the words of a name, in lower case, without single letters.
func longWords(name string) []string {
	words := strings.Fields(model.NormalizeText(name))
	return slices.DeleteFunc(words, func(word string) bool { return utf8.RuneCountInString(word) == 1 })
}

// nameKey returns the words of a name without single letters. It is "" for a single word, which is in
// too many names.
func nameKey(name string) string {
	words := longWords(name)
	if len(words) < 2 {
		return ""
	}
	return strings.Join(words, " ")
}

// withoutSuffix returns a name without what follows it after a comma: "Acme" for "Acme, LLC".
func withoutSuffix(name string) string {
	for {
		comma := strings.LastIndexByte(name, ',')
		if comma < 0 || !extract.IsNameSuffix(name[comma+1:]) {
			return name
		}
		name = name[:comma]
	}
}

// cutInverted returns the last name and the first names of a name such as "Quill, Ada B., Jr.". ok is
// false for a name in another order, such as "Acme, LLC".
func cutInverted(name string) (last, first string, ok bool) {
	last, first, ok = strings.Cut(withoutSuffix(name), ",")
	last, first = strings.TrimSpace(last), strings.TrimSpace(first)
	return last, first, ok && first != "" && !strings.Contains(last, " ") && !strings.Contains(first, ",")
}

// spokenName returns a name as documents write it: "Ada B. Quill, Jr." for "Quill, Ada B., Jr.".
func spokenName(name string) string {
	last, first, ok := cutInverted(name)
	if !ok {
		return name
	}
	return first + " " + last + name[len(withoutSuffix(name)):]
}

// namesOwner reports whether a hit names the party of a clue as owner or borrower. Lenders, trustees, and
// plaintiffs have many properties in common. The text of a document counts unless all of its instruments name
// the party only as one of these.
func (f *priorFinder) namesOwner(t *store.Tx, c clue, hit Hit) (bool, error) {
	switch {
	case c.Reason.Kind == SameParty:
		return isOwner(c.Reason.Value, hit.owners, hit.others), nil
	case c.Reason.Kind != SameName:
		return true, nil
	}
	instruments, err := t.InstrumentsOfFile(hit.ID)
	linked := false
	for _, i := range instruments {
		if i.Trashed != nil {
			continue
		}
		documentType, _ := f.types.ByID(i.TypeID)
		owners, others := documentType.SplitInstrument(i)
		if isOwner(c.Reason.Value, owners, others) {
			return true, nil
		}
		linked = true
	}
	return !linked, err
}

// isOwner reports whether a name is that of an owner, or at least not that of another party. The index also
// finds spellings that aren't compared here.
func isOwner(name string, owners, others []string) bool {
	words := strings.Fields(nameKey(name))
	has := func(party string) bool {
		parts := longWords(party)
		return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(parts, word) })
	}
	return slices.ContainsFunc(owners, has) || !slices.ContainsFunc(others, has)
}
