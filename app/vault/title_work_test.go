package vault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// addInstrument records an instrument. fields is a JSON object of the API.
func addInstrument(t *testing.T, v *instance.Instance, abstract uint64, fields string) model.Instrument {
	t.Helper()
	var in model.Inputs
	if err := json.Unmarshal([]byte(fields), &in); err != nil {
		t.Fatalf("decode %s: %v", fields, err)
	}
	created, err := v.Instruments.Create(t.Context(), vaulttest.Operator, abstract, vault.InstrumentPatch{Input: in},
		vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		t.Fatalf("create instrument: %v", err)
	}
	return created.Instrument
}

// An abstract for an order is created with its link, or not at all.
func TestCreateForOrder(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	order := vaulttest.CreateOrder(t, v, "2026-1")
	create := func(order uint64, due string) (vault.AbstractWithFiles, error) {
		members := model.Inputs{"due_date": model.JSONInput(due)}
		return v.TitleWork.CreateForOrder(t.Context(), vaulttest.Operator, order, model.AbstractDraft{}, members,
			vaulttest.StageDocs(t, v), vaulttest.IdempotencyKey[vault.AbstractWithFiles](1))
	}
	for _, row := range []struct {
		order uint64
		due   string
	}{{99, `"2026-12-01"`}, {order.ID, `"soon"`}} {
		_, err := create(row.order, row.due)
		vaulttest.WantKind(t, fmt.Sprintf("order %d, due %s", row.order, row.due), err, errs.Invalid)
	}
	if status := vaulttest.Status(t, v); status.Abstracts != 0 {
		t.Errorf("got %d abstracts, want 0", status.Abstracts)
	}
	created, err := create(order.ID, `"2026-12-01"`)
	if err != nil {
		t.Fatalf("CreateForOrder: %v", err)
	}
	if _, err := create(order.ID, `"2026-12-01"`); err == nil {
		t.Error("CreateForOrder with a used key: got no error, want a conflict")
	}
	work, err := v.TitleWork.Get(t.Context(), created.Abstract.ID)
	if err != nil || work.OrderID != order.ID || work.Assignment.DueDate != "2026-12-01" || work.Versions.Order != 1 {
		t.Errorf("TitleWork.Get: got %+v, %v, want the order and the due date", work, err)
	}
	if list, err := v.TitleWork.AbstractsOfOrder(t.Context(), order.ID); err != nil || len(list) != 1 {
		t.Errorf("AbstractsOfOrder: got %d, %v, want 1", len(list), err)
	}
}

