package vault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// undoable is a record with a change that a user makes and undoes.
type undoable struct {
	edit   vault.Edit                                     // without the version
	change func(ctx context.Context, n int) error         // changes the record to its nth state
	state  func(ctx context.Context) (any, uint64, error) // what the record contains, and its version
}

// undoables returns a record of each type, and each part of the title work.
func undoables(t *testing.T, p *vaulttest.UserFixture, actor model.Actor) map[string]undoable {
	t.Helper()
	always, long := vault.Match{}, strings.Repeat("Subject to the rights of others. ", 60)
	text := func(n int) string { return strings.Repeat(long, n) }
	abstract := vaulttest.CreateAbstract(t, p.Instance, vaulttest.PDFDoc("a.pdf", "a")).Abstract.ID
	order := vaulttest.CreateOrder(t, p.Instance, "T-1").ID
	deed := vaulttest.CreateInstrument(t, p.Instance, abstract,
		`{"type":"Warranty Deed","grantors":["Smith, Ann","Jones, Bea"],"consideration":"$5","recorded":"2020-01-02"}`).ID
	note, err := p.Notes.Create(t.Context(), actor, "abstract", abstract, model.NoteInput{Text: vaulttest.SomeText("As typed")},
		vault.Idempotency[model.Note]{})
	vaulttest.NoError(t, err)
	highlight, err := p.Notes.Create(t.Context(), actor, "file", 1, model.NoteInput{Text: vaulttest.SomeText("Vesting"),
		Page: model.Some(model.NewIDInput(1))}, vault.Idempotency[model.Note]{})
	vaulttest.NoError(t, err)
	work := func(version func(model.TitleWork) (any, uint64)) func(context.Context) (any, uint64, error) {
		return func(ctx context.Context) (any, uint64, error) {
			work, err := p.TitleWork.Get(ctx, abstract)
			state, at := version(work)
			return state, at, err
		}
	}
	rows := func(n int, member string) model.Input {
		list := []map[string]string{{"kind": "requirement", member: "First"}, {"kind": "requirement", member: "Second"}}
		list = append(list, map[string]string{"kind": "exception", member: strings.Repeat("Third ", n)})
		text, err := json.Marshal(list[n%2:])
		vaulttest.NoError(t, err)
		return model.JSONInput(string(text))
	}
	return map[string]undoable{
		"abstract": {vault.Edit{Type: "abstract", ID: abstract}, func(ctx context.Context, n int) error {
			fields := model.Inputs{}
			for _, name := range model.AbstractInputs() {
				fields[name] = model.StringInput(text(n)[:n])
			}
			_, err := p.Abstracts.Patch(ctx, actor, abstract, model.AbstractPatch{
				Fields: fields,
				Custom: model.Some(vaulttest.CustomText("legal_description", fmt.Sprintf("%q", text(n))))}, always)
			return err
		}, func(ctx context.Context) (any, uint64, error) {
			a, err := p.Abstracts.Get(ctx, abstract)
			version := a.Abstract.Version
			a.Abstract.Version, a.Abstract.UpdatedAt = 0, time.Time{}
			return a.Abstract, version, err
		}},
		"order": {vault.Edit{Type: "order", ID: order}, func(ctx context.Context, n int) error {
			_, err := p.Orders.Patch(ctx, actor, order, model.OrderPatch{Fields: model.Inputs{
				"due_date": model.StringInput([]string{"", "2026-12-01"}[n%2]), "order_number": model.StringInput(text(n)[:n])}}, always)
			return err
		}, func(ctx context.Context) (any, uint64, error) {
			o, err := p.Orders.Get(ctx, order)
			version := o.Version
			o.Version, o.UpdatedAt = 0, time.Time{}
			return o, version, err
		}},
		"instrument": {vault.Edit{Type: "instrument", ID: deed}, func(ctx context.Context, n int) error {
			_, err := p.Instruments.Patch(ctx, actor, deed, vault.InstrumentPatch{Input: model.Inputs{
				"remarks": model.StringInput(text(n)), "grantors": model.StringsInput([]string{"Cole", "Alder"}[n%2:])}}, always)
			return err
		}, func(ctx context.Context) (any, uint64, error) {
			i, err := p.Instruments.Get(ctx, deed)
			version := i.Version
			i.Version, i.UpdatedAt = 0, time.Time{}
			return i, version, err
		}},
		"note": {vault.Edit{Type: "note", ID: note.ID}, func(ctx context.Context, n int) error {
			_, err := p.Notes.Patch(ctx, actor, note.ID, model.NoteInput{Text: vaulttest.SomeText(text(n))}, always)
			return err
		}, func(ctx context.Context) (any, uint64, error) {
			list, err := p.Notes.List(ctx, "abstract", abstract)
			return list[0].Text, list[0].Version, err
		}},
		"highlight": {vault.Edit{Type: "note", ID: highlight.ID}, func(ctx context.Context, n int) error {
			in := model.NoteInput{Area: model.Some(model.JSONInput(fmt.Sprintf(`{"x":1,"y":%d,"width":3,"height":4}`, n)))}
			if n == 2 {
				in.Area = model.Some(model.Input{})
			}
			_, err := p.Notes.Patch(ctx, actor, highlight.ID, in, always)
			return err
		}, func(ctx context.Context) (any, uint64, error) {
			list, err := p.Notes.List(ctx, "file", 1)
			return []any{list[0].Page, list[0].Area, list[0].Text}, list[0].Version, err
		}},
		"people": {vault.Edit{Type: "abstract", ID: abstract, Part: "assignment"}, func(ctx context.Context, n int) error {
			members := model.Inputs{"due_date": model.StringInput([]string{"", "2026-12-01"}[n%2])}
			_, err := p.TitleWork.SetAssignment(ctx, actor, abstract, members, always)
			return err
		}, work(func(w model.TitleWork) (any, uint64) { return w.Assignment, w.Versions.Assignment })},
		"names run": {vault.Edit{Type: "abstract", ID: abstract, Part: "names_run"}, func(ctx context.Context, n int) error {
			_, err := p.TitleWork.SetNamesRun(ctx, actor, abstract, rows(n, "name"), always)
			return err
		}, work(func(w model.TitleWork) (any, uint64) { return w.NamesRun, w.Versions.NamesRun })},
		"requirements": {vault.Edit{Type: "abstract", ID: abstract, Part: "requirements"}, func(ctx context.Context, n int) error {
			_, err := p.TitleWork.SetRequirements(ctx, actor, abstract, rows(n, "text"), always)
			return err
		}, work(func(w model.TitleWork) (any, uint64) { return w.Requirements, w.Versions.Requirements })},
	}
}

