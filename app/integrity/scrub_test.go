package integrity_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const scrubDay = 24 * time.Hour

// rot flips a bit of a document as it lies on the disk, and moves the modification time,
// so that no clock tick hides the change.
func rot(t *testing.T, dir string, file model.File, change func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, "blobs", file.Digest[:2], file.Digest)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(content), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func flip(content []byte) []byte {
	content = bytes.Clone(content)
	content[len(content)/2] ^= 4
	return content
}

// large is a document that is verified while it is sent.
func large(salt string) vaulttest.Doc {
	body := bytes.Repeat([]byte(salt), 300<<10/len(salt))
	return vaulttest.NewDoc("large "+salt[:1]+".txt", body)
}

// scrubbed opens a vault whose scrub the test drives.
func scrubbed(t *testing.T, change func(*instance.Options)) (*instance.Instance, instance.Options, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now, opts.Settings.Scrub = clock.Now, integrity.ScrubSettings{Every: 30 * scrubDay, VerifyFirst: 64 << 10}
	if change != nil {
		change(&opts)
	}
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() }) // closed by some before
	return v, opts, clock
}

// damageEvents are the entries of the audit log about damage.
func damageEvents(t *testing.T, v *instance.Instance) (records []string) {
	t.Helper()
	page, err := v.Events.List(t.Context(), store.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Items {
		if e.Kind == "file.damaged" {
			records = append(records, e.Record)
		}
	}
	return records
}

func isDamaged(err error) bool {
	var damaged *vault.DamagedError
	return errors.As(err, &damaged)
}

// TestDamageIsReportedOnceUntilHealed opens damaged documents again and again, heals
// them, and damages them once more.
func TestDamageIsReportedOnceUntilHealed(t *testing.T) {
	for _, row := range []struct {
		name   string
		doc    vaulttest.Doc
		change func([]byte) []byte
		broken bool // reading it fails, the first time
	}{
		{"small, flipped", vaulttest.PDFDoc("a.pdf", "small"), flip, false},
		{"small, emptied", vaulttest.PDFDoc("a.pdf", "small"), func([]byte) []byte { return nil }, false},
		{"large, flipped", large("deed "), flip, true},
		{"large, cut", large("deed "), func(b []byte) []byte { return b[:len(b)-1] }, false},
		{"large, lengthened", large("deed "), func(b []byte) []byte { return append(bytes.Clone(b), 'x') }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			v, opts, clock := scrubbed(t, nil)
			file := vaulttest.UploadDocs(t, v, row.doc)[0]
			rot(t, opts.Dir, file, row.change)
			_, body, err := v.Files.Open(t.Context(), file.ID)
			if row.broken {
				if err != nil {
					t.Fatal(err)
				}
				got, readErr := io.ReadAll(body)
				if err := body.Close(); err != nil {
					t.Error(err)
				}
				if readErr == nil || len(got) >= len(row.doc.Body) {
					t.Errorf("read %d bytes of %d, %v", len(got), len(row.doc.Body), readErr)
				}
				_, _, err = v.Files.Open(t.Context(), file.ID)
			}
			for range 3 {
				if !isDamaged(err) {
					t.Fatalf("got %v, want a DamagedError", err)
				}
				_, _, err = v.Files.Open(t.Context(), file.ID)
			}
			if got, want := damageEvents(t, v), []string{"file:1"}; !slices.Equal(got, want) {
				t.Errorf("log: got %q, want %q", got, want)
			}
			if s := vaulttest.Status(t, v); s.Damaged != 1 {
				t.Errorf("status: got %d damaged, want 1", s.Damaged)
			}
			if !isDamaged(v.Files.KnownDamage(file)) {
				t.Error("the damage is not known")
			}

			vaulttest.Close(t, v)
			if v, err = instance.Open(t.Context(), opts); err != nil {
				t.Fatal(err)
			}
			defer vaulttest.Close(t, v)
			v.Integrity.Recheck(t.Context())
			if got := v.Damaged(); len(got) != 1 || got[0].FileID != file.ID || !got[0].Logged {
				t.Errorf("after a restart: got %+v", got)
			}
			if got, want := damageEvents(t, v), []string{"file:1"}; !slices.Equal(got, want) {
				t.Errorf("log after a restart: got %q, want %q", got, want)
			}

			vaulttest.UploadDocs(t, v, row.doc) // the same bytes
			if s := vaulttest.Status(t, v); s.Damaged != 0 {
				t.Errorf("after the upload: got %d damaged, want 0", s.Damaged)
			}
			if got := vaulttest.Content(t, v, file.ID); !bytes.Equal(got, row.doc.Body) {
				t.Errorf("after the upload: got %d bytes, want %d", len(got), len(row.doc.Body))
			}
			clock.Advance(time.Hour)
			rot(t, opts.Dir, file, flip)
			v.Integrity.ScrubStep(t.Context()) //nolint:errcheck // its finding is looked at
			if got, want := damageEvents(t, v), []string{"file:1", "file:1"}; !slices.Equal(got, want) {
				t.Errorf("log after new damage: got %q, want %q", got, want)
			}
		})
	}
}

