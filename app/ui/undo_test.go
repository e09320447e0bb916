package ui_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// undoTest is an abstract with an order, documents, and instruments that two users change.
type undoTest struct {
	*testServer
	t                       *testing.T
	kim, lee                *browser
	abstract, order, folder string
	abstractID, orderID     uint64
	files                   []model.File
	instruments             []uint64
	loose                   model.File // in no abstract
	scan                    uint64     // document with pages, in another abstract
	instrument, other       string
}

func newUndoTest(t *testing.T) *undoTest {
	t.Helper()
	h := newTestServer(t)
	u := &undoTest{testServer: h, t: t, kim: h.openBrowserAs(t, "Kim Doe", model.RoleStaff),
		lee: h.openBrowserAs(t, "Lee Roe", model.RoleAdmin), abstractID: 1, orderID: 1}
	u.abstract = u.kim.post(t, 303, "/abstracts", url.Values{"county": {"Kent"}}).location()
	u.order = u.kim.post(t, 303, "/orders", url.Values{"order_number": {"T-1"}, "county": {"Kent"}}).location()
	u.folder = u.kim.post(t, 303, "/vault", url.Values{"name": {"Closing"}}).location()
	for _, name := range []string{"a", "b", "c"} {
		f := h.upload(t, name+".txt", []byte(name))
		u.files = append(u.files, f)
		u.kim.post(t, 303, "/documents/move", url.Values{"file": {fmt.Sprint(f.ID)}, "to": {u.place()}})
	}
	u.loose = h.upload(t, "d.txt", []byte("d"))
	for n := range 3 {
		i := vaulttest.CreateInstrument(t, h.vault, u.abstractID, fmt.Sprintf(`{"book":"%d","recorded":"2001-01-0%d","remarks":"Old"}`, n+1, n+1))
		u.instruments = append(u.instruments, i.ID)
	}
	u.kim.post(t, 303, u.abstract+"/notes", url.Values{"text": {"Check the plat"}})
	scan := vaulttest.CreateAbstract(t, h.vault, vaulttest.Doc{Name: "scan.pdf", Body: vaulttest.PDF(4, "scan")})
	u.scan = scan.Files[0].ID
	u.instrument, u.other = fmt.Sprintf("/instruments/%d", u.instruments[0]), fmt.Sprintf("/instruments/%d", u.instruments[1])
	return u
}

// place returns the place of the abstract in a form.
func (u *undoTest) place() string { return "abstract:" + strings.TrimPrefix(u.abstract, "/abstracts/") }

