//go:build unix

package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/vault"
)

// prepareTitleWork creates what an example of the title work needs: three instruments and a note of the abstract, users, and
// a runsheet in dir. It moves an instrument to restore to the trash. It returns the arguments for strings.NewReplacer that put
// these records into the example.
func prepareTitleWork(t *testing.T, r *running, dir, path string, abstract uint64) (replacements []string) {
	t.Helper()
	operator := model.Actor{Kind: "operator"}
	var ids []uint64
	for n := range 3 {
		input := model.Inputs{"type": model.StringInput("Mortgage"), "book": model.NumberInput(2417 + n)}
		created, err := r.vault.Instruments.Create(t.Context(), operator, abstract, vault.InstrumentPatch{Input: input},
			vault.Idempotency[vault.InstrumentView]{})
		if err != nil {
			t.Fatalf("create instrument: %v", err)
		}
		ids = append(ids, created.ID)
	}
	writeRunsheet(t, r, filepath.Join(dir, "Runsheet.xlsx"), abstract)
	if path == "/instruments/{n}/restore" {
		if err := r.vault.Instruments.Trash(t.Context(), operator, ids[0], vault.Match{}); err != nil {
			t.Fatalf("delete instrument: %v", err)
		}
	}
	author := model.Actor{Kind: model.ActorKey, ID: 1, Name: "test"} // of the requests
	note, err := r.vault.Notes.Create(t.Context(), author, "abstract", abstract,
		model.NoteInput{Text: model.Some(model.StringInput("Call the court."))}, vault.Idempotency[model.Note]{})
	if err != nil {
		t.Fatalf("create note: %v", err)
	}
	replacements = []string{
		"[3,1,2]", fmt.Sprintf("[%d,%d,%d]", ids[2], ids[0], ids[1]),
		"Seller%3A", "Grantors%3A", "Buyer%3A", "Grantees%3A",
		"/instruments/90000012", fmt.Sprint("/instruments/", ids[0]),
		"/notes/90000013", fmt.Sprint("/notes/", note.ID),
	}
	if path == "/abstracts/{id}/certificate/{n}/void" {
		request := vault.CertificateRequest{Members: model.Inputs{"effective_date": model.StringInput("2026-05-01")}}
		if _, err := r.vault.TitleWork.Certify(t.Context(), author, abstract, request, vault.Idempotency[model.Certificate]{}); err != nil {
			t.Fatalf("certify: %v", err)
		}
	}
	if path == "/abstracts/{id}/assignment" || path == "/orders/{id}/assignment" {
		for _, member := range []string{`"searcher":4`, `"examiner":7`, `"assignee":4`} {
			name := fmt.Sprint("user", note.ID, len(replacements))
			_, user, err := r.vault.Users.Create(t.Context(), operator, model.UserDraft{Name: name, Role: model.RoleStaff})
			if err != nil {
				t.Fatalf("create user: %v", err)
			}
			replacements = append(replacements, member, fmt.Sprint(member[:len(member)-1], user.ID))
		}
	}
	return replacements
}

// writeRunsheet writes the runsheet of an abstract to an Excel file.
func writeRunsheet(t *testing.T, r *running, name string, abstract uint64) {
	t.Helper()
	rows, err := r.vault.Instruments.Rows(t.Context(), abstract)
	if err != nil {
		t.Fatalf("read the runsheet: %v", err)
	}
	book, err := os.Create(name)
	if err != nil {
		t.Fatalf("create file: %v", err)
	}
	if err := runsheet.WriteExcel(book, rows); err != nil {
		t.Fatalf("write the runsheet: %v", err)
	}
	if err := book.Close(); err != nil {
		t.Fatalf("close file: %v", err)
	}
}
