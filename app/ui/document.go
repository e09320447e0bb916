package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/extract"
	"deedkeep/app/title"
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
	File            title.File
	As              look
	Place           place
	Position, Count int // of the document in its place, from 1; 0: unknown
	Previous, Next  *neighbour
	Page, Pages     int
	Width           int // of the picture, as asked for without a script
	Picture         picture
	Fit             bool   // it is made as narrow as the window
	Sizes           string // for the script: [[pages alike, width, height, pixels], …]
	Find            string // what is looked for
	Text            []textPage
	Hits            int
	Searchable, Cut bool
	Broken          string // why there is nothing to see
	QueryIn         string // "?in=…", or nothing
}

// picture is the one that is shown without a script.
type picture struct {
	Source        string
	Width, Height int
	Turn          int // degrees, clockwise
}

// neighbour is the document before or after this one.
type neighbour struct {
	Name, Path string
	Warm       string // its first picture; "" where there is none
}

// document shows a document to whoever reads it. To see it is noted once.
func (p *pages) document(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	file, err := p.Vault.Files.Get(r.Context(), id)
	if title.KindOf(err) == title.NotFound && who.MayWrite() {
		if gone, inTrash := p.Vault.Files.Trashed(r.Context(), id); inTrash == nil {
			return p.show(w, r, who, http.StatusOK, "document_trashed.html", page{Heading: gone.Filename, Section: "trash", Data: gone})
		}
	}
	if err != nil {
		return err
	}
	sheet := documentSheet{File: file, As: asPages, Page: 1, Find: shorten(r.FormValue("find"), 400)}
	if err := p.among(r, &sheet); err != nil {
		return err
	}
	if err := p.content(r, who, &sheet); err != nil {
		return err
	}
	p.Events.Note(who.Actor, fileOpened, fileRecord(id), nil)
	return p.show(w, r, who, http.StatusOK, "document.html", page{
		Heading: file.Filename, Section: sheet.Place.Section, Data: sheet, Scripts: []string{"viewer.js"}, Styles: []string{"viewer.css"},
	})
}

// content finds out what is to be seen of the document.
func (p *pages) content(r *http.Request, who visitor, s *documentSheet) error {
	sizes, err := p.Vault.Files.Sizes(r.Context(), who.Actor, s.File.ID)
	switch {
	case err == nil && !blank(s.File):
		return p.pictures(r, s, sizes)
	case err == nil:
		s.As, s.Broken = asNone, s.File.Failure
		return nil
	case title.KindOf(err) != title.NotFound:
		return err
	}
	s.As = asText
	if s.File.MIME != mimePDF && !strings.HasPrefix(s.File.MIME, "image/") {
		err = p.text(r, who, s)
		if title.KindOf(err) != title.NotFound {
			return err
		}
	}
	s.As = asNone
	s.Broken = cmp.Or(s.File.Failure, "There is no picture of this document here.")
	return nil
}

// blank reports an image of one page whose picture could not be made: the sheet would
// stay empty.
func blank(f title.File) bool {
	return f.Failure != "" && strings.HasPrefix(f.MIME, "image/") && f.Pages == nil
}

