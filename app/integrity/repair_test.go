package integrity_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// spoiled is a vault with some of everything and a damage done while it was closed.
func spoiled(t *testing.T, spoil func(database string)) (*instance.Instance, instance.Options) {
	t.Helper()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.CreateAbstractFromTemplate(t, v, 1, nil)
	vaulttest.CreateKey(t, v, model.KeyDraft{})
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, files[2].ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	vaulttest.Close(t, v)
	spoil(filepath.Join(opts.Dir, "vault.db"))
	if v, err = instance.Open(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vaulttest.Close(t, v) })
	return v, opts
}

func repaired(t *testing.T, v *instance.Instance) integrity.RepairResult {
	t.Helper()
	r, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRepairMendsWhatFollowsFromRecords(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		spoil          func(database string)
		added, removed int // tasks
	}{
		"a task lost":    {func(db string) { vaulttest.DeleteFirst(t, db, "tasks"); vaulttest.DeleteFirst(t, db, "counters") }, 1, 0},
		"a task damaged": {func(db string) { vaulttest.FlipBit(t, db, "tasks", 200, false) }, 1, 1},
	}
	for _, bucket := range []string{
		"order_index", "order_sorted", "abstract_index", "abstract_sorted", "file_index", "event_index", "trash", "folder_names", "file_digests", "key_hashes", "counts",
	} {
		for how, spoil := range map[string]func(string){
			" loses an entry":  func(db string) { vaulttest.DeleteFirst(t, db, bucket) },
			" has a wrong key": func(db string) { vaulttest.FlipBit(t, db, bucket, 3, true) },
		} {
			row := rows[bucket+how]
			row.spoil = spoil
			rows[bucket+how] = row
		}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := spoiled(t, row.spoil)
			if vaulttest.VerifyReport(t, v).OK() {
				t.Fatal("nothing was damaged")
			}
			r := repaired(t, v)
			if !r.Applied || !r.Report.OK() || r.FindingsBefore == 0 || r.TasksAdded != row.added || r.TasksRemoved != row.removed || r.Orphans != 0 {
				t.Errorf("%+v", r)
			}
			if s := vaulttest.Status(t, v); s.Queue != 3 || s.Files != 2 || s.Trashed != 1 {
				t.Errorf("%+v", s)
			}
			if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 3 {
				t.Errorf("%d documents", n)
			}
			events, err := v.Events.List(t.Context(), vault.Query{Descending: true, Limit: 1})
			if err != nil || len(events.Items) != 1 || events.Items[0].Kind != "vault.repaired" || events.Items[0].Actor.Name != vaulttest.Operator.Name {
				t.Errorf("%+v, %v", events.Items, err)
			}
		})
	}
}

// A record that is damaged, or whose document is all that is left of it, is no
// repair's to judge, and no document goes.
func TestRepairLeavesDamageAlone(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		spoil func(database string)
		done  bool
		says  string
	}{
		"a damaged file": {func(db string) { vaulttest.FlipBit(t, db, "files", 200, false) }, true, "file 1: "},
		"a lost file":    {func(db string) { vaulttest.DeleteFirst(t, db, "files") }, false, "database repair: nothing was repaired: the record of file 1 is gone"},
		"a file lost without trace": {func(db string) {
			vaulttest.DeleteFirst(t, db, "files")
			vaulttest.DeleteBySuffix(t, db, "file_digests", []byte{0, 0, 0, 0, 0, 0, 0, 1})
		}, false, "database repair: nothing was repaired: 2 records of files are there, 3 were counted, and 2 documents have no record"},
		"a damaged order": {func(db string) { vaulttest.FlipBit(t, db, "orders", 200, false) }, true, "order 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := spoiled(t, row.spoil)
			left := vaulttest.AddOrphan(t, opts.Dir, []byte("of nobody, perhaps"))
			r := repaired(t, v)
			said := ""
			for _, f := range r.Report.Findings {
				said += f.Kind + " " + f.Subject + ": " + f.Problem + "\n"
			}
			if r.Applied != row.done || r.Report.OK() || !strings.Contains(said, row.says) {
				t.Errorf("%+v\n%s", r, said)
			}
			if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 4 && !strings.Contains(name, "order") {
				t.Errorf("%d documents", n)
			}
			if _, err := os.Stat(left); (err == nil) == strings.Contains(name, "order") {
				t.Errorf("the orphan: %v", err)
			}
		})
	}
}

// What arrives and what is being copied is nobody's leftover.
func TestRepairEmptiesTmp(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
	if err := os.WriteFile(filepath.Join(opts.Dir, "tmp", "left"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	arriving := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Arriving.pdf", "b"))
	copies := 0
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {
		if copies++; copies > 1 {
			return
		}
		if r := repaired(t, v); !r.Applied || !r.Report.OK() || r.Leftovers != 1 || r.Report.Leftovers != 0 || r.Orphans != 0 {
			t.Errorf("under a backup: %+v", r)
		}
	})
	if err != nil || copies == 0 {
		t.Fatalf("%d, %v", copies, err)
	}
	if r := repaired(t, v); r.Orphans != 1 || r.Leftovers != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the orphan stays")
	}
	if _, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, arriving, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Error(err)
	}
}

// A database that was put back from elsewhere does not know every document.
func TestRepairSweepsNothingForAnOlderDatabase(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("filed since"))
	if err := os.WriteFile(filepath.Join(opts.Dir, "generation"), []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := repaired(t, v); !r.Applied || r.Orphans != 0 || r.Report.Orphans != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
