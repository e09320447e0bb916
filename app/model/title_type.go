package model

import "strings"

// TypeInTitle returns the document type that the title of an instrument names, such as "General
// Warranty Deed" or "RELEASE OF DEED OF TRUST". The name is "" if it is a type that the firm doesn't
// have. It returns false if the title names no type.
func TypeInTitle(title string, types DocumentTypes) (name string, ok bool) {
	title = strings.ToLower(strings.ReplaceAll(title, "'", ""))
	if main, _, found := strings.Cut(title, " with "); found { // "Deed of Trust with Assignment of Rents"
		if name, ok := TypeInTitle(main, types); ok {
			return name, true
		}
	}
	words, _ := filenameWords(title)
	name, alias, _, _ := typeAlias(words, types)
	return name, alias != ""
}
