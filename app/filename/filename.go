// Package filename finds the values of an instrument in the name of a document.
package filename

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Instrument returns the fields of the instrument that a filename describes, such as
// 02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf. A number at the start is the position in the
// runsheet. Fields that the name doesn't contain are left out. It returns false if the name doesn't
// describe an instrument. No date is later than now.
func Instrument(name string, types model.DocumentTypes, now time.Time) (model.Inputs, bool) {
	n := parser{text: prepareFilename(name), types: types, now: now, fields: model.Inputs{}}
	n.takeDates()
	n.takeNumber(labeledNumber)
	n.takeBookPage()
	n.takeAmount()
	n.takePosition()
	n.takeCompactDate()
	hasRecording := n.has("book") || n.has("instrument_number")
	hasParties := n.takeParties()
	alias := n.takeType()
	if alias != "" || hasRecording {
		n.takeNumber(longNumber)
	}
	others := len(n.fields) // besides the type and the position
	for _, field := range []string{"position", "type"} {
		if n.has(field) {
			others--
		}
	}
	n.setParties()
	switch {
	case n.isOtherPaper():
		return nil, false
	case hasRecording, alias != "" && (!slices.Contains(weakAliases, alias) && n.has("type") || others > 0 || hasParties):
		return n.fields, true
	}
	return n.fields, hasParties && (others > 0 || n.has("position"))
}

// otherPapers are words of filenames that aren't about an instrument although they have a date or
// two names.
var otherPapers = []string{"letter", "email", "invoice", "memo", "checklist", "commitment", "receipt", "statement", "photo", "fax"}

// weakAliases are aliases that also occur in other filenames. They count only together with another
// field.
var weakAliases = []string{"rel", "sat", "mod", "row", "aff", "recon", "assign", "release", "survey", "agreement", "discharge",
	"wd", "qc", "stl", "alr",
	"aor", "lma", "dot"}

// isOtherPaper reports whether the filename is that of another paper. The result of a search, such
// as a judgment search, is not an instrument of the type it names, and neither is a runsheet.
func (p *parser) isOtherPaper() bool {
	words, _ := model.LowerWords(p.text + " " + p.grantor)
	return slices.ContainsFunc(words, func(word string) bool {
		return word == "search" || word == "runsheet" || !p.has("type") && slices.Contains(otherPapers, word)
	})
}

// parser takes one value after the other out of a filename.
type parser struct {
	text             string // what is left; taken parts are replaced by a bar
	types            model.DocumentTypes
	now              time.Time
	fields           model.Inputs
	grantor, grantee string // text of the parties
	isSuit           bool   // "Smith v Jones"
}

