package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Limits of a heading.
const (
	maxHeadingLength = 110
	maxHeadingLines  = 90  // of the document
	minTitleShare    = 0.7 // share of words that are common in titles of instruments
)

// readHeading adds the type that the title of the instrument names.
func (r *reader) readHeading() {
	if heading, kind, at := r.title(maxHeadingLines); kind != "" {
		r.setType(heading, kind, at)
	}
}

// title returns the first title in the text, the standard type that it names, and the offset of its last line. It
// returns "" if there is none above the line after maxProse lines of running text.
func (r *reader) title(maxProse int) (heading, kind string, at int) {
	text := r.source.text
	before := ""
	for range maxHeadingLines {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 || maxProse < 0 {
			return "", "", 0
		}
		line := strings.TrimSpace(text[at : at+end])
		if r.source.isScan && len(line) <= maxHeadingLength && !strings.HasSuffix(line, ".") {
			line = r.rules.titles.repairAll(line)
		}
		if r.isHeading(line) {
			heading := line
			if before != "" && len(before)+len(line) < maxHeadingLength { // a two-line heading
				heading = before + " " + line
			}
			if kind, ok := model.TypeInTitle(heading, standardTypes); ok {
				return heading, kind, at
			}
			before = heading
		} else if line != "" {
			before = ""
		}
		if prose.MatchString(line) {
			maxProse--
		}
		at += end + 1
	}
	return "", "", 0
}

// setType sets the type with the name that the firm uses, if it has such a type.
func (r *reader) setType(heading, kind string, at int) {
	r.kind = kind
	name, ok := model.TypeInTitle(heading, r.types)
	if _, set := r.fields[Type]; set || !ok || name == "" {
		return
	}
	start := r.source.originalAt(at)
	field := r.source.field(start, r.source.lineEnd(r.source.lineAt(start)))
	field.Values, field.Doubtful = []string{name}, strings.EqualFold(name, "deed") && !plainDeed.MatchString(heading)
	r.fields[Type] = field
}

// plainDeed matches the title of a deed that doesn't say what kind it is. Another title with "deed" may be of a type that isn't
// known, such as a security deed.
var plainDeed = regexp.MustCompile(`(?i)^\W*(?:(?:this|document type|grant|bargain|and|sale)\W+)*deed(?:\s+of\s+conveyance)?\W*$`)

// isHeading reports whether a line is the title of an instrument: a short line of words that are common
// in titles.
func (r *reader) isHeading(line string) bool {
	if len(line) > maxHeadingLength || strings.ContainsAny(line, "$0123456789") {
		return false
	}
	if _, title, labeled := strings.Cut(line, ":"); labeled {
		line = title
	}
	letters, upper := 0, 0
	for _, c := range line {
		if unicode.IsLetter(c) {
			letters++
			if unicode.IsUpper(c) {
				upper++
			}
		}
	}
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(line, "'", "")), func(c rune) bool { return !isAlphanumeric(c) })
	known := 0
	for _, word := range words {
		if r.rules.titleWords[word] {
			known++
		}
	}
	const maxMixedCase = 7 // words
	return len(words) > 0 && float64(known) >= minTitleShare*float64(len(words)) &&
		(upper*10 >= letters*8 || len(words) <= maxMixedCase && unicode.IsUpper(firstRune(strings.TrimLeft(line, " (\""))))
}

// firstRune returns the first character of a text, or utf8.RuneError if it is empty.
func firstRune(text string) rune {
	first, _ := utf8.DecodeRuneInString(text)
	return first
}
