package vault_test

import (
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// leaving is a vault with an abstract that is retained for 20 years. Five years after it was created, its document
// leaves it.
type leaving struct {
	*instance.Instance
	opts       instance.Options
	clock      *vaulttest.Clock
	long       uint64 // abstract with the document, retained for 20 years
	short      uint64 // abstract without documents, created now, retained for 7 years
	folder     uint64
	file       model.File
	instrument uint64 // of the document
}

func newLeaving(t *testing.T, age time.Duration) *leaving {
	t.Helper()
	clock, opts := vaulttest.NewClock(), vaulttest.Options(t)
	opts.Now = clock.Now
	opts.Load = vaulttest.With(map[string]string{"retention.keep": "20y", "retention.templates": "2=7y"})
	v := vaulttest.OpenUnchecked(t, opts)
	l := &leaving{Instance: v, opts: opts, clock: clock}
	t.Cleanup(func() { vaulttest.Close(t, l.Instance) })
	created := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("1.pdf", "1"))
	l.long, l.file = created.Abstract.ID, created.Files[0]
	l.instrument = vaulttest.CreateInstrument(t, v, l.long, `{"type": "Mortgage", "documents": [{"file_id": 1}]}`).ID
	clock.Advance(age)
	l.short = vaulttest.CreateAbstractFromTemplate(t, v, 2, nil).ID
	l.folder = vaulttest.CreateFolder(t, v, "Deeds", 0).ID
	return l
}

func (l *leaving) patch(t *testing.T, p model.FilePatch) {
	t.Helper()
	_, err := l.Files.Patch(t.Context(), vaulttest.Operator, l.file.ID, p, vault.Match{})
	vaulttest.NoError(t, err)
}

func (l *leaving) move(t *testing.T, to vault.Destination, instruments ...uint64) {
	t.Helper()
	result, err := l.Files.Move(t.Context(), vaulttest.Operator,
		vault.MoveRequest{Files: []uint64{l.file.ID}, To: to, Instruments: instruments})
	if err != nil || result.Moved != 1 || len(result.Skipped) > 0 || result.Instruments != len(instruments) {
		t.Fatalf("Files.Move to %+v: got %+v, %v, want 1 document, %d instruments", to, result, err, len(instruments))
	}
}

func (l *leaving) trashFile(t *testing.T) (string, uint64) {
	t.Helper()
	vaulttest.NoError(t, l.Files.Trash(t.Context(), vaulttest.Operator, l.file.ID, vault.Match{}))
	return "file", l.file.ID
}

func (l *leaving) restoreFile(t *testing.T) {
	t.Helper()
	_, err := l.Files.Restore(t.Context(), vaulttest.Operator, l.file.ID, vault.Idempotency[model.File]{})
	vaulttest.NoError(t, err)
}

func (l *leaving) trashAbstract(t *testing.T, id uint64) (string, uint64) {
	t.Helper()
	vaulttest.NoError(t, l.Abstracts.Trash(t.Context(), vaulttest.Operator, id, vault.Match{}))
	return "abstract", id
}

func (l *leaving) detach(t *testing.T, abstract uint64) (string, uint64) {
	t.Helper()
	vaulttest.NoError(t, l.Abstracts.Detach(t.Context(), vaulttest.Operator, abstract, l.file.ID, vault.Match{}))
	return "file", l.file.ID
}

// lift purges a record under retention, with a reason.
func (l *leaving) lift(t *testing.T, kind string, id uint64) {
	t.Helper()
	_, err := l.Purger.Purge(t.Context(), vaulttest.Operator, kind, id, "the client asked for it")
	vaulttest.NoError(t, err)
}

// reopen starts the vault with other retention settings.
func (l *leaving) reopen(t *testing.T, retention string) {
	t.Helper()
	vaulttest.Close(t, l.Instance)
	l.opts.Load = vaulttest.With(map[string]string{"retention.keep": retention})
	l.Instance = vaulttest.OpenUnchecked(t, l.opts)
}