var (
	extension   = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{1,4}$`)
	copySuffix  = regexp.MustCompile(`(?i)[ _-]*(\(\d{1,3}\)|- ?copy|\bcopy)$`)
	apostrophes = strings.NewReplacer("'", "", "’", "", "‘", "", "–", "-", "—", "-", "‑", "-", "→", " to ", "->", " to ",
		"\t", " ", "|", " ")
)

// prepareFilename returns a filename without its folder and extension, between two spaces.
func prepareFilename(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = copySuffix.ReplaceAllString(strings.TrimSpace(extension.ReplaceAllString(strings.TrimSpace(name), "")), "")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, name)
	return " " + apostrophes.Replace(name) + " "
}

func (p *parser) has(field string) bool { _, ok := p.fields[field]; return ok }

func (p *parser) set(field, value string) {
	if value != "" && !p.has(field) {
		p.fields[field] = model.StringInput(value)
	}
}

// take finds a pattern, replaces its first group by a bar, and returns the other groups. If accept
// returns false, it looks further.
func (p *parser) take(pattern *regexp.Regexp, accept func(groups []string) bool) bool {
	for start := 0; start < len(p.text); {
		at := pattern.FindStringSubmatchIndex(p.text[start:])
		if at == nil {
			return false
		}
		var groups []string
		for g := 4; g < len(at); g += 2 {
			group := ""
			if at[g] >= 0 {
				group = p.text[start+at[g] : start+at[g+1]]
			}
			groups = append(groups, group)
		}
		if accept(groups) {
			p.text = p.text[:start+at[2]] + "|" + p.text[start+at[3]:]
			return true
		}
		start += at[2] + 1
	}
	return false
}

// dateLabel is the start of the patterns of dates: what a date is, if the name says it.
const dateLabel = `(?i)[^0-9a-z]((?:(recorded|recd|rec|rcd|filed|dated|dtd)[-_. ]*)?`

var (
	dateISO     = regexp.MustCompile(dateLabel + `(1[6-9]\d\d|20\d\d)([-_. ])(\d{1,2})([-_. ])(\d{1,2}))[^0-9]`)
	dateUS      = regexp.MustCompile(dateLabel + `(\d{1,2})([-_. ])(\d{1,2})([-_. ])(1[6-9]\d\d|20\d\d|\d\d))[^0-9]`)
	dateDay     = regexp.MustCompile(dateLabel + `(\d{1,2})[-_. ]?` + monthNames + `[-_., ]*(1[6-9]\d\d|20\d\d))[^0-9]`)
	dateMonth   = regexp.MustCompile(dateLabel + monthNames + `[-_. ]?(\d{1,2})(?:st|nd|rd|th)?[-_., ]+(1[6-9]\d\d|20\d\d))[^0-9]`)
	dateCompact = regexp.MustCompile(dateLabel + `(1[6-9]\d\d|20\d\d)(\d\d)(\d\d))[^0-9]`)
)

const monthNames = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`

// takeDates takes up to two dates. A date without a label is the recording date. Of two dates
// without labels, the earlier one is the date of the instrument.
func (p *parser) takeDates() {
	var unlabeled []string
	add := func(label, year, month, day string) bool {
		date := model.PastDateOf(year, month, day, p.now)
		switch {
		case date == "":
			return false
		case strings.HasPrefix(strings.ToLower(label), "d"):
			p.set("dated", date)
		case label != "":
			p.set("recorded", date)
		default:
			unlabeled = append(unlabeled, date)
		}
		return true
	}
	for range 2 {
		_ = p.take(dateISO, func(g []string) bool { return g[2] == g[4] && add(g[0], g[1], g[3], g[5]) }) ||
			p.take(dateUS, func(g []string) bool {
				return g[2] == g[4] && (len(g[5]) == 4 || g[2] == "-" || g[2] == ".") && add(g[0], g[5], g[1], g[3])
			}) ||
			p.take(dateDay, func(g []string) bool { return add(g[0], g[3], g[2], g[1]) }) ||
			p.take(dateMonth, func(g []string) bool { return add(g[0], g[3], g[1], g[2]) })
	}
	slices.Sort(unlabeled)
	if len(unlabeled) > 0 {
		p.set("recorded", unlabeled[len(unlabeled)-1])
	}
	if len(unlabeled) > 1 || len(unlabeled) == 1 && p.fields["recorded"].Value != unlabeled[0] {
		p.set("dated", unlabeled[0])
	}
}

// takeCompactDate takes a date without separators, such as 20190314.
func (p *parser) takeCompactDate() {
	p.take(dateCompact, func(g []string) bool {
		date := model.PastDateOf(g[1], g[2], g[3], p.now)
		if strings.HasPrefix(strings.ToLower(g[0]), "d") {
			p.set("dated", date)
		} else {
			p.set("recorded", date)
		}
		return date != ""
	})
}

