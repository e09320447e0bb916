package vaulttest

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
)

// ask is one thing that was asked of a fakeReader.
type ReaderCall struct {
	Kind        string // "text" or "picture"
	Body        string // the document
	Owner       string
	Class       sandbox.Class
	Page, width int
}

// fakeReader gives texts and pictures at once that name the document, unless a test
// answers otherwise; it remembers what it was asked.
type FakeReader struct {
	Reader
	mu     sync.Mutex
	Calls  []ReaderCall
	answer func(context.Context, ReaderCall) error // nil: everything goes well
}

func (f *FakeReader) ask(ctx context.Context, r sandbox.Request, a ReaderCall) (ReaderCall, error) {
	body, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	if err != nil {
		return a, err
	}
	a.Body, a.Owner, a.Class = string(body), r.Owner, r.Class
	f.mu.Lock()
	f.Calls = append(f.Calls, a)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		return a, nil
	}
	return a, answer(ctx, a)
}

func (f *FakeReader) Picture(ctx context.Context, r sandbox.Request, page, width int, _ document.ExtractLimits) (document.Image, error) {
	a, err := f.ask(ctx, r, ReaderCall{Kind: "picture", Page: page, width: width})
	if err != nil {
		return document.Image{}, err
	}
	return document.Image{Width: width, Height: 1, MIME: "image/png", Bytes: fmt.Appendf(nil, "page %d at %d of %s", page, width, a.Body)}, nil
}

func (f *FakeReader) Text(ctx context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	a, err := f.ask(ctx, r, ReaderCall{Kind: "text"})
	if err != nil {
		return err
	}
	for page := range 3 {
		if err := emit(page+1, fmt.Sprintf("%d of %s", page+1, a.Body)); err != nil {
			return err
		}
	}
	return nil
}

// replies changes what the reader answers from now on.
func (f *FakeReader) SetHandler(answer func(context.Context, ReaderCall) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// count tells how often what want says was asked.
func (f *FakeReader) Count(want func(ReaderCall) bool) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.Calls {
		if want(a) {
			n++
		}
	}
	return n
}

func IsTextCall(a ReaderCall) bool { return a.Kind == "text" }

func IsImageCall(a ReaderCall) bool { return a.Kind == "picture" }

// faked changes options so that documents are opened by a fakeReader.
func WithFakeReader(f *FakeReader) func(*instance.Options) {
	return func(o *instance.Options) {
		o.Reader = f
		o.Settings.PreviewSize = 1 << 20
	}
}

// started opens a vault over a fakeReader whose processing runs.
func StartWithFakeReader(t *testing.T, f *FakeReader) (*instance.Instance, instance.Options) {
	t.Helper()
	v, opts := OpenVerified(t, WithFakeReader(f))
	v.Start(1 << 40)
	return v, opts
}

// idle waits for an empty queue.
func WaitProcessed(t *testing.T, v *instance.Instance) {
	t.Helper()
	Eventually(t, "an empty queue", func() bool { return Status(t, v).Queue == 0 })
}

// failure waits for the end of a file's processing and gives what is wrong with it.
func ProcessingFailure(t *testing.T, v *instance.Instance, id uint64) string {
	t.Helper()
	var file model.File
	Eventually(t, fmt.Sprintf("the end of the processing of file %d", id), func() bool {
		var err error
		if file, err = v.Files.Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return !file.Processing
	})
	return file.Failure
}

// pagesOf gives a file's text, a page a line.
func PageTexts(t *testing.T, v *instance.Instance, id uint64) (string, error) {
	t.Helper()
	var all bytes.Buffer
	err := v.Previews.Text(t.Context(), Operator, id, func(page int, text string) error {
		fmt.Fprintf(&all, "%d:%s\n", page, text)
		return nil
	})
	return all.String(), err
}

// wholeText is what fakeReader says of a document.
func FakeText(body []byte) string {
	return fmt.Sprintf("1:1 of %[1]s\n2:2 of %[1]s\n3:3 of %[1]s\n", body)
}

// onceDone is an answer that does something while the first document is in hand,
// and everything goes well after that.
func OnFirstCall(do func() error) func(context.Context, ReaderCall) error {
	var once sync.Once
	return func(context.Context, ReaderCall) (err error) {
		once.Do(func() { err = do() })
		return err
	}
}