// TestPutBackByHandHeals: bytes that come back without an upload are found intact.
func TestPutBackByHandHeals(t *testing.T) {
	for _, d := range []vaulttest.Doc{vaulttest.PDFDoc("a.pdf", "small"), large("deed ")} {
		v, opts, clock := scrubbed(t, nil)
		file := vaulttest.UploadDocs(t, v, d)[0]
		rot(t, opts.Dir, file, flip)
		v.Integrity.ScrubStep(t.Context()) //nolint:errcheck // its finding is looked at
		if s := vaulttest.Status(t, v); s.Damaged != 1 {
			t.Fatalf("got %d damaged, want 1", s.Damaged)
		}
		rot(t, opts.Dir, file, func([]byte) []byte { return d.Body })
		clock.Advance(time.Hour)
		if got := vaulttest.Content(t, v, file.ID); !bytes.Equal(got, d.Body) {
			t.Errorf("got %d bytes, want %d", len(got), len(d.Body))
		}
		if s := vaulttest.Status(t, v); s.Damaged != 0 {
			t.Errorf("got %d damaged, want 0", s.Damaged)
		}
	}
}

// TestMissingBytesAreDamage, unless the document was purged.
func TestMissingBytesAreDamage(t *testing.T) {
	v, opts, _ := scrubbed(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "gone"))[0]
	if err := os.Remove(filepath.Join(opts.Dir, "blobs", file.Digest[:2], file.Digest)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.Files.Open(t.Context(), file.ID); !isDamaged(err) {
		t.Errorf("got %v, want a DamagedError", err)
	}
	_, _, err := v.Files.Open(t.Context(), 99)
	vaulttest.WantKind(t, "no such document", err, errs.NotFound)
	if got := len(v.Damaged()); got != 1 {
		t.Errorf("got %d damaged, want 1", got)
	}
}

// TestDamageOfPurgedDocumentIsForgotten once no one misses its bytes.
func TestDamageOfPurgedDocumentIsForgotten(t *testing.T) {
	v, opts, clock := scrubbed(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "purged"))[0]
	rot(t, opts.Dir, file, flip)
	v.Integrity.ScrubStep(t.Context()) //nolint:errcheck // its finding is looked at
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(31 * scrubDay)
	if err := v.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := vaulttest.Status(t, v); s.Damaged != 0 {
		t.Errorf("got %d damaged, want 0", s.Damaged)
	}
}