// A user can undo a change of any record, as long as nothing else changed it, and undo that, too.
func TestUndoEdit(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "Kim", model.RoleStaff)
	p.CreateUser(t, "Lee", model.RoleViewer)
	kim, lee := p.Actor(t, "Kim"), p.Actor(t, "Lee")
	var last []vault.Edit
	for name, row := range undoables(t, p, kim) {
		t.Run(name, func(t *testing.T) {
			read := func() (string, vault.Edit) {
				t.Helper()
				state, version, err := row.state(t.Context())
				vaulttest.NoError(t, err)
				text, err := json.Marshal(state)
				vaulttest.NoError(t, err)
				edit := row.edit
				edit.Version = version
				return string(text), edit
			}
			var states []string
			var edits []vault.Edit
			for n := range 3 {
				vaulttest.NoError(t, row.change(t.Context(), n+1))
				state, edit := read()
				states, edits = append(states, state), append(edits, edit)
			}
			check := func(what, want string) {
				t.Helper()
				if got, _ := read(); got != want {
					t.Errorf("%s: got %s, want %s", what, got, want)
				}
			}
			if _, err := p.UndoEdit(t.Context(), kim, edits[1]); errs.KindOf(err) != errs.PreconditionFailed {
				t.Errorf("undo an earlier change: got error %v, want PreconditionFailed", err)
			}
			if _, err := p.UndoEdit(t.Context(), lee, edits[2]); errs.KindOf(err) != errs.Forbidden {
				t.Errorf("undo as a viewer: got error %v, want Forbidden", err)
			}
			check("after rejected undos", states[2])
			version, err := p.UndoEdit(t.Context(), kim, edits[2])
			vaulttest.NoError(t, err)
			check("after the undo", states[1])
			entry := vaulttest.AuditEntries(t, p.Instance, 1)[0]
			if !strings.HasSuffix(entry.Kind, ".changed") || len(entry.Changes) == 0 || entry.Actor.ID != kim.ID {
				t.Errorf("audit entry of the undo: got %+v, want one of Kim with changes", entry)
			}
			redo := row.edit
			redo.Version = version
			_, err = p.UndoEdit(t.Context(), kim, redo)
			vaulttest.NoError(t, err)
			check("after the undo of the undo", states[2])
			_, edit := read()
			last = append(last, edit)
		})
	}
	p.Clock.Advance(25 * time.Hour)
	kim = p.Actor(t, "Kim")
	for _, edit := range last {
		if _, err := p.UndoEdit(t.Context(), kim, edit); errs.KindOf(err) != errs.Conflict {
			t.Errorf("undo a day later: got error %v, want Conflict", err)
		}
	}
	untouched := vaulttest.CreateAbstract(t, p.Instance, vaulttest.PDFDoc("b.pdf", "b")).Abstract.ID
	never := vault.Edit{Type: "abstract", ID: untouched, Part: "names_run"}
	if _, err := p.UndoEdit(t.Context(), kim, never); errs.KindOf(err) != errs.Conflict {
		t.Errorf("undo of names run that were never changed: got error %v, want Conflict", err)
	}
	if _, err := p.UndoEdit(t.Context(), kim, vault.Edit{Type: "folder", ID: 1, Version: 2}); errs.KindOf(err) != errs.NotFound {
		t.Errorf("undo a change of another type: got error %v, want NotFound", err)
	}
}

