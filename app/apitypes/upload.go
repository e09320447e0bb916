package apitypes

// Upload is how far a resumable upload is, in bytes, and what came of it: the document,
// or why there is none. Both are nil while it arrives.
type Upload struct {
	Offset int64   `json:"offset"`
	Length int64   `json:"length"`
	File   *File   `json:"file"`
	Error  *string `json:"error"`
}

// UploadBody answers POST /uploads and GET /uploads/{id}.
type UploadBody struct {
	Data Upload `json:"data"`
}
