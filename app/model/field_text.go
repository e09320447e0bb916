package model

import (
	"fmt"
	"maps"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"deedkeep/app/errs"
)

// Limits for email, phone, and money fields.
const (
	maxEmailLength = 254 // Unicode code points (RFC 5321)
	maxPhoneLength = 64  // Unicode code points, including the extension
	MaxMoneyLength = 16  // 13 digits before the decimal point, so that a float64 can represent every cent

	minPhoneDigits    = 7  // without an extension
	maxPhoneDigits    = 15 // excluding the extension (E.164)
	maxEmailLocalPart = 64 // bytes before the @ (RFC 5321)
)

// Formats of these fields. An amount may have a dollar sign, commas between thousands, and up to
// two decimal places. "1.500" is rejected because some countries write 1,500 that way.
var (
	moneyText   = regexp.MustCompile(`^(?:\$\s*)?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.([0-9]{0,2}))?$`)
	phoneText   = regexp.MustCompile(`^(\+?[0-9(][0-9(). /-]*)(?:,? ?(?i:extension|ext\.?|x|#) ?[0-9]{1,8})?$`)
	emailDomain = regexp.MustCompile(`^(?:[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])?\.)+[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])$`)
	urlHost     = regexp.MustCompile(`^[\pL\pM\pN_](?:[\pL\pM\pN_.-]*[\pL\pM\pN_])?\.?$`)
	numericHost = regexp.MustCompile(`(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$`)
)

// NormalizeMoney returns an amount as a decimal with two places: "1234.50" for "$1,234.5". It
// returns false if text isn't an amount.
func NormalizeMoney(text string) (string, bool) {
	m := moneyText.FindStringSubmatch(strings.TrimSpace(text))
	if len(m) == 0 || m[1]+m[2] == "" {
		return "", false
	}
	dollars := strings.TrimLeft(strings.ReplaceAll(m[1], ",", ""), "0")
	if dollars == "" {
		dollars = "0"
	}
	return dollars + "." + (m[2] + "00")[:2], true
}

// Formats of dates that people type, with the numbers of the groups of the year, month, and day. The
// month comes before the day, as in the US.
var typedDates = []struct {
	format           *regexp.Regexp
	year, month, day int
}{
	{regexp.MustCompile(`^([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]([0-9]{4}|[0-9]{2})$`), 3, 1, 2},
	{regexp.MustCompile(`^([0-9]{2})([0-9]{2})([0-9]{4}|[0-9]{2})$`), 3, 1, 2},
	{regexp.MustCompile(`^([0-9]{4})([0-9]{2})([0-9]{2})$`), 1, 2, 3},
	{regexp.MustCompile(`^([0-9]{4})[/.-]([0-9]{1,2})[/.-]([0-9]{1,2})$`), 1, 2, 3},
	{regexp.MustCompile(`^(?i)([a-z]{3,9})\.?[\s-]*([0-9]{1,2})(?:st|nd|rd|th)?(?:\s*,\s*|[\s-]+)([0-9]{4}|'?[0-9]{2})$`), 3, 1, 2},
	{regexp.MustCompile(`^(?i)([0-9]{1,2})(?:st|nd|rd|th)?[\s-]*([a-z]{3,9})\.?(?:\s*,\s*|[\s-]+)([0-9]{4}|'?[0-9]{2})$`), 3, 2, 1},
}

// midnight is the time that spreadsheets and programs add to a date.
var midnight = regexp.MustCompile(`(?:T|\s+)(?:0?0|12):00(?::00(?:\.0+)?)?(?:\s*AM|Z|[+-][0-9:]+)?$`)

// TypedDate converts a date as people type it to YYYY-MM-DD: 3/9/1998, 3-9-98, 03.09.1998, 030998,
// 19980309, 1998-03-09, Mar 9, 1998, March 9 1998, or 9-Mar-98. A two-digit year is the last one for which
// the date is not after latest, so pages show the result. Other text, also a day that doesn't exist, is
// returned unchanged, so that validation rejects it. web/static/script/instrument.js does the same for digits
// while the user types.
func TypedDate(text string, latest time.Time) string {
	text = strings.TrimSpace(text)
	bare := midnight.ReplaceAllString(text, "")
	for _, typed := range typedDates {
		if m := typed.format.FindStringSubmatch(bare); m != nil {
			if date := DateOf(m[typed.year], m[typed.month], m[typed.day], latest); date != "" {
				return date
			}
		}
	}
	return text
}

