package ui

import (
	"fmt"
	"html/template"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// functions are what templates may call besides those of html/template.
func (p *pages) functions() template.FuncMap {
	return template.FuncMap{
		"asset":        p.assets.URL,
		"abstractPath": p.abstractPath,
		"orderPath":    p.orderPath,
		"documentPath": documentPath,
		"folderPath":   folderPath,
		"icon":         p.icon,
		"under":        under,
		"humane":       humane,
		"date":         date,
		"when":         p.when,
		"day":          p.onDay,
		"tone":         tone,
		"size":         size,
		"count":        count[int],
		"plural":       plural,
		"dict":         dict,
		"last":         last,
		"countAny":     countAny,
		"pluralAny":    pluralAny,
		"kindLabel":    kindLabel,
		"roleName":     roleName,
		"roleText":     roleText,
		"int":          func(n uint64) int { return int(min(n, math.MaxInt)) }, // #nosec G115 -- bounded
		"late":         p.late,
		"hitPath":      p.hitPath,
		"byName":       byName,
		"stillLink":    documentSheet.still,
	}
}

// date gives a date of the form YYYY-MM-DD as people in the US write it; any other
// text as it is.
func date(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.Format("Jan 2, 2006")
}

// when gives a moment in the office's time zone and names the zone, with the exact time for programs;
// nothing for the zero time.
func (p *pages) when(at any) template.HTML {
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
	return markedTime(moment, "", clockTime(moment.In(p.Zone)))
}

// onDay gives the day of a moment in the office's time zone, with the time in its title
// and, exact, for programs; nothing for the zero time.
func (p *pages) onDay(moment time.Time) template.HTML {
	if moment.IsZero() {
		return ""
	}
	there := moment.In(p.Zone)
	return markedTime(moment, clockTime(there), there.Format("Jan 2, 2006"))
}

// markedTime gives the text of a moment with the exact time for programs.
func markedTime(moment time.Time, title, text string) template.HTML {
	if title != "" {
		title = ` title="` + title + `"`
	}
	return template.HTML(`<time datetime="` + moment.UTC().Format(time.RFC3339) + `"` + title + `>` + text + `</time>`) // #nosec G203 -- a time has no markup
}

// clockTime writes a moment for people in the US, with its zone: Nov 21, 2026, 8:44 PM EST.
func clockTime(at time.Time) string { return at.Format("Jan 2, 2006, 3:04 PM ") + zoneName(at) }

// zoneName is the abbreviation of a moment's zone; a zone without one is a distance from UTC.
func zoneName(at time.Time) string {
	name, _ := at.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// now is the moment in the office's time zone.
func (p *pages) now() time.Time { return p.Now().In(p.Zone) }

// size gives a number of bytes in the unit that people think in.
func size(bytes any) string {
	n, err := strconv.ParseFloat(fmt.Sprint(bytes), 64)
	switch {
	case err != nil:
		return ""
	case n < 1000:
		return plural(int(n), "byte", "bytes")
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

// count gives a number with commas between the thousands.
func count[N int | int64 | uint64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// last reports whether a place is the last one of a list.
func last(at int, list any) bool { return at == reflect.ValueOf(list).Len()-1 }

// countAny is count for whole numbers of any type.
func countAny(n any) string {
	v := reflect.ValueOf(n)
	switch {
	case v.CanInt():
		return count(v.Int())
	case v.CanUint():
		return count(v.Uint())
	}
	return ""
}

// pluralAny is plural for whole numbers of any type.
func pluralAny(n any, one, many string) string {
	if text := countAny(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}

// plural gives a number and the word for so many.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// dict makes a map of names and values that follow each other, for a part.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: a name without a value")
	}
	made := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		made[name] = pairs[i+1]
	}
	return made, nil
}

// icon gives a small drawing that stands beside words or has a label around it.
func (p *pages) icon(name string) (template.HTML, error) {
	drawing, ok := p.icons[name]
	if !ok {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return template.HTML(drawing), nil // #nosec G203 -- drawn in this house
}
