package model

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"deedkeep/app/errs"
	"deedkeep/app/model/origin"
)

// File is a stored document. Its bytes are stored under Digest; Filename is only a label and is
// never used as a path.
type File struct {
	ID         uint64 `json:"id"`
	Filename   string `json:"filename"`
	MIME       string `json:"mime"`
	Pages      *int   `json:"pages,omitempty"` // of a PDF or TIFF
	Size       int64  `json:"size"`            // bytes
	Digest     string `json:"digest"`          // SHA-256, lower-case hex
	FolderID   uint64 `json:"folder_id,omitempty"`
	AbstractID uint64 `json:"abstract_id,omitempty"`
	// RetainedUntil is the end of the retention period that the document had in abstracts that it
	// left. It never becomes earlier. It is zero if there was none.
	RetainedUntil time.Time `json:"retained_until,omitzero"`
	// Retained is set instead of RetainedUntil in records of schema 10 and earlier: the document
	// belonged to an abstract that was purged.
	Retained   bool      `json:"retained,omitempty"`
	Processing bool      `json:"processing,omitempty"`
	Failure    string    `json:"failure,omitempty"`    // why a preview or text is missing
	TextPages  *int      `json:"text_pages,omitempty"` // pages, sheets, or slides with text, their own or from OCR; nil until counted
	OCR        *OCR      `json:"ocr,omitempty"`        // nil until it is known which pages need OCR
	Turns      PageTurns `json:"turns,omitempty"`      // rotation of the pages that a person chose
	// Origin says which pages of other documents the document was created from. It is nil if it was uploaded.
	Origin    []origin.Part `json:"origin,omitempty"`
	Owner     string        `json:"owner,omitempty"` // user or API key that uploaded it (Actor.Record); OCR is shared fairly among owners
	Version   uint64        `json:"version"`
	CreatedAt time.Time     `json:"created_at"`
	Trashed   *Trashed      `json:"trashed,omitempty"`
}

var fileFields = []recordField[File]{
	{FieldLabel{Name: "filename", Label: "Name"}, func(f *File) any { return f.Filename }},
	{FieldLabel{Name: "folder_id", Label: "Folder", Refers: "folder"}, func(f *File) any { return f.FolderID }},
	{FieldLabel{Name: "abstract_id", Label: "Abstract", Refers: "abstract"}, func(f *File) any { return f.AbstractID }},
}

// Changes returns the differences between f and its new version, with API field names.
func (f File) Changes(to File) []Change { return compareRecords(fileFields, f, to) }

// Leaves reports whether a document leaves its abstract when its record is replaced with now: it
// gets another abstract or none, or it is moved to the trash without its abstract.
func (f File) Leaves(now File) bool {
	removed := now.Trashed != nil && now.Trashed.With == "" && (f.Trashed == nil || f.Trashed.With != "")
	return f.AbstractID != 0 && (now.AbstractID != f.AbstractID || removed)
}

// ListedIn returns the abstract that lists a document, or 0. An abstract that is in the trash still
// lists the documents that were deleted with it.
func (f File) ListedIn() uint64 {
	if f.Trashed != nil && f.Trashed.With == "" {
		return 0
	}
	return f.AbstractID
}

// Extension returns the extension of the filename, lower case, without the dot.
func (f File) Extension() string {
	at := strings.LastIndexByte(f.Filename, '.')
	return strings.ToLower(f.Filename[at+1:])
}

// dotExtension returns the extension with its dot, or "" if there is none.
func (f File) dotExtension() string {
	if at := strings.LastIndexByte(f.Filename, '.'); at >= 0 {
		return f.Filename[at:]
	}
	return ""
}

// CompleteFilename returns the filename for a name that a user typed. It appends the document's
// extension unless the user typed it, because the extension identifies the document's type. It
// returns "" for a blank name, which Check rejects.
func (f File) CompleteFilename(typed string) string {
	typed = strings.TrimSpace(typed)
	if typed == "" || extensionKind(File{Filename: typed}.Extension()) == extensionKind(f.Extension()) && strings.Contains(typed, ".") {
		return typed
	}
	return typed + f.dotExtension()
}

// TypeName returns the display name of the document's type.
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

// MIMEPDF is the media type of PDF documents.
const MIMEPDF = "application/pdf"

// IsSpreadsheet reports whether the text of the document consists of rows of cells with tabs between them.
func (f File) IsSpreadsheet() bool {
	return strings.Contains(f.MIME, "excel") || strings.Contains(f.MIME, "spreadsheet")
}

