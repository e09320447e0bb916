package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	v, _ := vaulttest.StartWithFakeReader(t, f)
	processed := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Good.pdf", "good"))[0]
	vaulttest.WaitProcessed(t, v)
	f.SetHandler(vaulttest.DamagedDocument)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.WaitProcessed(t, v)
	_, err := v.Processing.Retry(t.Context(), vaulttest.Operator, processed.ID)
	vaulttest.WantKind(t, "file that did not fail", err, errs.Conflict)
	_, err = v.Processing.Retry(t.Context(), vaulttest.Operator, 99)
	vaulttest.WantKind(t, "unknown file", err, errs.NotFound)
	if got := vaulttest.Status(t, v); got.Failed != 3 || got.Queue != 0 {
		t.Fatalf("Status() = %+v, want 3 failed and an empty queue", got)
	}
	f.SetHandler(nil)
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, files[1].ID); n != 1 || err != nil {
		t.Errorf("Retry(%d) = %d, %v; want 1", files[1].ID, n, err)
	}
	vaulttest.WaitProcessed(t, v)
	if got := vaulttest.Status(t, v).Failed; got != 2 || vaulttest.ProcessingFailure(t, v, files[1].ID) != "" {
		t.Errorf("Status().Failed = %d, want 2", got)
	}
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != 2 || err != nil {
		t.Errorf("Retry(0) = %d, %v; want 2", n, err)
	}
	vaulttest.WaitProcessed(t, v)
	if got := vaulttest.Status(t, v).Failed; got != 0 {
		t.Errorf("Status().Failed = %d, want 0", got)
	}
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != 0 || err != nil {
		t.Errorf("Retry(0) without failures = %d, %v; want 0", n, err)
	}
}

// If one update in a group commit fails, the others run a second time. Retry must not count
// files twice or skip any.
func TestRetryInGroupCommit(t *testing.T) {
	t.Parallel()
	for range 3 {
		f := &vaulttest.FakeReader{}
		f.SetHandler(vaulttest.DamagedDocument)
		v, _ := vaulttest.StartWithFakeReader(t, f)
		files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
		vaulttest.WaitProcessed(t, v)
		f.SetHandler(nil)
		failing := func(*store.Tx) error { return errReader }
		entered, release := make(chan struct{}), make(chan struct{})
		var updates sync.WaitGroup
		updates.Go(func() { // blocks the writer so that the next updates share a commit
			err := v.Store.Update(context.Background(), func(*store.Tx) error { close(entered); <-release; return nil }, nil)
			if err != nil {
				t.Errorf("update store: %v", err)
			}
		})
		<-entered
		updates.Go(func() {
			if n, err := v.Processing.Retry(context.Background(), vaulttest.Operator, files[0].ID); n != 1 || err != nil {
				t.Errorf("Retry() = %d, %v; want 1", n, err)
			}
		})
		// The test can't detect when an update is queued. If these delays are too short, it
		// tests less but doesn't fail.
		time.Sleep(10 * time.Millisecond)
		updates.Go(func() {
			if err := v.Store.Update(context.Background(), nil, failing); !errors.Is(err, errReader) {
				t.Errorf("failing update: got %v, want %v", err, errReader)
			}
		})
		time.Sleep(10 * time.Millisecond)
		close(release)
		updates.Wait()
		vaulttest.WaitProcessed(t, v)
		if vaulttest.ProcessingFailure(t, v, files[0].ID) != "" || vaulttest.Status(t, v).Failed != 2 {
			t.Fatalf("Status().Failed = %d, want 2", vaulttest.Status(t, v).Failed)
		}
	}
}

func TestRetryOfManyCommits(t *testing.T) {
	t.Parallel()
	const count = 300 // more files than one commit changes
	f := &vaulttest.FakeReader{}
	f.SetHandler(vaulttest.DamagedDocument)
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { vaulttest.WithFakeReader(f)(o); o.Settings.FilesPerRequest = count })
	v.Start(time.Hour)
	var docs []vaulttest.Doc
	for n := range count {
		docs = append(docs, vaulttest.PDFDoc("d.pdf", fmt.Sprint(n)))
	}
	vaulttest.UploadDocs(t, v, docs...)
	vaulttest.WaitProcessed(t, v)
	f.SetHandler(nil)
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != count || err != nil {
		t.Errorf("Retry(0) = %d, %v; want %d", n, err, count)
	}
	vaulttest.WaitProcessed(t, v)
	if got := vaulttest.Status(t, v).Failed; got != 0 {
		t.Errorf("Status().Failed = %d, want 0", got)
	}
}

// Failed and Retry skip damaged file records.
func TestFailedSkipsDamagedRecords(t *testing.T) {
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
		t.Errorf("Failed() = %+v, %v; want file 2", list, err)
	}
	if n, err := v.Processing.Retry(t.Context(), vaulttest.Operator, 0); n != 1 || err != nil {
		t.Errorf("Retry(0) = %d, %v; want 1", n, err)
	}
}
