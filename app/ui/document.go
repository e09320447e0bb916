package ui

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
)

// look is what the viewer makes of a document.
type look string

const (
	asPages look = "pages" // pictures of its pages
	asText  look = "text"  // its text, of which there are no pictures
	asNone  look = "none"  // nothing but the original
)

// documentSheet is what the page of a document works with.
type documentSheet struct {
	File            model.File
	As              look
	Place           home
	Position, Count int // of the document in its place, from 1; 0: unknown
	Previous, Next  *neighbor
	Page, Pages     int
	Width           int // of the picture, as asked for without a script
	Picture         picture
	Fit             bool   // it is made as narrow as the window
	Sizes           string // for the script: [[pages alike, width, height, pixels], …]
	Find            string // what is looked for
	Words           bool   // each word of it by itself
	From            string // the address of what was found, from where it was opened; "" for none
	Text            []textPage
	Hits            int
	Searchable, Cut bool
	Broken          string // why there is nothing to see
	QueryIn         string // "?in=…", or nothing
	Rename          documentRow
}

// picture is the one that is shown without a script.
type picture struct {
	Source        string
	Width, Height int
	Turn          int // degrees, clockwise
}

// neighbor is the document before or after this one.
type neighbor struct {
	Name, Path string
	Warm       string // its first picture; "" where there is none
}

// document shows a document to whoever reads it. To see it is noted once.
func (p *pages) document(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.showDocument(w, r, who, nameRefusal{})
}

func (p *pages) showDocument(w http.ResponseWriter, r *http.Request, who visitor, refused nameRefusal) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if errs.KindOf(err) == errs.NotFound && who.MayWrite() {
		if gone, inTrash := p.Vault.Files.Trashed(r.Context(), id); inTrash == nil {
			return p.show(w, r, who, http.StatusOK, "document_trashed.html", page{Heading: gone.Filename, Section: "trash", Data: gone})
		}
	}
	if err != nil {
		return err
	}
	sheet := documentSheet{File: file, As: asPages, Page: 1}
	sheet.looksFor(r)
	sheet.Rename = documentRow{File: file, List: withValue(r.URL.RequestURI(), "rename", ""), Name: file.Filename, Renaming: r.URL.Query().Get("rename") != ""}
	if refused.file != 0 {
		sheet.Rename.Renaming, sheet.Rename.Name, sheet.Rename.Problem = true, refused.typed, refused.problem
	}
	if err := p.among(r, &sheet); err != nil {
		return err
	}
	if err := p.content(r, who, &sheet); err != nil {
		return err
	}
	if refused.file == 0 { // else it goes on being read
		p.opened(r, who, id)
	}
	return p.show(w, r, who, refused.status(), "document.html", page{
		Heading: file.Filename, Section: sheet.Place.Section, Data: sheet, Scripts: []string{"viewerline.js", "viewer.js"}, Styles: []string{"viewer.css"},
	})
}

// content finds out what is to be seen of the document.
func (p *pages) content(r *http.Request, who visitor, s *documentSheet) error {
	sizes, err := p.Vault.Files.Sizes(r.Context(), who.Actor, s.File.ID)
	switch {
	case err == nil && !blank(s.File, len(sizes)):
		return p.pictures(r, s, sizes)
	case err == nil:
		s.As, s.Broken = asNone, s.File.Failure
		return nil
	case errs.KindOf(err) != errs.NotFound:
		return err
	}
	s.As = asText
	if !s.File.ShownAsImages() {
		err = p.text(r, who, s)
		if errs.KindOf(err) != errs.NotFound {
			return err
		}
	}
	s.As = asNone
	s.Broken = cmp.Or(s.File.Failure, "There is no picture of this document here.")
	return nil
}

// blank reports a document of one page whose picture cannot be made, now or later: the
// sheet would stay empty.
func blank(f model.File, pages int) bool {
	return pages <= 1 && f.CannotPreview() && !f.Retryable()
}

// pictures takes what the address says about the page to look at.
func (p *pages) pictures(r *http.Request, s *documentSheet, sizes []document.PageSize) error {
	s.Pages = len(sizes)
	s.Page = min(max(asked(r, "page", 1), 1), s.Pages)
	s.Width = snap(asked(r, "w", defaultWidth))
	s.Fit = !r.URL.Query().Has("w")
	s.Sizes = packSizes(sizes)
	s.Searchable = s.File.MIME == model.MIMEPDF
	size := sizes[s.Page-1]
	turn := asked(r, "turn", 0)
	if turn%90 != 0 || turn < 0 || turn > 270 {
		turn = 0
	}
	s.Picture = picture{
		Source: picturePath(s.File.ID, s.Page, s.Width), Turn: turn,
		Width: s.Width, Height: max(1, int(float64(s.Width)*size.Height/size.Width)),
	}
	return nil
}