// TestPartsAreVerifiedBehind: what was sent in part is verified once, later.
func TestPartsAreVerifiedBehind(t *testing.T) {
	v, opts, clock := scrubbed(t, nil)
	d := large("deed ")
	file := vaulttest.UploadDocs(t, v, d)[0]
	part := func() error {
		_, body, err := v.Files.Open(t.Context(), file.ID)
		if err != nil {
			return err
		}
		defer body.Close()
		if _, err := body.Seek(1000, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadFull(body, make([]byte, 10))
		return err
	}
	if err := part(); err != nil || v.Integrity.ScrubQueued(t.Context()) != 0 {
		t.Errorf("just uploaded: %v, or it was verified again", err)
	}
	clock.Advance(25 * time.Hour)
	for range 3 {
		if err := part(); err != nil {
			t.Error(err)
		}
	}
	if got := v.Integrity.ScrubQueued(t.Context()); got != 1 {
		t.Errorf("three parts: verified %d times, want 1", got)
	}
	if err := part(); err != nil || v.Integrity.ScrubQueued(t.Context()) != 0 {
		t.Errorf("verified: %v, or it was verified again", err)
	}
	rot(t, opts.Dir, file, flip)
	if err := part(); err != nil {
		t.Error(err)
	}
	if got := v.Integrity.ScrubQueued(t.Context()); got != 1 {
		t.Errorf("damaged: verified %d times, want 1", got)
	}
	if err := part(); !isDamaged(err) {
		t.Errorf("got %v, want a DamagedError", err)
	}
	if got := v.Integrity.ScrubQueued(t.Context()); got != 0 {
		t.Errorf("known: verified %d times, want 0", got)
	}
	clock.Advance(time.Hour)
	if err := part(); !isDamaged(err) || v.Integrity.ScrubQueued(t.Context()) != 1 {
		t.Errorf("an hour later: %v, or it was not verified again", err)
	}
}

// TestScrubReadsEverything in digest order, spread over two thirds of the period, and
// resumes where it was after a restart.
func TestScrubReadsEverything(t *testing.T) {
	v, opts, clock := scrubbed(t, nil)
	var docs []vaulttest.Doc
	for _, salt := range strings.Fields("one two three four five six seven eight") {
		docs = append(docs, vaulttest.PDFDoc(salt+".pdf", salt))
	}
	files := vaulttest.UploadDocs(t, v, docs...)
	vaulttest.UploadDocs(t, v, docs[0]) // the same bytes: read once
	for _, file := range files {
		rot(t, opts.Dir, file, flip)
	}
	var took time.Duration
	step := func() (ended bool) {
		t.Helper()
		wait, ended, err := v.Integrity.ScrubStep(t.Context())
		if err != nil || wait < 0 || wait > 20*scrubDay {
			t.Fatalf("wait %v, %v", wait, err)
		}
		clock.Advance(wait)
		took += wait
		return ended
	}
	for range 3 {
		step()
	}
	before := v.Integrity.State()
	if got := vaulttest.Status(t, v).Damaged; got != 3 || before.Progress <= 0 {
		t.Errorf("after three: %d damaged, %+v", got, before)
	}
	vaulttest.Close(t, v)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer vaulttest.Close(t, v)
	if got := v.Integrity.State(); got.Progress != before.Progress || !got.Started.Equal(before.Started) {
		t.Errorf("after a restart: got %+v, want %+v", got, before)
	}
	for i := range 5 {
		if wait, ended, err := v.Integrity.ScrubStep(t.Context()); ended || err != nil {
			t.Fatalf("step %d: ended %t, %v", i, ended, err)
		} else {
			clock.Advance(wait)
			took += wait
		}
	}
	wait, ended, err := v.Integrity.ScrubStep(t.Context())
	if took += wait; !ended || err != nil {
		t.Fatalf("ended %t, %v", ended, err)
	}
	if got := vaulttest.Status(t, v).Damaged; got != 8 {
		t.Errorf("got %d damaged, want 8", got)
	}
	if got := v.Integrity.State(); got.Completed.IsZero() || got.Progress != 0 || got.Overdue {
		t.Errorf("at the end: %+v", got)
	}
	if took < 19*scrubDay || took > 20*scrubDay {
		t.Errorf("took %v, want 20 days", took)
	}
	if got := len(damageEvents(t, v)); got != 8 {
		t.Errorf("log: got %d entries, want 8", got)
	}
}

// TestScrubAndTheClock: a clock that is set neither stops the scrub nor has it wait for
// long, and its age stays one.
func TestScrubAndTheClock(t *testing.T) {
	rows := []struct {
		name    string
		jump    time.Duration
		most    time.Duration // of the next wait
		overdue bool
	}{
		{"ahead by ten years", 3650 * scrubDay, 0, true},
		{"back by ten years", -3650 * scrubDay, 20 * scrubDay, false},
		{"ahead by an hour", time.Hour, 20 * scrubDay, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			v, _, clock := scrubbed(t, nil)
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"), vaulttest.PDFDoc("c.pdf", "c"))
			for range 4 { // a round and its end
				wait, _, err := v.Integrity.ScrubStep(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				clock.Advance(wait)
			}
			v.Integrity.ScrubStep(t.Context()) //nolint:errcheck // the next one is looked at
			clock.Advance(row.jump)
			if got := v.Integrity.State(); got.Overdue != row.overdue || got.Age < 0 {
				t.Errorf("after the jump: %+v", got)
			}
			wait, _, err := v.Integrity.ScrubStep(t.Context())
			if err != nil || wait < 0 || wait > row.most {
				t.Errorf("wait %v, want at most %v; %v", wait, row.most, err)
			}
			if got := v.Integrity.State(); got.Completed.After(clock.Now()) || got.Started.After(clock.Now()) {
				t.Errorf("a round of the future: %+v", got)
			}
		})
	}
}

// TestScrubNoteIsNoTrap: one that cannot be read is as one that is not there.
func TestScrubNoteIsNoTrap(t *testing.T) {
	v, opts, _ := scrubbed(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))[0]
	vaulttest.Close(t, v)
	for _, note := range []string{"", "{", `{"after":"x"}`, `{"damaged":[{"sha256":"zz"}]}`, `[]`} {
		if err := os.WriteFile(filepath.Join(opts.Dir, "scrub.json"), []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := instance.Open(t.Context(), opts)
		if err != nil {
			t.Fatalf("%q: %v", note, err)
		}
		if got := v.Integrity.State(); got.Progress != 0 || len(v.Damaged()) != 0 {
			t.Errorf("%q: got %+v", note, got)
		}
		if len(vaulttest.Content(t, v, file.ID)) == 0 {
			t.Errorf("%q: the document cannot be read", note)
		}
		vaulttest.Close(t, v)
	}
}

// TestBackupNamesDamage: a snapshot that keeps an older, intact copy says which document
// is damaged in the vault.
func TestBackupNamesDamage(t *testing.T) {
	v, opts, _ := scrubbed(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))[0]
	to := t.TempDir()
	back := func() backup.Backup {
		t.Helper()
		made, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	if made := back(); len(made.Damaged) != 0 {
		t.Errorf("got %v, want none", made.Damaged)
	}
	rot(t, opts.Dir, file, flip)
	v.Integrity.ScrubStep(t.Context()) //nolint:errcheck // its finding is looked at
	if made := back(); !slices.Equal(made.Damaged, []uint64{file.ID}) {
		t.Errorf("got %v, want [%d]", made.Damaged, file.ID)
	}
	other := t.TempDir()
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, other, func(backup.Progress) {})
	vaulttest.WantKind(t, "a first backup of a damaged document", err, errs.Conflict)
}

// TestViewsOfDamagedDocuments: no text is read from bytes that are damaged.
func TestViewsOfDamagedDocuments(t *testing.T) {
	v, opts, _ := scrubbed(t, nil)
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("a.txt", []byte("a deed of trust")))[0]
	rot(t, opts.Dir, file, flip)
	if err := v.Previews.RemovePreviews(file.Digest); err != nil {
		t.Fatal(err)
	}
	err := v.Previews.Text(t.Context(), vaulttest.Operator, file.ID, func(int, string) error { return nil })
	if !isDamaged(err) {
		t.Errorf("got %v, want a DamagedError", err)
	}
}