// restoreBackup replaces the vault with one that was restored from a backup.
func (l *leaving) restoreBackup(t *testing.T) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, l.Instance, from)
	vaulttest.Close(t, l.Instance)
	opts := vaulttest.RestoreOptions(t, from)
	opts.Vault.Now, opts.Vault.Load = l.opts.Now, l.opts.Load
	_, err := instance.Restore(t.Context(), opts)
	vaulttest.NoError(t, err)
	l.opts, l.Instance = opts.Vault, vaulttest.OpenUnchecked(t, opts.Vault)
}

func toAbstract(id uint64) model.FilePatch {
	return model.FilePatch{AbstractID: model.Some(vaulttest.IDInput(id))}
}

func toFolder(id uint64) model.FilePatch {
	return model.FilePatch{FolderID: model.Some(vaulttest.IDInput(id))}
}

// A document that belonged to an abstract for longer than the correction period keeps the end of its retention period
// on every path out of the abstract. Later changes only extend it. Nothing purges it earlier without a reason.
func TestRetentionOfDocumentThatLeaves(t *testing.T) {
	t.Parallel()
	start := vaulttest.NewClock().Now()
	years := func(n int) time.Time { return start.AddDate(n, 0, 0) }
	const age = 5 * vaulttest.Year
	none := model.FilePatch{AbstractID: model.Some(model.IDInput{})}
	const short = "1y"
	nowhere := vault.Destination{}
	tests := []struct {
		name  string
		age   time.Duration
		leave func(t *testing.T, l *leaving) (kind string, id uint64)
		want  time.Time // zero: no retention
	}{
		{"deleted", age, func(t *testing.T, l *leaving) (string, uint64) { return l.trashFile(t) }, years(20)},
		{"detached", age, func(t *testing.T, l *leaving) (string, uint64) { return l.detach(t, l.long) }, years(20)},
		{"deleted in bulk", age, func(t *testing.T, l *leaving) (string, uint64) {
			_, _, err := l.Files.TrashMany(t.Context(), vaulttest.Operator, []uint64{l.file.ID})
			vaulttest.NoError(t, err)
			return "file", l.file.ID
		}, years(20)},
		{"PATCH to no abstract", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.patch(t, none)
			return l.trashFile(t)
		}, years(20)},
		{"PATCH to a folder", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.patch(t, toFolder(l.folder))
			return l.trashFile(t)
		}, years(20)},
		{"PATCH to another abstract, deleted", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.patch(t, toAbstract(l.short))
			return l.trashFile(t)
		}, years(20)},
		{"PATCH to another abstract, deleted with it", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.patch(t, toAbstract(l.short))
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"moved to the vault", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, nowhere)
			return l.trashFile(t)
		}, years(20)},
		{"moved to a folder", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Folder: l.folder})
			return l.trashFile(t)
		}, years(20)},
		{"moved to another abstract, detached", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			return l.detach(t, l.short)
		}, years(20)},
		{"moved to another abstract, deleted with it", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"moved with its instrument, deleted with the abstract", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short}, l.instrument)
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"instrument moved with its document, deleted", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short}, l.instrument)
			vaulttest.NoError(t, l.Instruments.Trash(t.Context(), vaulttest.Operator, l.instrument, vault.Match{}))
			return "instrument", l.instrument
		}, years(20)},
		{"instrument moved with its document, abstract deleted after the document left", age,
			func(t *testing.T, l *leaving) (string, uint64) {
				l.move(t, vault.Destination{Abstract: l.short}, l.instrument)
				l.move(t, nowhere)
				vaulttest.NoError(t, l.Instruments.Trash(t.Context(), vaulttest.Operator, l.instrument, vault.Match{}))
				return l.trashAbstract(t, l.short)
			}, years(20)},
		{"abstract emptied, then deleted, its document", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			l.trashAbstract(t, l.long)
			l.lift(t, "abstract", l.long)
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"abstract emptied of a later document, then deleted", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.attach(t, l.long)
			l.move(t, nowhere)
			l.trashFile(t)
			l.lift(t, "file", l.file.ID)
			return l.trashAbstract(t, l.long)
		}, years(20).Add(age)},
		{"two other abstracts, then a folder", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			l.move(t, vault.Destination{Abstract: vaulttest.CreateAbstractFromTemplate(t, l.Instance, 2, nil).ID})
			l.patch(t, toFolder(l.folder))
			return l.trashFile(t)
		}, years(20)},
		{"a folder, then another abstract, deleted with it", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.patch(t, none)
			l.move(t, vault.Destination{Folder: l.folder})
			l.patch(t, toAbstract(l.short))
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"another abstract and back", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			l.move(t, vault.Destination{Abstract: l.long})
			return l.detach(t, l.long)
		}, years(20)},
		{"detached, restored, and moved", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.detach(t, l.long)
			l.restoreFile(t)
			l.move(t, nowhere)
			return l.trashFile(t)
		}, years(20)},
		{"moved, deleted, restored, and deleted with another abstract", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, nowhere)
			l.trashFile(t)
			l.restoreFile(t)
			l.move(t, vault.Destination{Abstract: l.short})
			l.detach(t, l.short)
			l.restoreFile(t)
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"detached, abstract purged, restored, and moved", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.detach(t, l.long)
			l.trashAbstract(t, l.long)
			l.lift(t, "abstract", l.long)
			l.restoreFile(t)
			l.move(t, vault.Destination{Abstract: l.short})
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"deleted with another abstract, restored with it, and moved", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			l.trashAbstract(t, l.short)
			_, err := l.Abstracts.Restore(t.Context(), vaulttest.Operator, l.short, vault.Idempotency[vault.AbstractWithFiles]{})
			vaulttest.NoError(t, err)
			l.move(t, vault.Destination{Folder: l.folder})
			return l.trashFile(t)
		}, years(20)},
		{"a shorter setting after a move", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Folder: l.folder})
			l.reopen(t, short)
			return l.trashFile(t)
		}, years(20)},
		{"a shorter setting after a move to another abstract", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			l.reopen(t, short)
			return l.trashAbstract(t, l.short)
		}, years(20)},
		{"a shorter setting after it was detached", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.detach(t, l.long)
			l.reopen(t, short)
			return "file", l.file.ID
		}, years(20)},
		{"a longer setting after it was detached", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.detach(t, l.long)
			l.reopen(t, "30y")
			return "file", l.file.ID
		}, years(30)},
		{"restored from a backup", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Folder: l.folder})
			l.restoreBackup(t)
			return l.trashFile(t)
		}, years(20)},
		{"imported again", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Folder: l.folder})
			_, err := l.Files.Import(t.Context(), vaulttest.Operator, vault.ImportTarget{FolderID: l.folder, Filename: l.file.Filename},
				l.file.Digest, vaulttest.StageDocs(t, l.Instance, vaulttest.PDFDoc("1.pdf", "1")))
			vaulttest.NoError(t, err)
			return l.trashFile(t)
		}, years(20)},
		{"renamed after a move", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.patch(t, none)
			l.patch(t, model.FilePatch{Filename: vaulttest.SomeText("renamed.pdf")})
			return l.trashFile(t)
		}, years(20)},

		{"to an abstract with a longer retention", 31 * vaulttest.Day, func(t *testing.T, l *leaving) (string, uint64) {
			l.attach(t, l.short)
			l.move(t, vault.Destination{Abstract: l.long})
			l.move(t, nowhere)
			return l.trashFile(t)
		}, years(20).Add(31 * vaulttest.Day)},
		{"from an abstract with the shorter retention", 31 * vaulttest.Day, func(t *testing.T, l *leaving) (string, uint64) {
			l.attach(t, l.short)
			l.move(t, nowhere)
			return l.trashFile(t)
		}, years(7).Add(31 * vaulttest.Day)},
		{"a day after the correction period", 31 * vaulttest.Day, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, nowhere)
			return l.trashFile(t)
		}, years(20)},
		{"at the end of the correction period", 30 * vaulttest.Day, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, nowhere)
			l.clock.Advance(vaulttest.Day)
			return l.trashFile(t)
		}, time.Time{}},
		{"in the correction period, and back", 30 * vaulttest.Day, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, nowhere)
			l.move(t, vault.Destination{Abstract: l.long})
			l.clock.Advance(vaulttest.Day)
			l.move(t, nowhere)
			return l.trashFile(t)
		}, years(20)},
		{"in the correction period, deleted with another abstract", 30 * vaulttest.Day, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short}, l.instrument)
			return l.trashAbstract(t, l.short)
		}, years(7).Add(30 * vaulttest.Day)},
		{"abstract that the document left again", age, func(t *testing.T, l *leaving) (string, uint64) {
			l.move(t, vault.Destination{Abstract: l.short})
			l.move(t, vault.Destination{Abstract: l.long})
			return l.trashAbstract(t, l.short)
		}, years(7).Add(age)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLeaving(t, tt.age)
			kind, id := tt.leave(t, l)
			wantRetained(t, l.Instance, l.clock, kind, id, tt.want)
		})
	}
}

