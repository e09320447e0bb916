package documents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search/query"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// viewMode says how the viewer shows a document.
type viewMode string

const (
	viewPages viewMode = "pages" // page images
	viewText  viewMode = "text"  // text, for documents without page images
	viewNone  viewMode = "none"  // nothing: the document can only be downloaded
)

// viewerData is the template data of the viewer.
type viewerData struct {
	vault.DocumentWork
	As              viewMode
	Place           documentHome
	Position, Count int // position among the documents of the same place, from 1; 0 if unknown
	Previous, Next  *adjacentDocument
	Page, Pages     int
	Width           int // width of the page image for browsers without scripts
	Picture         pageImage
	Turn            int    // rotation in the query, in degrees, in addition to that of the document
	Fit             bool   // scale the image down to fit the window
	Sizes           string // page sizes for the viewer's script: [[number of equal pages, width, height, pixels], …]
	Find            string // text to search for
	Words           bool   // search for each word instead of the phrase
	From            string // address of the search results that the user came from; "" if there is none
	Text            []textPage
	Hits            int
	matched         query.WordSet // words of Find that are highlighted
	Searchable, Cut bool
	NotSearchable   string // why the document can't be downloaded as a searchable PDF now; "" if it can
	Broken          string // why the document can't be shown
	QueryIn         string // "?in=…", or ""
	Rename          page.DocumentRow
	Panel           *instrumentPanel // the panel beside the document; nil if it is closed
	Instrument      uint64           // instrument that the panel shows when it is opened; 0: the one of the page
	Note            uint64           // note of a highlighted area that is shown; 0: none
	suggestions     func() (list []vault.Suggestion, missing bool)
}

// pageImage is the page image shown in browsers without scripts.
type pageImage struct {
	Source        string
	Width, Height int
	Turn          int // clockwise rotation in degrees
}

// adjacentDocument is the previous or next document in the same place.
type adjacentDocument struct {
	Name, Path string
	Warm       string // address of its first page image, to render the image in advance; "" if it has none
}

// documentPage shows a document and records the view.
func (p *Pages) documentPage(r *page.Request) error {
	return p.ShowDocument(r, page.NameProblem{})
}

// trashedDocument is a document in the trash. Kept is zero if the document was deleted with its abstract.
type trashedDocument struct {
	model.File
	Kept vault.Trashed
}

// ShowDocument shows the requested document and records the view. If a new document name was
// rejected, the page also shows that problem.
func (p *Pages) ShowDocument(r *page.Request, rejected page.NameProblem) error {
	state, ok := panelQuery(r)
	s, err := p.viewerOf(r, ok)
	if errs.KindOf(err) == errs.NotFound && r.MayWrite() {
		if trashed, inTrash := p.App.Files.Trashed(r.Context(), r.PathID); inTrash == nil {
			kept, err := p.App.Trash.Find(r.Context(), vault.FileOps.Name, r.PathID)
			if err != nil && errs.KindOf(err) != errs.NotFound { // not found: it was deleted with its abstract
				return err
			}
			return p.RenderPage(r, http.StatusOK, "document-trashed.html", page.Page{Heading: trashed.Filename, Section: "trash",
				Data: trashedDocument{trashed, kept}, Side: true})
		}
	}
	if err != nil {
		return err
	}
	s.Instrument = state.instrument
	if ok {
		if s.Panel, err = p.newPanel(r, s, state, nil); err != nil {
			return err
		}
		s.keepPanelOpen()
	}
	return p.showViewer(r, rejected.Status(), s, rejected)
}