// Abstracts made for an order take over its assignee as the searcher, unless another one is chosen or the assignee can't
// work on abstracts any longer.
func TestAssigneeBecomesSearcher(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "Kim", model.RoleStaff)
	p.CreateUser(t, "Lee", model.RoleStaff)
	kim, lee := p.Actor(t, "Kim"), p.Actor(t, "Lee")
	order := vaulttest.CreateOrder(t, p.Instance, "2026-1")
	assign := func(members model.Inputs) error {
		_, err := p.Orders.Patch(t.Context(), kim, order.ID, model.OrderPatch{Fields: members}, vault.Match{})
		return err
	}
	vaulttest.WantKind(t, "an unknown assignee", assign(model.Inputs{"assignee": model.NumberInput(99)}), errs.Invalid)
	vaulttest.NoError(t, assign(model.Inputs{"assignee": model.NumberInput(lee.ID)}))
	vaulttest.WantLogged(t, p.Instance, fmt.Sprintf("order.changed order:%d assignee:null>%d", order.ID, lee.ID))

	wantSearcher := func(what string, abstract, want uint64) {
		t.Helper()
		work, err := p.TitleWork.Get(t.Context(), abstract)
		if err != nil || work.Assignment.SearcherID != want {
			t.Errorf("%s: got %+v, %v; want searcher %d", what, work, err, want)
		}
	}
	create := func(members model.Inputs) uint64 {
		t.Helper()
		created, err := p.TitleWork.CreateForOrder(t.Context(), kim, order.ID, model.AbstractDraft{}, members,
			vaulttest.StageDocs(t, p.Instance), vault.Idempotency[vault.AbstractWithFiles]{})
		vaulttest.NoError(t, err)
		return created.Abstract.ID
	}
	wantSearcher("created", create(model.Inputs{}), lee.ID)
	wantSearcher("created with a searcher", create(model.Inputs{"searcher": model.NumberInput(kim.ID)}), kim.ID)
	wantSearcher("created without a searcher", create(model.Inputs{"searcher": {}}), 0)

	link := func(abstract uint64) {
		t.Helper()
		_, err := p.TitleWork.SetOrder(t.Context(), kim, abstract, order.ID, vault.Match{})
		vaulttest.NoError(t, err)
	}
	linked := vaulttest.CreateAbstract(t, p.Instance).Abstract.ID
	link(linked)
	wantSearcher("linked", linked, lee.ID)
	vaulttest.WantLogged(t, p.Instance, fmt.Sprintf("assignment.changed abstract:%d searcher:null>%d", linked, lee.ID))
	assigned := vaulttest.CreateAbstract(t, p.Instance).Abstract.ID
	for _, searcher := range []uint64{kim.ID, 0} {
		_, err := p.TitleWork.SetAssignment(t.Context(), kim, assigned, model.Inputs{"searcher": model.NumberInput(searcher)}, vault.Match{})
		vaulttest.NoError(t, err)
	}
	link(assigned)
	wantSearcher("linked after someone was assigned", assigned, 0)

	_, err := p.Users.Disable(t.Context(), vaulttest.Operator, lee.ID)
	vaulttest.NoError(t, err)
	wantSearcher("created after the assignee was disabled", create(model.Inputs{}), 0)
	vaulttest.NoError(t, assign(model.Inputs{"city": model.StringInput("Salem"), "assignee": model.NumberInput(lee.ID)}))
	edits, err := p.Orders.Edit(t.Context(), kim, order.ID, model.OrderPatch{Fields: model.Inputs{"assignee": {}}})
	vaulttest.NoError(t, err)
	_, err = p.UndoEdit(t.Context(), kim, edits[0])
	vaulttest.WantKind(t, "undo to a disabled assignee", err, errs.Invalid)
}

// A certificate is for the runsheet that it stores, even if others record instruments at the same
// time.
func TestCertifyChangingRunsheet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		changes int32
		want    errs.Kind
	}{{"once", 1, 0}, {"always", 99, errs.Conflict}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			left := atomic.Int32{}
			record := func() {}
			clock := vaulttest.NewClock()
			v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
				o.Now = func() time.Time {
					if _, file, _, _ := runtime.Caller(2); strings.HasSuffix(file, "/certificate.go") && left.Add(-1) >= 0 {
						record()
					}
					return clock.Now()
				}
			})
			abstract := vaulttest.CreateAbstract(t, v).Abstract.ID
			record = func() { addInstrument(t, v, abstract, `{"type":"Mortgage"}`) }
			left.Store(row.changes)
			members := model.Inputs{"effective_date": model.JSONInput(`"2026-05-01"`)}
			got, err := v.TitleWork.Certify(t.Context(), vaulttest.Operator, abstract, vault.CertificateRequest{Members: members},
				vault.Idempotency[model.Certificate]{})
			left.Store(0)
			if row.want != 0 {
				vaulttest.WantKind(t, "Certify", err, row.want)
				return
			}
			sheet, sheetErr := v.Instruments.Runsheet(t.Context(), abstract)
			if err != nil || sheetErr != nil || len(sheet.Instruments) != 1 || got.RunsheetVersion != sheet.Version {
				t.Errorf("Certify: got version %d, %v, want %d with one instrument", got.RunsheetVersion, errors.Join(err, sheetErr), sheet.Version)
			}
			filed, err := v.Abstracts.Get(t.Context(), abstract)
			if err != nil || len(filed.Files) != 1 || filed.Files[0].Digest != got.Digest {
				t.Errorf("documents: got %+v, %v, want only the certified runsheet", filed.Files, err)
			}
		})
	}
}

