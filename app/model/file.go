package model

import (
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
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
	Retained   bool      `json:"retained,omitempty"` // was on an abstract that is purged by now, long enough to be kept like it
	Processing bool      `json:"processing,omitempty"`
	Failure    string    `json:"failure,omitempty"`    // why it has no picture or text that it should have
	TextPages  *int      `json:"text_pages,omitempty"` // pages, sheets, or slides with text; nil until its processing has counted them
	Version    uint64    `json:"version"`
	CreatedAt  time.Time `json:"created_at"`
	Trashed    *Trashed  `json:"trashed,omitempty"`
}

// Extension is the extension as sent, lower-cased (API.md, "Files").
func (f File) Extension() string {
	at := strings.LastIndexByte(f.Filename, '.')
	return strings.ToLower(f.Filename[at+1:])
}

// dotExtension is how the name ends, with its dot; "" without one.
func (f File) dotExtension() string {
	if at := strings.LastIndexByte(f.Filename, '.'); at >= 0 {
		return f.Filename[at:]
	}
	return ""
}

// CompleteFilename is the name that somebody means who typed one: the extension says what the
// document is and stays, whether it was typed or not. Of blanks it is "", which Check refuses.
func (f File) CompleteFilename(typed string) string {
	typed = strings.TrimSpace(typed)
	if typed == "" || extensionKind(File{Filename: typed}.Extension()) == extensionKind(f.Extension()) && strings.Contains(typed, ".") {
		return typed
	}
	return typed + f.dotExtension()
}

// TypeName is what people call its type.
func (f File) TypeName() string {
	switch ext := f.Extension(); ext {
	case "jpg", "jpeg":
		return "JPEG"
	case "tif", "tiff":
		return "TIFF"
	case "doc", "docx":
		return "Word"
	case "xls", "xlsx":
		return "Excel"
	case "ppt", "pptx":
		return "PowerPoint"
	case "txt":
		return "Text"
	default:
		return strings.ToUpper(ext)
	}
}

// MIMEPDF is the type of a PDF document.
const MIMEPDF = "application/pdf"

// ShownAsImages reports a kind whose pages are shown as pictures; the others are shown as text.
func (f File) ShownAsImages() bool { return f.MIME == MIMEPDF || strings.HasPrefix(f.MIME, "image/") }

// HasPreview reports whether there is a picture of it: its kind has some, and its
// processing has come to a good end.
func (f File) HasPreview() bool { return f.ShownAsImages() && !f.Processing && f.Failure == "" }

// PageCount is the number of its pages; 0 where there are none to count.
func (f File) PageCount() int {
	if f.Pages == nil {
		return 0
	}
	return *f.Pages
}

// Unsearchable reports a document that has no text at all, as far as is known: a picture
// has none, whenever it was uploaded.
func (f File) Unsearchable() bool {
	if f.Processing {
		return false
	}
	if f.TextPages == nil {
		return f.ShownAsImages() && f.MIME != MIMEPDF
	}
	return *f.TextPages == 0
}

// PagesWithoutText is how many pages of a document with text have none; 0 where no one
// counted them.
func (f File) PagesWithoutText() int {
	if f.Processing || f.TextPages == nil || *f.TextPages == 0 {
		return 0
	}
	return max(f.PageCount()-*f.TextPages, 0)
}

// RejectedFile is a file that was refused, and why.
type RejectedFile struct{ Filename, Reason string }

// ProcessingTask is a file that waits for its processing.
type ProcessingTask struct {
	Seq      uint64    `json:"seq"`
	FileID   uint64    `json:"file_id"`
	Owner    string    `json:"owner,omitempty"` // whose work it is; owners take turns
	Attempts int       `json:"attempts,omitempty"`
	DueAt    time.Time `json:"at"` // when it is due
}

// FilePatch is a change of a file as it arrived: only what is Present of it.
type FilePatch struct {
	Filename Optional[Input] // cleaned already, as the name of an upload is
	FolderID Optional[IDInput]
}

// Check applies the change to the file as it is. Known says whether the folder that
// the change names is there.
func (p FilePatch) Check(old File, known bool) (File, errs.Fields) {
	var f validation
	file := old
	if p.Filename.Present {
		file.Filename = f.filename("filename", p.Filename.Value, old)
	}
	const field = "folder_id"
	if old.AbstractID != 0 && p.FolderID.Present && p.FolderID.Value.Present {
		f.Add(field, "A document of an abstract cannot be in a folder.")
		return file, f.Fields
	}
	file.FolderID = f.changedReference(field, p.FolderID, old.FolderID, known)
	return file, f.Fields
}

// filename is a label for the same bytes: its extension says what they are. Unlike
// other lines it keeps its blanks (API.md, "Multipart bodies").
func (f *validation) filename(field string, in Input, old File) string {
	name := in.Value
	switch {
	case in.Kind == InputNotString:
		f.Add(field, notString(field))
	case in.Kind == InputMissing || strings.TrimSpace(name) == "":
		f.Add(field, required(field))
	case name == old.Filename:
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		f.Add(field, badCharacters(field))
	case len(name) > MaxNameLength:
		f.Add(field, tooLong(field, MaxNameLength))
	case !strings.Contains(name, ".") || extensionKind(File{Filename: name}.Extension()) != extensionKind(old.Extension()):
		f.Add(field, "The "+spoken(field)+" must keep its ."+old.Extension()+" extension.")
	}
	return name
}

// extensionKind is one for two extensions of one kind (API.md, "Files").
func extensionKind(ext string) string {
	switch ext {
	case "jpeg":
		return "jpg"
	case "tiff":
		return "tif"
	}
	return ext
}
