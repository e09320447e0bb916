package document

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// showNumber returns a number as a cell shows it when it is wide enough: 15
// digits at the most, or a date where its style says so.
func showNumber(v float64, date, mac bool) string {
	if date {
		if text := showDate(v, mac); text != "" {
			return text
		}
	}
	// Twice, so that 0.1+0.2 becomes 0.3 and not fifteen digits of it.
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64); err == nil {
		v = short
	}
	if a := math.Abs(v); a != 0 && (a >= 1e15 || a < 1e-9) {
		return strconv.FormatFloat(v, 'G', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func showBool(v bool) string {
	if v {
		return "TRUE"
	}
	return "FALSE"
}

// showDate returns a day number as 2006-01-02, with the time where it has one;
// "" for what is no day. Day 1 is 1900-01-01 and day 60 the 29th of February
// 1900, which never was; or day 0 is 1904-01-01 (ISO/IEC 29500-1, 18.17.4.1).
func showDate(v float64, mac bool) string {
	const lastDay = 2958466 // 10000-01-01
	if !(v >= 0) || v >= lastDay {
		return ""
	}
	seconds := int64(math.Round(v * 86400))
	day, second := seconds/86400, seconds%86400
	clock := time.Unix(second, 0).UTC().Format("15:04:05")
	clock = strings.TrimSuffix(clock, ":00")
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case mac:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case day == 0:
		return clock
	case day < 60:
		epoch = epoch.AddDate(0, 0, 1)
	}
	text := epoch.AddDate(0, 0, int(day)).Format(time.DateOnly)
	if second != 0 {
		text += " " + clock
	}
	return text
}

// isDateID tells the built-in formats that show dates or times.
func isDateID(id int) bool {
	return id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58
}

// isDateFormat reports whether a format code shows a date or time: one of
// y m d h s outside of quotes, escapes, colors and conditions.
func isDateFormat(code string) bool {
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				return false
			}
			i += end + 1
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return false
			}
			// [h] and its kin count hours beyond a day.
			if strings.Trim(strings.ToLower(code[i+1:i+end]), "hms") == "" {
				return true
			}
			i += end
		case '\\', '_', '*':
			i++
		case 'y', 'Y', 'm', 'M', 'd', 'D', 'h', 'H', 's', 'S':
			return true
		case ';':
			return false // what follows is for other numbers
		}
	}
	return false
}