// AssignedTo lists the open abstracts of a user by due date, with their orders.
func TestAssignedTo(t *testing.T) {
	t.Parallel()
	f := vaulttest.NewUserFixture(t, nil)
	user := f.CreateUser(t, "Kim", model.RoleStaff)
	v := f.Instance
	order := vaulttest.CreateOrder(t, v, "2026-1")
	var ids []uint64
	for n, due := range []string{"", "2026-12-02", "2026-12-01"} {
		a := vaulttest.CreateAbstract(t, v)
		ids = append(ids, a.Abstract.ID)
		members := model.Inputs{"searcher": model.JSONInput(fmt.Sprint(user.ID)),
			"due_date": model.JSONInput(fmt.Sprintf("%q", due))}
		if n == 0 {
			members["examiner"] = members["searcher"]
		}
		if _, err := v.TitleWork.SetAssignment(t.Context(), vaulttest.Operator, a.Abstract.ID, members, vault.Match{}); err != nil {
			t.Fatalf("SetAssignment: %v", err)
		}
	}
	if _, err := v.TitleWork.SetOrder(t.Context(), vaulttest.Operator, ids[2], order.ID, vault.Match{}); err != nil {
		t.Fatalf("SetOrder: %v", err)
	}
	for _, row := range []struct {
		limit int
		want  []uint64
		more  bool
	}{{9, []uint64{ids[2], ids[1], ids[0]}, false}, {2, []uint64{ids[2], ids[1]}, true}} {
		list, more, err := v.TitleWork.AssignedTo(t.Context(), user.ID, row.limit)
		var got []uint64
		for _, a := range list {
			got = append(got, a.Abstract.ID)
		}
		if err != nil || !slices.Equal(got, row.want) || more != row.more || list[0].Order.Number != "2026-1" {
			t.Errorf("AssignedTo with limit %d: got %v, more %v, %v, want %v, more %v", row.limit, got, more, err, row.want, row.more)
		}
	}
}

