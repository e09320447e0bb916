package page

import (
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// Place is where documents are: in an abstract, in a folder, or neither. Uploads and the parameter
// "in" of a document's address spell it:
//
//	abstract:ID · folder:N · none
type Place struct{ Abstract, Folder uint64 }

// DocumentPlace returns where a document is.
func DocumentPlace(f model.File) Place { return Place{f.AbstractID, f.FolderID} }

// ParsePlace parses a place; "" is the same as none.
func (p *Site) ParsePlace(text string) (at Place, ok bool) {
	kind, id, _ := strings.Cut(text, ":")
	switch {
	case text == "" || text == "none":
		return at, true
	case kind == "abstract":
		at.Abstract, ok = p.AbstractIDs.Decode(id)
	case kind == "folder":
		n, err := strconv.ParseUint(id, 10, 63)
		at.Folder, ok = n, err == nil && n != 0
	}
	return at, ok
}

// FormatPlace spells a place for ParsePlace.
func (p *Site) FormatPlace(at Place) string {
	switch {
	case at.Abstract != 0:
		return "abstract:" + p.AbstractIDs.Encode(at.Abstract)
	case at.Folder != 0:
		return "folder:" + strconv.FormatUint(at.Folder, 10)
	}
	return "none"
}

// PlacePath returns the address of the list of a place's documents.
func (p *Site) PlacePath(at Place) string {
	if at.Abstract != 0 {
		return p.AbstractPath(at.Abstract)
	}
	return FolderOrVaultPath(at.Folder)
}

// ViewerPath returns the address of a document in the viewer, among the documents of its place.
func (p *Site) ViewerPath(f model.File) string {
	return DocumentPath(f.ID) + "?in=" + p.FormatPlace(DocumentPlace(f))
}