// ShownAsImages reports whether the document's pages are shown as images. Other types are shown
// as text.
func (f File) ShownAsImages() bool { return f.MIME == MIMEPDF || strings.HasPrefix(f.MIME, "image/") }

// HasPreview reports whether a preview image exists: the type has one, and processing
// succeeded.
func (f File) HasPreview() bool { return f.ShownAsImages() && !f.Processing && f.Failure == "" }

// PageCount returns the number of pages, or 0 for a type without pages.
func (f File) PageCount() int {
	if f.Pages == nil {
		return 0
	}
	return *f.Pages
}

// OCR is the progress of reading the pages of a document whose own text is missing or unusable.
type OCR struct {
	Pages int `json:"pages"` // how many pages need OCR
	Read  int `json:"read"`  // how many of them have been read; some of them may be blank or unreadable
	// Turns is the rotation at which the text of the pages is upright. Pages that are upright are left out.
	Turns PageTurns `json:"turns,omitempty"`
}

// WaitsForOCR reports whether pages of the document have to be read, or whether it isn't known
// yet if any have to. Documents in the trash wait, too.
func (f File) WaitsForOCR() bool {
	if f.Processing || !f.ShownAsImages() {
		return false
	}
	return f.OCR == nil || f.OCR.Read < f.OCR.Pages
}

// PagesWaitingForOCR returns how many pages have to be read. Until that is known, it returns the
// number of pages without text.
func (f File) PagesWaitingForOCR() int {
	switch {
	case !f.WaitsForOCR():
		return 0
	case f.OCR != nil:
		return f.OCR.Pages - f.OCR.Read
	}
	text := 0
	if f.TextPages != nil {
		text = *f.TextPages
	}
	return max(max(f.PageCount(), 1)-text, 0)
}

// Unsearchable reports whether the document is known to have no text.
func (f File) Unsearchable() bool {
	if f.Processing {
		return false
	}
	if f.TextPages == nil {
		return f.ShownAsImages() && f.MIME != MIMEPDF // images have no text of their own
	}
	return *f.TextPages == 0
}

// PagesWithoutText returns the number of pages without text. It returns 0 if none of the pages
// has text, or if the pages with text haven't been counted.
func (f File) PagesWithoutText() int {
	if f.Processing || f.TextPages == nil || *f.TextPages == 0 {
		return 0
	}
	return max(f.PageCount()-*f.TextPages, 0)
}

// RejectedFile is an uploaded file that was rejected, and the reason.
type RejectedFile struct{ Filename, Reason string }

// FilePatch is the input for updating a document. Only the fields with Present set are changed.
type FilePatch struct {
	Filename   Optional[Input] // already sanitized like an uploaded filename
	FolderID   Optional[IDInput]
	AbstractID Optional[IDInput]
}

// Check applies the patch to old. knownFolder and knownAbstract report whether the requested folder
// and abstract exist. A document is either in a folder or on an abstract, so moving it to one removes
// it from the other.
func (p FilePatch) Check(old File, knownFolder, knownAbstract bool) (File, errs.Fields) {
	var f validation
	file := old
	if p.Filename.Present {
		file.Filename = f.filename("filename", p.Filename.Value, old)
	}
	file.FolderID = f.changedReference("folder_id", p.FolderID, old.FolderID, knownFolder)
	file.AbstractID = f.changedReference("abstract_id", p.AbstractID, old.AbstractID, knownAbstract)
	switch {
	case file.FolderID == 0 || file.AbstractID == 0:
	case file.FolderID != old.FolderID && file.AbstractID != old.AbstractID:
		f.Add("abstract_id", errs.NotCombinable, "folder_id")
	case file.FolderID != old.FolderID:
		file.AbstractID = 0
	default:
		file.FolderID = 0
	}
	return file, f.Fields
}

// filename validates a new filename for an existing document. The new extension must mean the
// same document type. Unlike in other one-line fields, leading and trailing spaces are kept.
func (v *validation) filename(field string, in Input, old File) string {
	name := in.Value
	switch {
	case !in.isText():
		v.Add(field, errs.NotString)
	case in.Kind == InputMissing || strings.TrimSpace(name) == "":
		v.Add(field, errs.Required)
	case name == old.Filename:
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		v.Add(field, errs.InvalidCharacters)
	case len(name) > MaxNameLength:
		v.Add(field, errs.TooLong, MaxNameLength)
	case !strings.Contains(name, ".") || extensionKind(File{Filename: name}.Extension()) != extensionKind(old.Extension()):
		v.Add(field, "The {field} must keep its .%s extension.", old.Extension())
	}
	return name
}

