package vault_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// auditWalk is a vault with records for every operation that has an actor.
type auditWalk struct {
	*testing.T
	v                            *instance.Instance
	abstract, other, order       uint64
	file, second, folder         uint64
	instrument, mortgage, packet uint64
	note                         uint64
}

func newAuditWalk(t *testing.T) *auditWalk {
	v, _ := vaulttest.OpenVerified(t, nil)
	w := &auditWalk{T: t, v: v}
	record := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"),
		vaulttest.PDFDoc("Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf", "c"))
	w.abstract, w.file, w.second, w.packet = record.Abstract.ID, record.Files[0].ID, record.Files[1].ID, record.Files[2].ID
	w.other = vaulttest.CreateAbstract(t, v).Abstract.ID
	w.order = vaulttest.CreateOrder(t, v, "T-1").ID
	w.folder = vaulttest.CreateFolder(t, v, "Deeds", 0).ID
	w.instrument = addInstrument(t, v, w.abstract, `{"type":"Warranty Deed","grantors":["Smith, Ann"]}`).ID
	w.mortgage = addInstrument(t, v, w.abstract, `{"type":"Mortgage","book":"7"}`).ID
	w.note = w.addNote("As typed").ID
	return w
}

func (w *auditWalk) addNote(text string) model.Note {
	w.Helper()
	n, err := w.v.Notes.Create(w.Context(), vaulttest.Operator, "abstract", w.abstract,
		model.NoteInput{Text: vaulttest.SomeText(text)}, vault.Idempotency[model.Note]{})
	vaulttest.NoError(w.T, err)
	return n
}

func (w *auditWalk) saveView() (model.View, error) {
	return w.v.Lists.CreateView(w.Context(), vaulttest.Operator, members(`{"name":"Kent","record":"orders","filters":{"county":"Kent"}}`),
		vault.Idempotency[model.View]{})
}

func members(text string) (m model.Inputs) {
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}

// walkStep is one operation. fields are the fields of which its audit entries must have the values before and after.
// Without fields, the operation creates, deletes, or restores a complete record, or reads.
type walkStep struct {
	run    func(w *auditWalk) error
	kind   string // of the audit entry; "": the operation only reads
	fields string
}

