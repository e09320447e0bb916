package page

import (
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// InstrumentLine is an instrument in the list of the instruments of a document.
type InstrumentLine struct {
	ID        uint64
	Type      string // see model.DocumentType.Label
	Reference string // where it is recorded
	Parties   string
	Pages     string // pages of the document, such as "3-7"; "" for all pages
	FirstPage int
	Status    string // "" if the status is not applicable
}

// DocumentInstruments returns the instruments of a runsheet by document. Its template is
// web/pages/part_document_instruments.html.
func DocumentInstruments(list []vault.InstrumentView) map[uint64][]InstrumentLine {
	lines := map[uint64][]InstrumentLine{}
	for _, i := range list {
		for _, link := range i.Documents {
			lines[link.FileID] = append(lines[link.FileID], NewInstrumentLine(i, link.Pages))
		}
	}
	return lines
}

// NewInstrumentLine returns the line of an instrument on the given pages of a document.
func NewInstrumentLine(i vault.InstrumentView, pages string) InstrumentLine {
	line := InstrumentLine{ID: i.ID, Type: i.Type.Label(), Reference: i.RecordingReference(), Pages: pages, FirstPage: model.FirstPage(pages)}
	if len(i.Grantors)+len(i.Grantees) > 0 {
		line.Parties = firstName(i.Grantors) + " to " + firstName(i.Grantees)
	}
	if i.Status != model.NotApplicable {
		line.Status = i.Status
	}
	return line
}

// firstName returns the first name of a list, and says whether there are more.
func firstName(names []string) string {
	switch len(names) {
	case 0:
		return "?"
	case 1:
		return names[0]
	}
	return names[0] + " et al."
}

// PageText returns the pages as text: "page 3", "pages 3–7", or "" for all pages.
func (l InstrumentLine) PageText() string {
	switch {
	case l.Pages == "":
		return ""
	case strings.ContainsAny(l.Pages, "-,"):
		return "pages " + strings.ReplaceAll(strings.ReplaceAll(l.Pages, "-", "–"), ",", ", ")
	}
	return "page " + l.Pages
}

// RelationLabel returns the label of a kind of relation, such as "Partially releases".
func RelationLabel(kind string) string {
	if kind == "rerecords" {
		return "Re-records"
	}
	return FormatStatus(kind)
}
