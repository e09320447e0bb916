package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

func TestProcessingKeepsTextAndThumbnail(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.StartWithFakeReader(t, f)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	if why := vaulttest.ProcessingFailure(t, v, file.ID); why != "" {
		t.Errorf("failed: %s", why)
	}
	if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != vaulttest.FakeText(vaulttest.PDF(1, "a")) {
		t.Errorf("text %q, %v", got, err)
	}
	picture, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, file.ID)
	if got := body(t, picture, err); !strings.HasPrefix(got, "page 1 at 400 of %PDF") {
		t.Errorf("thumbnail %q", got)
	}
	// All that was asked was asked in the background, for the one who uploaded.
	if n := f.Count(func(a vaulttest.ReaderCall) bool {
		return a.Class == sandbox.Background && a.Owner == vaulttest.Operator.Record()
	}); n != 2 || len(f.Calls) != 2 {
		t.Errorf("asked %+v", f.Calls)
	}
	// The same bytes again cost nothing.
	again := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Copy.pdf", "a"))[0]
	if why := vaulttest.ProcessingFailure(t, v, again.ID); why != "" || len(f.Calls) != 2 {
		t.Errorf("the second: %q, asked %d times", why, len(f.Calls))
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		text, picture error
		want          string
	}{
		{"no text of a picture", document.ErrUnsupported, nil, ""},
		{"no picture of a text", nil, document.ErrUnsupported, ""},
		{"neither", document.ErrUnsupported, document.ErrUnsupported, ""},
		{"too large", nil, document.ErrTooLarge, "No picture: the document is beyond the limits."},
		{"damaged", document.ErrDamaged, nil, "No text: the document is damaged."},
		{"no page", nil, document.ErrNoPage, "No picture: the document has no such page."},
		{"late", sandbox.ErrDeadline, nil, "No text: the document takes too long."},
		{"swollen", nil, sandbox.ErrMemory, "No picture: the document takes too much memory."},
		{"both", document.ErrDamaged, sandbox.ErrMemory, "No text: the document is damaged. No picture: the document takes too much memory."},
		{"one of each", document.ErrUnsupported, sandbox.ErrDeadline, "No picture: the document takes too long."},
	}
	f := &vaulttest.FakeReader{}
	f.SetHandler(func(_ context.Context, a vaulttest.ReaderCall) error {
		for _, tt := range tests {
			switch {
			case !strings.Contains(a.Body, tt.name):
			case a.Kind == "text" && tt.text != nil:
				return fmt.Errorf("deep down: %w", tt.text)
			case a.Kind == "picture" && tt.picture != nil:
				return fmt.Errorf("deep down: %w", tt.picture)
			}
		}
		return nil
	})
	v, _ := vaulttest.StartWithFakeReader(t, f)
	failed := uint64(0)
	for _, tt := range tests {
		file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(tt.name+".pdf", tt.name+" "))[0]
		if got := vaulttest.ProcessingFailure(t, v, file.ID); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if tt.want != "" {
			failed++
		}
		_, err := vaulttest.PageTexts(t, v, file.ID)
		if tt.text == nil && err != nil {
			t.Errorf("%s: its text: %v", tt.name, err)
		} else if tt.text != nil {
			vaulttest.WantKind(t, tt.name+": its text", err, errs.NotFound)
		}
		picture, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, file.ID)
		if tt.picture == nil {
			body(t, picture, err)
		} else {
			vaulttest.WantKind(t, tt.name+": its picture", err, errs.NotFound)
		}
	}
	vaulttest.WaitProcessed(t, v)
	list, err := v.Processing.Failed(t.Context(), 1, 1000)
	if got := vaulttest.Status(t, v).Failed; got != failed || uint64(len(list)) != failed || err != nil {
		t.Errorf("%d and %d counted as failed, want %d, %v", got, len(list), failed, err)
	}
}

var errTrouble = errors.New("trouble of ours")

func trouble(context.Context, vaulttest.ReaderCall) error { return errTrouble }

func TestTroubleIsTriedAgain(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(trouble)
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Now = clock.Now })
	v.Start(time.Hour)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	begun := clock.Now()
	ofIt := func(a vaulttest.ReaderCall) bool {
		return vaulttest.IsTextCall(a) && !strings.Contains(a.Body, "other")
	}
	due := time.Duration(0)
	for attempt := 1; attempt < 5; attempt++ {
		var task model.ProcessingTask
		vaulttest.Eventually(t, fmt.Sprintf("attempt %d", attempt), func() bool { task = only(t, v); return task.Attempts == attempt })
		due += 10 * time.Second << (attempt - 1)
		if task.DueAt.Sub(begun) != due || processed(t, v, file.ID) || f.Count(ofIt) != attempt {
			t.Fatalf("after attempt %d: due after %v, want %v; asked %d times", attempt, task.DueAt.Sub(begun), due, f.Count(ofIt))
		}
		// A moment too early nothing happens: another file overtakes it.
		clock.Advance(task.DueAt.Sub(clock.Now()) - time.Millisecond)
		f.SetHandler(func(_ context.Context, a vaulttest.ReaderCall) error {
			if strings.Contains(a.Body, "other") {
				return nil
			}
			return errTrouble
		})
		if why := vaulttest.ProcessingFailure(t, v, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Other.pdf", fmt.Sprint("other ", attempt)))[0].ID); why != "" {
			t.Errorf("the other: %s", why)
		}
		if got := only(t, v); got != task {
			t.Fatalf("before it was due: %+v, was %+v", got, task)
		}
		clock.Advance(time.Millisecond)
		v.Queued.Notify()
	}
	const sentence = "It could not be opened here; it can be tried again."
	if got := vaulttest.ProcessingFailure(t, v, file.ID); got != sentence {
		t.Errorf("failed with %q", got)
	}
	if n := f.Count(ofIt); n != 5 {
		t.Errorf("%d attempts", n)
	}
	if s := vaulttest.Status(t, v); s.Failed != 1 || s.Queue != 0 {
		t.Errorf("%+v", s)
	}
	// On request it begins anew, with as many attempts.
	f.SetHandler(nil)
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, file.ID); n != 1 || err != nil {
		t.Errorf("retried %d, %v", n, err)
	}
	if got := vaulttest.ProcessingFailure(t, v, file.ID); got != "" || vaulttest.Status(t, v).Failed != 0 {
		t.Errorf("after a retry: %q", got)
	}
}