var (
	labeledNumber = regexp.MustCompile(`(?i)[^0-9a-z]((?:instrument|instr|inst|reception|recep|rec[-_. ]*(?:no|num|number|#)|document|doc)` +
		`[-_. ]*` +
		`(?:no|num|number|nbr)?[-_.# ]*([0-9]{4}-[0-9]{3,12}|[0-9]{3,20}))[^0-9a-z]`)
	longNumber  = regexp.MustCompile(`(?i)[^0-9a-z]([-_#]?([0-9]{4}-[0-9]{5,12}|[0-9]{7,20}))[^0-9a-z]`)
	bookAndPage = regexp.MustCompile(`(?i)[^0-9a-z](` + bookLabel + `[-_.# ]*([0-9]{1,9}[a-z]?|[a-z])[-_., ]*` +
		`(?:pages|page|pgs|pg|pp|p|folio|fol|f|slide|sl)[-_.# ]*([0-9]{1,9}[a-z]?)(?: ?(?:-|to|thru) ?([0-9]{1,9}))?)[^0-9a-z]`)
	bookSlash = regexp.MustCompile(`(?i)[^0-9a-z](` + bookLabel + `[-_.# ]*([0-9]{1,9}[a-z]?) ?[-/] ?([0-9]{1,9}[a-z]?)())[^0-9a-z]`)
)

const bookLabel = `((?:deed|mortgage|mtg|plat|lien|misc|miscellaneous|official records|or)[ -]?)?` +
	`(book|bk|volume|vol|liber|lib|reel|cabinet|cab|db|mb|pb|cob|mob|orb|or|dbk|b|v|l)`

// bookTypes maps labels of books to book types.
var bookTypes = map[string]string{
	"deed": "Deed Book", "db": "Deed Book", "dbk": "Deed Book", "mortgage": "Mortgage Book", "mtg": "Mortgage Book", "mob": "MOB",
	"plat": "Plat Book",
	"pb":   "Plat Book", "lien": "Lien Book", "misc": "Miscellaneous Book", "miscellaneous": "Miscellaneous Book", "or": "Official Records",
	"orb": "Official Records", "official records": "Official Records", "volume": "Volume", "vol": "Volume", "liber": "Liber",
	"lib": "Liber", "l": "Liber",
	"reel": "Reel", "cabinet": "Plat Cabinet", "cab": "Plat Cabinet", "cob": "COB",
}

// takeNumber takes an instrument number.
func (p *parser) takeNumber(pattern *regexp.Regexp) {
	if p.has("instrument_number") {
		return
	}
	p.take(pattern, func(g []string) bool {
		p.set("instrument_number", g[0])
		return true
	})
}

// takeBookPage takes a book with a page. A word before "Book" is its type only if "Book" is written
// out: in "Deed Bk 12", it is more likely the type of the document.
func (p *parser) takeBookPage() {
	accept := func(g []string) bool {
		series, book := strings.ToLower(strings.Trim(g[0], " -")), strings.ToLower(g[1])
		if series != "" && book != "book" && series != "or" && series != "official records" {
			return false
		}
		p.set("book", g[2])
		p.set("page", g[3])
		from, _ := strconv.Atoi(g[3])
		if to, err := strconv.Atoi(g[4]); err == nil && to > from && to < from+500 {
			p.set("page_to", g[4])
		}
		if kind := bookTypes[series]; kind != "" {
			p.set("book_type", kind)
		} else {
			p.set("book_type", bookTypes[book])
		}
		return true
	}
	if !p.take(bookAndPage, accept) {
		p.take(bookSlash, func(g []string) bool { return len(g[1]) > 1 && accept(g) }) // "L 7-8" are lots
	}
}

var amount = regexp.MustCompile(`(\$ ?([0-9][0-9,]*(?:\.[0-9]{2})?))`)

// takeAmount takes an amount of dollars.
func (p *parser) takeAmount() {
	p.take(amount, func(g []string) bool {
		value, ok := model.NormalizeMoney(g[0])
		if ok = ok && len(value) <= model.MaxMoneyLength; ok {
			p.set("consideration", value)
		}
		return ok
	})
}

var sequenceNumber = regexp.MustCompile(`^ *(#?(\d{1,3})[a-z]?)(?:[-_. )|]|$)`)

// takePosition takes the number at the start.
func (p *parser) takePosition() {
	p.take(sequenceNumber, func(g []string) bool {
		position, err := strconv.Atoi(g[0])
		if err != nil || position == 0 {
			return false
		}
		p.fields["position"] = model.NumberInput(position)
		return true
	})
}