// showViewer renders the viewer for a document whose place is loaded, and records the view.
func (p *Pages) showViewer(r *page.Request, status int, s *viewerData, rejected page.NameProblem) error {
	s.As, s.Page = viewPages, 1
	s.readFindParams(r)
	list := page.DocumentPath(s.File.ID) + s.QueryIn
	if r.Method == http.MethodGet {
		list = page.WithQueryValue(r.URL.RequestURI(), "rename", "")
	}
	s.Rename = page.DocumentRow{File: s.File, List: list, Name: s.File.Filename, Renaming: r.URL.Query().Get("rename") != ""}
	if rejected.FileID != 0 {
		s.Rename.Renaming, s.Rename.Name, s.Rename.Problem = true, rejected.Typed, rejected.Problem
	}
	if err := p.loadContent(r, s); err != nil {
		return err
	}
	s.NotSearchable = p.notSearchable(s.File)
	if rejected.FileID == 0 { // if a name was rejected, this is still the same view
		p.recordView(r)
	}
	content := page.Page{Heading: s.File.Filename, Section: s.Place.Section, Data: s,
		Styles: []string{"viewer.css", "viewer-panel.css"}, Side: true}
	switch s.As {
	case viewPages:
		s.Note, _ = strconv.ParseUint(r.URL.Query().Get("note"), 10, 63) // 0 if none is shown
		content.Scripts = []string{"record.js", "viewer.js", "viewer-pages.js", "viewer-panel.js"}
		content.Follows = []string{p.PublicRecordName(vault.FileOps.Name, s.File.ID)}
	case viewText:
		content.Scripts = []string{"record.js", "viewer.js", "viewer-text.js", "viewer-panel.js"}
	default:
		content.Scripts = []string{"record.js", "viewer.js", "viewer-panel.js"}
	}
	return p.RenderPage(r, status, "document.html", content)
}

// loadContent selects how to show the document.
func (p *Pages) loadContent(r *page.Request, s *viewerData) error {
	sizes, err := p.App.Previews.PageSizes(r.Context(), r.Actor, s.File.ID)
	switch {
	case err == nil && !hasNoImage(s.File, len(sizes)):
		return p.setPageImage(r, s, sizes)
	case err == nil:
		s.As, s.Broken = viewNone, s.File.Failure
		return nil
	case errs.KindOf(err) != errs.NotFound:
		return err
	}
	s.As = viewText
	if !s.File.ShownAsImages() {
		err = p.loadText(r, s)
		if errs.KindOf(err) != errs.NotFound {
			return err
		}
	}
	s.As = viewNone
	s.Broken = cmp.Or(s.File.Failure, "This document has no preview.")
	return nil
}

// hasNoImage reports whether the document's only page can't be rendered, not even on a retry. The
// viewer would be empty.
func hasNoImage(f model.File, pages int) bool {
	return pages <= 1 && f.CannotPreview() && !f.Retryable()
}

// setPageImage sets the page and image that the query requests.
func (p *Pages) setPageImage(r *page.Request, s *viewerData, sizes []document.PageSize) error {
	s.Pages = len(sizes)
	s.Page = min(max(queryInt(r, "page", 1), 1), s.Pages)
	s.Width = roundUpWidth(queryInt(r, "w", defaultImageWidth))
	s.Fit = !r.URL.Query().Has("w")
	s.Sizes = encodeSizes(sizes)
	s.Searchable = true
	size := sizes[s.Page-1]
	turn := queryInt(r, "turn", 0)
	if turn%90 != 0 || turn < 0 || turn > 270 {
		turn = 0
	}
	s.Turn = turn
	s.Picture = pageImage{
		Source: pageImagePath(s.File.ID, s.Page, s.Width), Turn: (90*s.File.ShownTurns().Of(s.Page) + turn) % 360,
		Width: s.Width, Height: max(1, int(float64(s.Width)*size.Height/size.Width)),
	}
	return nil
}

// queryInt returns the named integer in the query, or otherwise if it is missing or invalid.
func queryInt(r *page.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return otherwise
	}
	return n
}

// encodeSizes returns the page sizes as JSON, with one element for each run of equal sizes. Most
// documents have only one run.
func encodeSizes(sizes []document.PageSize) string {
	type run [4]float64
	var runs []run
	for _, s := range sizes {
		next := run{1, roundPoints(s.Width), roundPoints(s.Height), float64(s.ImageWidth)}
		if n := len(runs) - 1; n >= 0 && slices.Equal(runs[n][1:], next[1:]) {
			runs[n][0]++
			continue
		}
		runs = append(runs, next)
	}
	encoded, err := json.Marshal(runs)
	if err != nil {
		return "[]" // not reached: finite numbers can always be encoded
	}
	return string(encoded)
}

func roundPoints(points float64) float64 { return max(float64(int64(points*10+0.5))/10, 0.1) }

// documentHome is the abstract or folder that contains the document.
type documentHome struct {
	Name, Path, Section string
	In                  string // value of the query parameter "in"; "" if the query has no valid one
}

