package apitypes

// Folder is a folder of the file vault; ParentID is nil at the top level.
type Folder struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	ParentID *int64 `json:"parent_id"`
}

// Folders is the response of GET /file-vault/folders: parents before children, then by name.
type Folders struct {
	Folders List[Folder] `json:"folders"`
}

// FolderBody is the response of GET and PATCH /file-vault/folders/{n}.
type FolderBody struct {
	Data Folder `json:"data"`
}

// FolderCreated is the response of POST /file-vault/folders.
type FolderCreated struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Folder  Folder `json:"folder"`
}