// The undo of a change doesn't restore what the vault no longer accepts.
func TestUndoEditChecks(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "Kim", model.RoleStaff)
	kim := p.Actor(t, "Kim")
	record := vaulttest.CreateAbstract(t, p.Instance, vaulttest.PDFDoc("a.pdf", "a"))
	deed := vaulttest.CreateInstrument(t, p.Instance, record.Abstract.ID, `{"documents":[{"file_id":1}]}`)
	none := vault.InstrumentPatch{Input: model.Inputs{"documents": model.ListInput()}}
	unlinked, err := p.Instruments.Patch(t.Context(), kim, deed.ID, none, vault.Match{})
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, p.Files.Trash(t.Context(), kim, record.Files[0].ID, vault.Match{}))
	edit := vault.Edit{Type: "instrument", ID: deed.ID, Version: unlinked.Version}
	if _, err := p.UndoEdit(t.Context(), kim, edit); errs.KindOf(err) != errs.Invalid {
		t.Errorf("undo the removal of a document in the trash: got error %v, want Invalid", err)
	}
}

// An undo doesn't assign a user again who can't work on abstracts any longer.
func TestUndoAssignmentOfDisabledUser(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "Kim", model.RoleStaff)
	p.CreateUser(t, "Lee", model.RoleStaff)
	kim, lee := p.Actor(t, "Kim"), p.Actor(t, "Lee")
	abstract := vaulttest.CreateAbstract(t, p.Instance, vaulttest.PDFDoc("a.pdf", "a")).Abstract.ID
	for _, searcher := range []uint64{lee.ID, 0} {
		_, err := p.TitleWork.SetAssignment(t.Context(), kim, abstract, model.Inputs{"searcher": model.NumberInput(searcher)},
			vault.Match{})
		vaulttest.NoError(t, err)
	}
	_, err := p.Users.Disable(t.Context(), vaulttest.Operator, lee.ID)
	vaulttest.NoError(t, err)
	work, err := p.TitleWork.Get(t.Context(), abstract)
	vaulttest.NoError(t, err)
	edit := vault.Edit{Type: "abstract", ID: abstract, Part: "assignment", Version: work.Versions.Assignment}
	if _, err := p.UndoEdit(t.Context(), kim, edit); errs.KindOf(err) != errs.Invalid {
		t.Errorf("undo: got error %v, want Invalid", err)
	}
}

