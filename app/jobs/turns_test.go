package jobs_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// A vault that is closed in the middle of work goes on where it was: nothing is
// lost, and nothing that was done is done again.
func TestCloseInTheMiddleOfWork(t *testing.T) {
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
	// Some are done, then every further one hangs until it is told to stop.
	f.SetHandler(func(ctx context.Context, _ vaulttest.ReaderCall) error {
		if f.Count(vaulttest.IsImageCall) < 20 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	v.Start(time.Hour)
	vaulttest.Eventually(t, "some work", func() bool { return f.Count(vaulttest.IsImageCall) >= 20 })
	vaulttest.Close(t, v)
	f.SetHandler(nil)

	v = vaulttest.Open(t, opts)
	left, kept := vaulttest.Status(t, v).Queue, map[string]int{}
	for _, file := range files {
		if processed(t, v, file.ID) {
			left++
		}
		text, _ := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", file.Digest, "text"))
		picture, _ := filepath.Glob(filepath.Join(opts.Dir, "previews", "*", file.Digest, "thumbnail"))
		kept["text"], kept["picture"] = kept["text"]+len(text), kept["picture"]+len(picture)
	}
	if left != 60 {
		t.Errorf("%d processed or waiting", left)
	}
	before := map[string]int{"text": f.Count(vaulttest.IsTextCall), "picture": f.Count(vaulttest.IsImageCall)}
	v.Start(time.Hour)
	vaulttest.WaitProcessed(t, v)
	for what, done := range map[string]int{"text": f.Count(vaulttest.IsTextCall), "picture": f.Count(vaulttest.IsImageCall)} {
		if done-before[what] != 60-kept[what] {
			t.Errorf("%s: %d kept, %d made afterwards", what, kept[what], done-before[what])
		}
	}
	for _, file := range files {
		if why := vaulttest.ProcessingFailure(t, v, file.ID); why != "" {
			t.Errorf("file %d: %s", file.ID, why)
		}
	}
}

// A task that waits for its next attempt keeps its place and its count over a restart.
func TestAttemptsSurviveAReopen(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	f.SetHandler(trouble)
	opts := vaulttest.Options(t)
	vaulttest.WithFakeReader(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("d.pdf", "a"))
	var task model.ProcessingTask
	vaulttest.Eventually(t, "an attempt", func() bool { task = only(t, v); return task.Attempts == 1 })
	vaulttest.Close(t, v)
	v = vaulttest.Open(t, opts)
	if got := only(t, v); got != task {
		t.Errorf("%+v, was %+v", got, task)
	}
}

func TestSlowDocumentsHoldUpNobody(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	release := make(chan struct{})
	f.SetHandler(func(ctx context.Context, a vaulttest.ReaderCall) error {
		if strings.Contains(a.Body, "slow") {
			select {
			case <-release:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	v, _ := vaulttest.StartWithFakeReader(t, f)
	slow := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "slow 1"), vaulttest.PDFDoc("2.pdf", "slow 2"), vaulttest.PDFDoc("3.pdf", "slow 3"))
	vaulttest.Eventually(t, "the slow ones", func() bool { return f.Count(vaulttest.IsTextCall) == 3 })
	for n := range 20 {
		if why := vaulttest.ProcessingFailure(t, v, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("d.pdf", fmt.Sprint(n)))[0].ID); why != "" {
			t.Error(why)
		}
	}
	for _, file := range slow {
		if processed(t, v, file.ID) {
			t.Error("a slow one is done")
		}
	}
	close(release)
	vaulttest.WaitProcessed(t, v)
}

// One owner's many documents cost another's one the time of a few.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	f := &vaulttest.FakeReader{}
	var order []string
	var mu sync.Mutex
	f.SetHandler(func(_ context.Context, a vaulttest.ReaderCall) error {
		mu.Lock()
		defer mu.Unlock()
		if a.Kind == "text" {
			order = append(order, a.Owner)
		}
		return nil
	})
	v, _ := vaulttest.OpenVerified(t, vaulttest.WithFakeReader(f))
	var docs []vaulttest.Doc
	for n := range 100 {
		docs = append(docs, vaulttest.PDFDoc("d.pdf", fmt.Sprint(n)))
	}
	vaulttest.UploadDocs(t, v, docs...)
	other := model.Actor{Kind: "operator", ID: 8, Name: "other"}
	if _, err := v.Files.Upload(t.Context(), other, model.UploadDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("o.pdf", "other")), vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatalf("upload: %v", err)
	}
	v.Start(time.Hour)
	vaulttest.WaitProcessed(t, v)
	at := -1
	for n, owner := range order {
		if owner == other.Record() {
			at = n
		}
	}
	// It is handed out with the first; a busy machine may run those in hand, and a few
	// that follow them, before it.
	if at < 0 || at > 24 {
		t.Errorf("the other owner's document was the %d. of %d", at, len(order))
	}
}

// A vault that has gone read-only does not try the same task again and again.
func TestReadOnlyRests(t *testing.T) {
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
	f.SetHandler(func(_ context.Context, a vaulttest.ReaderCall) error {
		if a.Kind == "text" {
			entered <- struct{}{}
			<-fail
		}
		return errTrouble
	})
	v.Start(time.Hour)
	<-entered
	v.Store.Fail(errTrouble)
	close(fail)
	select {
	case <-entered:
		t.Error("tried again at once")
	case <-time.After(50 * time.Millisecond): // nothing tells that nothing happens
	}
	f.SetHandler(nil)
}

func body(t *testing.T, f *blobstore.PreviewFile, err error) string {
	t.Helper()
	if err != nil {
		t.Error(err)
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	b := make([]byte, f.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(b)
}