// state returns all that these users can change, without versions and times.
func (u *undoTest) state() string {
	u.t.Helper()
	all := map[string]any{}
	add := func(name string, record any, err error) {
		if errs.KindOf(err) == errs.NotFound {
			return // in the trash
		}
		vaulttest.NoError(u.t, err)
		text, err := json.Marshal(record)
		vaulttest.NoError(u.t, err)
		var fields map[string]any
		vaulttest.NoError(u.t, json.Unmarshal(text, &fields))
		maps.DeleteFunc(fields, func(key string, _ any) bool {
			return key == "version" || key == "updated_at" || key == "versions" || key == "runsheet_version" || strings.HasPrefix(key, "sequence_")
		})
		all[name] = fields
	}
	a, err := u.vault.Abstracts.Get(u.t.Context(), u.abstractID)
	add("abstract", a.Abstract, err)
	o, err := u.vault.Orders.Get(u.t.Context(), u.orderID)
	add("order", o, err)
	work, err := u.vault.TitleWork.Get(u.t.Context(), u.abstractID)
	add("work", work, err)
	for _, f := range append(u.files, u.loose) {
		now, err := u.vault.Files.Get(u.t.Context(), f.ID)
		add(f.Filename, now, err)
	}
	scan, err := u.vault.Files.Get(u.t.Context(), u.scan)
	add("scan", scan, err)
	notes, err := u.vault.Notes.List(u.t.Context(), "abstract", u.abstractID)
	for n, note := range notes {
		note.EditedBy = nil
		add(fmt.Sprintf("note %d", n), note, err)
	}
	if sheet, err := u.vault.Instruments.Runsheet(u.t.Context(), u.abstractID); err == nil {
		for n, i := range sheet.Instruments {
			add(fmt.Sprintf("row %d", n), i.Instrument, nil)
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	vaulttest.NoError(u.t, err)
	return string(text)
}

// undoable is a change, and how another user changes the same.
type undoableChange struct {
	name   string
	change func(u *undoTest, b *browser) reply
	other  func(u *undoTest, b *browser)
	notice string // after an undo that does nothing because of the other change
}

const changedByLee = "Lee Roe has changed this since. Nothing was undone."

func undoableChanges() []undoableChange {
	post := func(path func(*undoTest) string, suffix string, form url.Values) func(*undoTest, *browser) reply {
		return func(u *undoTest, b *browser) reply { return b.post(u.t, 303, path(u)+suffix, form) }
	}
	by := func(change func(*undoTest, *browser) reply) func(*undoTest, *browser) {
		return func(u *undoTest, b *browser) { change(u, b) }
	}
	abstract, order := func(u *undoTest) string { return u.abstract }, func(u *undoTest) string { return u.order }
	instrument := func(u *undoTest) string { return u.instrument }
	document := func(u *undoTest) string { return documentPath(u.files[0], "") }
	again := func(path func(*undoTest) string) func(*undoTest, *browser) {
		return func(u *undoTest, b *browser) {
			b.post(u.t, 303, path(u)+"/restore", nil)
			b.post(u.t, 303, path(u)+"/trash", nil)
		}
	}
	const trashedByLee = "Someone else moved this to the trash since. Nothing was undone."
	move := func(to func(*undoTest) string) func(*undoTest, *browser) reply {
		return func(u *undoTest, b *browser) reply {
			return b.post(u.t, 303, "/documents/move", url.Values{"file": {fmt.Sprint(u.files[1].ID)}, "to": {to(u)}})
		}
	}
	return []undoableChange{
		{"abstract status", post(abstract, "/status", url.Values{"status": {"In Exam"}}),
			by(post(abstract, "/status", url.Values{"status": {"Complete"}})), changedByLee},
		{"order status", post(order, "/status", url.Values{"status": {"on_hold"}}),
			by(post(order, "/status", url.Values{"status": {"completed"}})), changedByLee},
		{"assignment", post(order, "/assignment", url.Values{"do": {"take"}}),
			by(post(order, "/assignment", url.Values{"do": {"take"}})), changedByLee},
		{"people", post(abstract, "/people", url.Values{"due_date": {"2026-12-01"}}),
			by(post(abstract, "/people", url.Values{"due_date": {"2026-12-02"}})), "Lee Roe has changed this since. Nothing was undone."},
		{"sequence of documents", func(u *undoTest, b *browser) reply {
			return b.post(u.t, 303, u.abstract+"/documents/sort", url.Values{"down": {fmt.Sprint(u.files[0].ID)}})
		}, func(u *undoTest, b *browser) {
			b.post(u.t, 303, u.abstract+"/documents/sort", url.Values{"up": {fmt.Sprint(u.files[2].ID)}})
		}, changedByLee},
		{"runsheet row", post(instrument, "/move", url.Values{"position": {"3"}}),
			by(post(instrument, "/move", url.Values{"position": {"2"}})),
			"The sequence of the runsheet was changed in the meantime. Nothing was undone."},
		{"runsheet sequence", func(u *undoTest, b *browser) reply {
			vaulttest.NoError(u.t, u.vault.Instruments.SetSequence(u.t.Context(), u.lee.actor, u.abstractID,
				[]uint64{u.instruments[2], u.instruments[0], u.instruments[1]}, vault.Match{}))
			return b.post(u.t, 303, u.abstract+"/instruments/sort", nil)
		}, by(post(instrument, "/move", url.Values{"position": {"2"}})),
			"The sequence of the runsheet was changed in the meantime. Nothing was undone."},
		{"instrument page", post(instrument, "", url.Values{"remarks": {"New"}}), by(post(instrument, "", url.Values{"remarks": {"Hers"}})),
			changedByLee},
		{"instrument added", func(u *undoTest, b *browser) reply {
			return b.post(u.t, 303, u.abstract+"/instruments", url.Values{"book": {"9"}, "recorded": {"1/9/2001"}})
		}, func(u *undoTest, b *browser) {
			sheet, err := u.vault.Instruments.Runsheet(u.t.Context(), u.abstractID)
			vaulttest.NoError(u.t, err)
			b.post(u.t, 303, fmt.Sprintf("/instruments/%d", sheet.Instruments[len(sheet.Instruments)-1].ID), url.Values{"remarks": {"Hers"}})
		}, "Lee Roe has changed this since. Nothing was undone."},
		{"instrument trash", post(instrument, "/trash", nil), again(instrument), trashedByLee},
		{"document trash", post(document, "/trash", nil), again(document), trashedByLee},
		{"documents trash", func(u *undoTest, b *browser) reply {
			both := fmt.Sprintf("%d-%d", u.files[0].ID, u.files[1].ID)
			return b.post(u.t, 303, "/documents/trash", url.Values{"files": {both}, "back": {"/vault"}})
		}, again(document), "1 document reverted. One document failed: Someone else moved this to the trash since."},
		{"abstract trash", post(abstract, "/trash", nil), again(abstract), trashedByLee},
		{"order trash", post(order, "/trash", nil), again(order), trashedByLee},
		{"bulk", func(u *undoTest, b *browser) reply {
			return b.post(u.t, 303, "/orders/bulk", url.Values{"do": {"set"}, "status": {"on_hold"}, "id": {u.order}})
		}, by(post(order, "/status", url.Values{"status": {"completed"}})),
			"0 orders reverted. “T-1” failed: This was changed again in the meantime."},
		{"document name", post(document, "/rename", url.Values{"name": {"New name.txt"}}),
			by(post(document, "/rename", url.Values{"name": {"Her name.txt"}})), changedByLee},
		{"rotation", func(u *undoTest, b *browser) reply { return b.rotate(u, "1-3") },
			func(u *undoTest, b *browser) { b.rotate(u, "2") }, changedByLee},
		{"note added", func(u *undoTest, b *browser) reply {
			return b.post(u.t, 303, u.abstract+"/notes", url.Values{"text": {"Call the county"}})
		}, func(u *undoTest, b *browser) {
			list, err := u.vault.Notes.List(u.t.Context(), "abstract", u.abstractID)
			vaulttest.NoError(u.t, err)
			last := list[len(list)-1]
			b.post(u.t, 303, fmt.Sprintf("/notes/%d", last.ID), url.Values{"record": {u.place()}, "text": {"Hers"}})
		}, "This was changed again in the meantime. Nothing was undone."},
		{"note deleted", func(u *undoTest, b *browser) reply {
			list, err := u.vault.Notes.List(u.t.Context(), "abstract", u.abstractID)
			vaulttest.NoError(u.t, err)
			return b.post(u.t, 303, fmt.Sprintf("/notes/%d/delete", list[0].ID), url.Values{"record": {u.place()}})
		}, func(u *undoTest, b *browser) {
			form := url.Values{"record": {u.place()}}
			b.post(u.t, 303, "/notes/1/restore", form)
			b.post(u.t, 303, "/notes/1/delete", form)
		}, trashedByLee},
		{"move", move(func(u *undoTest) string { return strings.TrimPrefix(u.folder, "/vault/") }),
			by(move(func(*undoTest) string { return "0" })), "“b.txt” was skipped: "},
	}
}

// Every change can be undone from its notice: everything is as it was before, and the history says so. If someone else has
// changed the same in the meantime, nothing is lost. Only the user who made a change can undo it, and only once.
func TestUndoEverywhere(t *testing.T) {
	t.Parallel()
	for _, row := range undoableChanges() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			u := newUndoTest(t)
			lastSeq := func() uint64 {
				seq, err := u.vault.Events.LastSeq(t.Context())
				vaulttest.NoError(t, err)
				return seq
			}
			check := func(what, want string) {
				t.Helper()
				got := u.state()
				for n, line := range strings.Split(got, "\n") {
					if lines := strings.Split(want, "\n"); n >= len(lines) || lines[n] != line {
						t.Fatalf("%s: line %d is %q, want %q", what, n, line, lines[min(n, len(lines)-1):])
					}
				}
				if len(got) != len(want) {
					t.Errorf("%s: got %d bytes, want %d", what, len(got), len(want))
				}
			}
			before := u.state()
			changed := row.change(u, u.kim)
			if row.name == "runsheet sequence" {
				before = "" // the test reordered it first
			}
			after := u.state()
			if after == before {
				t.Fatal("the change changed nothing")
			}
			path, form := u.kim.undoButton(t, changed)
			if got := string(u.lee.post(t, 403, path, form).body); !strings.Contains(got, "Only the user who made a change can undo it") {
				t.Errorf("Undo of another user: got %q", got)
			}
			u.kim.post(t, 403, path, form, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
			u.openBrowser(t, model.RoleViewer).post(t, 403, path, form)
			check("after rejected undos", after)

			seq := lastSeq()
			u.kim.post(t, 303, path, form)
			if before != "" {
				check("after Undo", before)
			}
			before = u.state()
			log, err := u.vault.Events.List(t.Context(), vault.Query{Limit: 10, Descending: true})
			vaulttest.NoError(t, err)
			marked := 0
			for _, e := range log.Items {
				if e.Seq > seq && e.Detail["undo"] == "1" && e.Actor.Is(u.kim.actor) {
					marked++
				}
			}
			if marked == 0 {
				t.Errorf("the audit log has no entry that says it was an undo: %+v", log.Items[0])
			}
			u.kim.post(t, 303, path, form) // replayed
			check("after the same Undo again", before)

			changed = row.change(u, u.kim)
			row.other(u, u.lee)
			theirs := u.state()
			undone := u.kim.undo(t, changed)
			if got := u.noticeOf(t, undone); !strings.Contains(got, row.notice) {
				t.Errorf("notice after another user's change = %q, want %q", got, row.notice)
			}
			if row.name != "documents trash" { // the other document was restored
				check("after an Undo with another user's change", theirs)
			}
		})
	}
}

