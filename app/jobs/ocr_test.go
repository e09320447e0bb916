package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// openWithOCR opens a vault whose pages are read by the returned reader. Nothing runs yet.
func openWithOCR(t *testing.T, change func(*instance.Options)) (*instance.Instance, *vaulttest.FakeOCR) {
	t.Helper()
	reader := new(vaulttest.FakeOCR)
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.OCRReader = reader
		if change != nil {
			change(o)
		}
	})
	return v, reader
}

// scan is a document of scanned pages. The reader of the tests finds no text in it.
func scan(pages int, salt string) vaulttest.Doc {
	return vaulttest.NewDoc("Scan "+salt+".pdf", vaulttest.PDF(pages, salt))
}

// runProcessing processes the queued documents but reads no pages.
func runProcessing(t *testing.T, v *instance.Instance) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { v.Processing.Run(ctx) })
	vaulttest.WaitProcessed(t, v)
}

// runOCR reads pages with a new job until until returns true, and then kills the job.
func runOCR(t *testing.T, v *instance.Instance, reader jobs.PageReader, settings jobs.OCRSettings, what string, until func() bool) {
	t.Helper()
	job := jobs.NewOCR(v.Previews, reader, settings)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { job.Run(ctx) })
	vaulttest.Eventually(t, what, until)
}

func allRead(t *testing.T, v *instance.Instance) func() bool {
	return func() bool {
		n, err := store.Read(t.Context(), v.Store, func(tx *store.Tx) (uint64, error) { return tx.Count(store.CountOCRFiles), nil })
		return err == nil && n == 0
	}
}

func TestOCRMakesScanSearchable(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	v.Start(time.Hour)
	files := vaulttest.UploadDocs(t, v, scan(3, "a"), vaulttest.TextDoc("note.txt", "plain words"))
	vaulttest.WaitOCR(t, v, files[0].ID, files[1].ID)
	file := vaulttest.File(t, v, files[0].ID)
	if file.OCR == nil || *file.OCR != (model.OCR{Pages: 3, Read: 3}) || file.TextPages == nil || *file.TextPages != 3 || file.Unsearchable() {
		t.Errorf("file = %+v, OCR %+v; want three pages read", file, file.OCR)
	}
	want := ""
	for page := 1; page <= 3; page++ {
		want += fmt.Sprintf("%d:%s\n", page, vaulttest.FakeOCRText(page))
	}
	if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != want {
		t.Errorf("text = %q, %v; want %q", got, err, want)
	}
	vaulttest.WaitSearchHits(t, v, "Willoughby sheet2", fmt.Sprint("file ", file.ID))
	if n := len(reader.Calls()); n != 3 {
		t.Errorf("%d pages were read, want 3", n)
	}
	if counts := v.OCR.PageCounts(); counts["done"] != 3 || counts["failed"] != 0 {
		t.Errorf("PageCounts = %v, want 3 done", counts)
	}
	// A duplicate has its text at once.
	again := vaulttest.UploadDocs(t, v, scan(3, "a"))[0]
	vaulttest.WaitOCR(t, v, again.ID)
	vaulttest.WaitSearchHits(t, v, "Willoughby sheet2", fmt.Sprint("file ", file.ID), fmt.Sprint("file ", again.ID))
	if n := len(reader.Calls()); n != 3 {
		t.Errorf("%d pages were read after the duplicate, want 3", n)
	}
}

