package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// splitOwners returns the people in an owner field, such as "John and Mary Quill" or "Quill, John; Mary
// Quill". A first name alone gets the last name that follows.
func splitOwners(text string) []string {
	var owners []string
	for _, part := range model.SplitNames(text) {
		people := strings.SplitN(strings.NewReplacer(" and ", "&", " AND ", "&").Replace(part), "&", maxPriorNames+1)
		people = people[:min(len(people), maxPriorNames)]
		words := strings.Fields(part)
		for n, person := range people {
			person = strings.TrimSpace(person)
			if n < len(people)-1 && !strings.ContainsAny(person, " ,") {
				person += " " + words[len(words)-1]
			}
			owners = append(owners, person)
		}
	}
	return owners
}

// nameKey returns the words of a name without single letters. It is "" for a single word, which is in
// too many names.
func nameKey(name string) string {
	words := strings.Fields(model.NormalizeText(name))
	words = slices.DeleteFunc(words, func(word string) bool { return utf8.RuneCountInString(word) == 1 })
	if len(words) < 2 {
		return ""
	}
	return strings.Join(words, " ")
}

// spokenName returns a name as documents write it: "Ada B. Quill" for "Quill, Ada B.".
func spokenName(name string) string {
	last, first, ok := strings.Cut(name, ",")
	if first = strings.TrimSpace(first); !ok || strings.ContainsAny(strings.TrimSpace(last), " ") || strings.Contains(first, ",") {
		return name
	}
	return first + " " + last
}
