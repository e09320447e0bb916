package apitypes

import "strconv"

// File is a stored document (SPEC.md, "File"). FileSize is in bytes,
// FileSizeHuman is HumanSize of it; PageCount is nil for what has no pages and
// FolderID is nil for a file in no folder.
type File struct {
	ID            int64  `json:"id"`
	Filename      string `json:"filename"`
	FileType      string `json:"file_type"`
	MimeType      string `json:"mime_type"`
	PageCount     *int   `json:"page_count"`
	FileSize      int64  `json:"file_size"`
	FileSizeHuman string `json:"file_size_human"`
	FolderID      *int64 `json:"folder_id"`
	IsProcessing  bool   `json:"is_processing"`
	DownloadURL   string `json:"download_url"`
	CreatedAt     Time   `json:"created_at"`
}

// FileFailure says why one file of a request was refused (SPEC.md, "Per-file
// failure"); Error is one of API.md's sentences.
type FileFailure struct {
	Filename string `json:"filename"`
	Error    string `json:"error"`
}

// FileBody answers GET and PATCH /file-vault/files/{n}, and POST
// /file-vault/files/{n}/restore.
type FileBody struct {
	Data File `json:"data"`
}

// Uploaded answers POST /file-vault/upload, both the 201 and the 200 of an
// upload of which nothing was stored (then Success is false).
type Uploaded struct {
	Success bool              `json:"success"`
	Message string            `json:"message"`
	Files   List[File]        `json:"files"`
	Errors  List[FileFailure] `json:"errors"`
}

var sizeUnits = [...]string{"B", "KB", "MB", "GB", "TB", "PB", "EB"}

// HumanSize writes a number of bytes for people (API.md, "file_size_human"):
// base 1024, at most one decimal rounded half up, no trailing zero. What rounds
// to 1024 of a unit is 1 of the next, so 1,048,575 is "1 MB". A number below
// zero is read as zero.
func HumanSize(n int64) string {
	size := uint64(max(n, 0))
	if size < 1024 {
		return strconv.FormatUint(size, 10) + " B"
	}
	for i := 1; ; i++ {
		unit := uint64(1) << (10 * i)
		// Whole units first: ten times the size itself could overflow.
		tenths := size/unit*10 + (size%unit*10+unit/2)/unit
		if tenths >= 10240 && i < len(sizeUnits)-1 {
			continue
		}
		text := strconv.FormatUint(tenths/10, 10)
		if d := tenths % 10; d != 0 {
			text += "." + strconv.FormatUint(d, 10)
		}
		return text + " " + sizeUnits[i]
	}
}
