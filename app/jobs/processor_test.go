package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// isProcessed reports whether the processing of a file has ended.
func isProcessed(t *testing.T, v *instance.Instance, id uint64) bool {
	t.Helper()
	f, err := v.Files.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("get file: %v", err)
	}
	return !f.Processing
}

func TestProcessingEmptiesQueue(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var files []model.File
	for n := range 5 { // uploads don't need the processor, which isn't running yet
		files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", fmt.Sprint(n)))...)
	}
	if q := vaulttest.Status(t, v).Queue; q != 5 {
		t.Errorf("queue = %d, want 5", q)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Later.pdf", "later"))...)
	vaulttest.Eventually(t, "an empty queue again", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	for _, f := range files {
		if !isProcessed(t, v, f.ID) {
			t.Errorf("file %d is still processing", f.ID)
		}
	}
}

// The processor continues with the next batch of tasks without waiting for another
// notification.
func TestProcessingOfManyBatches(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.FilesPerRequest = 1000 })
	var docs []vaulttest.Doc
	for n := range 300 {
		docs = append(docs, vaulttest.NewDoc(fmt.Sprintf("%d.txt", n), fmt.Appendf(nil, "%d", n%7)))
	}
	vaulttest.UploadDocs(t, v, docs...)
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
}

func TestTasksSurviveRestart(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if isProcessed(t, v, f.ID) || vaulttest.Status(t, v).Queue != 1 {
		t.Errorf("after reopening: processed %v, queue %d; want false, 1", isProcessed(t, v, f.ID), vaulttest.Status(t, v).Queue)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
	if !isProcessed(t, v, f.ID) {
		t.Errorf("file %d is still processing", f.ID)
	}
}

// Damaged records don't block other tasks. A damaged task remains in the queue so that a
// verification can report it. The task of a file with a damaged record is removed.
func TestProcessingSkipsDamagedRecords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		old, changed string
		queue        uint64
	}{
		{"task", `{"seq":1,"file_id":1,`, `{"seq":1,"file_id":9,`, 1},
		{"file", `"filename":"1.pdf"`, `"filename":"7.pdf"`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatalf("open instance: %v", err)
			}
			files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
			vaulttest.Close(t, v)
			vaulttest.ReplaceInDatabase(t, opts.Dir, tt.old, tt.changed)
			if v, err = instance.Open(t.Context(), opts); err != nil {
				t.Fatalf("open instance: %v", err)
			}
			defer vaulttest.Close(t, v)
			v.Start(time.Hour)
			vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == tt.queue })
			for _, f := range files[1:] {
				if !isProcessed(t, v, f.ID) {
					t.Errorf("file %d is still processing", f.ID)
				}
			}
			report, err := v.Integrity.Verify(t.Context(), func(int, int) {})
			if err != nil || report.OK() || report.Findings[0].Kind != tt.name || report.Findings[0].Subject != "1" {
				t.Errorf("Verify() = %+v, %v; want a finding about %s 1", report, err, tt.name)
			}
		})
	}
}

// If a file is deleted, its task is removed.
func TestProcessingOfDeletedFile(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.AddTask(model.ProcessingTask{FileID: 99}) })
	if err != nil {
		t.Fatalf("update store: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "an empty queue", func() bool { return vaulttest.Status(t, v).Queue == 0 })
}

// blockingReader blocks on every document of one owner until the context is canceled.
type blockingReader struct {
	vaulttest.Reader
	owner string
}

func (b blockingReader) Text(ctx context.Context, r sandbox.Request, lim document.ExtractLimits, emit func(int, string) error) error {
	if r.Owner == b.owner {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.Reader.Text(ctx, r, lim, emit)
}

// One owner's slow documents don't delay those of others, even if there are more slow
// documents than the processor reads at a time.
func TestSlowOwnerDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Reader = blockingReader{owner: "key:7"} })
	slow := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("slow.txt", []byte("slow")))[0]
	err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) (err error) {
		for range 5000 {
			err = errors.Join(err, tx.AddTask(model.ProcessingTask{FileID: slow.ID, Owner: "key:7"}))
		}
		return err
	})
	if err != nil {
		t.Fatalf("AddTask: %v", err)
	}
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("quick.txt", []byte("quick")))[0]
	v.Start(time.Hour)
	vaulttest.Eventually(t, "the processing of the quick document", func() bool { return isProcessed(t, v, file.ID) })
	later := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("later.txt", []byte("later")))[0]
	vaulttest.Eventually(t, "the processing of a later document", func() bool { return isProcessed(t, v, later.ID) })
}

