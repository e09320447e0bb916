package jobs_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// If an instance is closed during processing, it resumes after the next start without
// losing or repeating any work.
func TestProcessingContinuesAfterClose(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	var docs []vaulttest.Doc
	for n := range 60 {
		docs = append(docs, vaulttest.PDFDoc("d.pdf", fmt.Sprintf("document %d;", n)))
	}
	files := vaulttest.UploadDocs(t, v, docs...)
	// Some calls succeed. The others block until they are canceled.
	f.SetHandler(func(ctx context.Context, _ vaulttest.ReaderCall) error {
		if f.Count(vaulttest.IsImageCall) < 20 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	v.Start(time.Hour)
	vaulttest.Eventually(t, "some processed documents", func() bool { return f.Count(vaulttest.IsImageCall) >= 20 })
	vaulttest.Close(t, v)
	f.SetHandler(nil)

	v = vaulttest.Open(t, opts)
	total, stored := vaulttest.Status(t, v).Queue, map[string]int{}
	for _, file := range files {
		if isProcessed(t, v, file.ID) {
			total++
		}
		texts, _ := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", file.Digest, "text"))
		thumbnails, _ := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", file.Digest, "thumbnail"))
		stored["text"], stored["image"] = stored["text"]+len(texts), stored["image"]+len(thumbnails)
	}
	if total != 60 {
		t.Errorf("processed and queued documents = %d, want 60", total)
	}
	before := map[string]int{"text": f.Count(vaulttest.IsTextCall), "image": f.Count(vaulttest.IsImageCall)}
	v.Start(time.Hour)
	vaulttest.WaitProcessed(t, v)
	for kind, calls := range map[string]int{"text": f.Count(vaulttest.IsTextCall), "image": f.Count(vaulttest.IsImageCall)} {
		if got, want := calls-before[kind], 60-stored[kind]; got != want {
			t.Errorf("calls after the restart of kind %s = %d, want %d", kind, got, want)
		}
	}
	for _, file := range files {
		if failure := vaulttest.ProcessingFailure(t, v, file.ID); failure != "" {
			t.Errorf("processing of file %d failed: %s", file.ID, failure)
		}
	}
}

// If a task is waiting for its next attempt, its due time and number of attempts survive a
// restart.
func TestAttemptsSurviveRestart(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(failRead)
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("d.pdf", "a"))
	var task model.ProcessingTask
	vaulttest.Eventually(t, "an attempt", func() bool { task = singleTask(t, v); return task.Attempts == 1 })
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if got := singleTask(t, v); got != task {
		t.Errorf("task after the restart = %+v, want %+v", got, task)
	}
}

func TestSlowDocumentsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	release := make(chan struct{})
	f.SetHandler(func(ctx context.Context, c vaulttest.ReaderCall) error {
		if strings.Contains(c.Body, "slow") {
			select {
			case <-release:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	v, _ := vaulttest.StartWithFakeReader(t, f)
	slow := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "slow 1"), vaulttest.PDFDoc("2.pdf", "slow 2"),
		vaulttest.PDFDoc("3.pdf", "slow 3"))
	vaulttest.Eventually(t, "calls for the slow documents", func() bool { return f.Count(vaulttest.IsTextCall) == 3 })
	for n := range 20 {
		file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("d.pdf", fmt.Sprint(n)))[0]
		if failure := vaulttest.ProcessingFailure(t, v, file.ID); failure != "" {
			t.Errorf("processing of file %d failed: %s", file.ID, failure)
		}
	}
	for _, file := range slow {
		if isProcessed(t, v, file.ID) {
			t.Errorf("slow file %d is already processed", file.ID)
		}
	}
	close(release)
	vaulttest.WaitProcessed(t, v)
}

// The documents of an owner who has uploaded many don't hold back the document of another owner: it is processed while
// those that were started before it still run.
func TestQueueIsFairToOwners(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	other := model.Actor{Kind: "operator", ID: 8, Name: "other"}
	var before atomic.Int64 // documents that were started before the other owner's
	seen := make(chan struct{})
	f.SetHandler(func(ctx context.Context, c vaulttest.ReaderCall) error {
		switch {
		case c.Kind != "text":
		case c.Owner == other.Record():
			close(seen)
		default:
			select {
			case <-seen:
				return nil // it may start as soon as one of those before has ended
			default:
			}
			before.Add(1)
			select {
			case <-seen:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	})
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	var docs []vaulttest.Doc
	for n := range 100 {
		docs = append(docs, vaulttest.PDFDoc("d.pdf", fmt.Sprint(n)))
	}
	vaulttest.UploadDocs(t, v, docs...)
	if _, err := v.Files.Upload(t.Context(), other, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("o.pdf", "other")),
		vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatalf("upload: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.Eventually(t, "the other owner's document", func() bool {
		return f.Count(func(c vaulttest.ReaderCall) bool {
			return c.Owner == other.Record()
		}) > 0
	})
	if n := before.Load(); n > 8 { // maxRunningPerOwner
		t.Errorf("%d of %d documents were started before the other owner's, want at most 8", n, len(docs))
	}
	vaulttest.WaitProcessed(t, v)
}

// If the store has become read-only, a failed task isn't retried immediately.
func TestReadOnlyStorePausesProcessing(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(t, v)
	entered, fail := make(chan struct{}), make(chan struct{})
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	f.SetHandler(func(_ context.Context, c vaulttest.ReaderCall) error {
		if c.Kind == "text" {
			entered <- struct{}{}
			<-fail
		}
		return errReader
	})
	v.Start(time.Hour)
	<-entered
	v.Store.Fail(errReader)
	close(fail)
	select {
	case <-entered:
		t.Error("the task was retried immediately")
	case <-time.After(50 * time.Millisecond): // there is no event to wait for if no retry happens
	}
	f.SetHandler(nil)
}