// LatestPast is the latest date that a two-digit year of a past date can mean: it may be tomorrow where
// the user is.
func LatestPast(now time.Time) time.Time { return now.AddDate(0, 0, 1) }

// LatestFuture is the latest date that a two-digit year of an expiration can mean.
func LatestFuture(now time.Time) time.Time { return now.AddDate(60, 0, 0) }

// LatestOf is the latest date that a two-digit year can mean in a field of an order or an abstract. The search period
// has passed. Other dates, such as a due date, may be in the near future.
func LatestOf(field string, now time.Time) time.Time {
	switch strings.TrimPrefix(field, customName+".") {
	case KeySearchFrom, KeyEffectiveDate:
		return LatestPast(now)
	}
	return now.AddDate(10, 0, 0)
}

// DateOf returns a date as YYYY-MM-DD, or "" if there is no such day. The month is a number or the start of
// its name. A year of two digits is the last one for which the date is not after latest.
func DateOf(year, month, day string, latest time.Time) string {
	const shortYear = 2
	m, err := strconv.Atoi(month)
	if err != nil {
		m = monthOf(month)
	}
	y, yearErr := strconv.Atoi(strings.TrimPrefix(year, "'"))
	d, dayErr := strconv.Atoi(day)
	if yearErr != nil || dayErr != nil {
		return ""
	}
	date := func() time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	if len(strings.TrimPrefix(year, "'")) == shortYear {
		if y += latest.Year() / 100 * 100; date().After(latest) {
			y -= 100
		}
	}
	if at := date(); int(at.Month()) == m && at.Day() == d {
		return at.Format(time.DateOnly)
	}
	return ""
}

// PastDateOf is DateOf for a date that is not in the future.
func PastDateOf(year, month, day string, now time.Time) string {
	latest := LatestPast(now)
	if date := DateOf(year, month, day, latest); date <= latest.Format(time.DateOnly) {
		return date
	}
	return ""
}

// monthOf returns the number of the month whose name starts with at least three letters of text, or 0.
// "Sept" is September, too.
func monthOf(text string) int {
	const shortName = 3
	for month := time.January; len(text) >= shortName && month <= time.December; month++ {
		if strings.HasPrefix(strings.ToLower(month.String()), strings.ToLower(text)) {
			return int(month)
		}
	}
	return 0
}

// Parts of a consideration. An amount has a dollar sign, precedes "dollars", or starts the text before
// words such as "& OVC". The text after it can mean that it isn't the amount, as in $300K or $10 per acre.
const (
	amountDigits = `([0-9]{1,3}(?:[, \x{a0}][0-9]{3})+(?:\.[0-9]{1,2})?|[0-9]+(?:\.[0-9]{1,2})?|\.[0-9]{2})`
	otherValue   = `(?:[&+,;()]|and\b|plus\b|other\b|good\b|o\.? ?v\.? ?c\b|o\.? ?g\.? ?v\.? ?c\b)`
)

var (
	bareAmount   = regexp.MustCompile(`^\$?[\s\x{a0}]*` + amountDigits + `\.?$`)
	statedAmount = regexp.MustCompile(`(?i)\$\s*` + amountDigits + `|(?:^|[\s(])` + amountDigits + `\s*(?:dollars?|usd)\b|^` +
		amountDigits + `\s*` + otherValue)
	partOfAmount = regexp.MustCompile(`(?i)^(?:\s?(?:k|m|mm|mil|million|thousand|hundred|billion)\b|` +
		`\s*(?:/|-\s*[$0-9]|per\b|each\b|an? |%)|[.,]?[0-9]|[.,][a-z])`)
	letter        = regexp.MustCompile(`^[A-Za-z]`)
	joinedWord    = regexp.MustCompile(`(?i)^(?:dollars?|usd|` + otherValue[3:])
	amountInWords = sync.OnceValue(func() *regexp.Regexp {
		word := `(?:` + strings.Join(slices.Sorted(maps.Keys(amountWords)), "|") + `)`
		return regexp.MustCompile(`(?i)\b` + word + `(?:[\s-]+(?:and[\s-]+)?` + word + `)*` +
			`(?:[\s,]*(?:and|&)?\s*(?:no|zero|[0-9]{2})\s?/\s?(?:100|xx)(?:ths?)?)?\s+dollars?\b`)
	})
)

