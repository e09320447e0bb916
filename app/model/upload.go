package model

import (
	"strings"

	"deedkeep/app/errs"
)

// ResumableUploadDraft is what an API client says of a document that it sends in several
// requests.
type ResumableUploadDraft struct {
	Filename   Input
	AbstractID Input // as sent
	FolderID   IDInput
}

// Check applies the rules; abstract is the number of the abstract, 0 where the id that
// was sent names none. Whether abstract and folder exist is found out with them.
func (d ResumableUploadDraft) Check(abstract uint64) (uint64, errs.Fields) {
	var f validation
	if strings.TrimSpace(d.Filename.Value) == "" {
		f.Add("filename", required("filename"))
	}
	named := strings.TrimSpace(d.AbstractID.Value) != ""
	if named && abstract == 0 {
		f.Add("abstract_id", notSelectable("abstract_id"))
	}
	folder := f.reference("folder_id", d.FolderID, true)
	if named && d.FolderID.Present {
		f.Add("folder_id", "The folder id field cannot be combined with abstract id.")
	}
	return folder, f.Fields
}
