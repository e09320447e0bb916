package documents

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// sideBySide is the template data of two pages side by side.
type sideBySide struct {
	Left, Right    side
	Back, BackName string
	Swapped        string // address with the sides swapped
}

// side is one of two pages that are side by side: a document, or the runsheet of an abstract.
type side struct {
	Name    string // left or right
	Value   string // what it shows, as in the address: document-7, document-7-page-3, or runsheet-ID; "" if it has yet to be chosen
	Title   string
	Path    string // address of the page in the frame
	Alone   string // address of the page in the whole window
	Choices []sideChoice
	Other   string // value of the other side
	place   page.Place
}

// IsRunsheet reports whether the side shows a runsheet.
func (s side) IsRunsheet() bool { return strings.HasPrefix(s.Value, runsheetPrefix) }

// sideChoice is what a side can show.
type sideChoice struct {
	Value, Title string
	Note         string // how it relates to the document on the other side, such as "Releases Mortgage"
	Shown        bool   // the side shows it
	file         uint64 // 0: a runsheet
	Path         string // address of both sides when the side shows it
}

// IsRunsheet reports whether it is a runsheet.
func (c sideChoice) IsRunsheet() bool { return strings.HasPrefix(c.Value, runsheetPrefix) }

// runsheetPrefix begins the values of runsheets.
const runsheetPrefix = "runsheet-"

// sideBySidePage shows two pages side by side. Each is a request of its own, which checks the access and records the view.
func (p *Pages) sideBySidePage(r *page.Request) (err error) {
	query := r.URL.Query()
	if len(query["left"]) > 1 || len(query["right"]) > 1 || query.Get("left") == "" && query.Get("right") == "" {
		return page.NotFound(r)
	}
	view := sideBySide{}
	if view.Left, err = p.newSide(r, "left", query.Get("left")); err != nil {
		return err
	}
	if view.Right, err = p.newSide(r, "right", query.Get("right")); err != nil {
		return err
	}
	shown := &view.Left
	if shown.Value == "" {
		shown = &view.Right
	}
	if view.Left.Value == "" || view.Right.Value == "" {
		if err := p.noteRelations(r, shown); err != nil {
			return err
		}
	}
	view.Left.choose(&view.Right)
	view.Right.choose(&view.Left)
	if view.Back, view.BackName, err = p.placeOf(r, shown.place); err != nil {
		return err
	}
	view.Swapped = sideBySidePath(view.Right.Value, view.Left.Value)
	section := "vault"
	if shown.place.Abstract != 0 {
		section = "abstracts"
	}
	return p.RenderPage(r, http.StatusOK, "side-by-side.html", page.Page{
		Heading: view.heading(), Section: section, Data: view, HasSides: true,
		Scripts: []string{"side-by-side.js"}, Styles: []string{"side-by-side.css"},
	})
}

// sideBySidePath returns the address of two sides. A side is "" if the user has yet to choose what it shows.
func sideBySidePath(left, right string) string {
	values := url.Values{}
	for name, value := range map[string]string{"left": left, "right": right} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return page.WithQuery("/side-by-side", values)
}

// documentSide returns the value of a side that shows a document.
func documentSide(id uint64) string { return "document-" + strconv.FormatUint(id, 10) }

// heading names what the sides show.
func (s sideBySide) heading() string {
	if s.Left.Title == "" || s.Right.Title == "" {
		return "Side by side"
	}
	return s.Left.Title + " and " + s.Right.Title
}

// newSide returns the side for its value in the query.
func (p *Pages) newSide(r *page.Request, name, value string) (s side, err error) {
	s = side{Name: name, Value: value}
	if value == "" {
		return s, nil
	}
	kind, id, _ := strings.Cut(value, "-")
	switch kind {
	case "document":
		id, at, paged := strings.Cut(id, "-page-")
		n, isID := parsePositive(id)
		_, isPage := parsePositive(at)
		if !isID || paged && !isPage {
			return s, page.NotFound(r)
		}
		err = p.loadDocumentSide(r, &s, n, at)
		return s, err
	case "runsheet":
		abstract, ok := p.IDs.Abstracts.Decode(id)
		if !ok {
			return s, page.NotFound(r)
		}
		s.place = page.Place{Abstract: abstract}
		s.Path, s.Alone = p.AbstractPath(abstract)+"/runsheet", p.AbstractPath(abstract)+"#runsheet"
		err = p.loadSideChoices(r, &s, model.File{})
		return s, err
	}
	return s, page.NotFound(r)
}

func (p *Pages) loadDocumentSide(r *page.Request, s *side, id uint64, at string) error {
	f, err := p.App.Files.Get(r.Context(), id)
	if err != nil {
		return err
	}
	s.place, s.Path = page.DocumentPlace(f), p.ViewerPath(f)
	if at != "" {
		s.Path = page.WithQueryValue(s.Path, "page", at)
	}
	s.Alone = s.Path
	return p.loadSideChoices(r, s, f)
}

