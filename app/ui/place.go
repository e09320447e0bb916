package ui

import (
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// place is where documents are filed: with an abstract, in a folder, or neither. As
// uploads and ?in= of a document's address say it, it is
//
//	abstract:ID · folder:N · none
type place struct{ abstract, folder uint64 }

func placeOf(f model.File) place { return place{f.AbstractID, f.FolderID} }

// placeCalled reads a place as it is spelled; "" is none, too.
func (p *pages) placeCalled(text string) (at place, ok bool) {
	kind, id, _ := strings.Cut(text, ":")
	switch {
	case text == "" || text == "none":
		return at, true
	case kind == "abstract":
		at.abstract, ok = p.abstracts.Decode(id)
	case kind == "folder":
		n, err := strconv.ParseUint(id, 10, 63)
		at.folder, ok = n, err == nil && n != 0
	}
	return at, ok
}

// called spells a place.
func (p *pages) called(at place) string {
	switch {
	case at.abstract != 0:
		return "abstract:" + p.abstracts.Encode(at.abstract)
	case at.folder != 0:
		return "folder:" + strconv.FormatUint(at.folder, 10)
	}
	return "none"
}

// placePath is the page that lists the documents of a place.
func (p *pages) placePath(at place) string {
	if at.abstract != 0 {
		return p.abstractPath(at.abstract)
	}
	return folderOr(at.folder)
}

// reading is the viewer's address of a document among those of its place.
func (p *pages) reading(f model.File) string {
	return documentPath(f.ID) + "?in=" + p.called(placeOf(f))
}
