package integrity_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// openDamaged creates a vault with some records of each type, closes it, calls damage with
// the path of its database, and opens it again.
func openDamaged(t *testing.T, damage func(database string)) (*instance.Instance, instance.Options) {
	t.Helper()
	opts := vaulttest.Options(t)
	v := vaulttest.OpenUnchecked(t, opts)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.CreateOrder(t, v, "A-1")
	abstract := vaulttest.CreateAbstractFromTemplate(t, v, 1, nil)
	recordRelease(t, v, abstract.ID)
	vaulttest.CreateKey(t, v, model.KeyDraft{})
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, files[2].ID, vault.Match{}); err != nil {
		t.Fatalf("trash file %d: %v", files[2].ID, err)
	}
	vaulttest.Close(t, v)
	damage(filepath.Join(opts.Dir, "vault.db"))
	v = vaulttest.OpenUnchecked(t, opts)
	t.Cleanup(func() { vaulttest.Close(t, v) })
	return v, opts
}

// recordRelease records a mortgage, its release, and a note.
func recordRelease(t *testing.T, v *instance.Instance, abstract uint64) {
	t.Helper()
	text := model.StringInput
	if _, err := v.Instruments.CreateMany(t.Context(), vaulttest.Operator, abstract, []vault.NewInstrument{
		{Row: 1, InstrumentPatch: vault.InstrumentPatch{Input: model.Inputs{"type": text("Mortgage"), "book": text("417")}}},
		{Row: 2, InstrumentPatch: vault.InstrumentPatch{Input: model.Inputs{"type": text("Release or Satisfaction")}},
			Relations: []vault.RowRelation{{Kind: model.Releases, Row: 1}}},
	}, vault.Idempotency[vault.Added]{}); err != nil {
		t.Fatalf("record instruments: %v", err)
	}
	if _, err := v.Notes.Create(t.Context(), vaulttest.Operator, "abstract", abstract,
		model.NoteInput{Text: model.Some(model.StringInput("Call the county"))},
		vault.Idempotency[model.Note]{}); err != nil {
		t.Fatalf("create note: %v", err)
	}
}

func repair(t *testing.T, v *instance.Instance) integrity.RepairResult {
	t.Helper()
	r, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, func(int, int) {})
	if err != nil {
		t.Fatalf("repair: %v", err)
	}
	return r
}

// Repair rebuilds all indexes, the counters, and the processing queue.
func TestRepairRebuildsDerivedData(t *testing.T) {
	t.Parallel()
	type test struct {
		damage         func(database string)
		added, removed int // tasks
	}
	tests := map[string]test{
		"lost task": {func(db string) {
			vaulttest.DeleteFirst(t, db, "tasks")
			vaulttest.DeleteFirst(t, db, "counters")
		}, 1, 0},
		"damaged task": {func(db string) { vaulttest.FlipBit(t, db, "tasks", 200, false) }, 1, 1},
	}
	for _, bucket := range []string{
		"order_index", "order_sorted", "abstract_index", "abstract_sorted", "file_index", "event_index", "trash",
		"folder_names", "file_digests", "key_hashes", "counts", "instrument_index", "instrument_refs", "runsheet_rows", "record_notes",
	} {
		tests[bucket+" without an entry"] = test{damage: func(db string) { vaulttest.DeleteFirst(t, db, bucket) }}
		tests[bucket+" with a wrong key"] = test{damage: func(db string) { vaulttest.FlipBit(t, db, bucket, 3, true) }}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := openDamaged(t, tt.damage)
			if vaulttest.VerifyReport(t, v).OK() {
				t.Fatal("Verify() before the repair found no damage, want a finding")
			}
			r := repair(t, v)
			if !r.Applied || !r.Report.OK() || r.FindingsBefore == 0 || r.TasksAdded != tt.added || r.TasksRemoved != tt.removed || r.Orphans != 0 {
				t.Errorf("Repair() = %+v, want it applied without findings left, %d tasks added, and %d removed", r, tt.added, tt.removed)
			}
			if s := vaulttest.Status(t, v); s.Queue != 3 || s.Files != 2 || s.Trashed != 1 {
				t.Errorf("status = %+v, want 3 queued, 2 files, and 1 in the trash", s)
			}
			if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 3 {
				t.Errorf("stored documents = %d, want 3", n)
			}
			events, err := v.Events.List(t.Context(), vault.Query{Descending: true, Limit: 1})
			if err != nil || len(events.Items) != 1 || events.Items[0].Kind != "vault.repaired" ||
				events.Items[0].Actor.Name != vaulttest.Operator.Name {
				t.Errorf("last audit entry = %+v, %v; want vault.repaired by %s", events.Items, err, vaulttest.Operator.Name)
			}
		})
	}
}

