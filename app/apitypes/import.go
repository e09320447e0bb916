package apitypes

// FolderEnsure asks POST /control/import/folders for the folder of a name below a
// parent (0: the root), compared without case; it is made where there is none, but
// not with DryRun. Missing is the number of folders between the parent and this one
// that don't exist yet; it is 0 without DryRun.
type FolderEnsure struct {
	ParentID int64  `json:"parent_id"`
	Name     string `json:"name"`
	Missing  int    `json:"missing,omitempty"`
	DryRun   bool   `json:"dry_run"`
}

// FolderEnsured answers it; Folder is nil when a dry run found none.
type FolderEnsured struct {
	Folder *Folder `json:"folder"`
	Made   bool    `json:"made"`
}

// Imported answers GET /control/import/file, which only looks, and POST of the same,
// which uploads one document, or with dry_run only inspects it. Exactly one is set, none by a look or a dry run that found nothing:
// the file's number, with There when it was there already, or why it is refused.
type Imported struct {
	File    *int64 `json:"file"`
	There   bool   `json:"there"`
	Refused string `json:"refused"`
}

// ImportReport is what "import --json" prints (COMMANDS.md). Refusals holds the first
// of them; the numbers count all.
type ImportReport struct {
	DryRun     bool                `json:"dry_run"`
	Filed      int64               `json:"filed"` // with DryRun: would be uploaded
	Bytes      int64               `json:"bytes"` // of those filed
	There      int64               `json:"there"` // were there already
	Refused    int64               `json:"refused"`
	Unreadable int64               `json:"unreadable"`
	Links      int64               `json:"links"`   // not followed; devices and the like too
	Skipped    int64               `json:"skipped"` // hidden ones, and systems' own
	Folders    int64               `json:"folders"` // made
	Refusals   List[ImportRefusal] `json:"refusals"`
}

// ImportRefusal is one thing that was not filed, by its path below the folder that was
// imported. What is "refused", "unreadable" or "link".
type ImportRefusal struct {
	Path   string `json:"path"`
	What   string `json:"what"`
	Reason string `json:"reason"`
}
