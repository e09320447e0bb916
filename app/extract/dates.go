package extract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
)

// dateFormats are the formats that the macro {date} finds, with the groups of the year, month, and day.
var dateFormats = []struct {
	find             *regexp.Regexp
	year, month, day int // groups
}{
	{regexp.MustCompile(`(?i)^([a-z]{3,9})\.?\s*([0-9a-z|!]{1,2}?)(?:st|nd|rd|th)?[\s,.;]+([0-9a-z|!]{4})$`), 3, 1, 2},
	{regexp.MustCompile(`(?i)^([0-9a-z|!]{1,2}?(?:\s*(?:st|nd|rd|th))?|[a-z]+(?:[\s-]+[a-z]+)??)[\s,]*(?:day)?\s*(?:of)?` +
		`[\s,]*([a-z]{3,9})\.?[\s,]*` +
		`(?:a\.?\s?d\.?|in the year|year|of our lord)?[\s,]*([0-9a-z|!]{4})$`), 3, 2, 1},
	{regexp.MustCompile(`(?i)^([0-9a-z|!]{1,2})[-/.]([0-9a-z|!]{1,2})[-/.]([0-9a-z|!]{4}|[0-9a-z|!]{2})$`), 3, 1, 2},
	{regexp.MustCompile(`(?i)^([0-9a-z|!]{4})[-/]([0-9a-z|!]{2})[-/]([0-9a-z|!]{2})$`), 1, 2, 3},
	{regexp.MustCompile(`(?i)^([0-9a-z|!]{4})[\s,]+([a-z]{3,9})[\s.,]+([0-9a-z|!]{1,2})$`), 1, 2, 3},
}

// certainDigits replaces letters that can only be misread digits in a date, a time, or an amount.
var certainDigits = strings.NewReplacer("O", "0", "o", "0", "Q", "0", "D", "0", "l", "1", "I", "1", "|", "1", "!", "1", "i", "1",
	"S", "5", "s", "5", "B", "8", "Z", "2", "z", "2")

// firstDay is the earliest date.
const firstDay = "1700-01-01"

func (r *reader) date(from, to int) ([]string, bool) {
	date := parseDate(r.source.text[from:to], r.now)
	if date == "" {
		return nil, true
	}
	return []string{date}, true
}

var timeAfter = regexp.MustCompile(`(?i)^[\s,-]*(?:at|time)?[\s:;@]*[0-9oOlI|]{1,2}[:;.][0-9oOlI|]{2}`)

// maxAcknowledged is how far before a date the words of an acknowledgment are.
const maxAcknowledged = 60

var (
	acknowledged = regexp.MustCompile(`(?i)\b(?:acknowledged|subscribed|sworn)\b`)
	signedLine   = regexp.MustCompile(`(?i)\b(?:dated|signed|witness|executed|made|expires?)\b[^\n]*$`)
)

// recorded returns the date of the recording. A date on a line about the signing is another one.
func (r *reader) recorded(from, to int) ([]string, bool) {
	if signedLine.MatchString(r.source.text[strings.LastIndexByte(r.source.text[:from], '\n')+1 : from]) {
		return nil, true
	}
	return r.date(from, to)
}

// signed returns the date of the instrument. A date that is followed by a time is the recording date, and one that follows
// the words of an acknowledgment is that of the acknowledgment.
func (r *reader) signed(from, to int) ([]string, bool) {
	text := r.source.text
	if timeAfter.MatchString(text[to:min(len(text), to+24)]) || acknowledged.MatchString(text[max(0, from-maxAcknowledged):from]) {
		return nil, true
	}
	return r.date(from, to)
}

var (
	wordBreaks    = regexp.MustCompile(`[\s-]+`)
	ordinalSuffix = regexp.MustCompile(`(?i)\s*(?:st|nd|rd|th)$`)
)

// parseDate returns a date as YYYY-MM-DD, or "" if the text isn't a date or the date is after now.
func parseDate(text string, now time.Time) string {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), " ,.")
	for _, format := range dateFormats {
		m := format.find.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		year, day := certainDigits.Replace(m[format.year]), m[format.day]
		if number := ordinals[wordBreaks.ReplaceAllString(strings.ToLower(day), "-")]; number > 0 {
			day = strconv.Itoa(number)
		}
		day = strings.TrimSpace(ordinalSuffix.ReplaceAllString(day, ""))
		month := m[format.month]
		if len(month) < len("Jan") {
			month = certainDigits.Replace(month)
		}
		if date := model.PastDateOf(year, month, certainDigits.Replace(day), now); date >= firstDay {
			return date
		}
	}
	return ""
}

// ordinals are the days of a month in words.
var ordinals = func() map[string]int {
	words := map[string]int{"thirtieth": 30, "thirty-first": 31, "twentieth": 20}
	first := strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth " +
		"fifteenth sixteenth seventeenth eighteenth nineteenth")
	for n, word := range first {
		words[word] = n + 1
		if n < 9 {
			words["twenty-"+word] = 21 + n
		}
	}
	return words
}()

var clockTime = regexp.MustCompile(`(?i)^(?:([ap])\.?\s?m\.?\s+)?([0-9a-z|!]{1,2})\s?[:;.]\s?([0-9a-z|!]{2})(?:\s?[:;.]\s?([0-9a-z|!]{2}))?\s*` +
	`(?:o'?\s?clock)?\s*([ap])?\.?\s?m?\.?$`)

// A time from firstMorningHour to noon without AM or PM is in the morning, because recorders' offices
// open then. A later one uses the 24-hour clock.
const (
	firstMorningHour = 8
	noon             = 12
	hoursOfDay       = 24
	minutesOfHour    = 60
)

// time returns a time as HH:MM or HH:MM:SS. A time without AM or PM that could be either is left out.
func (r *reader) time(from, to int) ([]string, bool) {
	m := clockTime.FindStringSubmatch(strings.Join(strings.Fields(r.source.text[from:to]), " "))
	if m == nil {
		return nil, true
	}
	hour, err := strconv.Atoi(certainDigits.Replace(m[2]))
	minute, err2 := strconv.Atoi(certainDigits.Replace(m[3]))
	if err != nil || err2 != nil || hour >= hoursOfDay || minute >= minutesOfHour {
		return nil, true
	}
	half := m[1] + m[5] // "AM 10:32" or "10:32 AM"
	switch afternoon := strings.EqualFold(half, "p"); {
	case half == "" && hour < firstMorningHour:
		return nil, false
	case afternoon && hour < noon:
		hour += noon
	case strings.EqualFold(half, "a") && hour == noon:
		hour = 0
	}
	text := fmt.Sprintf("%02d:%02d", hour, minute)
	if m[4] != "" {
		second, err := strconv.Atoi(certainDigits.Replace(m[4]))
		if err != nil || second >= minutesOfHour {
			return nil, false
		}
		text += fmt.Sprintf(":%02d", second)
	}
	return []string{text}, true
}
