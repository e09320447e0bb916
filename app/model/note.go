package model

import (
	"time"

	"deedkeep/app/errs"
)

// Note is a remark of a person about an abstract, an order, or a document.
type Note struct {
	ID        uint64    `json:"id"`
	Record    string    `json:"record"` // type and ID of the record, such as "abstract:7"
	Page      int       `json:"page,omitempty"`
	Text      string    `json:"text"`
	By        Actor     `json:"by"`
	Version   uint64    `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	EditedBy  *Actor    `json:"edited_by,omitempty"` // who changed it last; nil if no one did since that is recorded
	Trashed   *Trashed  `json:"trashed,omitempty"`
}

// maxNoteHeading is the maximum length of the heading of a note, in bytes.
const maxNoteHeading = 60

// Heading returns the beginning of the note on one line.
func (n Note) Heading() string { return cutText(n.Text, maxNoteHeading) }

var noteFields = []recordField[Note]{
	{FieldLabel{Name: "text", Label: "Note"}, func(n *Note) any { return n.Text }},
	{FieldLabel{Name: "page", Label: "Page of the note"}, func(n *Note) any { return n.Page }},
}

// Changes returns the differences between n and its new version, with API field names.
func (n Note) Changes(to Note) []Change { return compareRecords(noteFields, n, to) }

// Reverted is like Order.Reverted.
func (n Note) Reverted(before, after Note) (reverted Note, ok bool) {
	r := reversal{}
	revert(&r, &n.Text, before.Text, after.Text)
	revert(&r, &n.Page, before.Page, after.Page)
	return n, !r.changed
}

// NoteInput is the input for a note. Page is only for notes about documents.
type NoteInput struct {
	Text Optional[Input]
	Page Optional[IDInput]
}

// pageOutOfRange is the code of a page that a document doesn't have.
const pageOutOfRange errs.Code = "The {field} field must be a page of the document, from 1 to %d."

// Check applies the input to old, which is the zero Note with a Record for a new one. pages is the
// page count of the document, or nil if it has none or the record isn't a document.
func (in NoteInput) Check(old Note, pages *int) (Note, errs.Fields) {
	var f validation
	n := old
	if in.Text.Present || old.ID == 0 {
		n.Text = f.optionalParagraph("text", in.Text.Value)
		if n.Text == "" && len(f.Fields) == 0 {
			f.Add("text", errs.Required)
		}
	}
	if page := in.Page.Value; in.Page.Present {
		switch {
		case !page.Present:
			n.Page = 0
		case !page.Valid:
			f.Add("page", errs.NotInteger)
		case pages == nil && page.Value != 1: // such a document is a single page
			f.Add("page", errs.InvalidChoice)
		case page.Value < 1 || pages != nil && page.Value > int64(*pages):
			f.Add("page", pageOutOfRange, *pages)
		default:
			n.Page = int(page.Value)
		}
	}
	return n, f.Fields
}
