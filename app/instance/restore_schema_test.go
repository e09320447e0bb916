package instance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// -fixture writes testdata/backup-schema-N, a backup of a vault with the current schema, if it doesn't exist:
//
//	go test ./app/instance -run TestWriteBackupFixture -fixture
var writeFixture = flag.Bool("fixture", false, "write testdata/backup-schema-N if it doesn't exist")

// fixtureDir returns the directory that contains the backup with the given schema.
func fixtureDir(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("backup-schema-%d", schema))
}

func TestWriteBackupFixture(t *testing.T) {
	if !*writeFixture {
		return
	}
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"))
	addTitleWork(t, v)
	dir := fixtureDir(store.Schema)
	vaulttest.CreateBackup(t, v, filepath.Join(t.TempDir(), "b"))
	to := filepath.Join(t.TempDir(), "fixture")
	vaulttest.CreateBackup(t, v, to)
	if err := os.CopyFS(dir, os.DirFS(to)); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	for _, name := range []string{"lock", "tmp", "reading"} { // every writer creates them
		_ = os.Remove(filepath.Join(dir, name))
	}
}

// addTitleWork creates an abstract with a mortgage, its release, and a note.
func addTitleWork(t *testing.T, v *instance.Instance) {
	t.Helper()
	operator := vaulttest.Operator
	a := vaulttest.CreateAbstract(t, v)
	input := func(text string) vault.InstrumentPatch {
		var in model.Inputs
		if err := json.Unmarshal([]byte(text), &in); err != nil {
			t.Fatalf("decode input: %v", err)
		}
		return vault.InstrumentPatch{Input: in}
	}
	if _, err := v.Instruments.CreateMany(t.Context(), operator, a.Abstract.ID, []vault.NewInstrument{
		{Row: 1, InstrumentPatch: input(`{"type": "Mortgage", "book": "0417", "page": "7", "grantors": ["Cole, Bea"]}`)},
		{Row: 2, InstrumentPatch: input(`{"type": "Release or Satisfaction", "book": "500", "page": "1"}`),
			Relations: []vault.RowRelation{{Kind: model.Releases, Row: 1}}},
	}, vault.Idempotency[vault.Added]{}); err != nil {
		t.Fatalf("Instruments.CreateMany: %v", err)
	}
	if _, err := v.Notes.Create(t.Context(), operator, "abstract", a.Abstract.ID,
		model.NoteInput{Text: model.Some(model.StringInput("Call the county"))},
		vault.Idempotency[model.Note]{}); err != nil {
		t.Fatalf("Notes.Create: %v", err)
	}
}

// checkTitleWork checks what addTitleWork created.
func checkTitleWork(t *testing.T, v *instance.Instance) {
	t.Helper()
	sheet, err := v.Instruments.Runsheet(t.Context(), 1)
	if err != nil || len(sheet.Instruments) != 2 || sheet.Instruments[0].Book != "0417" || sheet.Instruments[0].Status != model.InstrumentReleased {
		t.Errorf("Runsheet(1) = %+v, %v; want a released mortgage and its release", sheet, err)
	}
	for n, i := range sheet.Instruments {
		if got, err := v.Instruments.Get(t.Context(), i.ID); err != nil || got.Position != n+1 {
			t.Errorf("Instruments.Get(%d) = position %d, %v; want %d", i.ID, got.Position, err, n+1)
		}
	}
	if notes, err := v.Notes.List(t.Context(), "abstract", 1); err != nil || len(notes) != 1 || notes[0].Text != "Call the county" {
		t.Errorf("Notes.List = %+v, %v; want one note", notes, err)
	}
}

// Backups of every schema since store.FirstSchema can be restored completely, or one document at a time, and the restored vault accepts uploads.
func TestRestoreEverySchema(t *testing.T) {
	t.Parallel()
	for schema := store.FirstSchema; schema <= store.Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "b")
			if err := os.CopyFS(from, os.DirFS(fixtureDir(schema))); err != nil {
				t.Fatalf("copy directory: %v", err)
			}
			opts := vaulttest.RestoreOptions(t, from)
			r, err := instance.Restore(t.Context(), opts)
			if err != nil || r.Info.Schema != schema || r.Info.Files != 2 {
				t.Fatalf("Restore() = %+v, %v; want 2 files of schema %d", r, err, schema)
			}
			v := vaulttest.Open(t, opts.Vault)
			if !bytes.Equal(vaulttest.Content(t, v, 1), vaulttest.PDF(1, "a")) || !bytes.Equal(vaulttest.Content(t, v, 2), vaulttest.PDF(1, "b")) {
				t.Error("the restored documents differ from the uploaded ones")
			}
			checkTitleWork(t, v)
			if f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("New.pdf", "c"))[0]; f.ID != 3 {
				t.Errorf("next upload = file %d, want file 3", f.ID)
			}
			out := filepath.Join(t.TempDir(), "plat.pdf")
			if f, err := backup.RestoreFile(t.Context(), from, archive.Latest, opts.Archive, 2, out); err != nil || f.Filename != "Plat.pdf" {
				t.Errorf("RestoreFile(2) = %+v, %v; want Plat.pdf", f, err)
			}
		})
	}
}