// ParseConsideration returns the amount that a consideration states, as returned by NormalizeMoney, and what
// it says: "$10 & OVC" is 10.00 and the text. says is "" if the text is nothing but an amount. amount is ""
// if the text states none, or several different ones.
func ParseConsideration(text string) (amount, says string) {
	text = strings.Join(strings.Fields(text), " ")
	plain := func(digits string) string {
		amount, _ := NormalizeMoney(strings.NewReplacer(",", "", " ", "", "\u00a0", "").Replace(digits))
		return amount
	}
	if m := bareAmount.FindStringSubmatch(text); m != nil {
		return plain(m[1]), ""
	}
	var amounts []string
	for _, at := range statedAmount.FindAllStringSubmatchIndex(text, -1) {
		for group := 2; group < len(at); group += 2 {
			if at[group] < 0 {
				continue
			}
			rest := text[at[group+1]:]
			if partOfAmount.MatchString(rest) || letter.MatchString(rest) && !joinedWord.MatchString(rest) {
				return "", text
			}
			amounts = append(amounts, plain(text[at[group]:at[group+1]]))
		}
	}
	for _, words := range amountInWords().FindAllString(text, -1) {
		amounts = append(amounts, AmountInWords(words))
	}
	if amounts = slices.Compact(amounts); len(amounts) != 1 {
		return "", text
	}
	return amounts[0], text
}

// figures matches a text without words: digits, letters that are typed or read for digits, and a unit.
var figures = regexp.MustCompile(`^[0-9OoIl.,$\s\x{a0}-]*[0-9][0-9OoIl.,$\s\x{a0}-]*(?i:k|m|mm|mil|million|thousand)?$`)

// IsMistypedAmount reports whether a consideration is figures that aren't an amount, such as 12.5.00 or $98.5K.
func IsMistypedAmount(text string) bool {
	amount, _ := ParseConsideration(text)
	return amount == "" && figures.MatchString(strings.TrimSpace(text))
}

// ConsiderationInput returns the input for an instrument after a user typed a consideration.
func ConsiderationInput(text string) Inputs {
	amount, says := ParseConsideration(text)
	return Inputs{"consideration": StringInput(amount), "consideration_text": StringInput(says)}
}

// money validates an amount and normalizes it like NormalizeMoney. Negative amounts are
// rejected; the number type accepts them.
func (v *validation) money(field string, in Input) string {
	amount := v.formatted(field, in, MaxLineLength, errs.NotMoney, func(text string) string {
		amount, _ := NormalizeMoney(text)
		return amount
	})
	if len(amount) > MaxMoneyLength {
		v.Add(field, "The {field} field must not be greater than %s.99.", strings.Repeat("9", MaxMoneyLength-len(".00")))
		return ""
	}
	return amount
}

// email validates an email address and keeps it as sent.
func (v *validation) email(field string, in Input) string {
	return v.formatted(field, in, maxEmailLength, errs.NotEmail, func(text string) string {
		// Accept only a bare address. ParseAddress drops names, comments, and quotes, so its result
		// would differ from text.
		parsed, err := mail.ParseAddress(text)
		if err != nil || parsed.Address != text || parsed.Name != "" || strings.ContainsFunc(text, isInvisible) {
			return ""
		}
		at := strings.LastIndexByte(text, '@')
		domain := text[at+1:]
		if at > maxEmailLocalPart || !emailDomain.MatchString(domain) || numericHost.MatchString(domain) || isDomainTooLong(domain) {
			return ""
		}
		return text
	})
}

