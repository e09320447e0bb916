package page

import "time"

// FormatTypedDate formats a date as users type it: 4/17/2019. If text is not in the form
// YYYY-MM-DD, it is returned unchanged.
func FormatTypedDate(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.Format("1/2/2006")
}

// FormatTimeOfDay formats a time of day such as 15:04 as 3:04 PM. Other text is returned unchanged.
func FormatTimeOfDay(text string) string {
	for layout, shown := range map[string]string{"15:04": "3:04 PM", "15:04:05": "3:04:05 PM"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(shown)
		}
	}
	return text
}