// A long scan whose reading is killed ten times: no page is read more than twice, and none is
// missing. The end of its file is torn each time.
func TestKilledOCRContinues(t *testing.T) {
	t.Parallel()
	const pages, kills = 280, 10
	v, reader := openWithOCR(t, nil)
	file := vaulttest.UploadDocs(t, v, scan(pages, "long"))[0]
	runProcessing(t, v)
	for kill := 1; kill <= kills; kill++ {
		count := kill * pages / (kills + 1)
		runOCR(t, v, reader, jobs.OCRSettings{Workers: 2}, fmt.Sprint(count, " pages"), func() bool { return len(reader.Calls()) >= count })
		path := filepath.Join(v.Dir, "text", file.Digest[:2], file.Digest)
		raw, err := os.ReadFile(path)
		if err == nil { // the power failed while the next record was written
			err = os.WriteFile(path, append(raw, bytes.Repeat([]byte{byte(kill)}, kill*3)...), 0o600)
		}
		vaulttest.NoError(t, err)
	}
	runOCR(t, v, reader, jobs.OCRSettings{Workers: 2}, "the end", allRead(t, v))
	reads := map[int]int{}
	for _, call := range reader.Calls() {
		reads[call.Page]++
	}
	twice := 0
	for page := 1; page <= pages; page++ {
		switch n := reads[page]; {
		case n == 2:
			twice++
		case n != 1:
			t.Errorf("page %d was read %d times", page, n)
		}
	}
	if twice > 2*kills {
		t.Errorf("%d pages were read twice, want at most %d", twice, 2*kills)
	}
	next := 1
	err := v.Previews.Text(t.Context(), vaulttest.Operator, file.ID, func(page int, text string) error {
		if page != next || text != vaulttest.FakeOCRText(page) {
			t.Errorf("got page %d %q, want page %d", page, text, next)
		}
		next++
		return nil
	})
	if err != nil || next != pages+1 {
		t.Errorf("Text = %v after page %d, want %d pages", err, next-1, pages)
	}
	if f := vaulttest.File(t, v, file.ID); *f.OCR != (model.OCR{Pages: pages, Read: pages}) || *f.TextPages != pages {
		t.Errorf("OCR = %+v, text pages %d; want %d", f.OCR, *f.TextPages, pages)
	}
}

// While a long document is read, its text becomes searchable after every ten seconds.
func TestLongScanIsSearchableWhileItIsRead(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, reader := openWithOCR(t, func(o *instance.Options) { o.Now = clock.Now })
	release := make(chan struct{})
	reader.SetHandler(func(ctx context.Context, c vaulttest.OCRCall) error {
		clock.Advance(6 * time.Second)
		if c.Page < 3 {
			return nil
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil
	})
	v.Start(time.Hour)
	file := vaulttest.UploadDocs(t, v, scan(4, "long"))[0]
	vaulttest.WaitSearchHits(t, v, "Willoughby", fmt.Sprint("file ", file.ID))
	vaulttest.Eventually(t, "2 of 4 pages in the record", func() bool {
		f := vaulttest.File(t, v, file.ID)
		return *f.OCR == model.OCR{Pages: 4, Read: 2} && f.PagesWaitingForOCR() == 2
	})
	close(release)
	vaulttest.WaitOCR(t, v, file.ID)
	vaulttest.WaitSearchHits(t, v, "sheet4", fmt.Sprint("file ", file.ID))
}

// Pages that were read before a crash become searchable with the first page after it.
func TestProgressBeforeCrashIsStored(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock() // never advances
	v, reader := openWithOCR(t, func(o *instance.Options) { o.Now = clock.Now })
	file := vaulttest.UploadDocs(t, v, scan(4, "long"))[0]
	runProcessing(t, v)
	readUntil := func(page int, what string, until func() bool) {
		reader.SetHandler(func(ctx context.Context, c vaulttest.OCRCall) error {
			if c.Page > page {
				<-ctx.Done()
			}
			return nil
		})
		runOCR(t, v, reader, jobs.OCRSettings{}, what, until)
	}
	readUntil(2, "two pages", func() bool { return len(reader.Calls()) == 2 })
	if f := vaulttest.File(t, v, file.ID); f.OCR.Read != 0 {
		t.Errorf("OCR = %+v, want no page before 10 seconds have passed", f.OCR)
	}
	readUntil(3, "the progress of three pages", func() bool { return vaulttest.File(t, v, file.ID).OCR.Read == 3 })
}

func TestPageThatCanNotBeRead(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err   error
		tries int
	}{
		"too slow":        {sandbox.ErrDeadline, 2},
		"too much memory": {sandbox.ErrMemory, 2},
		"damaged":         {document.ErrDamaged, 2},
		"too large":       {document.ErrTooLarge, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, reader := openWithOCR(t, nil)
			var mu sync.Mutex
			tries := 0
			reader.SetHandler(func(_ context.Context, c vaulttest.OCRCall) error {
				if c.Page != 2 {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				tries++
				return row.err
			})
			v.Start(time.Hour)
			file := vaulttest.UploadDocs(t, v, scan(3, "a"))[0]
			vaulttest.WaitOCR(t, v, file.ID)
			mu.Lock()
			defer mu.Unlock()
			f := vaulttest.File(t, v, file.ID)
			if tries != row.tries || *f.OCR != (model.OCR{Pages: 3, Read: 3}) || *f.TextPages != 2 {
				t.Errorf("page 2 was tried %d times, OCR %+v, %d pages with text; want %d, all read, 2", tries, f.OCR, *f.TextPages, row.tries)
			}
			if counts := v.OCR.PageCounts(); counts["done"] != 2 || counts["failed"] != 1 {
				t.Errorf("PageCounts = %v, want 2 done, 1 failed", counts)
			}
		})
	}
}

