package ui

import "strings"

// tone gives the colour of a status's badge, one of the classes good, warn, bad,
// neutral, or "" for none. Firms name statuses themselves, so it goes by words that
// the names have in common; the name itself always stands in the badge.
func tone(status string) string {
	name := strings.ToLower(status)
	for _, t := range []struct {
		tone  string
		words []string
	}{
		{"", []string{"cancel", "withdrawn", "archived"}},
		{"bad", []string{"overdue", "failed", "reject", "rush"}},
		{"warn", []string{"curative", "hold", "wait", "pending", "missing", "incomplete"}},
		{"good", []string{"complete", "closed", "done", "delivered", "approved"}},
	} {
		for _, word := range t.words {
			if strings.Contains(name, word) {
				return t.tone
			}
		}
	}
	return "neutral"
}

// humane gives a status that is written for programs, such as on_hold, as people
// write it; any other as it is.
func humane(status string) string {
	if status == "" || strings.ToLower(status) != status || strings.Contains(status, " ") {
		return status
	}
	if status[0] < 'a' || status[0] > 'z' {
		return status
	}
	return strings.ToUpper(status[:1]) + strings.ReplaceAll(status[1:], "_", " ")
}

// under reports whether a page's address is that of a place or of something in it.
func under(address, place string) bool {
	return address == place || strings.HasPrefix(address, strings.TrimSuffix(place, "/")+"/")
}