func TestProcessingStoresTextAndThumbnail(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.StartWithFakeReader(t, f)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	if failure := vaulttest.ProcessingFailure(t, v, file.ID); failure != "" {
		t.Errorf("processing failed: %s", failure)
	}
	if got, err := vaulttest.PageTexts(t, v, file.ID); err != nil || got != vaulttest.FakeText(vaulttest.PDF(1, "a")) {
		t.Errorf("text = %q, %v; want that of the document", got, err)
	}
	image, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, file.ID)
	if got := readAll(t, image, err); !strings.HasPrefix(got, "page 1 at 144 of %PDF") {
		t.Errorf("thumbnail = %q, want page 1 at 144", got)
	}
	// All calls are of class Background and have the uploader as their owner.
	if n := f.Count(func(c vaulttest.ReaderCall) bool {
		return c.Class == sandbox.Background && c.Owner == vaulttest.Operator.Record()
	}); n != 2 || len(f.Calls) != 2 {
		t.Errorf("calls = %+v, want 2 of class Background by the operator", f.Calls)
	}
	// If the same content is uploaded again, no further calls are needed.
	duplicate := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Copy.pdf", "a"))[0]
	if failure := vaulttest.ProcessingFailure(t, v, duplicate.ID); failure != "" || len(f.Calls) != 2 {
		t.Errorf("second upload: failure %q, %d calls; want none, 2", failure, len(f.Calls))
	}
}

func TestProcessingFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		text, image error
		want        string
	}{
		{"text unsupported", document.ErrUnsupported, nil, ""},
		{"image unsupported", nil, document.ErrUnsupported, ""},
		{"nothing supported", document.ErrUnsupported, document.ErrUnsupported, ""},
		{"too large", nil, document.ErrTooLarge, "No picture: the document is beyond the limits."},
		{"damaged", document.ErrDamaged, nil, "No text: the document is damaged."},
		{"no page", nil, document.ErrNoPage, "No picture: the document has no such page."},
		{"deadline exceeded", sandbox.ErrDeadline, nil, "No text: the document takes too long."},
		{"memory exceeded", nil, sandbox.ErrMemory, "No picture: the document takes too much memory."},
		{"both fail", document.ErrDamaged, sandbox.ErrMemory,
			"No text: the document is damaged. No picture: the document takes too much memory."},
		{"mixed", document.ErrUnsupported, sandbox.ErrDeadline, "No picture: the document takes too long."},
	}
	f := &vaulttest.FakeReader{}
	f.SetHandler(func(_ context.Context, c vaulttest.ReaderCall) error {
		for _, tt := range tests {
			switch {
			case !strings.Contains(c.Body, tt.name):
			case c.Kind == "text" && tt.text != nil:
				return fmt.Errorf("wrapped: %w", tt.text)
			case c.Kind == "image" && tt.image != nil:
				return fmt.Errorf("wrapped: %w", tt.image)
			}
		}
		return nil
	})
	v, _ := vaulttest.StartWithFakeReader(t, f)
	failed := uint64(0)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(tt.name+".pdf", tt.name+" "))[0]
			if got := vaulttest.ProcessingFailure(t, v, file.ID); got != tt.want {
				t.Errorf("failure = %q, want %q", got, tt.want)
			}
			if tt.want != "" {
				failed++
			}
			_, err := vaulttest.PageTexts(t, v, file.ID)
			if tt.text == nil && err != nil {
				t.Errorf("text: %v", err)
			} else if tt.text != nil {
				vaulttest.WantKind(t, "text", err, errs.NotFound)
			}
			image, err := v.Previews.Thumbnail(t.Context(), vaulttest.Operator, file.ID)
			if tt.image == nil {
				readAll(t, image, err)
			} else {
				vaulttest.WantKind(t, "image", err, errs.NotFound)
			}
		})
	}
	vaulttest.WaitProcessed(t, v)
	list, err := v.Processing.Failed(t.Context(), 1, 1000)
	if got := vaulttest.Status(t, v).Failed; got != failed || uint64(len(list)) != failed || err != nil {
		t.Errorf("Status().Failed = %d, len(Failed()) = %d, %v; want %d", got, len(list), err, failed)
	}
}