// A temporary error doesn't lose a document. It is tried again later, and others are read first.
func TestOCRIsRetriedAfterTemporaryError(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, reader := openWithOCR(t, func(o *instance.Options) { o.Now = clock.Now })
	broken := errors.New("no worker")
	reader.SetHandler(func(_ context.Context, c vaulttest.OCRCall) error {
		if strings.Contains(c.Body, "later") {
			return broken
		}
		return nil
	})
	files := vaulttest.UploadDocs(t, v, scan(2, "now"), scan(2, "later"))
	runProcessing(t, v)
	runOCR(t, v, reader, jobs.OCRSettings{}, "the other document", func() bool { return !vaulttest.File(t, v, files[0].ID).WaitsForOCR() })
	if f := vaulttest.File(t, v, files[1].ID); !f.WaitsForOCR() || f.PagesWaitingForOCR() != 2 {
		t.Errorf("OCR = %+v, want 2 waiting pages", f.OCR)
	}
	reader.SetHandler(nil)
	runOCR(t, v, reader, jobs.OCRSettings{}, "the end", allRead(t, v))
}

// readOrder returns the salts of the documents in the order in which they were read.
func readOrder(reader *vaulttest.FakeOCR) (order []string) {
	for _, c := range reader.Calls() {
		salt := strings.Fields(c.Body)[3]
		if !slices.Contains(order, salt) {
			order = append(order, salt)
		}
	}
	return order
}

