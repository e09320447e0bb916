package model

import (
	"fmt"
	"strings"

	"deedkeep/app/errs"
)

// Folder is a folder of the vault. ParentID 0 is the root.
type Folder struct {
	ID       uint64 `json:"id"`
	Name     string `json:"name"`
	ParentID uint64 `json:"parent_id,omitempty"`
	Version  uint64 `json:"version,omitempty"` // number of changes
}

var folderFields = []recordField[Folder]{
	{FieldLabel{Name: "name", Label: "Name"}, func(f *Folder) any { return f.Name }},
	{FieldLabel{Name: "parent_id", Label: "Folder", Refers: "folder"}, func(f *Folder) any { return f.ParentID }},
}

// Changes returns the differences between f and its new version, with API field names.
func (f Folder) Changes(to Folder) []Change { return compareRecords(folderFields, f, to) }

// MaxFolderDepth is the maximum number of nested folder levels.
const MaxFolderDepth = 32

// MsgFolderTooDeep is the message for a folder nested more than MaxFolderDepth levels deep.
var MsgFolderTooDeep = errs.Code(fmt.Sprintf("Folders can be nested at most %d levels deep. Choose a folder higher up.", MaxFolderDepth))

// FolderDraft is the input for a new folder.
type FolderDraft struct {
	Name     Input
	ParentID IDInput
}

// Check validates the draft, except for the rules that need the store. known reports whether the
// requested parent folder exists.
func (d FolderDraft) Check(known bool) (Folder, errs.Fields) {
	var f validation
	folder := Folder{Name: f.line("name", d.Name, MaxNameLength)}
	if folder.Name == "" && len(f.Fields) == 0 {
		f.Add("name", errs.Required)
	}
	folder.ParentID = f.reference("parent_id", d.ParentID, known)
	return folder, f.Fields
}

// FolderPatch is the input for updating a folder. Only the fields with Present set are changed.
type FolderPatch struct {
	Name     Optional[Input]
	ParentID Optional[IDInput]
}

// Check applies the patch to old. fits reports whether the requested parent exists and is neither
// the folder itself nor one of its descendants.
func (p FolderPatch) Check(old Folder, fits bool) (Folder, errs.Fields) {
	var f validation
	folder := old
	folder.Name = f.changedName("name", p.Name, old.Name)
	folder.ParentID = f.changedReference("parent_id", p.ParentID, old.ParentID, fits)
	return folder, f.Fields
}

// ResumableUploadDraft is the input for a document that a client sends in several requests.
type ResumableUploadDraft struct {
	Filename   Input
	AbstractID Input // the opaque ID, as sent
	FolderID   IDInput
}

// Check validates the draft and returns the folder ID. abstract is the decoded ID of the
// abstract, or 0 if the ID is invalid. Check doesn't verify that the abstract and the folder
// exist.
func (d ResumableUploadDraft) Check(abstract uint64) (uint64, errs.Fields) {
	var f validation
	if strings.TrimSpace(d.Filename.Value) == "" {
		f.Add("filename", errs.Required)
	}
	named := strings.TrimSpace(d.AbstractID.Value) != ""
	if named && abstract == 0 {
		f.Add("abstract_id", errs.InvalidChoice)
	}
	folder := f.reference("folder_id", d.FolderID, true)
	if named && d.FolderID.Present {
		f.Add("folder_id", "The folder id field cannot be combined with abstract id.")
	}
	return folder, f.Fields
}

// UploadDraft is the input for an upload of documents to a folder.
type UploadDraft struct {
	FolderID    IDInput
	Path        []string // names of folders below FolderID; those that are missing are created
	NonFilePart bool     // the form has a "files" part that isn't a file
}

// Check validates an upload and returns the folder ID. sent reports whether at least one file was
// sent. known reports whether the requested folder exists.
func (d UploadDraft) Check(sent, known bool) (uint64, errs.Fields) {
	var f validation
	f.files(d.NonFilePart, sent)
	folder := f.reference("folder_id", d.FolderID, known)
	return folder, f.Fields
}

func (v *validation) files(odd, sent bool) {
	switch {
	case odd:
		v.Add("files", errs.NotFile)
	case !sent:
		v.Add("files", errs.Required)
	}
}