var (
	fromTo = regexp.MustCompile(`(?i)([-_ ])(to)([-_ ]+)`)
	versus = regexp.MustCompile(`(?i)([-_ ])(v|vs|versus)([-_. ]+)`)
)

// takeParties takes the text around "to", up to what was taken before or up to another separator
// than the one beside "to". It returns false if there are no parties.
func (p *parser) takeParties() bool {
	at := fromTo.FindStringSubmatchIndex(p.text)
	if at == nil {
		at = versus.FindStringSubmatchIndex(p.text)
		p.isSuit = at != nil
	}
	if at == nil {
		return false
	}
	stops := map[byte]string{'-': "|_", '_': "|", ' ': "|_"}[p.text[at[2]]]
	before, after := p.text[:at[2]], p.text[at[1]:]
	start := strings.LastIndexAny(before, stops) + 1
	end := strings.IndexAny(after, stops)
	if end < 0 {
		end = len(after)
	}
	if p.text[at[2]] == ' ' { // " - " separates, and a hyphen within a name doesn't
		if i := strings.LastIndex(before[start:], " - "); i >= 0 {
			start += i + len(" - ")
		}
		if i := strings.Index(after[:end], " - "); i >= 0 {
			end = i
		}
	}
	p.grantor, p.grantee = before[start:], after[:end]
	if partyText(p.grantor) == "" || partyText(p.grantee) == "" {
		p.grantor, p.grantee = "", ""
		return false
	}
	p.text = before[:start] + "|" + after[end:]
	return true
}

// takeType takes the document type, which isn't usually among the words of the parties. It returns
// the words that name it.
func (p *parser) takeType() (alias string) {
	for _, place := range []*string{&p.text, &p.grantor, &p.grantee} {
		words, starts := model.LowerWords(*place)
		name, found, from, to := p.types.Alias(words)
		if found == "" {
			continue
		}
		p.set("type", name)
		end := len(*place)
		if to < len(starts) {
			end = starts[to]
		}
		if place != &p.text { // "Deed Smith" or "Jones Mortgage"
			*place = (*place)[:starts[from]] + (*place)[end:]
		}
		return found
	}
	return ""
}

// setParties sets the grantors and grantees. In a suit, the defendant is the grantor.
func (p *parser) setParties() {
	from, to := partyText(p.grantor), partyText(p.grantee)
	if p.isSuit {
		from, to = to, from
	}
	if from != "" && to != "" {
		p.fields["grantors"], p.fields["grantees"] = model.StringsInput([]string{from}), model.StringsInput([]string{to})
	}
}

var (
	etUx  = regexp.MustCompile(`(?i)\bet[ .]?(ux|al|vir)\b\.?`)
	years = regexp.MustCompile(`(^| )(1[6-9]\d\d|20\d\d)( |$)`)
)

// partyText returns the text of a party as a name. It returns "" if the text has no letters.
func partyText(text string) string {
	name := strings.NewReplacer("_", " ", "-", " ").Replace(text)
	if strings.Contains(strings.Trim(text, " -_"), " ") {
		name = strings.ReplaceAll(text, "_", " ") // a hyphen within a name
	}
	name = years.ReplaceAllString(strings.Join(strings.Fields(name), " "), " ")
	name = strings.TrimLeft(strings.Trim(etUx.ReplaceAllString(name, "et $1"), " -,;()"), " .-")
	if !strings.ContainsFunc(name, unicode.IsLetter) || utf8.RuneCountInString(name) > model.MaxNameLength {
		return ""
	}
	words := strings.Fields(name)
	for n, word := range words {
		switch lower := strings.ToLower(word); {
		case lower == "et" || n > 0 && slices.Contains([]string{"ux", "al", "vir"}, lower):
			words[n] = lower
		case name == strings.ToLower(name): // not capitalized at all
			first, size := utf8.DecodeRuneInString(word)
			words[n] = string(unicode.ToUpper(first)) + word[size:]
		}
	}
	return strings.Join(words, " ")
}
