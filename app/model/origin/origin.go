// Package origin describes which pages of other documents a document was created from.
package origin

import (
	"strconv"
	"strings"
)

// Part is a document, and the pages of it that another document was created from.
type Part struct {
	FileID   uint64 `json:"file_id"`
	Filename string `json:"filename"`         // when the other document was created
	Pages    string `json:"pages"`            // such as "3-7", or "1,3-5"
	Rotate   int    `json:"rotate,omitempty"` // degrees clockwise that a person chose
}

// PageWords returns the pages in words, such as "page 3" or "pages 3–7".
func (p Part) PageWords() string {
	if _, err := strconv.Atoi(p.Pages); err == nil {
		return "page " + p.Pages
	}
	return "pages " + strings.NewReplacer("-", "–", ",", ", ").Replace(p.Pages)
}

// String returns the part in words, such as "pages 3–7 of 2019 packet.pdf".
func (p Part) String() string { return p.PageWords() + " of " + p.Filename }

// Text returns all parts in words.
func Text(parts []Part) string {
	words := make([]string, 0, len(parts))
	for _, p := range parts {
		words = append(words, p.String())
	}
	return strings.Join(words, ", ")
}
