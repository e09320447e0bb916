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
func (si *Site) ParsePlace(text string) (at Place, ok bool) {
	kind, id, _ := strings.Cut(text, ":")
	switch {
	case text == "" || text == "none":
		return at, true
	case kind == "abstract":
		at.Abstract, ok = si.AbstractIDs.Decode(id)
	case kind == "folder":
		n, err := strconv.ParseUint(id, 10, 63)
		at.Folder, ok = n, err == nil && n != 0
	}
	return at, ok
}

// FormatPlace spells a place for ParsePlace.
func (si *Site) FormatPlace(at Place) string {
	switch {
	case at.Abstract != 0:
		return "abstract:" + si.AbstractIDs.Encode(at.Abstract)
	case at.Folder != 0:
		return "folder:" + strconv.FormatUint(at.Folder, 10)
	}
	return "none"
}

// PlacePath returns the address of the list of a place's documents.
func (si *Site) PlacePath(at Place) string {
	if at.Abstract != 0 {
		return si.AbstractPath(at.Abstract)
	}
	return FolderOrVaultPath(at.Folder)
}

// ViewerPath returns the address of a document in the viewer, among the documents of its place.
func (si *Site) ViewerPath(f model.File) string {
	return DocumentPath(f.ID) + "?in=" + si.FormatPlace(DocumentPlace(f))
}
