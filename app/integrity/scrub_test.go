package integrity_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/integrity"
	"deedkeep/app/vaulttest"
)

const day = 24 * time.Hour

// openWithScrub opens a vault with a scrub period of 30 days. The test has to run the scrub
// with scrubStep and may close the vault.
func openWithScrub(t *testing.T) (*instance.Instance, instance.Options, *vaulttest.Clock) {
	t.Helper()
	clock := vaulttest.NewClock()
	opts := vaulttest.Options(t)
	opts.Now, opts.Settings.Scrub = clock.Now, integrity.ScrubSettings{Every: 30 * day, VerifyFirst: 64 << 10}
	v := vaulttest.OpenUnchecked(t, opts)
	t.Cleanup(func() { _ = v.Close() }) // the test may have closed it
	return v, opts, clock
}

// scrubStep runs the next step of the scrub without waiting.
func scrubStep(t *testing.T, v *instance.Instance) (wait time.Duration, endOfRound bool) {
	t.Helper()
	wait, endOfRound, err := v.Integrity.ScrubStep(t.Context())
	if err != nil {
		t.Fatalf("scrub step: %v", err)
	}
	return wait, endOfRound
}

// If only a part of a document was sent, the document is verified once in the background.
func TestPartialReadIsVerifiedInBackground(t *testing.T) {
	v, opts, clock := openWithScrub(t)
	file := vaulttest.UploadDocs(t, v, largeDoc("deed "))[0]
	readPart := func() error {
		_, body, err := v.Files.Open(t.Context(), file.ID)
		if err != nil {
			return err
		}
		defer body.Close()
		if _, err := body.Seek(1000, io.SeekStart); err != nil {
			t.Fatalf("seek: %v", err)
		}
		_, err = io.ReadFull(body, make([]byte, 10))
		return err
	}
	wantIntact := func(step string) {
		t.Helper()
		if err := readPart(); err != nil {
			t.Errorf("%s: read a part: %v", step, err)
		}
	}
	wantDamaged := func(step string) {
		t.Helper()
		if err := readPart(); !isDamaged(err) {
			t.Errorf("%s: read a part: got %v, want a DamagedError", step, err)
		}
	}
	wantVerified := func(step string, want int) {
		t.Helper()
		if got := v.Integrity.ScrubQueued(t.Context()); got != want {
			t.Errorf("%s: verified documents = %d, want %d", step, got, want)
		}
	}
	wantIntact("after the upload")
	wantVerified("after the upload", 0)
	clock.Advance(25 * time.Hour)
	for range 3 {
		wantIntact("a day later")
	}
	wantVerified("a day later", 1)
	wantIntact("verified")
	wantVerified("verified", 0)
	changeBlob(t, opts.Dir, file, flipBit)
	wantIntact("damaged, but not yet verified")
	wantVerified("damaged, but not yet verified", 1)
	wantDamaged("known to be damaged")
	wantVerified("known to be damaged", 0)
	clock.Advance(time.Hour)
	wantDamaged("an hour later")
	wantVerified("an hour later", 1)
}

// The scrub reads each document once in two thirds of its period and resumes after a
// restart.
func TestScrubReadsEveryDocument(t *testing.T) {
	v, opts, clock := openWithScrub(t)
	var docs []vaulttest.Doc
	for _, salt := range strings.Fields("one two three four five six seven eight") {
		docs = append(docs, vaulttest.PDFDoc(salt+".pdf", salt))
	}
	files := vaulttest.UploadDocs(t, v, docs...)
	vaulttest.UploadDocs(t, v, docs[0]) // a duplicate, which must not be read again
	for _, file := range files {
		changeBlob(t, opts.Dir, file, flipBit)
	}
	var total time.Duration
	step := func() (endOfRound bool) {
		t.Helper()
		wait, endOfRound := scrubStep(t, v)
		if wait < 0 || wait > 20*day {
			t.Fatalf("wait = %v, want 0 to 20 days", wait)
		}
		clock.Advance(wait)
		total += wait
		return endOfRound
	}
	for range 3 {
		step()
	}
	before := v.Integrity.State()
	wantDamageCount(t, v, 3)
	if before.Progress <= 0 {
		t.Errorf("progress after three documents = %v, want more than 0", before.Progress)
	}
	vaulttest.Close(t, v)
	v = vaulttest.OpenUnchecked(t, opts)
	defer vaulttest.Close(t, v)
	if got := v.Integrity.State(); got.Progress != before.Progress || !got.Started.Equal(before.Started) {
		t.Errorf("state after a restart = %+v, want %+v", got, before)
	}
	for i := range 5 {
		if step() {
			t.Fatalf("the round ended at document %d of 8", i+4)
		}
	}
	if !step() {
		t.Fatal("the round did not end after 8 documents")
	}
	wantDamageCount(t, v, 9) // with the duplicate
	if got := v.Integrity.State(); got.Completed.IsZero() || got.Progress != 0 || got.Overdue {
		t.Errorf("state after the round = %+v, want it completed and not overdue", got)
	}
	if total < 19*day || total > 20*day {
		t.Errorf("duration of the round = %v, want 19 to 20 days", total)
	}
	if got := len(damagedRecords(t, v)); got != 8 {
		t.Errorf("audit entries about damage = %d, want 8", got)
	}
}

// If the system clock is changed, the scrub neither stops nor waits longer than usual, and
// the times in its state remain valid.
func TestScrubAfterClockChange(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  time.Duration
		maxWait time.Duration
		overdue bool
	}{
		{"ten years ahead", 3650 * day, 0, true},
		{"ten years back", -3650 * day, 20 * day, false},
		{"an hour ahead", time.Hour, 20 * day, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, _, clock := openWithScrub(t)
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"), vaulttest.PDFDoc("c.pdf", "c"))
			for range 4 { // the three documents and the end of the round
				wait, _ := scrubStep(t, v)
				clock.Advance(wait)
			}
			scrubStep(t, v)
			clock.Advance(tt.change)
			if got := v.Integrity.State(); got.Overdue != tt.overdue || got.Age < 0 {
				t.Errorf("state after the change = %+v, want overdue %v and an age of at least 0", got, tt.overdue)
			}
			if wait, _ := scrubStep(t, v); wait < 0 || wait > tt.maxWait {
				t.Errorf("wait = %v, want 0 to %v", wait, tt.maxWait)
			}
			if got := v.Integrity.State(); got.Completed.After(clock.Now()) || got.Started.After(clock.Now()) {
				t.Errorf("state = %+v, want no time after %v", got, clock.Now())
			}
		})
	}
}

// If scrub.json is invalid, the scrub starts over.
func TestScrubStateFileIsInvalid(t *testing.T) {
	v, opts, _ := openWithScrub(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))[0]
	vaulttest.Close(t, v)
	for name, content := range map[string]string{
		"empty":                  "",
		"incomplete":             "{",
		"invalid digest":         `{"after":"x"}`,
		"invalid damaged digest": `{"damaged":[{"sha256":"zz"}]}`,
		"array":                  `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(opts.Dir, "scrub.json"), []byte(content), 0o600); err != nil {
				t.Fatalf("write scrub.json: %v", err)
			}
			v := vaulttest.OpenUnchecked(t, opts)
			defer vaulttest.Close(t, v)
			if got := v.Integrity.State(); got.Progress != 0 || len(v.Damaged()) != 0 {
				t.Errorf("state = %+v, damaged = %v; want no progress and no damage", got, v.Damaged())
			}
			if len(vaulttest.Content(t, v, file.ID)) == 0 {
				t.Error("content of the document is empty, want its bytes")
			}
		})
	}
}
