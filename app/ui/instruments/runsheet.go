package instruments

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// sheet is the template data of a runsheet, rendered by web/pages/part-runsheet.html.
type sheet struct {
	Path     string // address of the abstract
	Rows     []row
	Types    model.DocumentTypes // types that are offered for new instruments
	Sequence []uint64            // instruments in the sequence of the runsheet
	Chosen   bool                // a person chose the sequence
	gaps     []gapState
	NoGaps   string // says that the gaps can't be shown
	Beside   string // address of the page that shows a document beside the runsheet; "" if the abstract has none
}

// Categories returns the categories of the instruments, in display order.
func (s sheet) Categories() []model.Category {
	return slices.DeleteFunc(model.Categories(), func(c model.Category) bool {
		return !slices.ContainsFunc(s.Rows, func(r row) bool { return r.Type.Category == c })
	})
}

// Columns returns the columns between the number of the row and the tools.
func (s sheet) Columns() []column { return columns }

// Width returns the number of columns, with that of the tools if users can edit the runsheet.
func (s sheet) Width(mayEdit bool) int {
	n := 1 + len(columns)
	if mayEdit {
		n++
	}
	return n
}

// Statuses returns the statuses that users can type.
func (s sheet) Statuses() []string {
	return append([]string{automaticStatus}, slices.Sorted(maps.Keys(statusTexts()))...)
}

// row is an instrument in a runsheet.
type row struct {
	vault.InstrumentView
	Gaps  []string // grantors of the instrument who didn't receive title in an instrument above it
	Links []relationLink
	Files []documentLink
	Edit  bool // the user may edit the row
	Place []model.PlaceDifference
}

// Columns returns the columns between the number of the row and the tools.
func (r row) Columns() []column { return columns }

// Text returns the text of a cell as users type it.
func (r row) Text(field string) string { return cellText(r.InstrumentView, field) }

// StatusText returns the effective status of the instrument, or "" if it doesn't apply.
func (r row) StatusText() string { return r.Type.StatusText(r.Status) }

// Shown returns the status text, unless the instrument that ended this one follows it.
func (r row) Shown() string {
	if r.Status == model.InstrumentReleased && slices.ContainsFunc(r.Links, func(l relationLink) bool { return l.ended }) {
		return ""
	}
	return r.StatusText()
}

// IsOpenLien reports whether the instrument is a lien that shows as open.
func (r row) IsOpenLien() bool { return titlecheck.IsOpenLien(r.Type, r.Status) }

// splitText is the text of a cell, with the part before or after it that a narrow cell cuts.
type splitText struct{ Before, Text, After string }

// Split returns the text of a cell in parts: the type of book is before the book and page, and the time after the date.
func (r row) Split(column string) (split splitText) {
	split.Text = r.Text(column)
	switch column {
	case columnBookPage:
		if rest, found := strings.CutPrefix(split.Text, r.BookType+" "); found && r.BookType != "" {
			split.Before, split.Text = r.BookType, rest
		}
	case columnRecorded:
		split.Text, split.After, _ = strings.Cut(split.Text, " ")
	}
	return split
}

// minTitle is the number of characters from which a cell may be too narrow for its text.
const minTitle = 12

// Title returns the complete text of a cell that may be too narrow for it.
func (r row) Title(column string) string {
	text := r.Text(column)
	switch party := r.Party(column); {
	case column == columnType && text != "":
		return text + " (" + r.Type.Category.Label() + ")"
	case column == columnStatus:
		text = r.statusTitle()
	case party != "" && text != "":
		return party + ": " + text
	}
	if utf8.RuneCountInString(text) < minTitle {
		return ""
	}
	return text
}