var errReader = errors.New("reader failed")

// failRead is a handler for a fake reader. It makes every call fail.
func failRead(context.Context, vaulttest.ReaderCall) error { return errReader }

// A failed task is retried with exponential backoff, for a total of five attempts.
func TestFailedTaskIsRetried(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(failRead)
	clock := vaulttest.NewClock()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Now = clock.Now })
	v.Start(time.Hour)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	start := clock.Now()
	isCallForFile := func(c vaulttest.ReaderCall) bool {
		return vaulttest.IsTextCall(c) && !strings.Contains(c.Body, "other")
	}
	due := time.Duration(0)
	for attempt := 1; attempt < 5; attempt++ {
		var task model.ProcessingTask
		vaulttest.Eventually(t, fmt.Sprintf("attempt %d", attempt), func() bool { task = singleTask(t, v); return task.Attempts == attempt })
		due += 10 * time.Second << (attempt - 1)
		if task.DueAt.Sub(start) != due || isProcessed(t, v, file.ID) || f.Count(isCallForFile) != attempt {
			t.Fatalf("after attempt %d: due after %v, want %v; %d calls", attempt, task.DueAt.Sub(start), due, f.Count(isCallForFile))
		}
		// Process another file just before the task is due. This must not start the task
		// early.
		clock.Advance(task.DueAt.Sub(clock.Now()) - time.Millisecond)
		f.SetHandler(func(_ context.Context, c vaulttest.ReaderCall) error {
			if strings.Contains(c.Body, "other") {
				return nil
			}
			return errReader
		})
		other := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Other.pdf", fmt.Sprint("other ", attempt)))[0]
		if failure := vaulttest.ProcessingFailure(t, v, other.ID); failure != "" {
			t.Errorf("processing of the other file failed: %s", failure)
		}
		if got := singleTask(t, v); got != task {
			t.Fatalf("task before it is due = %+v, want %+v", got, task)
		}
		clock.Advance(time.Millisecond)
		v.Queued.Notify()
	}
	const sentence = "It could not be opened here; it can be tried again."
	if got := vaulttest.ProcessingFailure(t, v, file.ID); got != sentence {
		t.Errorf("failure = %q, want %q", got, sentence)
	}
	if n := f.Count(isCallForFile); n != 5 {
		t.Errorf("attempts = %d, want 5", n)
	}
	if s := vaulttest.Status(t, v); s.Failed != 1 || s.Queue != 0 {
		t.Errorf("Status() = %+v, want 1 failed and an empty queue", s)
	}
	// After a manual retry, the attempts are counted from the start.
	f.SetHandler(nil)
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, file.ID); n != 1 || err != nil {
		t.Errorf("Retry() = %d, %v; want 1", n, err)
	}
	if got := vaulttest.ProcessingFailure(t, v, file.ID); got != "" || vaulttest.Status(t, v).Failed != 0 {
		t.Errorf("after a retry: failure %q, %d failed; want none", got, vaulttest.Status(t, v).Failed)
	}
}

// singleTask returns the task in the queue. It fails the test unless there is exactly one.
func singleTask(t *testing.T, v *instance.Instance) (task model.ProcessingTask) {
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