// rotate rotates pages as the viewer's script does. The response has a notice for the Undo button that it shows.
func (b *browser) rotate(u *undoTest, turns string) reply {
	u.t.Helper()
	path := fmt.Sprintf("/documents/%d", u.scan)
	got := b.post(u.t, 200, path+"/rotation", url.Values{"turns": {turns}}, "HX-Request", "true", "Accept", "application/json")
	var saved struct{ Undo struct{ Path, Token string } }
	vaulttest.NoError(u.t, json.Unmarshal(got.body, &saved))
	got.body = fmt.Appendf(nil, `<div class="notice" role="status"><form method="post" action="%s"><input name="undoes" value="%s"></form>`,
		saved.Undo.Path, saved.Undo.Token)
	return got
}

// undoButton returns the address and the form of the Undo button in the notice of a response.
func (b *browser) undoButton(t *testing.T, changed reply) (path string, form url.Values) {
	t.Helper()
	if changed.Header.Get("Location") == "" {
		return changed.undoForm(t)
	}
	return b.get(t, 200, changed.Header.Get("Location"), "Cookie", "deedkeep_notice="+changed.cookie(t, "deedkeep_notice").Value).undoForm(t)
}

// An undo of an edit restores only what the edit changed. Other fields keep what another user has changed, and the history
// says that it was an undo. A token is for one address only.
func TestUndoKeepsOtherFields(t *testing.T) {
	t.Parallel()
	u := newUndoTest(t)
	read := func() model.Instrument {
		i, err := u.vault.Instruments.Get(t.Context(), u.instruments[0])
		vaulttest.NoError(t, err)
		return i.Instrument
	}
	first := u.kim.script(t, 200, u.instrument+"/cell", url.Values{"field": {"remarks"}, "value": {"New"}, "was": {"Old"}})
	second := u.kim.script(t, 200, u.instrument+"/cell", url.Values{"field": {"grantors"}, "value": {"Ann Poe"}, "was": {""}})
	u.lee.post(t, 303, u.instrument, url.Values{"book": {"77"}})
	for n, s := range []sheetState{second, first} {
		if s.Undo.Path != "/undo" {
			t.Fatalf("Undo of a cell = %+v", s.Undo)
		}
		done := u.kim.post(t, 303, s.Undo.Path, url.Values{"undoes": {s.Undo.Token}, "back": {"/orders"}})
		if notice, to := u.noticeOf(t, done), done.location(); !strings.HasPrefix(notice, "Change of “Instrument · Book ") || to != "/orders" {
			t.Errorf("Undo %d: notice %q, Location %q", n, notice, to)
		}
	}
	if i := read(); i.Remarks != "Old" || len(i.Grantors) != 0 || i.Book != "77" {
		t.Errorf("instrument after two undos = %+v, want the old cells and the other user's book", i)
	}
	u.kim.get(t, 200, u.abstract+"/history").has(t, "Kim Doe</b> used Undo and changed")
	u.lee.get(t, 200, "/admin/activity").has(t, "with Undo")

	token := url.Values{"undoes": {first.Undo.Token}}
	u.kim.post(t, 403, u.instrument+"/trash", token)
	u.kim.post(t, 403, "/undo", url.Values{"undoes": {"x" + first.Undo.Token}})

	added := u.kim.script(t, 200, u.abstract+"/instruments/row", url.Values{"field": {"remarks"}, "value": {"Row"}})
	u.kim.post(t, 303, added.Undo.Path, url.Values{"undoes": {added.Undo.Token}})
	if _, err := u.vault.Instruments.Get(t.Context(), added.ID); errs.KindOf(err) != errs.NotFound {
		t.Errorf("instrument after Undo of the new row: got error %v, want NotFound", err)
	}

	third := u.kim.script(t, 200, u.instrument+"/cell", url.Values{"field": {"remarks"}, "value": {"Mine"}, "was": {"Old"}})
	u.lee.post(t, 303, u.instrument, url.Values{"remarks": {"Hers"}})
	rejected := u.kim.post(t, 303, third.Undo.Path, url.Values{"undoes": {third.Undo.Token}, "back": {"/orders"}})
	page := u.kim.get(t, 200, "/orders", "Cookie", "deedkeep_notice="+rejected.cookie(t, "deedkeep_notice").Value)
	page.has(t, changedByLee, "Show the record</a>", u.instrument)
	if i := read(); i.Remarks != "Hers" {
		t.Errorf("remarks after Undo = %q, want the other user's", i.Remarks)
	}
	_, err := u.vault.Users.SetRole(t.Context(), vaulttest.Operator, u.kim.actor.ID, model.RoleViewer)
	vaulttest.NoError(t, err)
	u.kim.post(t, 403, third.Undo.Path, url.Values{"undoes": {third.Undo.Token}})
}
