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
// abstract, or 0 if the ID is invalid. Whether abstract and folder exist is checked later.
func (d ResumableUploadDraft) Check(abstract uint64) (uint64, errs.Fields) {
	var f validation
	if strings.TrimSpace(d.Filename.Value) == "" {
		f.Add("filename", MsgRequired("filename"))
	}
	named := strings.TrimSpace(d.AbstractID.Value) != ""
	if named && abstract == 0 {
		f.Add("abstract_id", MsgInvalidChoice("abstract_id"))
	}
	folder := f.reference("folder_id", d.FolderID, true)
	if named && d.FolderID.Present {
		f.Add("folder_id", "The folder id field cannot be combined with abstract id.")
	}
	return folder, f.Fields
}

// UploadDraft is the input for uploaded documents: the folder they go to.
type UploadDraft struct {
	FolderID    IDInput
	NonFilePart bool // a "files" part of the form is not a file
}

// Check validates an upload and returns the folder ID. sent reports whether there is at least
// one file, and known whether the named folder exists.
func (d UploadDraft) Check(sent, known bool) (uint64, errs.Fields) {
	var f validation
	f.files(d.NonFilePart, sent)
	folder := f.reference("folder_id", d.FolderID, known)
	return folder, f.Fields
}

func (f *validation) files(odd, sent bool) {
	switch {
	case odd:
		f.Add("files", msgNotFile("files"))
	case !sent:
		f.Add("files", MsgRequired("files"))
	}
}
