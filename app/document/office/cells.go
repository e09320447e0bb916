package office

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// formatNumber returns a number as it appears in a cell that is wide enough. It has up to 15
// digits. If date is true, it is formatted as a date. date1904 selects the epoch.
func formatNumber(v float64, date, date1904 bool) string {
	if date {
		if text := formatDate(v, date1904); text != "" {
			return text
		}
	}
	// Formatting with 15 digits and parsing again turns 0.30000000000000004 into 0.3.
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64); err == nil {
		v = short
	}
	if a := math.Abs(v); a != 0 && (a >= 1e15 || a < 1e-9) {
		return strconv.FormatFloat(v, 'G', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func formatBool(v bool) string {
	if v {
		return "TRUE"
	}
	return "FALSE"
}

// formatDate returns a day number as 2006-01-02, followed by the time if there is one. It returns
// "" if v is out of range. Day 1 is 1900-01-01, and day 60 is February 29, 1900, which never
// existed. If date1904 is true, day 0 is 1904-01-01 (ISO/IEC 29500-1, 18.17.4.1).
func formatDate(v float64, date1904 bool) string {
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
	case date1904:
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

// isBuiltinDateFormat reports whether the built-in number format with this ID displays a date or
// time.
func isBuiltinDateFormat(id int) bool {
	return id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58
}

// isDateFormat reports whether a format code displays a date or time. It does if it contains y, m,
// d, h, or s outside of quotes, escapes, colors, and conditions.
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
			// [h], [m], and [s] display elapsed time, which may exceed a day.
			if strings.Trim(strings.ToLower(code[i+1:i+end]), "hms") == "" {
				return true
			}
			i += end
		case '\\', '_', '*':
			i++
		case 'y', 'Y', 'm', 'M', 'd', 'D', 'h', 'H', 's', 'S':
			return true
		case ';':
			return false // the sections that follow are for other numbers
		}
	}
	return false
}