func TestOrderOfOCR(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	files := vaulttest.UploadDocs(t, v, scan(2, "one"), scan(2, "two"), scan(2, "three"), scan(2, "four"))
	runProcessing(t, v)
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, files[2].ID, vault.Match{}))
	job := jobs.NewOCR(v.Previews, reader, jobs.OCRSettings{})
	for i, actor := range []model.Actor{vaulttest.Operator, {Kind: model.ActorKey, ID: 1}} {
		if _, err := v.Previews.Words(t.Context(), actor, files[i].ID, 1); err != nil && errs.KindOf(err) != errs.NotFound { // opens it
			t.Fatalf("Words: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { job.Run(ctx) })
	vaulttest.Eventually(t, "all documents", allRead(t, v))
	if got, want := strings.Join(readOrder(reader), " "), "one four two"; got != want {
		t.Errorf("order is %s, want %s", got, want)
	}
}

// A newer document is read before the rest of a long one.
func TestNewDocumentIsReadFirst(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	vaulttest.UploadDocs(t, v, scan(9, "long"))
	runProcessing(t, v)
	reached, proceed := make(chan struct{}), make(chan struct{})
	reader.SetHandler(func(ctx context.Context, c vaulttest.OCRCall) error {
		if c.Page == 4 && strings.Contains(c.Body, "long") {
			close(reached)
			<-proceed
		}
		return nil
	})
	go func() {
		<-reached
		vaulttest.UploadDocs(t, v, scan(2, "new"))
		runProcessing(t, v)
		close(proceed)
	}()
	runOCR(t, v, reader, jobs.OCRSettings{}, "the end", func() bool { return len(reader.Calls()) == 11 && allRead(t, v)() })
	var order []string
	for _, c := range reader.Calls() {
		order = append(order, fmt.Sprint(strings.Fields(c.Body)[3], c.Page))
	}
	if got, want := strings.Join(order, " "), "long1 long2 long3 long4 new1 new2 long5 long6 long7 long8 long9"; got != want {
		t.Errorf("order is %s, want %s", got, want)
	}
}

func TestNoOCROnFullDisk(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	vaulttest.UploadDocs(t, v, scan(2, "a"))
	runProcessing(t, v)
	reserve := v.MinFree
	v.MinFree = math.MaxUint64
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	jobs.NewOCR(v.Previews, reader, jobs.OCRSettings{}).Run(ctx)
	if n := len(reader.Calls()); n > 0 {
		t.Errorf("%d pages were read on a full disk, want none", n)
	}
	v.MinFree = reserve
	runOCR(t, v, reader, jobs.OCRSettings{}, "the end", allRead(t, v))
}

func TestOCROnlyDuringItsHours(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil) // the clock is at 04:00 UTC
	vaulttest.UploadDocs(t, v, scan(2, "a"))
	runProcessing(t, v)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	jobs.NewOCR(v.Previews, reader, jobs.OCRSettings{Hours: jobs.DailyPeriod{From: 18 * time.Hour, To: 4 * time.Hour}}).Run(ctx)
	if n := len(reader.Calls()); n > 0 {
		t.Errorf("%d pages were read after hours, want none", n)
	}
	runOCR(t, v, reader, jobs.OCRSettings{Hours: jobs.DailyPeriod{From: 18 * time.Hour, To: 5 * time.Hour}}, "the end", allRead(t, v))
}

func TestDailyPeriod(t *testing.T) {
	at := func(hour, minute int) time.Time { return time.Date(2026, 5, 29, hour, minute, 0, 0, time.UTC) }
	eastern := func() *time.Location { return time.FixedZone("", -5*3600) }
	night := jobs.DailyPeriod{From: 18 * time.Hour, To: 6 * time.Hour}
	day := jobs.DailyPeriod{From: 9 * time.Hour, To: 17*time.Hour + 30*time.Minute}
	for name, row := range map[string]struct {
		period jobs.DailyPeriod
		now    time.Time
		want   time.Duration
	}{
		"always":         {jobs.DailyPeriod{}, at(12, 0), 0},
		"night, evening": {night, at(18, 0), 0},
		"night, morning": {night, at(5, 59), 0},
		"night, at six":  {night, at(6, 0), 12 * time.Hour},
		"night, noon":    {night, at(12, 30), 5*time.Hour + 30*time.Minute},
		"day, before":    {day, at(8, 0), time.Hour},
		"day, begin":     {day, at(9, 0), 0},
		"day, end":       {day, at(17, 30), 15*time.Hour + 30*time.Minute},
		"zone":           {jobs.DailyPeriod{From: 9 * time.Hour, To: 17 * time.Hour, Zone: eastern}, at(9, 0), 5 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.period.Until(row.now); got != row.want {
				t.Errorf("Until = %v, want %v", got, row.want)
			}
		})
	}
}

