package ui

import (
	"net/url"
	"strconv"
)

// Back is where the document lies, on the page of the list that has it, with its row
// in sight and focused.
func (s documentSheet) Back() string {
	row := "#read-" + strconv.FormatUint(s.File.ID, 10)
	query := url.Values{}
	switch {
	case s.Position == 0:
		return s.Place.Path
	case s.Place.Section == "abstracts":
		if page := (s.Position-1)/documentsAPage + 1; page > 1 {
			query.Set("page", strconv.Itoa(page))
		}
	default:
		return s.Place.Path + row // its pages are in whatever order they were asked for
	}
	return address(s.Place.Path, query) + row
}