// statusTitle returns what the cell of the status says.
func (r row) statusTitle() string {
	texts := []string{r.Shown()}
	for _, l := range r.Links {
		text := l.Words
		if l.Position > 0 {
			text += " No. " + strconv.Itoa(l.Position)
		} else if l.ID != 0 {
			text += " another instrument"
		}
		texts = append(texts, strings.TrimSpace(text+" "+l.Text))
	}
	for _, place := range r.Place {
		texts = append(texts, "This instrument "+place.String())
	}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// Party returns what the type calls the names of a cell, such as Defendant, or "" for Grantor and Grantee, and for
// columns of something else.
func (r row) Party(column string) string {
	grantor, grantee := r.Type.SpecialLabels()
	return map[string]string{"grantors": grantor, "grantees": grantee}[column]
}

// relationLink says how an instrument relates to another one.
type relationLink struct {
	Words    string // "Released by"
	ID       uint64 // the other instrument; 0 if it is only described
	Position int    // place of the other instrument in this runsheet; 0 if it isn't here
	Text     string // description of the other instrument
	ended    bool   // the other instrument ended this one
}

// documentLink is a link to a document that contains an instrument.
type documentLink struct {
	Name, Path, Pages string
	Moved, Trashed    bool // the document is no longer in the abstract or its prior, or it is in the trash
}

// Sheet returns the template data of the runsheet of an abstract, and the runsheet.
func (p *Pages) Sheet(r *page.Request, record vault.AbstractWithFiles) (data any, stored vault.Runsheet, err error) {
	if stored, err = p.App.Instruments.Runsheet(r.Context(), record.Abstract.ID); err != nil {
		return sheet{}, stored, err
	}
	data, err = p.newSheet(r, vault.AbstractWork{AbstractWithFiles: record, Sheet: stored})
	return data, stored, err
}

func (p *Pages) newSheet(r *page.Request, work vault.AbstractWork) (sheet, error) {
	stored := work.Sheet
	s := sheet{Path: p.AbstractPath(work.Abstract.ID), Types: stored.Types.Offered(), Chosen: stored.Chosen,
		Sequence: []uint64{}, gaps: []gapState{}} // scripts expect lists
	positions := map[uint64]int{}
	for _, i := range stored.Instruments {
		positions[i.ID] = i.Position
		s.Sequence = append(s.Sequence, i.ID)
	}
	found, missing := p.App.Instruments.Gaps(r.Context(), stored)
	if missing {
		s.NoGaps = page.MissingText("Gaps")
	}
	gaps := gapsAbove(stored, found)
	links := relationLinks(stored.Instruments, positions)
	files := p.newDocumentReader(work)
	if len(work.Files) > 0 && len(stored.Instruments) > 0 {
		s.Beside = "/side-by-side?right=runsheet-" + p.IDs.Abstracts.Encode(work.Abstract.ID)
	}
	for _, f := range work.Files {
		files.known[f.ID] = documentLink{Name: f.Filename, Path: p.ViewerPath(f)}
	}
	for _, i := range stored.Instruments {
		row := row{InstrumentView: i, Gaps: gaps[i.ID], Links: links[i.ID], Edit: r.MayWrite(), Place: i.PlaceDifferences(work.Abstract)}
		for _, name := range row.Gaps {
			s.gaps = append(s.gaps, gapState{i.ID, name})
		}
		var err error
		if row.Files, err = files.links(r.Context(), i); err != nil {
			return s, err
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

// gapsAbove returns the grantors whose title is not in the runsheet, by the conveyance that they made.
// A gap is after one conveyance, so it belongs to the next one.
func gapsAbove(s vault.Runsheet, gaps []model.Gap) map[uint64][]string {
	next, last := map[uint64]uint64{}, uint64(0)
	for _, i := range s.Instruments {
		if i.Type.Category == model.Conveyance {
			next[last], last = i.ID, i.ID
		}
	}
	above := map[uint64][]string{}
	for _, gap := range gaps {
		above[next[gap.After]] = append(above[next[gap.After]], gap.Name)
	}
	return above
}

// relationLinks returns the relations of all instruments, in both directions, by instrument.
func relationLinks(list []vault.InstrumentView, positions map[uint64]int) map[uint64][]relationLink {
	links := map[uint64][]relationLink{}
	for _, i := range list {
		for _, relation := range i.Relations {
			words, targetWords := page.RelationWords(relation.Kind)
			target := relation.InstrumentID
			link := relationLink{Words: words, Text: relation.Text}
			link.ID, link.Position = target, positions[target]
			links[i.ID] = append(links[i.ID], link)
			if target != 0 {
				links[target] = append(links[target], relationLink{Words: targetWords, ID: i.ID, Position: i.Position,
					ended: relation.Ends()})
			}
		}
	}
	return links
}

// documentReader returns the links to documents. It reads those that aren't in the abstract.
type documentReader struct {
	*Pages
	homes []uint64 // the abstract and the one that it brings down: documents elsewhere have moved
	known map[uint64]documentLink
}

func (p *Pages) newDocumentReader(work vault.AbstractWork) documentReader {
	return documentReader{Pages: p, known: map[uint64]documentLink{}, homes: []uint64{work.Abstract.ID, work.Sheet.PriorID}}
}

// links returns the links to the documents of an instrument. The panel beside the document then has its form.
func (d documentReader) links(ctx context.Context, i vault.InstrumentView) ([]documentLink, error) {
	var links []documentLink
	for _, entry := range i.Documents {
		link, found := d.known[entry.FileID]
		if !found {
			var err error
			if link, err = d.read(ctx, entry.FileID); err != nil {
				return nil, err
			}
			d.known[entry.FileID] = link
		}
		if link.Path != "" && !link.Trashed {
			link.Path = page.WithQueryValue(link.Path, "instrument", formatID(i.ID))
		}
		if entry.Pages != "" && link.Path != "" {
			link.Path = page.WithQueryValue(link.Path, "page", strconv.Itoa(model.FirstPage(entry.Pages)))
		}
		link.Pages = pagesText(entry.Pages)
		links = append(links, link)
	}
	return links, nil
}

// read returns the link to a document that is not in the abstract.
func (d documentReader) read(ctx context.Context, id uint64) (documentLink, error) {
	f, err := d.App.Files.Get(ctx, id)
	if err == nil {
		return documentLink{Name: f.Filename, Path: d.ViewerPath(f), Moved: f.AbstractID == 0 || !slices.Contains(d.homes, f.AbstractID)}, nil
	}
	if errs.KindOf(err) == errs.NotFound {
		f, err = d.App.Files.Trashed(ctx, id)
	}
	switch {
	case err == nil:
		return documentLink{Name: f.Filename, Path: page.DocumentPath(id), Trashed: true}, nil
	case errs.KindOf(err) == errs.NotFound: // it is being deleted
		return documentLink{Name: "Deleted document", Trashed: true}, nil
	}
	return documentLink{}, err
}

// pagesText returns a list of pages as shown: "p. 3", "pp. 3–7".
func pagesText(pages string) string {
	switch {
	case pages == "":
		return ""
	case strings.ContainsAny(pages, "-,"):
		return "pp. " + strings.ReplaceAll(strings.ReplaceAll(pages, "-", "–"), ",", ", ")
	}
	return "p. " + pages
}
