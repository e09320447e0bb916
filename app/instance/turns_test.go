package instance_test

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
	f := &fakeReader{}
	opts := vaulttest.Options(t)
	faked(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var docs []doc
	for n := range 60 {
		docs = append(docs, pdf("d.pdf", fmt.Sprintf("document %d;", n)))
	}
	files := uploadDocs(t, v, docs...)
	// Some are done, then every further one hangs until it is told to stop.
	f.replies(func(ctx context.Context, _ ask) error {
		if f.count(pictures) < 20 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	v.Start(time.Hour)
	eventually(t, "some work", func() bool { return f.count(pictures) >= 20 })
	closed(t, v)
	f.replies(nil)

	v = vaulttest.Open(t, opts)
	left, kept := status(t, v).Queue, map[string]int{}
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
	before := map[string]int{"text": f.count(texts), "picture": f.count(pictures)}
	v.Start(time.Hour)
	idle(t, v)
	for what, done := range map[string]int{"text": f.count(texts), "picture": f.count(pictures)} {
		if done-before[what] != 60-kept[what] {
			t.Errorf("%s: %d kept, %d made afterwards", what, kept[what], done-before[what])
		}
	}
	for _, file := range files {
		if why := failure(t, v, file.ID); why != "" {
			t.Errorf("file %d: %s", file.ID, why)
		}
	}
}

// A task that waits for its next attempt keeps its place and its count over a restart.
func TestAttemptsSurviveAReopen(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	f.replies(trouble)
	opts := vaulttest.Options(t)
	faked(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	v.Start(time.Hour)
	uploadDocs(t, v, pdf("d.pdf", "a"))
	var task model.ProcessingTask
	eventually(t, "an attempt", func() bool { task = only(t, v); return task.Attempts == 1 })
	closed(t, v)
	v = vaulttest.Open(t, opts)
	if got := only(t, v); got != task {
		t.Errorf("%+v, was %+v", got, task)
	}
}

func TestSlowDocumentsHoldUpNobody(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	release := make(chan struct{})
	f.replies(func(ctx context.Context, a ask) error {
		if strings.Contains(a.body, "slow") {
			select {
			case <-release:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	v, _ := started(t, f)
	slow := uploadDocs(t, v, pdf("1.pdf", "slow 1"), pdf("2.pdf", "slow 2"), pdf("3.pdf", "slow 3"))
	eventually(t, "the slow ones", func() bool { return f.count(texts) == 3 })
	for n := range 20 {
		if why := failure(t, v, uploadDocs(t, v, pdf("d.pdf", fmt.Sprint(n)))[0].ID); why != "" {
			t.Error(why)
		}
	}
	for _, file := range slow {
		if processed(t, v, file.ID) {
			t.Error("a slow one is done")
		}
	}
	close(release)
	idle(t, v)
}

// One owner's many documents cost another's one the time of a few.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	f := &fakeReader{}
	var order []string
	var mu sync.Mutex
	f.replies(func(_ context.Context, a ask) error {
		mu.Lock()
		defer mu.Unlock()
		if a.kind == "text" {
			order = append(order, a.owner)
		}
		return nil
	})
	v, _ := opened(t, faked(f))
	var docs []doc
	for n := range 100 {
		docs = append(docs, pdf("d.pdf", fmt.Sprint(n)))
	}
	uploadDocs(t, v, docs...)
	other := model.Actor{Kind: "operator", ID: 8, Name: "other"}
	if _, err := v.Files.Upload(t.Context(), other, model.UploadDraft{}, tray(t, v, pdf("o.pdf", "other")), vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatal(err)
	}
	v.Start(time.Hour)
	idle(t, v)
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
	f := &fakeReader{}
	opts := vaulttest.Options(t)
	faked(f)(&opts)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, v)
	entered, fail := make(chan struct{}), make(chan struct{})
	uploadDocs(t, v, pdf("a.pdf", "a"))
	f.replies(func(_ context.Context, a ask) error {
		if a.kind == "text" {
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
	f.replies(nil)
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
		t.Fatal(err)
	}
	return string(b)
}
