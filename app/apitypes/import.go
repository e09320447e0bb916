package apitypes

// FolderEnsure is the body of POST /control/import/folders. It requests the subfolder of the parent that has this
// name, ignoring case. ParentID 0 means the top level. The folder is created if it doesn't exist, except with DryRun.
// Missing is the number of folders between the parent and this folder that don't exist yet. Without DryRun, it is 0.
type FolderEnsure struct {
	ParentID int64  `json:"parent_id"`
	Name     string `json:"name"`
	Missing  int    `json:"missing,omitempty"`
	DryRun   bool   `json:"dry_run"`
}

// FolderEnsured is the response to FolderEnsure. Folder is nil if a dry run didn't find the folder.
type FolderEnsured struct {
	Folder  *Folder `json:"folder"`
	Created bool    `json:"created"`
}

// Imported is the response of GET /control/import/file, which only checks whether a document would be accepted, and of
// POST to the same path, which uploads one document, or with dry_run only inspects it. At most one of two results is
// set: File, with Existing if the document was already stored, or Rejected, the reason.
type Imported struct {
	File     *int64 `json:"file"`
	Existing bool   `json:"existing"`
	Rejected string `json:"rejected"`
}

// ImportReport is the output of "import --json". Rejections lists the first rejections; the counters count all.
type ImportReport struct {
	DryRun     bool                  `json:"dry_run"`
	Imported   int64                 `json:"imported"` // uploaded files, or with DryRun, files that would be uploaded
	Bytes      int64                 `json:"bytes"`    // total bytes of these files
	Existing   int64                 `json:"existing"` // files already stored
	Rejected   int64                 `json:"rejected"`
	Unreadable int64                 `json:"unreadable"`
	Links      int64                 `json:"links"`   // not followed; also counts devices and named pipes
	Skipped    int64                 `json:"skipped"` // hidden files and operating system files
	Folders    int64                 `json:"folders"` // created folders
	Rejections List[ImportRejection] `json:"rejections"`
}

// ImportRejection is a file that was not imported. Path is relative to the imported folder.
type ImportRejection struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"` // "rejected", "unreadable", or "link"
	Reason string `json:"reason"`
}