// Move moves documents to another abstract and, on request, the instruments that are in no other
// document. Moving them back restores their places.
func TestMoveToAbstract(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	from := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	to := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("4.pdf", "4"))
	file := from.Files[0].ID
	mortgage := addInstrument(t, v, from.Abstract.ID, `{"type":"Mortgage"}`)
	deed := addInstrument(t, v, from.Abstract.ID, fmt.Sprintf(
		`{"type":"Release or Satisfaction","documents":[{"file_id":%d}],"relations":[{"kind":"releases","instrument_id":%d}]}`, file,
		mortgage.ID))
	stays := addInstrument(t, v, from.Abstract.ID, fmt.Sprintf(`{"documents":[{"file_id":%d}]}`, file))
	places := func() (list []uint64) {
		for _, id := range []uint64{deed.ID, stays.ID, mortgage.ID} {
			i, err := v.Instruments.Get(t.Context(), id)
			if err != nil {
				t.Fatalf("Instruments.Get: %v", err)
			}
			list = append(list, i.AbstractID)
		}
		return list
	}
	if movable, err := v.Files.MovableInstruments(t.Context(), []uint64{file}); err != nil || len(movable) != 2 {
		t.Errorf("MovableInstruments: got %d, %v, want 2", len(movable), err)
	}
	there := vault.Destination{Abstract: to.Abstract.ID}
	result, err := v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: []uint64{file, 99}, To: there,
		Instruments: []uint64{deed.ID, mortgage.ID}})
	if err != nil || result.Moved != 1 || result.Instruments != 1 || len(result.Skipped) != 1 {
		t.Errorf("Files.Move: got %+v, %v, want 1 document, 1 instrument, and 1 skipped", result, err)
	}
	a, b := from.Abstract.ID, to.Abstract.ID
	if got := places(); !slices.Equal(got, []uint64{b, a, a}) {
		t.Errorf("abstracts of the instruments: got %v, want %v", got, []uint64{b, a, a})
	}
	moved, err := v.Instruments.Get(t.Context(), deed.ID)
	if err != nil || len(moved.Relations) != 1 {
		t.Errorf("moved instrument: got %+v, %v, want its relation", moved, err)
	}
	// An instrument whose target stayed behind can still be changed.
	in := model.Inputs{"remarks": model.JSONInput(`"x"`),
		"relations": model.JSONInput(fmt.Sprintf(`[{"kind":"releases","instrument_id":%d}]`, mortgage.ID))}
	if _, err := v.Instruments.Patch(t.Context(), vaulttest.Operator, deed.ID, vault.InstrumentPatch{Input: in}, vault.Match{}); err != nil {
		t.Errorf("Instruments.Patch: %v", err)
	}
	back := vault.MoveRequest{Files: []uint64{file}, To: vault.Destination{Abstract: a}, From: &there, Instruments: []uint64{deed.ID},
		Positions: map[uint64]int{file: 0}}
	for range 2 { // the second time, everything is back already
		if result, err := v.Files.Move(t.Context(), vaulttest.Operator, back); err != nil || result.Moved != 1 {
			t.Errorf("Files.Move back: got %+v, %v, want 1 document", result, err)
		}
	}
	if got := places(); !slices.Equal(got, []uint64{a, a, a}) {
		t.Errorf("abstracts of the instruments after moving back: got %v, want %d each", got, a)
	}
	if got, err := v.Abstracts.Get(t.Context(), a); err != nil || !slices.Equal(got.Abstract.Files, from.Abstract.Files) {
		t.Errorf("documents after moving back: got %v, %v, want %v", got.Abstract.Files, err, from.Abstract.Files)
	}
	stale := back
	stale.From = &vault.Destination{Folder: 1}
	stale.To = there
	if result, err := v.Files.Move(t.Context(), vaulttest.Operator, stale); err != nil || result.Moved != 0 || len(result.Skipped) != 1 {
		t.Errorf("Files.Move from another place: got %+v, %v, want 1 skipped", result, err)
	}
	for _, to := range []vault.Destination{{Abstract: 99}, {Folder: 99}} {
		_, err := v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: []uint64{file}, To: to})
		vaulttest.WantKind(t, fmt.Sprintf("move to %+v", to), err, errs.NotFound)
	}
}