// pictures takes what the address says about the page to look at.
func (p *pages) pictures(r *http.Request, s *documentSheet, sizes []extract.Size) error {
	s.Pages = len(sizes)
	s.Page = min(max(asked(r, "page", 1), 1), s.Pages)
	s.Width = snap(asked(r, "w", defaultWidth))
	s.Fit = !r.URL.Query().Has("w")
	s.Sizes = packSizes(sizes)
	s.Searchable = s.File.MIME == mimePDF
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
func packSizes(sizes []extract.Size) string {
	type run [4]float64
	var runs []run
	for _, s := range sizes {
		next := run{1, round(s.Width), round(s.Height), float64(s.Pixels)}
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

// place is where a document lies, and what its neighbours are counted in.
type place struct {
	Name, Path, Section string
	In                  string // as ?in= says it; "" where that is said by the document itself
}

// errNowhere is a place that has not this document.
var errNowhere = errors.New("the document is not there")

// among finds the place that the address names, or the document's own, and its
// neighbours there. A place that is gone, or another's, is not used.
func (p *pages) among(r *http.Request, s *documentSheet) error {
	in := r.URL.Query().Get("in")
	files, err := p.readPlace(r.Context(), in, s)
	if errors.Is(err, errNowhere) || title.KindOf(err) == title.NotFound {
		in = ""
		files, err = p.readPlace(r.Context(), p.placeOf(s.File), s)
	}
	if err != nil && !errors.Is(err, errNowhere) && title.KindOf(err) != title.NotFound {
		return err
	}
	if s.Place.Path == "" {
		s.Place = place{Name: "Vault", Path: "/vault", Section: "vault"}
	}
	if s.Place.In = in; in != "" {
		s.QueryIn = "?in=" + url.QueryEscape(in)
	}
	at := slices.IndexFunc(files, func(f title.File) bool { return f.ID == s.File.ID })
	if at < 0 {
		return nil
	}
	s.Position, s.Count = at+1, len(files)
	if at > 0 {
		s.Previous = s.neighbour(files[at-1])
	}
	if at+1 < len(files) {
		s.Next = s.neighbour(files[at+1])
	}
	return nil
}

func (s *documentSheet) neighbour(f title.File) *neighbour {
	n := &neighbour{Name: f.Filename, Path: documentPath(f.ID) + s.QueryIn}
	if f.Failure == "" && (f.MIME == mimePDF || strings.HasPrefix(f.MIME, "image/")) {
		n.Warm = documentPath(f.ID) + "/pages/1"
	}
	return n
}

// placeOf is a document's own place, as ?in= would name it.
func (p *pages) placeOf(f title.File) string {
	switch {
	case f.AbstractID != 0:
		return "abstract:" + p.abstracts.Encode(f.AbstractID)
	case f.FolderID != 0:
		return "folder:" + strconv.FormatUint(f.FolderID, 10)
	}
	return "none"
}

// readPlace gives the documents of a place in their order.
func (p *pages) readPlace(ctx context.Context, in string, s *documentSheet) ([]title.File, error) {
	kind, id, _ := strings.Cut(in, ":")
	switch kind {
	case "abstract":
		n, ok := p.abstracts.Decode(id)
		if !ok || n != s.File.AbstractID {
			return nil, errNowhere
		}
		filed, err := p.Vault.Abstracts.Get(ctx, n)
		if err != nil {
			return nil, err
		}
		headings, err := p.Vault.Abstracts.Headings(ctx, filed.Abstract)
		if err != nil {
			return nil, err
		}
		s.Place = place{Name: headings[0], Path: p.abstractPath(n), Section: "abstracts"}
		return filed.Files, nil
	case "folder":
		n, err := strconv.ParseUint(id, 10, 63)
		if err != nil || n == 0 || n != s.File.FolderID {
			return nil, errNowhere
		}
		folder, err := p.Vault.Folders.Get(ctx, n)
		if err != nil {
			return nil, err
		}
		s.Place = place{Name: folder.Name, Path: folderPath(n), Section: "vault"}
		return p.inFolder(ctx, s)
	case "none":
		if s.File.FolderID != 0 || s.File.AbstractID != 0 {
			return nil, errNowhere
		}
		s.Place = place{Name: "Vault", Path: "/vault", Section: "vault"}
		return p.inFolder(ctx, s)
	}
	return nil, errNowhere
}

// inFolder finds the documents before and after in a folder, which shows them by name.
func (p *pages) inFolder(ctx context.Context, s *documentSheet) ([]title.File, error) {
	around, err := p.Vault.Folders.Around(ctx, s.File)
	s.Position, s.Count = around.Position, around.Count
	if around.Previous != nil {
		s.Previous = s.neighbour(*around.Previous)
	}
	if around.Next != nil {
		s.Next = s.neighbour(*around.Next)
	}
	return nil, err
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
