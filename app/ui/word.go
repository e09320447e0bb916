package ui

import (
	"strings"

	"deedkeep/app/model"
)

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

// tone is the color of a status, as far as its words tell; that of one which ended
// without its work is none.
func tone(status string) string {
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

// under reports whether a page's address is that of a place or of something in it.
func under(address, place string) bool {
	return address == place || strings.HasPrefix(address, strings.TrimSuffix(place, "/")+"/")
}
