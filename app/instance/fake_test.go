package instance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// ask is one thing that was asked of a fakeReader.
type ask struct {
	kind        string // "text" or "picture"
	body        string // the document
	owner       string
	class       sandbox.Class
	page, width int
}

// fakeReader gives texts and pictures at once that name the document, unless a test
// answers otherwise; it remembers what it was asked.
type fakeReader struct {
	vaulttest.Reader
	mu     sync.Mutex
	asked  []ask
	answer func(context.Context, ask) error // nil: everything goes well
}

func (f *fakeReader) ask(ctx context.Context, r sandbox.Request, a ask) (ask, error) {
	body, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	if err != nil {
		return a, err
	}
	a.body, a.owner, a.class = string(body), r.Owner, r.Class
	f.mu.Lock()
	f.asked = append(f.asked, a)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		return a, nil
	}
	return a, answer(ctx, a)
}

func (f *fakeReader) Picture(ctx context.Context, r sandbox.Request, page, width int, _ document.ExtractLimits) (document.Image, error) {
	a, err := f.ask(ctx, r, ask{kind: "picture", page: page, width: width})
	if err != nil {
		return document.Image{}, err
	}
	return document.Image{Width: width, Height: 1, MIME: "image/png", Bytes: fmt.Appendf(nil, "page %d at %d of %s", page, width, a.body)}, nil
}

func (f *fakeReader) Text(ctx context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	a, err := f.ask(ctx, r, ask{kind: "text"})
	if err != nil {
		return err
	}
	for page := range 3 {
		if err := emit(page+1, fmt.Sprintf("%d of %s", page+1, a.body)); err != nil {
			return err
		}
	}
	return nil
}

// replies changes what the reader answers from now on.
func (f *fakeReader) replies(answer func(context.Context, ask) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// count tells how often what want says was asked.
func (f *fakeReader) count(want func(ask) bool) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.asked {
		if want(a) {
			n++
		}
	}
	return n
}

func texts(a ask) bool    { return a.kind == "text" }
func pictures(a ask) bool { return a.kind == "picture" }

// faked changes options so that documents are opened by a fakeReader.
func faked(f *fakeReader) func(*instance.Options) {
	return func(o *instance.Options) {
		o.Reader = f
		o.Settings.PreviewSize = 1 << 20
	}
}

// started opens a vault over a fakeReader whose processing runs.
func started(t *testing.T, f *fakeReader) (*instance.Instance, instance.Options) {
	t.Helper()
	v, opts := opened(t, faked(f))
	v.Start(1 << 40)
	return v, opts
}

// idle waits for an empty queue.
func idle(t *testing.T, v *instance.Instance) {
	t.Helper()
	eventually(t, "an empty queue", func() bool { return status(t, v).Queue == 0 })
}

// failure waits for the end of a file's processing and gives what is wrong with it.
func failure(t *testing.T, v *instance.Instance, id uint64) string {
	t.Helper()
	var file model.File
	eventually(t, fmt.Sprintf("the end of the processing of file %d", id), func() bool {
		var err error
		if file, err = v.Files.Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return !file.Processing
	})
	return file.Failure
}

// pagesOf gives a file's text, a page a line.
func pagesOf(t *testing.T, v *instance.Instance, id uint64) (string, error) {
	t.Helper()
	var all bytes.Buffer
	err := v.Previews.Text(t.Context(), clerk, id, func(page int, text string) error {
		fmt.Fprintf(&all, "%d:%s\n", page, text)
		return nil
	})
	return all.String(), err
}

// wholeText is what fakeReader says of a document.
func wholeText(body []byte) string {
	return fmt.Sprintf("1:1 of %[1]s\n2:2 of %[1]s\n3:3 of %[1]s\n", body)
}

// onceDone is an answer that does something while the first document is in hand,
// and everything goes well after that.
func onceDone(do func() error) func(context.Context, ask) error {
	var once sync.Once
	return func(context.Context, ask) (err error) {
		once.Do(func() { err = do() })
		return err
	}
}