// only is the one task of the queue; a zero one when there is none.
func only(t *testing.T, v *instance.Instance) (task model.ProcessingTask) {
	t.Helper()
	err := v.Store.View(t.Context(), func(tx *store.Tx) error {
		list, err := tx.Tasks(2)
		if len(list) == 1 {
			task = list[0]
		}
		return err
	})
	if err != nil {
		t.Fatalf("Tasks: %v", err)
	}
	return task
}

func TestRetry(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.StartWithFakeReader(t, f)
	good := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Good.pdf", "good"))[0]
	vaulttest.WaitProcessed(t, v)
	f.SetHandler(vaulttest.DamagedDocument)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.WaitProcessed(t, v)
	one := func(id uint64) error {
		n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, id)
		_ = n
		return err
	}
	vaulttest.WantKind(t, "one that did not fail", one(good.ID), errs.Conflict)
	vaulttest.WantKind(t, "none", one(99), errs.NotFound)
	if got := vaulttest.Status(t, v); got.Failed != 3 || got.Queue != 0 {
		t.Fatalf("%+v", got)
	}
	f.SetHandler(nil)
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, files[1].ID); n != 1 || err != nil {
		t.Errorf("one: %d, %v", n, err)
	}
	vaulttest.WaitProcessed(t, v)
	if got := vaulttest.Status(t, v).Failed; got != 2 || vaulttest.ProcessingFailure(t, v, files[1].ID) != "" {
		t.Errorf("%d failed", got)
	}
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != 2 || err != nil {
		t.Errorf("all: %d, %v", n, err)
	}
	vaulttest.WaitProcessed(t, v)
	if got := vaulttest.Status(t, v).Failed; got != 0 {
		t.Errorf("%d failed", got)
	}
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != 0 || err != nil {
		t.Errorf("none left: %d, %v", n, err)
	}
}

// One change of a shared commit that fails lets its neighbors run again: a retry
// must not go to another file then, nor leave one out.
func TestRetryInACommitThatIsRunAgain(t *testing.T) {
	t.Parallel()
	for range 3 {
		f := &vaulttest.FakeReader{}
		f.SetHandler(vaulttest.DamagedDocument)
		v, _ := vaulttest.StartWithFakeReader(t, f)
		files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
		vaulttest.WaitProcessed(t, v)
		f.SetHandler(nil)
		broken := func(*store.Tx) error { return errTrouble }
		entered, release := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { // holds the writer, so that the next ones share a commit
			err := v.Store.Update(context.Background(), func(*store.Tx) error { close(entered); <-release; return nil }, nil)
			if err != nil {
				t.Errorf("update store: %v", err)
			}
		})
		<-entered
		all.Go(func() {
			if n, err := v.Processing.Retry(context.Background(), vaulttest.Operator, files[0].ID); n != 1 || err != nil {
				t.Errorf("retried %d, %v", n, err)
			}
		})
		// Nothing tells that one has queued up; were the pauses too short, the test
		// would only see less.
		time.Sleep(10 * time.Millisecond)
		all.Go(func() {
			if err := v.Store.Update(context.Background(), nil, broken); !errors.Is(err, errTrouble) {
				t.Error(err)
			}
		})
		time.Sleep(10 * time.Millisecond)
		close(release)
		all.Wait()
		vaulttest.WaitProcessed(t, v)
		if vaulttest.ProcessingFailure(t, v, files[0].ID) != "" || vaulttest.Status(t, v).Failed != 2 {
			t.Fatalf("%d failed", vaulttest.Status(t, v).Failed)
		}
	}
}

func TestRetryOfManyCommits(t *testing.T) {
	t.Parallel()
	const many = 300 // more than one commit takes
	f := &vaulttest.FakeReader{}
	f.SetHandler(vaulttest.DamagedDocument)
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Settings.FilesPerRequest = many })
	v.Start(time.Hour)
	var docs []vaulttest.Doc
	for n := range many {
		docs = append(docs, vaulttest.PDFDoc("d.pdf", fmt.Sprint(n)))
	}
	vaulttest.UploadDocs(t, v, docs...)
	vaulttest.WaitProcessed(t, v)
	f.SetHandler(nil)
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != many || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	vaulttest.WaitProcessed(t, v)
	if got := vaulttest.Status(t, v).Failed; got != 0 {
		t.Errorf("%d failed", got)
	}
}

// A failed file whose record is damaged hides no other.
func TestFailedPassesDamageBy(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(vaulttest.DamagedDocument)
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	vaulttest.WaitProcessed(t, v)
	vaulttest.Close(t, v)
	vaulttest.ReplaceInDatabase(t, opts.Dir, `"filename":"1.pdf"`, `"filename":"7.pdf"`)
	if v, err = instance.Open(t.Context(), opts); err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(t, v)
	if list, err := v.Processing.Failed(t.Context(), 1, 10); err != nil || len(list) != 1 || list[0].ID != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