// A document moves with instruments of its own abstract only. The copies of a bring-down, and the instruments
// of the prior abstract, are neither listed nor moved. An instrument with another document is listed, too.
func TestMoveLeavesBringDown(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	from := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	to := vaulttest.CreateAbstract(t, v)
	first, second := from.Files[0].ID, from.Files[1].ID
	addInstrument(t, v, from.Abstract.ID, `{"type":"Plat","recorded":"1950-01-01"}`)
	only := addInstrument(t, v, from.Abstract.ID,
		fmt.Sprintf(`{"type":"Mortgage","recorded":"1960-01-01","documents":[{"file_id":%d}]}`, first))
	shared := addInstrument(t, v, from.Abstract.ID,
		fmt.Sprintf(`{"type":"Plat","recorded":"1970-01-01","documents":[{"file_id":%d},{"file_id":%d}]}`, first, second))
	down, err := v.TitleWork.BringDown(t.Context(), vaulttest.Operator, from.Abstract.ID, vault.Idempotency[vault.BroughtDown]{})
	vaulttest.NoError(t, err)
	copies, err := v.Instruments.Runsheet(t.Context(), down.Abstract.ID)
	vaulttest.NoError(t, err)
	listed := func(file uint64) (list []string) {
		movable, err := v.Files.MovableInstruments(t.Context(), []uint64{file})
		vaulttest.NoError(t, err)
		for _, i := range movable {
			list = append(list, fmt.Sprintf("%d of %d at %d, alone %t", i.ID, i.AbstractID, i.Position, i.OnlyInSelected))
		}
		return list
	}
	want := []string{fmt.Sprintf("%d of %d at 2, alone true", only.ID, from.Abstract.ID),
		fmt.Sprintf("%d of %d at 3, alone false", shared.ID, from.Abstract.ID)}
	if got := listed(first); !slices.Equal(got, want) {
		t.Errorf("MovableInstruments: got %q, want %q", got, want)
	}
	move := vault.MoveRequest{Files: []uint64{first}, To: vault.Destination{Abstract: to.Abstract.ID},
		Instruments: []uint64{only.ID, shared.ID}}
	for _, i := range copies.Instruments {
		move.Instruments = append(move.Instruments, i.ID)
	}
	if result, err := v.Files.Move(t.Context(), vaulttest.Operator, move); err != nil || result.Instruments != 2 {
		t.Errorf("Files.Move: got %+v, %v, want 2 instruments", result, err)
	}
	for _, row := range []struct {
		abstract uint64
		want     int
	}{{from.Abstract.ID, 1}, {to.Abstract.ID, 2}, {down.Abstract.ID, 3}} {
		if sheet, err := v.Instruments.Runsheet(t.Context(), row.abstract); err != nil || len(sheet.Instruments) != row.want {
			t.Errorf("abstract %d: got %d instruments, %v, want %d", row.abstract, len(sheet.Instruments), err, row.want)
		}
	}
	// Once it is elsewhere, the document lists no instrument that stayed behind, such as those of the bring-down.
	if got := listed(first); len(got) != 2 || !strings.Contains(got[0], fmt.Sprintf("of %d ", to.Abstract.ID)) {
		t.Errorf("MovableInstruments after the move: got %q, want the two that moved", got)
	}
	_, err = v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: []uint64{first}, To: vault.Destination{Folder: 1}})
	vaulttest.NoError(t, err)
	if got := listed(first); len(got) != 0 {
		t.Errorf("MovableInstruments of a document in a folder: got %q, want none", got)
	}
}

// A move to an abstract with too many documents skips those for which it has no room.
func TestMoveToFullAbstract(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerAbstract = 2 })
	to := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	loose := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	result, err := v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: vault.FileIDs(loose),
		To: vault.Destination{Abstract: to.Abstract.ID}})
	if err != nil || result.Moved != 1 || len(result.Skipped) != 1 {
		t.Errorf("Files.Move: got %+v, %v, want 1 moved and 1 skipped", result, err)
	}
}