// A change can be undone after a restart and after a power failure, because what it replaced is stored with it.
func TestUndoAfterRestart(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	clock := vaulttest.NewClock()
	opts.Now = clock.Now
	p := &vaulttest.UserFixture{Instance: vaulttest.OpenUnchecked(t, opts), Clock: clock}
	p.CreateUser(t, "Kim", model.RoleStaff)
	kim := p.Actor(t, "Kim")
	record := vaulttest.CreateAbstract(t, p.Instance, vaulttest.Doc{Name: "a.pdf", Body: vaulttest.PDF(3, "a")})
	file := record.Files[0].ID
	renamed, err := p.Files.Patch(t.Context(), kim, file, model.FilePatch{Filename: model.Some(model.StringInput("b.pdf"))}, vault.Match{})
	vaulttest.NoError(t, err)
	_, turned, err := p.Files.Turn(t.Context(), kim, file, "1-2")
	vaulttest.NoError(t, err)

	// A power failure leaves what was synced: the files as they are now.
	failed := opts
	failed.Dir = filepath.Join(t.TempDir(), "copy")
	vaulttest.NoError(t, os.CopyFS(failed.Dir, os.DirFS(opts.Dir)))
	vaulttest.Close(t, p.Instance)
	for what, opts := range map[string]instance.Options{"restart": opts, "power failure": failed} {
		p := &vaulttest.UserFixture{Instance: vaulttest.Open(t, opts), Clock: clock}
		kim := p.Actor(t, "Kim")
		version, err := p.UndoEdit(t.Context(), kim, turned)
		vaulttest.NoError(t, err)
		_, err = p.UndoEdit(t.Context(), kim, vault.Edit{Type: "file", ID: file, Version: renamed.Version})
		vaulttest.NoError(t, err)
		if f := vaulttest.File(t, p.Instance, file); f.Filename != "a.pdf" || f.Turns != "" {
			t.Errorf("after a %s: got %q, rotation %q, want a.pdf and none", what, f.Filename, f.Turns)
		}
		repeated := turned
		repeated.Version = version
		_, err = p.UndoEdit(t.Context(), kim, repeated)
		vaulttest.NoError(t, err)
		if f := vaulttest.File(t, p.Instance, file); f.Turns != "1-2" {
			t.Errorf("after a %s and a redo: got rotation %q, want 1-2", what, f.Turns)
		}
		_, err = p.UndoEdit(t.Context(), kim, turned)
		if f := vaulttest.File(t, p.Instance, file); err != nil || f.Turns != "" {
			t.Errorf("after a %s, undo again: got rotation %q, %v; want none", what, f.Turns, err)
		}
	}
}

// Another version of the PDF reader can find other page sizes. The highlighted area of a note then stays as it was marked, and
// the note can be changed and its changes undone, but a new area must be on the page.
func TestAreaAfterPageSizeChange(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "Kim", model.RoleStaff)
	kim := p.Actor(t, "Kim")
	vaulttest.CreateAbstract(t, p.Instance, vaulttest.PDFDoc("a.pdf", "a"))
	size := document.PageSize{Width: 612, Height: 792}
	p.Notes.PageSizes = func(context.Context, model.Actor, uint64) ([]document.PageSize, error) {
		return []document.PageSize{size}, nil
	}
	area := func(x int) model.Optional[model.Input] {
		return model.Some(model.JSONInput(fmt.Sprintf(`{"x":%d,"y":700,"width":100,"height":50}`, x)))
	}
	note, err := p.Notes.Create(t.Context(), kim, "file", 1, model.NoteInput{Text: vaulttest.SomeText("Vesting"),
		Page: model.Some(model.NewIDInput(1)), Area: area(400)}, vault.Idempotency[model.Note]{})
	vaulttest.NoError(t, err)
	moved, err := p.Notes.Patch(t.Context(), kim, note.ID, model.NoteInput{Area: area(500)}, vault.Match{})
	vaulttest.NoError(t, err)
	size = document.PageSize{Width: 300, Height: 400}
	changed, err := p.Notes.Patch(t.Context(), kim, note.ID, model.NoteInput{Text: vaulttest.SomeText("Vesting deed")}, vault.Match{})
	vaulttest.NoError(t, err)
	if changed.Area == nil || *changed.Area != *moved.Area {
		t.Errorf("area after a change of the text: got %v, want %v", changed.Area, moved.Area)
	}
	_, err = p.Notes.Patch(t.Context(), kim, note.ID, model.NoteInput{Area: area(450)}, vault.Match{})
	vaulttest.WantKind(t, "new area outside of the page", err, errs.Invalid)
	_, err = p.UndoEdit(t.Context(), kim, vault.Edit{Type: "note", ID: note.ID, Version: moved.Version})
	vaulttest.NoError(t, err)
	list, err := p.Notes.List(t.Context(), "file", 1)
	vaulttest.NoError(t, err)
	if list[0].Area == nil || *list[0].Area != *note.Area || list[0].Text != "Vesting deed" {
		t.Errorf("note after Undo of the move: got %+v, want the first area", list[0])
	}
}