// extensionKind maps alternative extensions of one type to the same value.
func extensionKind(ext string) string {
	switch ext {
	case "jpeg":
		return "jpg"
	case "tiff":
		return "tif"
	}
	return ext
}

// PageTurns says by how many quarter turns clockwise the pages of a document are rotated for display. It
// has a digit from 0 to 3 for each page, in order, or "-" if the rotation of the page isn't known. It may
// end before the last page.
type PageTurns string

const noTurns = '-'

// Of returns the quarter turns of a page. It returns 0 if they aren't known.
func (t PageTurns) Of(page int) int {
	if page < 1 || page > len(t) || t[page-1] == noTurns {
		return 0
	}
	return int(t[page-1] - '0')
}

// Valid reports whether t is for a document with this many pages.
func (t PageTurns) Valid(pages int) bool {
	return len(t) <= pages && strings.Trim(string(t), "-0123") == ""
}

// With returns t with the quarter turns of a page.
func (t PageTurns) With(page, turns int) PageTurns {
	return t.Merge(PageTurns(fmt.Sprintf("%s%d", strings.Repeat(string(noTurns), page-1), turns)))
}

// Merge returns t with the pages that are known in set.
func (t PageTurns) Merge(set PageTurns) PageTurns {
	merged := []byte(t)
	for n, turns := range []byte(set) {
		switch {
		case n == len(merged):
			merged = append(merged, turns)
		case turns != noTurns:
			merged[n] = turns
		}
	}
	return PageTurns(strings.TrimRight(string(merged), string(noTurns)))
}

// Changes returns the differences between t and its new version: one for adjacent pages that changed alike.
func (t PageTurns) Changes(to PageTurns) (list []Change) {
	pages := max(len(t), len(to))
	for first := 1; first <= pages; first++ {
		from, now := t.Of(first), to.Of(first)
		if from == now {
			continue
		}
		last := first
		for last < pages && t.Of(last+1) == from && to.Of(last+1) == now {
			last++
		}
		words := fmt.Sprintf("page %d", first)
		if last > first {
			words = fmt.Sprintf("pages %d-%d", first, last)
		}
		list = append(list, Change{
			Field: "rotation", From: fmt.Append(nil, 90*from), To: fmt.Append(nil, 90*now),
			Text: fmt.Sprintf("%s: %d° → %d°", words, 90*from, 90*now),
		})
		first = last
	}
	return list
}

// ShownTurns returns the rotation of the pages: what a person chose, or else the direction in which OCR
// found their text.
func (f File) ShownTurns() PageTurns {
	if f.OCR == nil {
		return f.Turns
	}
	return f.OCR.Turns.Merge(f.Turns)
}

// ThumbnailTurns returns the rotation of the first page, in quarter turns clockwise.
func (f File) ThumbnailTurns() int { return f.ShownTurns().Of(1) }

// Parts of File.Failure: the missing output and the reason. They are stored and shown to users,
// so the wording must not change.
const (
	FailureNoText    = "No text"
	FailureNoPreview = "No picture"

	// After these failures, a retry may succeed later or on a larger machine.
	FailureTooSlow       = "the document takes too long"
	FailureTooMuchMemory = "the document takes too much memory"
	FailureNotOpened     = "It could not be opened here; it can be tried again."
)

// Retryable reports whether processing failed for a reason that may not recur. Errors in the
// document itself are permanent.
func (f File) Retryable() bool {
	for _, reason := range []string{FailureTooSlow, FailureTooMuchMemory, FailureNotOpened} {
		if strings.Contains(f.Failure, reason) {
			return true
		}
	}
	return false
}

// MissingText reports whether processing failed to extract text that the document may have. The
// document isn't processed again until someone requests it.
func (f File) MissingText() bool {
	return strings.Contains(f.Failure, FailureNoText) || strings.Contains(f.Failure, FailureNotOpened)
}

// CannotPreview reports whether processing found that no preview can be created.
func (f File) CannotPreview() bool { return strings.Contains(f.Failure, FailureNoPreview) }

// ProcessingTask is a queued task to process one document.
type ProcessingTask struct {
	Seq      uint64    `json:"seq"`
	FileID   uint64    `json:"file_id"`
	Owner    string    `json:"owner,omitempty"` // the workers are shared fairly among owners
	Attempts int       `json:"attempts,omitempty"`
	DueAt    time.Time `json:"at"` // the earliest time at which to process it
}