// The audit log has an entry for each record that a purge changes, and for a deleted note who wrote it.
func TestPurgeLogsUnlinkedRecords(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a, order := vaulttest.CreateAbstract(t, v).Abstract.ID, vaulttest.CreateOrder(t, v, "A-1")
	deed := addInstrument(t, v, a, `{"book":"1"}`)
	_, err := v.TitleWork.SetOrder(t.Context(), vaulttest.Operator, a, order.ID, vault.Match{})
	vaulttest.NoError(t, err)
	rows := model.JSONInput(fmt.Sprintf(`[{"kind":"exception","text":"x","instrument_id":%d}]`, deed.ID))
	_, err = v.TitleWork.SetRequirements(t.Context(), vaulttest.Operator, a, rows, vault.Match{})
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, deed.ID, vault.Match{}))
	for _, row := range []struct {
		recordType string
		id         uint64
		want       string
	}{{"order", order.ID, "order_link.changed abstract:1 order_id:1>null"}, {"instrument", deed.ID,
		`requirements.changed abstract:1 requirements:{"kind":"exception","text":"x","instrument_id":1}>{"kind":"exception","text":"x"}`}} {
		_, err := v.Purger.Purge(t.Context(), vaulttest.Operator, row.recordType, row.id, "")
		vaulttest.NoError(t, err)
		vaulttest.WantLogged(t, v, fmt.Sprintf("%s.purged %s:%d", row.recordType, row.recordType, row.id), row.want)
		if got, want := vaulttest.AuditEntries(t, v, 2)[1].Detail[row.recordType], fmt.Sprintf("%s:%d", row.recordType, row.id); got != want {
			t.Errorf("detail of %s: got %q, want %q", row.want, got, want)
		}
	}
	note, err := v.Notes.Create(t.Context(), vaulttest.Operator, "abstract", a,
		model.NoteInput{Text: model.Some(model.StringInput("Private."))}, vault.Idempotency[model.Note]{})
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, v.Notes.Trash(t.Context(), vaulttest.Operator, note.ID, vault.Match{}))
	want := map[string]string{"note": "1", "author": "operator:7"}
	if got := vaulttest.AuditEntries(t, v, 1)[0].Detail; !maps.Equal(got, want) {
		t.Errorf("detail of the deleted note: got %v, want %v", got, want)
	}
}

// An instrument that loses a relation or a document to a purge has a later time of its last change.
func TestPurgeUpdatesReferringInstruments(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	filed := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	mortgage := addInstrument(t, v, filed.Abstract.ID, `{"book":"1"}`)
	last := addInstrument(t, v, filed.Abstract.ID, fmt.Sprintf(`{"documents":[{"file_id":%d}],"relations":[{"kind":"releases","instrument_id":%d}]}`,
		filed.Files[0].ID, mortgage.ID))
	vaulttest.NoError(t, v.Instruments.Trash(t.Context(), vaulttest.Operator, mortgage.ID, vault.Match{}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, filed.Files[0].ID, vault.Match{}))
	for _, purged := range []vault.Trashed{{Type: "instrument", ID: mortgage.ID}, {Type: "file", ID: filed.Files[0].ID}} {
		_, err := v.Purger.Purge(t.Context(), vaulttest.Operator, purged.Type, purged.ID, "")
		vaulttest.NoError(t, err)
		now, err := v.Instruments.Get(t.Context(), last.ID)
		vaulttest.NoError(t, err)
		if now.Version != last.Version+1 || !now.UpdatedAt.After(last.UpdatedAt) {
			t.Errorf("after the purge of %s: version %d at %v, want version %d after %v", purged.Type, now.Version, now.UpdatedAt,
				last.Version+1, last.UpdatedAt)
		}
		last = now.Instrument
	}
}

