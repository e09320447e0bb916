package page

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// FormatDate gives a date of the form YYYY-MM-DD as people in the US write it; any other
// text as it is.
func FormatDate(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.Format("Jan 2, 2006")
}

// formatTime gives a moment in the office's time zone and names the zone, with the exact time for programs;
// nothing for the zero time.
func (p *Site) formatTime(at any) template.HTML {
	var moment time.Time
	switch at := at.(type) {
	case time.Time:
		moment = at
	case *time.Time:
		if at != nil {
			moment = *at
		}
	}
	if moment.IsZero() {
		return ""
	}
	return timeElement(moment, "", ClockTime(moment.In(p.Zone)))
}

// formatDay gives the day of a moment in the office's time zone, with the time in its title
// and, exact, for programs; nothing for the zero time.
func (p *Site) formatDay(moment time.Time) template.HTML {
	if moment.IsZero() {
		return ""
	}
	there := moment.In(p.Zone)
	return timeElement(moment, ClockTime(there), there.Format("Jan 2, 2006"))
}

// timeElement gives the text of a moment with the exact time for programs.
func timeElement(moment time.Time, title, text string) template.HTML {
	if title != "" {
		title = ` title="` + title + `"`
	}
	return template.HTML(`<time datetime="` + moment.UTC().Format(time.RFC3339) + `"` + title + `>` + text + `</time>`) // #nosec G203 -- a time has no markup
}

// ClockTime writes a moment for people in the US, with its zone: Nov 21, 2026, 8:44 PM EST.
func ClockTime(at time.Time) string { return at.Format("Jan 2, 2006, 3:04 PM ") + zoneName(at) }

// zoneName is the abbreviation of a moment's zone; a zone without one is a distance from UTC.
func zoneName(at time.Time) string {
	name, _ := at.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// LocalNow is the moment in the office's time zone.
func (p *Site) LocalNow() time.Time { return p.Now().In(p.Zone) }

// Today is the day in the office's time zone, as the calendar on its wall has it.
func (p *Site) Today() string { return p.LocalNow().Format(time.DateOnly) }

// FormatSize gives a number of bytes in the unit that people think in.
func FormatSize(bytes any) string {
	n, err := strconv.ParseFloat(fmt.Sprint(bytes), 64)
	switch {
	case err != nil:
		return ""
	case n < 1000:
		return Plural(int(n), "byte", "bytes")
	}
	for _, unit := range []string{"KB", "MB", "GB"} {
		if n /= 1000; n < 999.5 {
			if n < 9.95 {
				return fmt.Sprintf("%.1f %s", n, unit)
			}
			return fmt.Sprintf("%.0f %s", n, unit)
		}
	}
	return fmt.Sprintf("%.1f TB", n/1000)
}

// FormatCount gives a number with commas between the thousands.
func FormatCount[N int | int64 | uint64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Plural gives a number and the word for so many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(n) + " " + many
}

// FormatAge gives a span of time as people say it.
func FormatAge(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return Plural(int(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return Plural(int(d/time.Hour), "hour", "hours")
	}
	return Plural(int(d/(24*time.Hour)), "day", "days")
}

// FormatDuration says how long something is kept in the largest unit that fits.
func FormatDuration(d time.Duration) string {
	for _, unit := range []struct {
		of        time.Duration
		one, many string
	}{{365 * Day, "year", "years"}, {Day, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"}} {
		if d >= unit.of && d%unit.of == 0 {
			return Plural(int(d/unit.of), unit.one, unit.many)
		}
	}
	return d.String()
}

// FormatStatus gives a status that is written for programs, such as on_hold, as people
// write it; any other as it is.
func FormatStatus(status string) string {
	if status == "" || strings.ToLower(status) != status || strings.Contains(status, " ") {
		return status
	}
	if status[0] < 'a' || status[0] > 'z' {
		return status
	}
	return strings.ToUpper(status[:1]) + strings.ReplaceAll(status[1:], "_", " ")
}

// statusTone is the color of a status, as far as its words tell; that of one which ended
// without its work is none.
func statusTone(status string) string {
	word := model.Fold(status)
	switch {
	case strings.HasPrefix(word, "cancel"), strings.HasPrefix(word, "void"), strings.HasPrefix(word, "withdrawn"):
		return ""
	case !model.IsOpenStatus(status):
		return "good"
	case strings.HasPrefix(word, "need"), strings.Contains(word, "hold"), strings.Contains(word, "curative"), strings.Contains(word, "problem"):
		return "warn"
	}
	return "neutral"
}

// dueLabel is in how many days an order is due, or was: a word for the eye and one of the
// classes of badges; "" when it is finished or has no date.
type dueLabel struct{ Word, Tone string }

func (p *Site) dueLabel(o model.Order) dueLabel { return dueLabelOn(o, p.Today()) }

// daysBetween counts the days from one midnight to another. A Duration would hold no
// more than 292 years of them.
func daysBetween(from, to time.Time) int { return int((to.Unix() - from.Unix()) / (24 * 60 * 60)) }

func dueLabelOn(o model.Order, today string) dueLabel {
	due, err := time.Parse(time.DateOnly, o.DueDate)
	now, err2 := time.Parse(time.DateOnly, today)
	if err != nil || err2 != nil || !o.IsOpen() {
		return dueLabel{}
	}
	switch days := daysBetween(now, due); {
	case days < 0:
		return dueLabel{Plural(-days, "day", "days") + " overdue", "bad"}
	case days == 0:
		return dueLabel{"Due today", "warn"}
	case days == 1:
		return dueLabel{"Due tomorrow", "warn"}
	case days <= vault.DueDays:
		return dueLabel{"Due in " + Plural(days, "day", "days"), ""}
	}
	return dueLabel{}
}

// Day is as long as keys count it.
const Day = 24 * time.Hour

// IsSpreadsheet reports a kind of documents whose text is rows of cells.
func IsSpreadsheet(mime string) bool {
	return strings.Contains(mime, "excel") || strings.Contains(mime, "spreadsheet")
}