// walkSteps returns every method of the vault's services that has an actor.
func walkSteps() map[string]walkStep {
	who, always := vaulttest.Operator, vault.Match{}
	text := vaulttest.SomeText
	return map[string]walkStep{
		"Abstracts.Create": {func(w *auditWalk) error { vaulttest.CreateAbstract(w.T, w.v); return nil }, "abstract.created", ""},
		"Abstracts.Attach": {func(w *auditWalk) error {
			_, err := w.v.Abstracts.Attach(w.Context(), who, w.abstract, model.UploadDraft{}, vaulttest.StageDocs(w.T, w.v,
				vaulttest.PDFDoc("n.pdf", "n")),
				vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, "file.filed", ""},
		"Abstracts.Patch": {func(w *auditWalk) error {
			_, err := w.v.Abstracts.Patch(w.Context(), who, w.abstract,
				model.AbstractPatch{Fields: model.Inputs{"tax_map": model.StringInput("9")},
					Custom: model.Some(vaulttest.CustomText("file_number", `"24-1"`))}, always)
			return err
		}, "abstract.changed", "tax_map custom_fields.file_number"},
		"Abstracts.PatchAssigned": {func(w *auditWalk) error {
			_, err := w.v.Abstracts.PatchAssigned(w.Context(), who, w.abstract, model.AbstractPatch{}, members(`{"due_date":"2026-12-03"}`))
			return err
		}, "assignment.changed", "due_date"},
		"Abstracts.Reorder": {func(w *auditWalk) error {
			_, err := w.v.Abstracts.Reorder(w.Context(), who, w.abstract, vault.ReorderRequest{File: w.second, Position: 1})
			return err
		}, "abstract.changed", "files"},
		"Abstracts.Detach": {func(w *auditWalk) error { return w.v.Abstracts.Detach(w.Context(), who, w.abstract, w.file, always) },
			"file.detached", ""},
		"Abstracts.Trash":   {func(w *auditWalk) error { return w.v.Abstracts.Trash(w.Context(), who, w.other, always) }, "abstract.trashed", ""},
		"Abstracts.Restore": {restoreAfter("abstract", func(w *auditWalk) uint64 { return w.other }), "abstract.restored", ""},
		"Abstracts.History": {func(w *auditWalk) error {
			_, err := w.v.Abstracts.History(w.Context(), who, w.abstract, vault.HistoryQuery{Limit: 9})
			return err
		}, "", ""},

		"Orders.Create": {func(w *auditWalk) error { vaulttest.CreateOrder(w.T, w.v, "T-2"); return nil }, "order.created", ""},
		"Orders.Edit": {func(w *auditWalk) error {
			_, err := w.v.Orders.Edit(w.Context(), who, w.order, model.OrderPatch{Fields: model.Inputs{"city": model.StringInput("Dover")}})
			return err
		}, "order.changed", "city"},
		"Orders.Patch": {func(w *auditWalk) error {
			_, err := w.v.Orders.Patch(w.Context(), who, w.order,
				model.OrderPatch{Fields: model.Inputs{"due_date": model.StringInput("2026-12-01")}}, always)
			return err
		}, "order.changed", "due_date"},
		"Orders.Trash":   {func(w *auditWalk) error { return w.v.Orders.Trash(w.Context(), who, w.order, always) }, "order.trashed", ""},
		"Orders.Restore": {restoreAfter("order", func(w *auditWalk) uint64 { return w.order }), "order.restored", ""},
		"Orders.EditFields": {func(w *auditWalk) error {
			_, err := w.v.Orders.EditFields(w.Context(), who, []model.Field{{Key: "branch", Label: "Branch", Type: model.Text}}, "", false)
			return err
		}, "order_fields.changed", "custom_fields.branch"},
		"Orders.EditStatuses": {func(w *auditWalk) error {
			_, err := w.v.Orders.EditStatuses(w.Context(), who, append(statusesOf(w), "billed"), "", false)
			return err
		}, "order_statuses.changed", "statuses"},

		"Folders.Create": {func(w *auditWalk) error { vaulttest.CreateFolder(w.T, w.v, "Plats", 0); return nil }, "folder.created", ""},
		"Folders.Ensure": {func(w *auditWalk) error {
			_, _, err := w.v.Folders.Ensure(w.Context(), who, 0, 0, "Maps", false)
			return err
		}, "folder.created", ""},
		"Folders.Patch": {func(w *auditWalk) error {
			parent := vaulttest.CreateFolder(w.T, w.v, "County", 0).ID
			_, err := w.v.Folders.Patch(w.Context(), who, w.folder, model.FolderPatch{Name: text("Old deeds"),
				ParentID: model.Some(vaulttest.IDInput(parent))}, always)
			return err
		}, "folder.changed", "name parent_id"},
		"Folders.Remove": {func(w *auditWalk) error { return w.v.Folders.Remove(w.Context(), who, w.folder, always) }, "folder.removed", ""},

		"Files.Upload": {func(w *auditWalk) error { vaulttest.UploadDocs(w.T, w.v, vaulttest.PDFDoc("u.pdf", "u")); return nil }, "file.filed",
			""},
		"Files.Import": {func(w *auditWalk) error {
			doc := vaulttest.PDFDoc("i.pdf", "i")
			_, err := w.v.Files.Import(w.Context(), who, vault.ImportTarget{}, fmt.Sprintf("%x", sha256.Sum256(doc.Body)),
				vaulttest.StageDocs(w.T, w.v, doc))
			return err
		}, "file.filed", ""},
		"Files.Patch": {func(w *auditWalk) error {
			_, err := w.v.Files.Patch(w.Context(), who, w.file, model.FilePatch{Filename: text("deed.pdf"),
				AbstractID: model.Some(vaulttest.IDInput(w.other))}, always)
			return err
		}, "file.changed", "filename abstract_id"},
		"Files.Move": {func(w *auditWalk) error {
			i := addInstrument(w.T, w.v, w.abstract, fmt.Sprintf(`{"documents":[{"file_id":%d}]}`, w.file)).ID
			_, err := w.v.Files.Move(w.Context(), who, vault.MoveRequest{Files: []uint64{w.file}, Instruments: []uint64{i},
				To: vault.Destination{Abstract: w.other}})
			return err
		}, "file.changed", "abstract_id"},
		"Files.Turn": {func(w *auditWalk) error {
			_, _, err := w.v.Files.Turn(w.Context(), who, w.file, "1")
			return err
		}, "file.page_turned", "rotation"},
		"Files.PatchWithInstruments": {func(w *auditWalk) error {
			return w.v.Files.PatchWithInstruments(w.Context(), who, w.second,
				model.FilePatch{Filename: model.Some(model.StringInput("Renamed again.pdf"))})
		}, "file.changed", "filename"},
		"Files.Trash": {func(w *auditWalk) error { return w.v.Files.Trash(w.Context(), who, w.file, always) }, "file.trashed", ""},
		"Files.TrashMany": {func(w *auditWalk) error {
			_, _, err := w.v.Files.TrashMany(w.Context(), who, []uint64{w.file})
			return err
		}, "file.trashed", ""},
		"Files.Restore": {restoreAfter("file", func(w *auditWalk) uint64 { return w.file }), "file.restored", ""},

		"Instruments.Create": {func(w *auditWalk) error { addInstrument(w.T, w.v, w.abstract, `{}`); return nil }, "instrument.created", ""},
		"Instruments.CreateMany": {func(w *auditWalk) error {
			_, err := w.v.Instruments.CreateMany(w.Context(), who, w.abstract, []vault.NewInstrument{{Row: 1}},
				vault.Idempotency[vault.Added]{})
			return err
		}, "instrument.created", ""},
		"Instruments.Patch": {func(w *auditWalk) error {
			in := members(fmt.Sprintf(`{"type":"Mortgage","book":"12","recorded":"2020-01-02","consideration":"$5","grantors":["Smith, Anne","Jones, Bea"],
				"other_parties":[{"role":"Trustee","name":"Cole"}],"documents":[{"file_id":%d,"pages":"1"}],
				"relations":[{"kind":"modifies","instrument_id":%d}]}`, w.file, w.mortgage))
			_, err := w.v.Instruments.Patch(w.Context(), who, w.instrument, vault.InstrumentPatch{Input: in, Position: 1}, always)
			return err
		}, "instrument.changed", "type_id book recorded consideration grantors other_parties documents relations"},
		"Instruments.Edit": {func(w *auditWalk) error {
			_, err := w.v.Instruments.Edit(w.Context(), who, w.instrument, model.Inputs{"remarks": model.StringInput("Blurred")})
			return err
		}, "instrument.changed", "remarks"},
		"Instruments.Trash": {func(w *auditWalk) error { return w.v.Instruments.Trash(w.Context(), who, w.instrument, always) },
			"instrument.trashed", ""},
		"Instruments.Restore": {restoreAfter("instrument", func(w *auditWalk) uint64 { return w.instrument }), "instrument.restored", ""},
		"Instruments.SetSequence": {func(w *auditWalk) error {
			return w.v.Instruments.SetSequence(w.Context(), who, w.abstract, []uint64{w.instrument, w.mortgage}, always)
		}, "runsheet.reordered", "sequence"},
		"Instruments.RestoreSequence": {func(w *auditWalk) error {
			for _, ids := range [][]uint64{{w.instrument, w.mortgage}, nil} {
				vaulttest.NoError(w.T, w.v.Instruments.SetSequence(w.Context(), who, w.abstract, ids, always))
			}
			sheet, err := w.v.Instruments.Runsheet(w.Context(), w.abstract)
			vaulttest.NoError(w.T, err)
			return w.v.Instruments.RestoreSequence(w.Context(), who, w.abstract, sheet.SequenceChange)
		}, "runsheet.reordered", "sequence"},
		"Instruments.SetTypes": {func(w *auditWalk) error {
			types, err := w.v.Instruments.Types(w.Context())
			vaulttest.NoError(w.T, err)
			types[0].Name = "General Warranty Deed"
			_, err = w.v.Instruments.SetTypes(w.Context(), who, append(types, model.DocumentType{Name: "Ground Lease",
				Category: model.Restriction}), false)
			return err
		}, "document_types.changed", "document_types"},
		"Instruments.Undo": {func(w *auditWalk) error {
			added, err := w.v.Instruments.CreateMany(w.Context(), who, w.abstract, []vault.NewInstrument{{Row: 1},
				{Row: 2, Into: w.mortgage, InstrumentPatch: vault.InstrumentPatch{Input: members(`{"recorded":"2001-05-02"}`)}}},
				vault.Idempotency[vault.Added]{})
			vaulttest.NoError(w.T, err)
			_, _, err = w.v.Instruments.Undo(w.Context(), who, added.Undo)
			return err
		}, "instrument.changed", "recorded"},
		"Instruments.ReadRunsheet": {func(w *auditWalk) error {
			_, err := w.v.Instruments.ReadRunsheet(w.Context(), who, []byte("type,book\nMortgage,1\n"))
			return err
		}, "", ""},
		"Instruments.CheckRunsheet": {func(w *auditWalk) error {
			_, err := w.v.Instruments.CheckRunsheet(w.Context(), who, w.abstract, runsheet.Table{}, runsheet.Options{})
			return err
		}, "", ""},

		"TitleWork.SetOrder": {func(w *auditWalk) error {
			_, err := w.v.TitleWork.SetOrder(w.Context(), who, w.abstract, w.order, always)
			return err
		}, "order_link.changed", "order_id"},
		"TitleWork.SetAssignment": {func(w *auditWalk) error {
			_, err := w.v.TitleWork.SetAssignment(w.Context(), who, w.abstract, members(`{"due_date":"2026-12-01"}`), always)
			return err
		}, "assignment.changed", "due_date"},
		"TitleWork.CreateForOrder": {func(w *auditWalk) error {
			_, err := w.v.TitleWork.CreateForOrder(w.Context(), who, w.order, model.AbstractDraft{}, members(`{"due_date":"2026-12-01"}`),
				vaulttest.StageDocs(w.T, w.v), vault.Idempotency[vault.AbstractWithFiles]{})
			return err
		}, "", "order_id due_date"},
		"TitleWork.SetNamesRun": {func(w *auditWalk) error {
			set := func(rows string) error {
				_, err := w.v.TitleWork.SetNamesRun(w.Context(), who, w.abstract, model.JSONInput(rows), always)
				return err
			}
			vaulttest.NoError(w.T, set(`[{"name":"Jones","result":"judgment found"},{"name":"Cole"}]`))
			return set(`[{"name":"Jones","result":"clear"}]`)
		}, "names_run.changed", "names_run"},
		"TitleWork.SetRequirements": {func(w *auditWalk) error {
			rows := model.JSONInput(`[{"kind":"requirement","text":"Release"}]`)
			_, err := w.v.TitleWork.SetRequirements(w.Context(), who, w.abstract, rows, always)
			return err
		}, "requirements.changed", "requirements"},
		"TitleWork.Certify": {func(w *auditWalk) error {
			_, err := w.v.TitleWork.Certify(w.Context(), who, w.abstract,
				vault.CertificateRequest{Members: members(`{"effective_date":"2026-05-01"}`)},
				vault.Idempotency[model.Certificate]{})
			return err
		}, "certificate.created", "effective_date custom_fields.effective_date"},
		"TitleWork.Void": {func(w *auditWalk) error {
			certified, err := w.v.TitleWork.Certify(w.Context(), who, w.abstract,
				vault.CertificateRequest{Members: members(`{"effective_date":"2026-05-01"}`)}, vault.Idempotency[model.Certificate]{})
			vaulttest.NoError(w.T, err)
			_, err = w.v.TitleWork.Void(w.Context(), who, w.abstract, certified.ID, model.StringInput("Wrong date"),
				vault.Idempotency[model.Certificate]{})
			return err
		}, "certificate.voided", "void_reason"},
		"TitleWork.BringDown": {func(w *auditWalk) error {
			_, err := w.v.TitleWork.BringDown(w.Context(), who, w.abstract, vault.Idempotency[vault.BroughtDown]{})
			return err
		}, "abstract.brought_down", ""},

		"Notes.Create": {func(w *auditWalk) error { w.addNote("Call the county"); return nil }, "note.created", "text"},
		"Notes.Patch": {func(w *auditWalk) error {
			_, err := w.v.Notes.Patch(w.Context(), who, w.note, model.NoteInput{Text: text("As changed")}, always)
			return err
		}, "note.changed", "text"},
		"Notes.Trash":   {func(w *auditWalk) error { return w.v.Notes.Trash(w.Context(), who, w.note, always) }, "note.deleted", "text"},
		"Notes.Restore": {restoreAfter("note", func(w *auditWalk) uint64 { return w.note }), "note.restored", "text"},

		"Lists.CreateView": {func(w *auditWalk) error { _, err := w.saveView(); return err }, "view.created", "name filters"},
		"Lists.PatchView": {func(w *auditWalk) error {
			v, err := w.saveView()
			vaulttest.NoError(w.T, err)
			_, err = w.v.Lists.PatchView(w.Context(), who, v.ID, model.Inputs{"shared": {Kind: model.InputBoolean, Value: "true"}}, always)
			return err
		}, "view.changed", "shared"},
		"Lists.DeleteView": {func(w *auditWalk) error {
			v, err := w.saveView()
			vaulttest.NoError(w.T, err)
			return w.v.Lists.DeleteView(w.Context(), who, v.ID, always)
		}, "view.deleted", "name filters"},
		"Lists.ChooseColumns": {func(w *auditWalk) error {
			return w.v.Lists.ChooseColumns(w.Context(), who, lists.Orders, []string{"status"}, nil)
		}, "columns.changed", "columns"},
		"Lists.ChooseWidths": {run: func(w *auditWalk) error {
			return w.v.Lists.ChooseWidths(w.Context(), who, lists.Orders, map[string]int{"status": 120})
		}},
		"Lists.Views": {run: func(w *auditWalk) error { _, err := w.v.Lists.Views(w.Context(), who, ""); return err }},
		"Lists.Chosen": {run: func(w *auditWalk) error {
			_, _, err := w.v.Lists.Chosen(w.Context(), who, lists.Orders)
			return err
		}},
		"Lists.View": {run: func(w *auditWalk) error {
			if _, err := w.v.Lists.View(w.Context(), who, 1); errs.KindOf(err) != errs.NotFound {
				return fmt.Errorf("View = %w, want NotFound", err)
			}
			return nil
		}},

		"Templates.Import": {func(w *auditWalk) error {
			_, err := w.v.Templates.Import(w.Context(), who, []model.TemplateDraft{{ID: 1, Name: "Commercial"}}, false)
			return err
		}, "template.changed", "name"},
		"Templates.Create": {func(w *auditWalk) error {
			_, err := w.v.Templates.Create(w.Context(), who, model.TemplateDraft{Name: "Commercial"})
			return err
		}, "template.created", "name"},
		"Templates.Edit": {func(w *auditWalk) error {
			now, err := w.v.Templates.Get(w.Context(), 1)
			vaulttest.NoError(w.T, err)
			_, err = w.v.Templates.Edit(w.Context(), who, model.TemplateDraft{ID: 1, Name: "Commercial"}, now.Fingerprint(), false)
			return err
		}, "template.changed", "name"},
		"Templates.SetDefault": {func(w *auditWalk) error {
			created, err := w.v.Templates.Create(w.Context(), who, model.TemplateDraft{Name: "Commercial"})
			vaulttest.NoError(w.T, err)
			_, err = w.v.Templates.SetDefault(w.Context(), who, created.ID)
			return err
		}, "template.changed", "default"},
		"Templates.Retire": {func(w *auditWalk) error {
			created, err := w.v.Templates.Create(w.Context(), who, model.TemplateDraft{Name: "Commercial"})
			vaulttest.NoError(w.T, err)
			_, err = w.v.Templates.Retire(w.Context(), who, created.ID)
			return err
		}, "template.retired", "retired"},

		"Trash.Restore": {restoreAfter("order", func(w *auditWalk) uint64 { return w.order }), "order.restored", ""},
		"Purger.Purge": {func(w *auditWalk) error {
			vaulttest.NoError(w.T, setUpPurge(w))
			_, err := w.v.Purger.Purge(w.Context(), who, "instrument", w.mortgage, "")
			return err
		}, "", "relations requirements"},
		"Purger.Empty": {func(w *auditWalk) error {
			vaulttest.NoError(w.T, w.v.Orders.Trash(w.Context(), who, w.order, always))
			_, err := w.v.Purger.Empty(w.Context(), who)
			return err
		}, "trash.emptied", ""},
	}
}

func statusesOf(w *auditWalk) []string {
	list, err := w.v.Orders.Statuses(w.Context())
	vaulttest.NoError(w.T, err)
	return list
}

// setUpPurge moves a mortgage to the trash that a relation and a requirement refer to.
func setUpPurge(w *auditWalk) error {
	relation := members(fmt.Sprintf(`{"relations":[{"kind":"modifies","instrument_id":%d}]}`, w.mortgage))
	if _, err := w.v.Instruments.Patch(w.Context(), vaulttest.Operator, w.instrument, vault.InstrumentPatch{Input: relation},
		vault.Match{}); err != nil {
		return err
	}
	rows := model.JSONInput(fmt.Sprintf(`[{"kind":"requirement","text":"Release","instrument_id":%d}]`, w.mortgage))
	if _, err := w.v.TitleWork.SetRequirements(w.Context(), vaulttest.Operator, w.abstract, rows, vault.Match{}); err != nil {
		return err
	}
	return w.v.Instruments.Trash(w.Context(), vaulttest.Operator, w.mortgage, vault.Match{})
}

// restoreAfter returns a function that moves a record to the trash and restores it.
func restoreAfter(recordType string, id func(*auditWalk) uint64) func(w *auditWalk) error {
	return func(w *auditWalk) error {
		var err error
		switch n := id(w); recordType {
		case "abstract":
			err = w.v.Abstracts.Trash(w.Context(), vaulttest.Operator, n, vault.Match{})
		case "order":
			err = w.v.Orders.Trash(w.Context(), vaulttest.Operator, n, vault.Match{})
		case "file":
			err = w.v.Files.Trash(w.Context(), vaulttest.Operator, n, vault.Match{})
		case "instrument":
			err = w.v.Instruments.Trash(w.Context(), vaulttest.Operator, n, vault.Match{})
		case "note":
			err = w.v.Notes.Trash(w.Context(), vaulttest.Operator, n, vault.Match{})
		}
		vaulttest.NoError(w.T, err)
		return w.v.Trash.Restore(w.Context(), vaulttest.Operator, recordType, id(w))
	}
}

// actorMethods returns the methods of services of the vault that have an actor, such as "Notes.Patch". Fields of the struct that
// parent points to have the services.
func actorMethods(parent any) (methods []string) {
	fields := reflect.ValueOf(parent).Elem()
	for n := range fields.NumField() {
		field := fields.Type().Field(n)
		if !field.IsExported() || field.Anonymous || field.Type.Kind() != reflect.Pointer ||
			!slices.Contains([]string{"vault", "purge", "lists"}, path.Base(field.Type.Elem().PkgPath())) {
			continue
		}
		for m := range field.Type.NumMethod() {
			method := field.Type.Method(m)
			if _, embedded := reflect.TypeFor[*txn.DB]().MethodByName(method.Name); embedded {
				continue
			}
			for in := range method.Type.NumIn() {
				if method.Type.In(in) == reflect.TypeFor[model.Actor]() {
					methods = append(methods, field.Name+"."+method.Name)
				}
			}
		}
	}
	return methods
}

// Every operation that changes a record writes what each field was before and after to the audit log. An operation that
// this test doesn't know fails it.
func TestEveryChangeIsLogged(t *testing.T) {
	t.Parallel()
	steps := walkSteps()
	v, _ := vaulttest.OpenVerified(t, nil)
	for _, method := range append(actorMethods(v.Vault), actorMethods(v)...) {
		step, ok := steps[method]
		if !ok {
			t.Errorf("%s is missing in walkSteps: say which audit entry it writes, with which fields", method)
			continue
		}
		delete(steps, method)
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			w := newAuditWalk(t)
			before := vaulttest.AuditEntries(t, w.v, 1)[0].Seq
			vaulttest.NoError(t, step.run(w))
			var entries []model.Event
			for _, e := range vaulttest.AuditEntries(t, w.v, 100) {
				if e.Seq > before {
					entries = append(entries, e)
				}
			}
			checkWalkStep(t, step, entries)
		})
	}
	for method := range steps {
		t.Errorf("walkSteps has %s, which no service has", method)
	}
}