// Only the author of a note or an administrator can change or delete it. The note names who changed it last. A deleted note
// goes to the trash, from which it is restored or purged, and it leaves with its record.
func TestNotesOfOthers(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	v := p.Instance
	a := vaulttest.CreateAbstract(t, v).Abstract.ID
	actors := map[string]model.Actor{}
	for name, role := range map[string]model.Role{"ann": model.RoleStaff, "bob": model.RoleStaff, "eve": model.RoleAdmin} {
		p.CreateUser(t, name, role)
		actors[name] = p.Actor(t, name)
	}
	_, key := vaulttest.CreateKey(t, v, model.KeyDraft{Name: "desk", Abilities: []string{model.AbilityAPI}})
	actors["key"] = model.Actor{Kind: model.ActorKey, ID: key.ID, Name: key.Name}
	note, err := v.Notes.Create(t.Context(), actors["ann"], "abstract", a, model.NoteInput{Text: vaulttest.SomeText("As ann wrote it")},
		vault.Idempotency[model.Note]{})
	vaulttest.NoError(t, err)
	edit := func(who, text string) (model.Note, error) {
		return v.Notes.Patch(t.Context(), actors[who], note.ID, model.NoteInput{Text: vaulttest.SomeText(text)}, vault.Match{})
	}
	for _, who := range []string{"bob", "key"} {
		_, err := edit(who, "forged")
		vaulttest.WantKind(t, "change by "+who, err, errs.Forbidden)
		vaulttest.WantKind(t, "delete by "+who, v.Notes.Trash(t.Context(), actors[who], note.ID, vault.Match{}), errs.Forbidden)
	}
	for _, who := range []string{"ann", "eve"} {
		if now, err := edit(who, "Changed by "+who); err != nil || now.By.Name != "ann" || now.EditedBy == nil || now.EditedBy.Name != who {
			t.Errorf("change by %s: got %+v, %v, want ann's note, edited by %s", who, now, err, who)
		}
	}
	vaulttest.WantLogged(t, v, `note.changed abstract:1 text:"Changed by ann">"Changed by eve"`,
		`note.changed abstract:1 text:"As ann wrote it">"Changed by ann"`)

	list := func() int {
		notes, err := v.Notes.List(t.Context(), "abstract", a)
		vaulttest.NoError(t, err)
		return len(notes)
	}
	vaulttest.NoError(t, v.Notes.Trash(t.Context(), actors["ann"], note.ID, vault.Match{}))
	vaulttest.WantTrash(t, v, fmt.Sprintf("note %d Changed by eve", note.ID))
	if n := list(); n != 0 {
		t.Errorf("notes after the deletion: got %d, want 0", n)
	}
	_, err = edit("ann", "x")
	vaulttest.WantKind(t, "change of a deleted note", err, errs.NotFound)
	vaulttest.Verify(t, v)
	_, err = v.Integrity.Repair(t.Context(), vaulttest.Operator, func(int, int) {})
	vaulttest.NoError(t, err)
	vaulttest.WantTrash(t, v, fmt.Sprintf("note %d Changed by eve", note.ID))

	vaulttest.NoError(t, v.Abstracts.Trash(t.Context(), vaulttest.Operator, a, vault.Match{}))
	vaulttest.WantKind(t, "restore without the abstract", v.Trash.Restore(t.Context(), actors["bob"], "note", note.ID), errs.Conflict)
	vaulttest.NoError(t, v.Trash.Restore(t.Context(), actors["bob"], "abstract", a))
	vaulttest.NoError(t, v.Trash.Restore(t.Context(), actors["bob"], "note", note.ID))
	if n := list(); n != 1 {
		t.Errorf("notes after the restore: got %d, want 1", n)
	}
	vaulttest.NoError(t, v.Notes.Trash(t.Context(), actors["eve"], note.ID, vault.Match{}))
	if _, err := v.Purger.Purge(t.Context(), actors["eve"], "note", note.ID, ""); err != nil {
		t.Errorf("purge: %v", err)
	}
	vaulttest.WantTrash(t, v)
	vaulttest.Verify(t, v)
}

