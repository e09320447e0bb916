package titlework

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/model/area"
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
	Area     string            // highlighted area of a new note, as areaInput reads it; "" for none
	Only     string            // ID of the note that the viewer shows alone, newNote for the form of a new one; "" for all notes
	Problems map[string]string // of the new note
}

// newNote is the value of Notes.Only for the form of a new note.
const newNote = "new"

// View returns the address of what is shown.
func (n Notes) View() string { return page.WithQueryValue(n.Path, "only", n.Only) }

// Edit returns the address of what is shown, with the form of a note.
func (n Notes) Edit(id uint64) string {
	return page.WithQueryValue(n.View(), "edit", strconv.FormatUint(id, 10))
}

// ElementID returns the ID of the element. The viewer can show one note besides the others.
func (n Notes) ElementID() string {
	if n.Only == "" {
		return "notes"
	}
	return "shown-notes"
}

// Heading returns the heading.
func (n Notes) Heading() string {
	switch {
	case n.Only == "":
		return "Team notes"
	case n.Only == newNote:
		return "New note on page " + n.Page
	case len(n.List) == 0:
		return "Note"
	}
	return "Note on page " + n.List[0].Page
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
	Highlight  string // address of the viewer that shows the highlighted area; "" if there is none
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
		if n.Area != nil {
			row.Highlight = page.NotePath(of.id, n)
		}
		view.List = append(view.List, row)
	}
	view.show(cmp.Or(r.URL.Query().Get("only"), r.PostForm.Get("only")))
	return view, err
}

// show leaves only the named note; see Notes.Only.
func (n *Notes) show(only string) {
	if n.Only = only; only != "" {
		n.List = slices.DeleteFunc(n.List, func(row NoteRow) bool { return strconv.FormatUint(row.ID, 10) != only })
	}
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
		view.Page, view.Area = r.URL.Query().Get("page"), r.URL.Query().Get("area")
		return p.showNotes(r, http.StatusOK, of, view)
	}
}

// noteInput returns the submitted note. A form without a page or an area leaves them as they are.
func (p *Pages) noteInput(r *page.Request, forPage bool) model.NoteInput {
	in := model.NoteInput{Text: model.Some(model.StringInput(formText(r.PostForm, "text", 0)))}
	if forPage && r.PostForm.Has("page") {
		text := formText(r.PostForm, "page", 0)
		n, err := strconv.ParseInt(text, 10, 63)
		in.Page = model.Some(model.IDInput{Present: text != "", Valid: err == nil, Value: n})
	}
	if marked := formText(r.PostForm, "area", 0); marked != "" {
		in.Area = model.Some(areaInput(marked))
	}
	return in
}

// areaInput returns the area in a form: x, y, width, and height, with commas.
func areaInput(text string) model.Input {
	members := model.Inputs{}
	names := []string{"x", "y", "width", "height"}
	for n, value := range strings.SplitN(text, ",", len(names)) {
		members[names[n]] = model.JSONInput(value)
	}
	return model.ObjectInput(members)
}

// addNoteTo returns the handler that adds a note about records of a type.
func (p *Pages) addNoteTo(recordType string) page.HandlerFunc {
	return func(r *page.Request) error {
		of := noteRecord{recordType, r.PathID}
		note, err := p.App.Notes.Create(r.Context(), r.Actor, recordType, r.PathID, p.noteInput(r, recordType == "file"),
			vault.Idempotency[model.Note]{})
		if why, ok := rejected(err); ok {
			view, err := p.notes(r, of)
			if err != nil {
				return err
			}
			view.Text, view.Page, view.Problems = formText(r.PostForm, "text", 0), formText(r.PostForm, "page", 0), why.problems
			view.Area, view.Problem = formText(r.PostForm, "area", 0), cmp.Or(why.problems[""], areaProblem(why.problems))
			return p.showNotes(r, why.status, of, view)
		}
		if err != nil {
			return err
		}
		undo := page.UndoAddress(noteAction(note.ID, "delete"), url.Values{"record": {p.PublicRecordName(of.recordType, of.id)}})
		return p.notesChanged(r, of, note, "Note added.", undo)
	}
}

// noteAction returns the address for an action on a note.
func noteAction(id uint64, action string) string { return fmt.Sprintf("/notes/%d/%s", id, action) }

// areaProblem returns the first problem of an area, which has no field in the form.
func areaProblem(problems map[string]string) string {
	for _, field := range slices.Sorted(maps.Keys(problems)) {
		if field == "area" || strings.HasPrefix(field, "area.") {
			return problems[field]
		}
	}
	return ""
}

// notesChanged shows the notes after one was changed. Without scripts, the user returns to the record's page. undo is the
// address that undoes the change, or "".
func (p *Pages) notesChanged(r *page.Request, of noteRecord, note model.Note, notice, undo string) error {
	if r.PostForm.Get("only") == newNote {
		r.PostForm.Set("only", strconv.FormatUint(note.ID, 10))
	}
	view, err := p.notes(r, of)
	if err != nil {
		return err
	}
	if !r.IsPart() {
		if view.ForPage { // the viewer shows notes only with scripts
			view.Home = view.Path
		}
		return p.RedirectWithUndo(r, page.ReturnAddress(r, view.Home+"#notes"), notice, undo)
	}
	changed(r)
	p.setSaved(r, &view.section, notice, undo)
	if view.Only != "" {
		view.Saved.Back = page.NotePath(of.id, note)
	}
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
	return p.notesChanged(r, of, note, "Note saved.", undo)
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
	if why, ok := rejected(err); ok && why.clash && !r.Undoes {
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
	undo := page.UndoAddress(noteAction(r.PathID, "restore"), url.Values{"record": {p.PublicRecordName(of.recordType, of.id)}})
	return p.notesChanged(r, of, model.Note{}, "Note deleted.", undo)
}

// restoreNote restores a note from the trash.
func (p *Pages) restoreNote(r *page.Request) error {
	of, err := p.noteOf(r)
	if err != nil {
		return err
	}
	note, err := p.App.Notes.Restore(r.Context(), r.Actor, r.PathID, vault.Idempotency[model.Note]{})
	if err != nil {
		return err
	}
	return p.notesChanged(r, of, note, "Note restored.", "")
}

// shownArea is a highlighted area as the viewer's script gets it.
type shownArea struct {
	ID   uint64 `json:"id"`
	Page int    `json:"page"`
	area.Rect
	Text string `json:"text"`
}

// areas sends the highlighted areas of a document to the viewer's script.
func (p *Pages) areas(r *page.Request) error {
	list, err := p.App.Notes.List(r.Context(), vault.FileOps.Name, r.PathID)
	if err != nil {
		return err
	}
	shown := []shownArea{}
	for _, n := range list {
		if n.Area != nil {
			shown = append(shown, shownArea{n.ID, n.Page, *n.Area, n.Excerpt()})
		}
	}
	return r.SendJSON(http.StatusOK, map[string]any{"areas": shown})
}