func checkWalkStep(t *testing.T, step walkStep, entries []model.Event) {
	t.Helper()
	ofKind := slices.DeleteFunc(slices.Clone(entries), func(e model.Event) bool { return !strings.HasPrefix(e.Kind, step.kind) })
	if step.kind == "" && step.fields == "" {
		if len(entries) > 0 {
			t.Errorf("got %d audit entries, want none", len(entries))
		}
		return
	}
	if len(ofKind) == 0 {
		t.Fatalf("got no audit entry of kind %q among %d", step.kind, len(entries))
	}
	for field := range strings.FieldsSeq(step.fields) {
		if !slices.ContainsFunc(ofKind, func(e model.Event) bool {
			return slices.ContainsFunc(e.Changes, func(c model.Change) bool { return c.Field == field && !bytes.Equal(c.From, c.To) })
		}) {
			t.Errorf("no audit entry has %s before and after: %+v", field, ofKind)
		}
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Kind, ".changed") && len(e.Changes) == 0 {
			t.Errorf("%s of %s has no changes", e.Kind, e.Record)
		}
		if e.Record != "" && e.Names[e.Record] == "" {
			t.Errorf("%s of %s has no name: %v", e.Kind, e.Record, e.Names)
		}
		if len(e.Changes) > 0 && len(e.Texts()) == 0 {
			t.Errorf("%s of %s has no words", e.Kind, e.Record)
		}
	}
}