// An audit entry reads the same after its records are renamed, moved, or purged.
func TestEntriesDontFollowTheirRecords(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	b := vaulttest.CreateAbstract(t, v).Abstract.ID
	name := func(id uint64, text string) {
		_, err := v.Abstracts.Patch(t.Context(), vaulttest.Operator, id,
			model.AbstractPatch{Fields: model.Inputs{"tax_map": model.StringInput(text)}}, vault.Match{})
		vaulttest.NoError(t, err)
	}
	name(a.Abstract.ID, "Old A")
	name(b, "Old B")
	deed := addInstrument(t, v, a.Abstract.ID, `{"type":"Warranty Deed","book":"1"}`)
	_, err := v.Instruments.Patch(t.Context(), vaulttest.Operator, deed.ID, vault.InstrumentPatch{Input: members(`{"book":"2"}`)},
		vault.Match{})
	vaulttest.NoError(t, err)
	_, err = v.Files.Move(t.Context(), vaulttest.Operator, vault.MoveRequest{Files: []uint64{a.Files[0].ID},
		To: vault.Destination{Abstract: b}})
	vaulttest.NoError(t, err)
	before := vaulttest.AuditEntries(t, v, 3)
	for n, want := range []string{"a.pdf: moved from abstract Old A to abstract Old B", "Warranty Deed · Book 1: Book: 1 → 2",
		"Warranty Deed · Book 1: "} {
		if got := before[n].Names[before[n].Record] + ": " + strings.Join(before[n].Texts(), "; "); got != want {
			t.Errorf("entry %d: got %q, want %q", n, got, want)
		}
	}
	name(a.Abstract.ID, "New A")
	name(b, "New B")
	_, err = v.Files.Patch(t.Context(), vaulttest.Operator, a.Files[0].ID, model.FilePatch{Filename: vaulttest.SomeText("z.pdf")},
		vault.Match{})
	vaulttest.NoError(t, err)
	h, err := v.Abstracts.History(t.Context(), vaulttest.Operator, b, vault.HistoryQuery{Limit: 100})
	vaulttest.NoError(t, err)
	for _, e := range h.Events {
		if e.Seq == before[0].Seq && !reflect.DeepEqual(e, before[0]) {
			t.Errorf("entry %d changed: got %+v, want %+v", e.Seq, e, before[0])
		}
	}
}

// The notes of an instrument are those about its pages in each of its documents.
func TestNotesOfInstrument(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	created := vaulttest.CreateAbstract(t, v, vaulttest.NewDoc("packet.pdf", vaulttest.PDF(6, "p")),
		vaulttest.NewDoc("exhibit.pdf", vaulttest.PDF(2, "e")))
	packet, exhibit := created.Files[0].ID, created.Files[1].ID
	deed := vaulttest.CreateInstrument(t, v, created.Abstract.ID, fmt.Sprintf(
		`{"type":"Warranty Deed","documents":[{"file_id":%d,"pages":"2-3,5"},{"file_id":%d}]}`, packet, exhibit)).ID
	add := func(file uint64, page uint64, text string) {
		t.Helper()
		in := model.NoteInput{Text: vaulttest.SomeText(text), Page: model.Some(model.NewIDInput(page))}
		_, err := v.Notes.Create(t.Context(), vaulttest.Operator, "file", file, in, vault.Idempotency[model.Note]{})
		vaulttest.NoError(t, err)
	}
	read := func() (texts []string) {
		t.Helper()
		list, files, err := v.Notes.OfInstrument(t.Context(), deed)
		vaulttest.NoError(t, err)
		for _, note := range list {
			texts = append(texts, fmt.Sprint(note.Text, " ", note.Page))
			if _, id, _ := strings.Cut(note.Record, ":"); files[packet].Filename == "" && id == fmt.Sprint(packet) {
				t.Errorf("documents of the notes: got %v, want the one of note %d", files, note.ID)
			}
		}
		return texts
	}
	if got := read(); got != nil {
		t.Errorf("notes of an instrument without notes: got %q, want none", got)
	}
	for page := range uint64(7) {
		add(packet, page, "packet")
	}
	add(exhibit, 0, "exhibit")
	add(exhibit, 2, "exhibit")
	if got, want := read(), []string{"packet 2", "packet 3", "packet 5", "exhibit 0", "exhibit 2"}; !slices.Equal(got, want) {
		t.Errorf("notes of an instrument: got %q, want %q", got, want)
	}
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, packet, vault.Match{}))
	for range 120 {
		add(exhibit, 1, "exhibit")
	}
	if got := read(); len(got) != 100 || got[0] != "exhibit 0" {
		t.Errorf("notes of an instrument with many: got %d, first %q, want 100 of the document that isn't in the trash", len(got), got)
	}
	_, _, err := v.Notes.OfInstrument(t.Context(), deed+1)
	vaulttest.WantKind(t, "notes of an unknown instrument", err, errs.NotFound)
}
