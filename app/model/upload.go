package model

import (
	"strings"

	"deedkeep/app/errs"
)

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
