package ui

import "strings"

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