// asked is a whole number of the address, or what it is otherwise.
func asked(r *http.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return otherwise
	}
	return n
}

// packSizes writes runs of pages alike: most documents are one.
func packSizes(sizes []document.PageSize) string {
	type run [4]float64
	var runs []run
	for _, s := range sizes {
		next := run{1, round(s.Width), round(s.Height), float64(s.ImageWidth)}
		if n := len(runs) - 1; n >= 0 && slices.Equal(runs[n][1:], next[1:]) {
			runs[n][0]++
			continue
		}
		runs = append(runs, next)
	}
	packed, err := json.Marshal(runs)
	if err != nil {
		return "[]" // sizes are sane numbers
	}
	return string(packed)
}

func round(points float64) float64 { return max(float64(int64(points*10+0.5))/10, 0.1) }

// home is the place that a document is in, as its page tells it.
type home struct {
	Name, Path, Section string
	In                  string // as ?in= says it; "" where that is said by the document itself
}

// among finds the neighbors of a document in its place. An address that names the
// place is believed where it has the document.
func (p *pages) among(r *http.Request, s *documentSheet) error {
	at := placeOf(s.File)
	s.Place = home{Name: "Vault", Path: "/vault", Section: "vault"}
	in := r.URL.Query().Get("in")
	if named, ok := p.placeCalled(in); ok && in != "" && named == at {
		s.Place.In = p.called(at)
		s.QueryIn = "?in=" + s.Place.In
	}
	var err error
	if at.abstract != 0 {
		err = p.amongAbstract(r.Context(), s)
	} else {
		err = p.amongFolder(r.Context(), s)
	}
	if errs.KindOf(err) == errs.NotFound {
		return nil // it is gone by now
	}
	return err
}

// amongAbstract finds the documents before and after in the order of the abstract.
func (p *pages) amongAbstract(ctx context.Context, s *documentSheet) error {
	filed, err := p.Vault.Abstracts.Get(ctx, s.File.AbstractID)
	if err != nil {
		return err
	}
	headings, err := p.Vault.Abstracts.Headings(ctx, filed.Abstract)
	if err != nil {
		return err
	}
	s.Place.Name, s.Place.Path, s.Place.Section = headings[0], p.abstractPath(filed.Abstract.ID), "abstracts"
	at := slices.Index(filed.Abstract.Files, s.File.ID)
	if at < 0 {
		return nil
	}
	s.Position, s.Count = at+1, len(filed.Files)
	if at > 0 {
		s.Previous = s.neighbor(filed.Files[at-1])
	}
	if at+1 < len(filed.Files) {
		s.Next = s.neighbor(filed.Files[at+1])
	}
	return nil
}

// amongFolder finds those before and after in a folder, which shows them by name.
func (p *pages) amongFolder(ctx context.Context, s *documentSheet) error {
	if id := s.File.FolderID; id != 0 {
		folder, err := p.Vault.Folders.Get(ctx, id)
		if err != nil {
			return err
		}
		s.Place.Name, s.Place.Path = folder.Name, folderPath(id)
	}
	around, err := p.Vault.Folders.Around(ctx, s.File)
	s.Position, s.Count = around.Position, around.Count
	if around.Previous != nil {
		s.Previous = s.neighbor(*around.Previous)
	}
	if around.Next != nil {
		s.Next = s.neighbor(*around.Next)
	}
	return err
}

func (s *documentSheet) neighbor(f model.File) *neighbor {
	n := &neighbor{Name: f.Filename, Path: documentPath(f.ID) + s.QueryIn}
	if f.Failure == "" && f.ShownAsImages() {
		n.Warm = documentPath(f.ID) + "/pages/1"
	}
	return n
}

// still is the address of the document with one thing changed, for those without the
// script: the page, the width of its picture by a step, or a quarter turn.
func (s documentSheet) still(what string, by int) string {
	n, width, turn := s.Page, s.Width, s.Picture.Turn
	switch what {
	case "page":
		n = min(max(n+by, 1), s.Pages)
	case "w":
		at := slices.Index(widths, width) + by
		width = widths[min(max(at, 1), len(widths)-1)]
	case "turn":
		turn = (turn + 90*by) % 360
	}
	query := url.Values{"page": {strconv.Itoa(n)}}
	if s.Place.In != "" {
		query.Set("in", s.Place.In)
	}
	if s.From != "" {
		query.Set("from", s.From)
	}
	if !s.Fit || what == "w" {
		query.Set("w", strconv.Itoa(width))
	}
	if turn != 0 {
		query.Set("turn", strconv.Itoa(turn))
	}
	return documentPath(s.File.ID) + "?" + query.Encode()
}

func picturePath(id uint64, page, width int) string {
	return fmt.Sprintf("%s/pages/%d?w=%d", documentPath(id), page, width)
}
