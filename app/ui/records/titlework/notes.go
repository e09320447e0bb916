package titlework

import (
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Notes is the template data of the notes about a record.
type Notes struct {
	section
	List     []NoteRow // oldest first
	ForPage  bool      // the record is a document: notes can be about a page
	Record   string    // name of the record; see page.Site.PublicRecordName
	Text     string    // submitted text of a new note that was rejected
	Page     string
	Problems map[string]string // of the new note
}

// NoteRow is a note. In a form, Text and Page are as submitted.
type NoteRow struct {
	ID         uint64
	Version    uint64
	Who        string
	At         time.Time
	Changed    bool      // the note was changed after it was added
	Editor     string    // who changed it last; "" if that isn't known
	EditedAt   time.Time // when it was changed last
	MayEdit    bool      // the user is its author or an administrator
	Text, Page string
	Editing    bool
	Clash      bool
	Theirs     string // the stored text, after another user changed it in the meantime
	Problems   map[string]string
}

// noteRecord is a record that has notes.
type noteRecord struct {
	recordType string
	id         uint64
}

// notes returns the notes about a record.
func (p *Pages) notes(r *page.Request, of noteRecord) (view Notes, err error) {
	home := p.RecordPath(of.recordType, of.id)
	view = Notes{section: section{Path: home + "/notes", Home: home}, ForPage: of.recordType == "file",
		Record: p.PublicRecordName(of.recordType, of.id)}
	list, err := p.App.Notes.List(r.Context(), of.recordType, of.id)
	if err != nil {
		return view, err
	}
	staff, err := p.Staff(r.Context())
	for _, n := range list {
		row := NoteRow{ID: n.ID, Version: n.Version, Who: staff.ActorName(n.By), At: n.CreatedAt, Changed: n.Version > 1, EditedAt: n.UpdatedAt,
			MayEdit: r.MayWrite() && (n.By.Is(r.Actor) || r.Actor.Role.Can(model.PermAdmin)), Text: n.Text}
		if n.EditedBy != nil {
			row.Editor = staff.ActorName(*n.EditedBy)
		}
		if n.Page != 0 {
			row.Page = strconv.Itoa(n.Page)
		}
		view.List = append(view.List, row)
	}
	return view, err
}

// showNotes renders the notes about a record, alone for a script.
func (p *Pages) showNotes(r *page.Request, status int, of noteRecord, view Notes) error {
	alone := standalone{Part: "titlework_notes", Of: view, Back: view.Home, List: "/abstracts", Records: "Abstracts"}
	switch of.recordType {
	case "abstract":
		_, heading, err := p.App.Abstracts.WithHeading(r.Context(), of.id)
		if err != nil {
			return err
		}
		alone.Name = heading
	case "order":
		order, err := p.App.Orders.Get(r.Context(), of.id)
		if err != nil {
			return err
		}
		alone.Name, alone.List, alone.Records = "Order "+order.Number, "/orders", "Orders"
	default:
		file, err := p.App.Files.Get(r.Context(), of.id)
		if err != nil {
			return err
		}
		alone.Name, alone.List, alone.Records = file.Filename, "/vault", "Vault"
	}
	return p.showPart(r, status, "Notes", alone)
}

// notesOf returns the handler that serves the notes about records of a type. The query can open the
// form of a note.
func (p *Pages) notesOf(recordType string) page.HandlerFunc {
	return func(r *page.Request) error {
		of := noteRecord{recordType, r.PathID}
		view, err := p.notes(r, of)
		if err != nil {
			return err
		}
		view.Focus = r.IsPart()
		for i := range view.List {
			view.List[i].Editing = view.List[i].MayEdit && r.URL.Query().Get("edit") == strconv.FormatUint(view.List[i].ID, 10)
		}
		view.Page = r.URL.Query().Get("page")
		return p.showNotes(r, http.StatusOK, of, view)
	}
}

// noteInput returns the submitted note.
func (p *Pages) noteInput(r *page.Request, forPage bool) model.NoteInput {
	in := model.NoteInput{Text: model.Some(model.StringInput(formText(r.PostForm, "text", 0)))}
	if !forPage {
		return in
	}
	text := formText(r.PostForm, "page", 0)
	n, err := strconv.ParseInt(text, 10, 63)
	in.Page = model.Some(model.IDInput{Present: text != "", Valid: err == nil, Value: n})
	return in
}

// addNoteTo returns the handler that adds a note about records of a type.
func (p *Pages) addNoteTo(recordType string) page.HandlerFunc {
	return func(r *page.Request) error {
		of := noteRecord{recordType, r.PathID}
		_, err := p.App.Notes.Create(r.Context(), r.Actor, recordType, r.PathID, p.noteInput(r, recordType == "file"),
			vault.Idempotency[model.Note]{})
		if why, ok := rejected(err); ok {
			view, err := p.notes(r, of)
			if err != nil {
				return err
			}
			view.Text, view.Page, view.Problems = formText(r.PostForm, "text", 0), formText(r.PostForm, "page", 0), why.problems
			view.Problem = why.problems[""]
			return p.showNotes(r, why.status, of, view)
		}
		if err != nil {
			return err
		}
		return p.notesChanged(r, of, "Note added.", "")
	}
}

// notesChanged shows the notes after a change. Without scripts, the user returns to the record's page. undo is the address
// that undoes the change, or "".
func (p *Pages) notesChanged(r *page.Request, of noteRecord, notice, undo string) error {
	view, err := p.notes(r, of)
	if err != nil {
		return err
	}
	if !r.IsPart() {
		if view.ForPage { // the viewer shows notes only with scripts
			view.Home = view.Path
		}
		return p.RedirectWithUndo(r, view.Home+"#notes", notice, undo)
	}
	p.setSaved(r, &view.section, notice, undo)
	changed(r)
	return p.showNotes(r, http.StatusOK, of, view)
}

// noteOf returns the record of a note, which the form contains.
func (p *Pages) noteOf(r *page.Request) (of noteRecord, err error) {
	name := p.ParseRecordName(r.PostForm.Get("record"))
	of.recordType, of.id, err = page.SplitRecordName(name)
	if name == "" || err != nil {
		return of, page.NotFound(r)
	}
	return of, nil
}

// changeNote saves the text and the page of a note.
func (p *Pages) changeNote(r *page.Request) error {
	of, err := p.noteOf(r)
	if err != nil {
		return err
	}
	note, err := p.App.Notes.Patch(r.Context(), r.Actor, r.PathID, p.noteInput(r, of.recordType == "file"), match(r))
	if why, ok := rejected(err); ok {
		return p.showRejectedNote(r, of, why)
	}
	if err != nil {
		return err
	}
	undo := ""
	if was, err := strconv.ParseUint(r.PostForm.Get("version"), 10, 64); err == nil {
		undo = p.EditUndo(r, vault.Edit{Type: "note", ID: note.ID, Version: note.Version}, was)
	}
	return p.notesChanged(r, of, "Note saved.", undo)
}

// showRejectedNote shows the form of a note with the submitted values.
func (p *Pages) showRejectedNote(r *page.Request, of noteRecord, why rejection) error {
	view, err := p.notes(r, of)
	if err != nil {
		return err
	}
	for i := range view.List {
		row := &view.List[i]
		if row.ID != r.PathID {
			continue
		}
		row.Editing, row.Clash, row.Problems = true, why.clash, why.problems
		if why.clash {
			row.Theirs = row.Text
		}
		row.Text, row.Page = formText(r.PostForm, "text", 0), formText(r.PostForm, "page", 0)
	}
	return p.showNotes(r, why.status, of, view)
}

// deleteNote moves a note to the trash. If another user changed it in the meantime, it stays.
func (p *Pages) deleteNote(r *page.Request) error {
	of, err := p.noteOf(r)
	if err != nil {
		return err
	}
	err = p.App.Notes.Trash(r.Context(), r.Actor, r.PathID, match(r))
	if why, ok := rejected(err); ok && why.clash {
		view, err := p.notes(r, of)
		if err != nil {
			return err
		}
		view.Problem = "Someone else changed the note. It was not deleted."
		return p.showNotes(r, why.status, of, view)
	}
	if err != nil {
		return err
	}
	return p.notesChanged(r, of, "Note deleted.", "")
}