// parsePositive parses a number that has one spelling only.
func parsePositive(text string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return n, err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

// loadSideChoices sets what the side can show: the runsheet and the documents of its abstract, or f with the documents before
// and after it in its folder.
func (p *Pages) loadSideChoices(r *page.Request, s *side, f model.File) error {
	var files []model.File
	if s.place.Abstract != 0 {
		record, err := p.App.Abstracts.Get(r.Context(), s.place.Abstract)
		if err != nil {
			return err
		}
		s.Choices = append(s.Choices, sideChoice{Value: runsheetPrefix + p.IDs.Abstracts.Encode(s.place.Abstract), Title: "Runsheet"})
		files = record.Files
	} else {
		around, err := p.App.Folders.Neighbors(r.Context(), f)
		if err != nil {
			return err
		}
		for _, file := range []*model.File{around.Previous, &f, around.Next} {
			if file != nil {
				files = append(files, *file)
			}
		}
	}
	for _, file := range files {
		s.Choices = append(s.Choices, sideChoice{Value: documentSide(file.ID), Title: file.Filename, file: file.ID})
	}
	base, _, _ := strings.Cut(s.Value, "-page-")
	for n := range s.Choices {
		if s.Choices[n].Value == base {
			s.Choices[n].Shown, s.Title = true, s.Choices[n].Title
		}
	}
	return nil
}

// noteRelations says how the documents that a side can show relate to the one that it shows: a release to its mortgage.
func (p *Pages) noteRelations(r *page.Request, s *side) error {
	if s.place.Abstract == 0 {
		return nil
	}
	sheet, err := p.App.Instruments.Runsheet(r.Context(), s.place.Abstract)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(s.Choices, func(c sideChoice) bool { return c.Shown })
	if at < 0 || s.Choices[at].IsRunsheet() {
		return nil
	}
	notes := relations(sheet.Instruments, s.Choices[at].file)
	for n, c := range s.Choices {
		if n != at {
			s.Choices[n].Note = notes[c.file]
		}
	}
	return nil
}

// relations says how the instruments of documents relate to those of one document, by document.
func relations(list []vault.InstrumentView, document uint64) map[uint64]string {
	byID := map[uint64]*vault.InstrumentView{}
	for n := range list {
		byID[list[n].ID] = &list[n]
	}
	isOf := func(i *vault.InstrumentView) bool {
		return slices.ContainsFunc(i.Documents, func(d model.DocumentLink) bool { return d.FileID == document })
	}
	notes := map[uint64]string{}
	add := func(i *vault.InstrumentView, note string) {
		for _, d := range i.Documents {
			notes[d.FileID] = cmp.Or(notes[d.FileID], note)
		}
	}
	for n := range list {
		i := &list[n]
		for _, r := range i.Relations {
			target, found := byID[r.InstrumentID]
			if !found {
				continue
			}
			words, targetWords := page.RelationWords(r.Kind)
			if isOf(target) {
				add(i, words+" "+target.Type.Name)
			}
			if isOf(i) {
				add(target, targetWords+" "+i.Type.Name)
			}
		}
	}
	return notes
}

// choose lets a side whose page has yet to be chosen offer what is beside the other one: the runsheet, related documents,
// and then the others from the next one on.
func (s *side) choose(other *side) {
	s.Other = other.Value
	if s.Value != "" {
		return
	}
	at := slices.IndexFunc(other.Choices, func(c sideChoice) bool { return c.Shown })
	var related, documents []sideChoice
	for n := range other.Choices {
		switch c := other.Choices[(at+1+n)%len(other.Choices)]; {
		case c.Shown:
			continue
		case c.IsRunsheet():
			s.Choices = append(s.Choices, c)
		case c.Note != "":
			related = append(related, c)
		default:
			documents = append(documents, c)
		}
	}
	s.Choices = slices.Concat(s.Choices, related, documents)
	for n, c := range s.Choices {
		if s.Name == "left" {
			s.Choices[n].Path = sideBySidePath(c.Value, other.Value)
		} else {
			s.Choices[n].Path = sideBySidePath(other.Value, c.Value)
		}
	}
}

// placeOf returns the address and the name of the abstract or the folder of a side.
func (p *Pages) placeOf(r *page.Request, at page.Place) (path, name string, err error) {
	switch {
	case at.Abstract != 0:
		_, name, err = p.App.Abstracts.WithHeading(r.Context(), at.Abstract)
	case at.Folder != 0:
		folder, folderErr := p.App.Folders.Get(r.Context(), at.Folder)
		name, err = folder.Name, folderErr
	default:
		name = "Vault"
	}
	return p.PlacePath(at), name, err
}