// loadPlace sets the document's place and its neighbors there. A place in the query is ignored if
// the document isn't there.
func (p *Pages) loadPlace(r *page.Request, s *viewerData) error {
	at := page.DocumentPlace(s.File)
	s.Place = documentHome{Name: "Vault", Path: "/vault", Section: "vault"}
	in := r.URL.Query().Get("in")
	if place, ok := p.ParsePlace(in); ok && in != "" && place == at {
		s.Place.In = p.FormatPlace(at)
		s.QueryIn = "?in=" + s.Place.In
	}
	var err error
	if at.Abstract != 0 {
		err = p.loadAbstractNeighbors(r.Context(), s)
	} else {
		err = p.loadFolderNeighbors(r.Context(), s)
	}
	if errs.KindOf(err) == errs.NotFound {
		return nil // deleted in the meantime
	}
	return err
}

// loadAbstractNeighbors sets the previous and next documents in the abstract.
func (p *Pages) loadAbstractNeighbors(ctx context.Context, s *viewerData) (err error) {
	if s.Abstract.ID == 0 {
		if s.AbstractWithFiles, s.Heading, err = p.App.Abstracts.WithHeading(ctx, s.File.AbstractID); err != nil {
			return err
		}
	}
	s.Place.Name, s.Place.Path, s.Place.Section = s.Heading, p.AbstractPath(s.Abstract.ID), "abstracts"
	at := slices.Index(s.Abstract.Files, s.File.ID)
	if at < 0 {
		return nil
	}
	s.Position, s.Count = at+1, len(s.Files)
	if at > 0 {
		s.Previous = s.adjacent(s.Files[at-1])
	}
	if at+1 < len(s.Files) {
		s.Next = s.adjacent(s.Files[at+1])
	}
	return nil
}

// loadFolderNeighbors sets the previous and next documents in the folder, sorted by name.
func (p *Pages) loadFolderNeighbors(ctx context.Context, s *viewerData) error {
	if id := s.File.FolderID; id != 0 {
		folder, err := p.App.Folders.Get(ctx, id)
		if err != nil {
			return err
		}
		s.Place.Name, s.Place.Path = folder.Name, page.FolderPath(id)
	}
	around, err := p.App.Folders.Neighbors(ctx, s.File)
	s.Position, s.Count = around.Position, around.Count
	if around.Previous != nil {
		s.Previous = s.adjacent(*around.Previous)
	}
	if around.Next != nil {
		s.Next = s.adjacent(*around.Next)
	}
	return err
}

func (v *viewerData) adjacent(f model.File) *adjacentDocument {
	n := &adjacentDocument{Name: f.Filename, Path: page.DocumentPath(f.ID) + v.QueryIn}
	if f.Failure == "" && f.ShownAsImages() {
		n.Warm = page.DocumentPath(f.ID) + "/pages/1"
	}
	return n
}

// SideBySide returns the address of the page that shows the document beside another one.
func (v viewerData) SideBySide() string { return sideBySidePath(documentSide(v.File.ID), "") }

// NoScriptLink returns the viewer's address with one parameter changed by the given number of
// steps, for browsers without scripts. what is "page", "w" (the image width), or "turn" (by quarter
// turns).
func (v viewerData) NoScriptLink(what string, by int) string {
	n, width, turn := v.Page, v.Width, v.Turn
	switch what {
	case "page":
		n = min(max(n+by, 1), v.Pages)
	case "w":
		at := slices.Index(imageWidths, width) + by
		width = imageWidths[min(max(at, 1), len(imageWidths)-1)]
	case "turn":
		turn = (turn + 90*by) % 360
	}
	values := url.Values{"page": {strconv.Itoa(n)}}
	if v.Place.In != "" {
		values.Set("in", v.Place.In)
	}
	if v.From != "" {
		values.Set("from", v.From)
	}
	if v.Panel != nil {
		values.Set("panel", "1")
	}
	if !v.Fit || what == "w" {
		values.Set("w", strconv.Itoa(width))
	}
	if turn != 0 {
		values.Set("turn", strconv.Itoa(turn))
	}
	return page.DocumentPath(v.File.ID) + "?" + values.Encode()
}

func pageImagePath(id uint64, n, width int) string {
	return fmt.Sprintf("%s/pages/%d?w=%d", page.DocumentPath(id), n, width)
}