// Repair doesn't change damaged records and doesn't delete documents whose records may be
// lost.
func TestRepairKeepsDamagedRecords(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage        func(database string)
		applied       bool
		want          string // substring of the findings
		orphanRemoved bool   // true if all file records are intact, so that an orphan can be removed
	}{
		"damaged file": {
			damage:  func(db string) { vaulttest.FlipBit(t, db, "files", 200, false) },
			applied: true, want: "file 1: ",
		},
		"lost file": {
			damage: func(db string) { vaulttest.DeleteFirst(t, db, "files") },
			want:   "database repair: nothing was repaired: document 1 has no record",
		},
		"lost file and digest": {
			damage: func(db string) {
				vaulttest.DeleteFirst(t, db, "files")
				vaulttest.DeleteBySuffix(t, db, "file_digests", []byte{0, 0, 0, 0, 0, 0, 0, 1})
			},
			want: "database repair: nothing was repaired: found 2 file records, expected 3, and 2 documents have no record",
		},
		"damaged order": {
			damage:  func(db string) { vaulttest.FlipBit(t, db, "orders", 200, false) },
			applied: true, want: "order 1: ", orphanRemoved: true,
		},
		"damaged instrument": {
			damage:  func(db string) { vaulttest.FlipBit(t, db, "instruments", 200, false) },
			applied: true, want: "instrument 1: ", orphanRemoved: true,
		},
		"damaged title work": {
			damage:  func(db string) { vaulttest.FlipBit(t, db, "title_work", 200, false) },
			applied: true, want: "title work 1: ", orphanRemoved: true,
		},
		"damaged note": {
			damage:  func(db string) { vaulttest.FlipBit(t, db, "notes", 200, false) },
			applied: true, want: "note 1: ", orphanRemoved: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, opts := openDamaged(t, tt.damage)
			orphan := vaulttest.AddOrphan(t, opts.Dir, []byte("its record may be lost"))
			r := repair(t, v)
			got := ""
			for _, f := range r.Report.Findings {
				got += f.Kind + " " + f.Subject + ": " + f.Problem + "\n"
			}
			if r.Applied != tt.applied || r.Report.OK() || !strings.Contains(got, tt.want) {
				t.Errorf("Repair(): applied %v, findings %q; want applied %v and %q", r.Applied, got, tt.applied, tt.want)
			}
			if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 4 && !tt.orphanRemoved {
				t.Errorf("stored documents = %d, want 4", n)
			}
			if _, err := os.Stat(orphan); (err != nil) != tt.orphanRemoved {
				t.Errorf("stat the orphan: %v, want it removed: %v", err, tt.orphanRemoved)
			}
		})
	}
}

// Repair removes files left behind by a crash, but no files that belong to uploads or
// backups in progress.
func TestRepairRemovesLeftovers(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	orphan := vaulttest.AddOrphan(t, opts.Dir, []byte("left by a crash"))
	if err := os.WriteFile(filepath.Join(opts.Dir, "tmp", "left"), []byte("x"), 0o600); err != nil {
		t.Fatalf("write a leftover: %v", err)
	}
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Arriving.pdf", "b"))
	calls := 0
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {
		if calls++; calls > 1 {
			return
		}
		if r := repair(t, v); !r.Applied || !r.Report.OK() || r.Leftovers != 1 || r.Report.Leftovers != 0 || r.Orphans != 0 {
			t.Errorf("Repair() during a backup = %+v, want 1 leftover and no orphan removed", r)
		}
	})
	if err != nil || calls == 0 {
		t.Fatalf("backup: %v, %d progress calls; want no error and at least one call", err, calls)
	}
	if r := repair(t, v); r.Orphans != 1 || r.Leftovers != 0 {
		t.Errorf("Repair() after the backup = %+v, want 1 orphan and no leftover removed", r)
	}
	if _, err := os.Stat(orphan); !os.IsNotExist(err) {
		t.Errorf("stat the orphan: %v, want it removed", err)
	}
	_, err = v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Errorf("upload the document staged before the repair: %v", err)
	}
}

// If the database is older than the documents, Repair keeps orphans, because their records
// may be missing from that database.
func TestRepairKeepsOrphansForOlderDatabase(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	orphan := vaulttest.AddOrphan(t, opts.Dir, []byte("uploaded since"))
	if err := os.WriteFile(filepath.Join(opts.Dir, "generation"), []byte("another\n"), 0o600); err != nil {
		t.Fatalf("write the generation file: %v", err)
	}
	if r := repair(t, v); !r.Applied || r.Orphans != 0 || r.Report.Orphans != 1 {
		t.Errorf("Repair() = %+v, want no orphan removed and 1 in the report", r)
	}
	if _, err := os.Stat(orphan); err != nil {
		t.Errorf("stat the orphan: %v, want it kept", err)
	}
}

// A repair, a verification, and a backup can run at the same time. None of them reports an
// index as damaged while it is being rebuilt.
func TestRepairConcurrentWithVerifyAndBackup(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	vaulttest.CreateOrder(t, v, "A-1")
	to := t.TempDir()
	for range 5 {
		var wg sync.WaitGroup
		wg.Go(func() {
			r, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, func(int, int) {})
			if err != nil || !r.Applied || r.FindingsBefore > 0 || !r.Report.OK() {
				t.Errorf("Repair() = %+v, %v; want it applied without findings", r, err)
			}
		})
		wg.Go(func() {
			if r, err := v.Integrity.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() {
				t.Errorf("Verify() = %+v, %v; want no findings", r, err)
			}
		})
		wg.Go(func() {
			if _, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {}); err != nil {
				t.Errorf("backup: %v", err)
			}
		})
		wg.Wait()
	}
}
