package title

import (
	"strings"
	"time"
)

// File is one stored document. Its bytes live under Digest; Filename is a label
// and never becomes a path.
type File struct {
	ID         uint64    `json:"id"`
	Filename   string    `json:"filename"`
	MIME       string    `json:"mime"`
	Pages      *int      `json:"pages,omitempty"` // PDF pages, TIFF images
	Size       int64     `json:"size"`            // bytes
	Digest     string    `json:"digest"`          // SHA-256, lower-case hex
	FolderID   uint64    `json:"folder_id,omitempty"`
	AbstractID uint64    `json:"abstract_id,omitempty"`
	Processing bool      `json:"processing,omitempty"`
	Failure    string    `json:"failure,omitempty"` // why it has no picture or text that it should have
	Version    uint64    `json:"version"`
	CreatedAt  time.Time `json:"created_at"`
	Trashed    *Trashed  `json:"trashed,omitempty"`
}

// Type is the extension as sent, lower-cased (API.md, "Files").
func (f File) Type() string {
	at := strings.LastIndexByte(f.Filename, '.')
	return strings.ToLower(f.Filename[at+1:])
}

// FileFailure is a file that was refused, and why.
type FileFailure struct{ Filename, Reason string }

// Task is a file that waits for its processing.
type Task struct {
	Seq      uint64    `json:"seq"`
	FileID   uint64    `json:"file_id"`
	Owner    string    `json:"owner,omitempty"` // whose work it is; owners take turns
	Attempts int       `json:"attempts,omitempty"`
	At       time.Time `json:"at"` // when it is due
}
