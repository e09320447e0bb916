package model

import (
	"fmt"

	"deedkeep/app/errs"
)

// Folder is a place in the vault; ParentID 0 is the root.
type Folder struct {
	ID       uint64 `json:"id"`
	Name     string `json:"name"`
	ParentID uint64 `json:"parent_id,omitempty"`
	Version  uint64 `json:"version,omitempty"` // how often it was changed
}

// MaxFolderDepth is how many folders lie within one another at most, counted from the
// top of the vault.
const MaxFolderDepth = 32

// MsgFolderTooDeep is the sentence for a folder that would lie deeper.
var MsgFolderTooDeep = fmt.Sprintf("Folders lie at most %d deep; choose one further up.", MaxFolderDepth)

// FolderDraft is a folder as it arrived.
type FolderDraft struct {
	Name     Input
	ParentID IDInput
}

// Check applies the rules that need no store. Known says whether the parent that
// the draft names is there.
func (d FolderDraft) Check(known bool) (Folder, errs.Fields) {
	var f validation
	folder := Folder{Name: f.line("name", d.Name, MaxNameLength)}
	if folder.Name == "" && len(f.Fields) == 0 {
		f.Add("name", required("name"))
	}
	folder.ParentID = f.reference("parent_id", d.ParentID, known)
	return folder, f.Fields
}

// FolderPatch is a change of a folder as it arrived: only what is Present of it.
type FolderPatch struct {
	Name     Optional[Input]
	ParentID Optional[IDInput]
}

// Check applies the change to the folder as it is. Fits says whether the parent
// that the change names is there, and neither the folder itself nor beneath it.
func (p FolderPatch) Check(old Folder, fits bool) (Folder, errs.Fields) {
	var f validation
	folder := old
	folder.Name = f.changedName("name", p.Name, old.Name)
	folder.ParentID = f.changedReference("parent_id", p.ParentID, old.ParentID, fits)
	return folder, f.Fields
}

// UploadDraft is documents as they arrived, and the folder that was named for them.
type UploadDraft struct {
	FolderID    IDInput
	NonFilePart bool // a part named like a file was none
}

// Check applies the rules of an upload: something was sent, and the folder that is
// named, if any, is there.
func (d UploadDraft) Check(sent, known bool) (uint64, errs.Fields) {
	var f validation
	f.files(d.NonFilePart, sent)
	folder := f.reference("folder_id", d.FolderID, known)
	return folder, f.Fields
}

func (f *validation) files(odd, sent bool) {
	switch {
	case odd:
		f.Add("files", notFile("files"))
	case !sent:
		f.Add("files", required("files"))
	}
}

// reference is the number of another record, 0 when none is named.
func (f *validation) reference(field string, n IDInput, known bool) uint64 {
	switch {
	case !n.Present:
		return 0
	case !n.Valid:
		f.Add(field, notInteger(field))
	case n.Value <= 0 || !known:
		f.Add(field, notSelectable(field))
	default:
		return uint64(n.Value)
	}
	return 0
}