// phone validates a phone number and keeps it as sent, with white space collapsed.
func (v *validation) phone(field string, in Input) string {
	return v.formatted(field, in, maxPhoneLength, errs.NotPhone, func(text string) string {
		text = strings.Join(strings.Fields(text), " ")
		m := phoneText.FindStringSubmatch(text)
		if len(m) == 0 || countDigits(m[1]) < minPhoneDigits || countDigits(m[1]) > maxPhoneDigits {
			return ""
		}
		return text
	})
}

// url validates a web address and keeps it as sent.
func (v *validation) url(field string, in Input) string {
	return v.formatted(field, in, MaxLineLength, errs.NotURL, func(text string) string {
		if !isURL(text) {
			return ""
		}
		return text
	})
}

// formatted validates one-line text and returns the result of format, which is the value to
// store. It adds an error with the code if format returns "" or the input isn't a string.
func (v *validation) formatted(field string, in Input, limit int, code errs.Code,
	format func(text string) string) string {
	if !in.isText() {
		v.Add(field, code)
		return ""
	}
	value := v.line(field, in, limit)
	if value == "" {
		return ""
	}
	stored := format(value)
	if stored == "" {
		v.AddValue(field, code, value)
	}
	return stored
}

// Accepts reports whether text is valid for the type and would be stored unchanged.
func (t FieldType) Accepts(text string) bool {
	var f validation
	in := StringInput(text)
	return string(f.value("", Field{Type: t}, in)) == string(in.JSON())
}

// isURL reports whether text is an http or https address that every browser accepts, with a
// host and without a user name or password.
func isURL(text string) bool {
	if strings.ContainsFunc(text, isInvisible) {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return false
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
	}
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") || numericHost.MatchString(host) {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Zone() == ""
	}
	return urlHost.MatchString(host) && !strings.Contains(host, "..") && !isDomainTooLong(host)
}

// isInvisible reports whether a character is white space, or a control character; see isControl.
func isInvisible(r rune) bool { return unicode.IsSpace(r) || isControl(r) }

// isDomainTooLong reports whether a domain name or one of its labels exceeds the limits of DNS.
func isDomainTooLong(name string) bool {
	const maxLabel = 63 // bytes (RFC 1035)
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > maxLabel {
			return true
		}
	}
	return len(name) > 253
}

var amountWords = func() map[string]int {
	words := map[string]int{"hundred": 100, "thousand": 1000, "million": 1000000}
	for n, word := range strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
		"sixteen seventeen eighteen nineteen") {
		words[word] = n + 1
	}
	for n, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		words[word] = 10 * (n + 2)
	}
	return words
}()

// mayFollow reports whether a number below 100 may follow another one in words, as in "twenty five".
func mayFollow(number, before int) bool {
	return before == 0 || number < 10 && before >= 20 && before%10 == 0
}

var centsText = regexp.MustCompile(`(?i)\b(\d\d|no|zero)\s?/\s?(?:100|1oo|xx)`)

// AmountInWords returns the amount that the words before "Dollars" state, or "" if there is a word
// that isn't part of a number or that can't follow the word before, as in "hundred hundred".
func AmountInWords(text string) string {
	cents := 0
	if at := centsText.FindStringSubmatchIndex(text); at != nil {
		cents, _ = strconv.Atoi(text[at[2]:at[3]]) // "no" is 0
		text = text[:at[0]]
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n := len(words); n > 0 && words[n-1] == "and" {
		words = words[:n-1]
	}
	if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "dollar") {
		words = words[:n-1]
	}
	total, group, scale := 0, 0, 1_000_000_000 // scale: of the thousands or millions before
	for _, word := range words {
		value, known := amountWords[word]
		switch {
		case word == "and":
		case !known, value == 100 && group >= 100, value >= 1000 && value >= scale, value < 100 && !mayFollow(value, group%100):
			return ""
		case value == 100:
			group = max(group, 1) * value
		case value >= 1000:
			total += max(group, 1) * value
			group, scale = 0, value
		default:
			group += value
		}
	}
	if total+group == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%02d", total+group, cents)
}