// Marks and words of a scan are those that OCR has read.
func TestMarksAndWordsOfScan(t *testing.T) {
	t.Parallel()
	v, _ := openWithOCR(t, nil)
	v.Start(time.Hour)
	file := vaulttest.UploadDocs(t, v, scan(2, "a"))[0]
	vaulttest.WaitOCR(t, v, file.ID)
	page, err := v.Previews.Words(t.Context(), vaulttest.Operator, file.ID, 2)
	if err != nil || page.Text() != vaulttest.FakeOCRText(2) {
		t.Errorf("Words = %q, %v; want the page", page.Text(), err)
	}
	for _, row := range []struct {
		typed string
		words bool
		want  string
	}{
		{"sheet2", false, "[[{0.1 0.2 0.19 0.22}]]"},
		{"heet2 of", false, "[[{0.115 0.2 0.29 0.22}]]"}, // the last five of six letters and the next word
		{"deed sheet2", true, "[[{0.1 0.2 0.19 0.22}] [{0.5 0.2 0.59 0.22}]]"},
		{"nowhere", false, "[]"},
	} {
		found, err := v.Previews.Find(t.Context(), vaulttest.Operator, file.ID, row.typed, row.words, 2)
		vaulttest.NoError(t, err)
		marks, err := v.Previews.Marks(t.Context(), vaulttest.Operator, file.ID, 2, row.typed, row.words)
		if got := fmt.Sprint(marks); err != nil || got != row.want {
			t.Errorf("Marks(%q) = %s, %v; want %s", row.typed, got, err, row.want)
		}
		hits := 0
		for _, h := range found.Hits {
			if h.Page == 2 {
				hits++
			}
		}
		if hits != len(marks) {
			t.Errorf("%q: Find has %d hits on page 2, Marks has %d", row.typed, hits, len(marks))
		}
	}
	if _, err := v.Previews.Marks(t.Context(), vaulttest.Operator, file.ID, 3, "deed", false); errs.KindOf(err) != errs.NotFound {
		t.Errorf("Marks of page 3 = %v, want NotFound", err)
	}
}

// The queue of an older vault contains documents that need no OCR. They leave it without being
// added to the search index again.
func TestDocumentsThatNeedNoOCR(t *testing.T) {
	t.Parallel()
	fake := new(vaulttest.FakeReader) // every document has text
	v, reader := openWithOCR(t, vaulttest.WithFakeReader(fake))
	var docs []vaulttest.Doc
	for i := range 70 {
		body := append(vaulttest.PDF(3, fmt.Sprint(i)), bytes.Repeat([]byte("the grantor conveys "), 20)...)
		docs = append(docs, vaulttest.NewDoc("Deed.pdf", body))
	}
	files := vaulttest.UploadDocs(t, v, docs...)
	runProcessing(t, v)
	var before, after uint64
	vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		for _, f := range files {
			f, err := tx.File(f.ID)
			if err != nil || f.OCR == nil || f.OCR.Pages != 0 {
				return fmt.Errorf("file %d has OCR %+v, %w; want no pages", f.ID, f.OCR, err)
			}
			f.OCR = nil
			if err := tx.PutFile(f); err != nil {
				return err
			}
		}
		return nil
	}))
	change := func(at *uint64) {
		vaulttest.NoError(t, v.Store.View(t.Context(), func(tx *store.Tx) error { *at = tx.LastChange(); return nil }))
	}
	change(&before)
	runOCR(t, v, reader, jobs.OCRSettings{}, "an empty queue", allRead(t, v))
	change(&after)
	if n := len(reader.Calls()); n > 0 || before != after {
		t.Errorf("%d pages were read and %d changes added, want none", n, after-before)
	}
}

func TestOCRPausedUntil(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now = clock.Now })
	now := v.Now()
	at := now.Sub(now.Truncate(24 * time.Hour))
	later := jobs.OCRSettings{Hours: jobs.DailyPeriod{From: at + time.Hour, To: at + 2*time.Hour}}
	for name, row := range map[string]struct {
		reader   jobs.PageReader
		settings jobs.OCRSettings
		want     time.Time
	}{
		"later":  {&vaulttest.FakeOCR{}, later, now.Add(time.Hour)},
		"always": {&vaulttest.FakeOCR{}, jobs.OCRSettings{}, time.Time{}},
		"off":    {nil, later, time.Time{}},
	} {
		if got := jobs.NewOCR(v.Previews, row.reader, row.settings).PausedUntil(); got.Sub(row.want).Abs() > time.Second {
			t.Errorf("%s: PausedUntil() = %v, want %v", name, got, row.want)
		}
	}
}
