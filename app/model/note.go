package model

import (
	"fmt"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model/area"
)

// Note is a remark of a person about an abstract, an order, or a document.
type Note struct {
	ID        uint64     `json:"id"`
	Record    string     `json:"record"` // type and ID of the record, such as "abstract:7"
	Page      int        `json:"page,omitempty"`
	Area      *area.Rect `json:"area,omitempty"` // highlighted area of the page
	Text      string     `json:"text"`
	By        Actor      `json:"by"`
	Version   uint64     `json:"version"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	EditedBy  *Actor     `json:"edited_by,omitempty"` // who changed it last; nil if no one did since that is recorded
	Trashed   *Trashed   `json:"trashed,omitempty"`
}

// maxNoteHeading is the maximum length of the heading of a note, in bytes.
const maxNoteHeading = 60

// Heading returns the beginning of the note on one line.
func (n Note) Heading() string { return cutText(n.Text, maxNoteHeading) }

// Excerpt returns a longer beginning of the note on one line.
func (n Note) Excerpt() string { return cutText(n.Text, maxTextBytes) }

var noteFields = []recordField[Note]{
	{FieldLabel{Name: "text", Label: "Note"}, func(n *Note) any { return n.Text }},
	{FieldLabel{Name: "page", Label: "Page of the note"}, func(n *Note) any { return n.Page }},
	{FieldLabel{Name: "area", Label: "Highlight", Type: pageArea}, func(n *Note) any {
		if n.Area == nil {
			return nil
		}
		return loggedArea{n.Page, *n.Area}
	}},
}

// loggedArea is the area of a note in the audit log.
type loggedArea struct {
	Page int `json:"page"`
	area.Rect
}

func (l loggedArea) text() string { return fmt.Sprintf("page %d, %v", l.Page, l.Rect) }

// Changes returns the differences between n and its new version, with API field names.
func (n Note) Changes(to Note) []Change { return compareRecords(noteFields, n, to) }

// Reverted is like Order.Reverted.
func (n Note) Reverted(before, after Note) (reverted Note, ok bool) {
	r := reversal{}
	revert(&r, &n.Text, before.Text, after.Text)
	type place struct { // an area is on one page
		Page int
		Area *area.Rect
	}
	at := place{n.Page, n.Area}
	revert(&r, &at, place{before.Page, before.Area}, place{after.Page, after.Area})
	n.Page, n.Area = at.Page, at.Area
	return n, !r.changed
}

// NoteInput is the input for a note. Page and Area are only for notes about documents.
type NoteInput struct {
	Text Optional[Input]
	Page Optional[IDInput]
	Area Optional[Input] // object with the members of area.Rect
}

const (
	// pageOutOfRange is the code of a page that a document doesn't have.
	pageOutOfRange errs.Code = "The {field} field must be a page of the document, from 1 to %d."

	notArea     errs.Code = "The {field} field must be an object with x, y, width, and height."
	noPageImage errs.Code = "The {field} field must be empty because the page has no image."
	notOnPage   errs.Code = "The {field} field must be inside the page, which is %s × %s points."
	notPositive errs.Code = "The {field} field must be greater than 0."
)

// Check applies the input to old, which is the zero Note with a Record for a new one. pages is the
// page count of the document, or nil if it has none or the record isn't a document. sizes are the sizes of its
// pages; they are needed only if the input has an area, and are empty if the record has no page images. A new page
// removes the area, unless the input has one, too.
func (in NoteInput) Check(old Note, pages *int, sizes []area.Size) (Note, errs.Fields) {
	var f validation
	n := old
	if in.Text.Present || old.ID == 0 {
		n.Text = f.optionalParagraph("text", in.Text.Value)
		if n.Text == "" && len(f.Fields) == 0 {
			f.Add("text", errs.Required)
		}
	}
	rejected := len(f.Fields)
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
	if n.Page != old.Page {
		n.Area = nil
	}
	if in.Area.Present && len(f.Fields) == rejected {
		n.Area = f.area("area", in.Area.Value, n.Page, sizes)
	}
	return n, f.Fields
}

// area validates an area of a page. It returns nil if there is none.
func (v *validation) area(field string, in Input, page int, sizes []area.Size) *area.Rect {
	switch {
	case in.IsBlank():
		return nil
	case in.Kind != InputObject:
		v.Add(field, notArea)
		return nil
	case page == 0:
		v.Add(field, pageToAlone)
		return nil
	case page > len(sizes):
		v.Add(field, noPageImage)
		return nil
	}
	before := len(v.Fields)
	member := func(name string, positive bool) float64 {
		value, err := strconv.ParseFloat(in.Members[name].Value, 64)
		switch {
		case in.Members[name].IsBlank():
			v.Add(field+"."+name, errs.Required)
		case in.Members[name].Kind != InputNumber || err != nil: // err: the number is too large
			v.Add(field+"."+name, errs.NotNumber)
		case positive && value <= 0:
			v.Add(field+"."+name, notPositive)
		}
		return value
	}
	r := area.Rect{X: member("x", false), Y: member("y", false), Width: member("width", true), Height: member("height", true)}
	if len(v.Fields) > before {
		return nil
	}
	size := sizes[page-1]
	on, ok := r.On(size)
	if !ok {
		points := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
		v.Add(field, notOnPage, points(size.Width), points(size.Height))
	}
	return &on
}
