package apitypes

import "strconv"

// File is a stored document. FileSize is in bytes, and FileSizeHuman is the result of HumanSize. PageCount is nil for
// file types that have no pages. FolderID is nil for files that are not in a folder.
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

// FileFailure is a file that was rejected and the reason.
type FileFailure struct {
	Filename string `json:"filename"`
	Error    string `json:"error"`
}

// FileBody is the response of GET and PATCH /file-vault/files/{n}, and POST /file-vault/files/{n}/restore.
type FileBody struct {
	Data File `json:"data"`
}

// Uploaded is the response of POST /file-vault/upload: a 201, or a 200 with Success false if all files were rejected.
type Uploaded struct {
	Success bool              `json:"success"`
	Message string            `json:"message"`
	Files   List[File]        `json:"files"`
	Errors  List[FileFailure] `json:"errors"`
}

var sizeUnits = [...]string{"B", "KB", "MB", "GB", "TB", "PB", "EB"}

// HumanSize formats a number of bytes with base 1024. It uses at most one decimal, rounded half up, without a
// trailing zero. If a value rounds to 1024 of a unit, it is shown as 1 of the next unit: 1,048,575 is "1 MB". A
// negative n counts as 0.
func HumanSize(n int64) string {
	size := uint64(max(n, 0))
	if size < 1024 {
		return strconv.FormatUint(size, 10) + " B"
	}
	for i := 1; ; i++ {
		unit := uint64(1) << (10 * i)
		// Count the full units first, because size*10 could overflow.
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

// Upload is the state of a resumable upload, in bytes, and its result: the document, or the reason why it was
// rejected. Both are nil until the last byte has arrived.
type Upload struct {
	Offset int64   `json:"offset"`
	Length int64   `json:"length"`
	File   *File   `json:"file"`
	Error  *string `json:"error"`
}

// UploadBody is the response of POST /uploads and GET /uploads/{id}.
type UploadBody struct {
	Data Upload `json:"data"`
}