// attach adds a document to an abstract and waits until its correction period is over. It becomes the document that
// leaves.
func (l *leaving) attach(t *testing.T, abstract uint64) {
	t.Helper()
	added, err := l.Abstracts.Attach(t.Context(), vaulttest.Operator, abstract, model.UploadDraft{},
		vaulttest.StageDocs(t, l.Instance, vaulttest.PDFDoc("2.pdf", "2")), vault.Idempotency[vault.AbstractWithFiles]{})
	vaulttest.NoError(t, err)
	l.file = added.Files[len(added.Files)-1]
	l.clock.Advance(31 * vaulttest.Day)
}

// wantRetained checks that a record in the trash is restorable until exactly the end of its retention period, or of the
// trash period if it has none, and that neither the scheduled nor a manual purge deletes it earlier.
func wantRetained(t *testing.T, v *instance.Instance, clock *vaulttest.Clock, kind string, id uint64, want time.Time) {
	t.Helper()
	trashed := trashedRecord(t, v, kind, id)
	if !trashed.RetainedUntil.Equal(want) {
		t.Errorf("retained until: got %v, want %v", trashed.RetainedUntil, want)
	}
	until := want
	if until.IsZero() {
		until = trashed.At.Add(vaulttest.TrashPeriod)
	}
	if !trashed.Until.Equal(until) {
		t.Errorf("in the trash until: got %v, want %v", trashed.Until, until)
	}
	clock.Advance(until.Sub(clock.Now()) - time.Microsecond)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if !want.IsZero() {
		_, err := v.Purger.Empty(t.Context(), vaulttest.Operator)
		vaulttest.NoError(t, err)
	}
	if found, err := v.Trash.Find(t.Context(), kind, id); err != nil || found.ID != id {
		t.Errorf("Trash.Find just before the end: got %+v, %v, want %s %d", found, err, kind, id)
	}
	if _, err := v.Purger.Purge(t.Context(), vaulttest.Operator, kind, id, ""); (errs.KindOf(err) == errs.Conflict) == want.IsZero() {
		t.Errorf("manual purge just before the end: got %v, want a conflict only for retained records", err)
	}
	clock.Advance(time.Microsecond)
	vaulttest.NoError(t, v.Purger.PurgeExpired(t.Context()))
	if _, err := v.Trash.Find(t.Context(), kind, id); errs.KindOf(err) != errs.NotFound {
		t.Errorf("Trash.Find at the end: got %v, want a purged record", err)
	}
	vaulttest.Verify(t, v)
}
