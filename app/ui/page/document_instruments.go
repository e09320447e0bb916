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
	Status    string // effective status; "" if it can't be determined
	Shown     string // its text; "" if it doesn't apply
}

// DocumentInstruments returns the instruments of a runsheet by document. Its template is
// web/pages/part-document-instruments.html.
func DocumentInstruments(list []vault.InstrumentView) map[uint64][]InstrumentLine {
	lines := map[uint64][]InstrumentLine{}
	for _, i := range list {
		for _, link := range i.Documents {
			lines[link.FileID] = append(lines[link.FileID], newInstrumentLine(i, link.Pages))
		}
	}
	return lines
}

// newInstrumentLine returns the line of an instrument on the given pages of a document.
func newInstrumentLine(i vault.InstrumentView, pages string) InstrumentLine {
	line := InstrumentLine{ID: i.ID, Type: i.Type.Label(), Reference: i.RecordingReference(), Pages: pages, FirstPage: model.FirstPage(pages)}
	if len(i.Grantors)+len(i.Grantees) > 0 {
		grantor, grantee := i.Type.Parties()
		line.Parties = firstName(i.Grantors, grantor) + " to " + firstName(i.Grantees, grantee)
	}
	line.Status, line.Shown = i.Status, i.Type.StatusText(i.Status)
	return line
}

// firstName returns the first name of a list of parties, and says whether there are more or none.
func firstName(names []string, side model.PartySide) string {
	switch len(names) {
	case 0:
		return "(no " + strings.ToLower(side.Label) + ")"
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

// relationWords maps the kinds of relations to their words: those for the instrument that has the
// relation, and those for its target.
var relationWords = map[string][2]string{
	model.Releases: {"Releases", "Released by"}, "partially_releases": {"Partially releases", "Partially released by"},
	model.Terminates: {"Terminates", "Terminated by"}, "assigns": {"Assigns", "Assigned by"}, "modifies": {"Modifies", "Modified by"},
	"subordinates": {"Subordinates", "Subordinated by"}, "continues": {"Continues", "Continued by"}, "renews": {"Renews", "Renewed by"},
	"corrects": {"Corrects", "Corrected by"}, "rerecords": {"Re-records", "Re-recorded by"}, "references": {"References", "Referenced by"},
	"affects": {"Affects", "Affected by"},
}

// RelationWords returns the words of a kind of relation, such as "Partially releases" for the instrument that
// has the relation and "Partially released by" for its target.
func RelationWords(kind string) (of, target string) {
	return relationWords[kind][0], relationWords[kind][1]
}
