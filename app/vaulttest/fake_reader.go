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

// ReaderCall is a recorded call of a FakeReader method.
type ReaderCall struct {
	Kind        string // "text" or "image"
	Body        string // content of the document
	Owner       string
	Class       sandbox.Class
	Page, width int // only for page images
}

// IsTextCall reports whether a call extracts text.
func IsTextCall(c ReaderCall) bool { return c.Kind == "text" }

// IsImageCall reports whether a call renders a page image.
func IsImageCall(c ReaderCall) bool { return c.Kind == "image" }

// FakeReader returns text and page images that contain the content of the document. It records its calls.
type FakeReader struct {
	Reader
	mu      sync.Mutex
	Calls   []ReaderCall
	handler func(context.Context, ReaderCall) error // nil: all calls succeed
}

// SetHandler sets a function that runs before each call returns. A call fails with the handler's error.
func (f *FakeReader) SetHandler(handler func(context.Context, ReaderCall) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = handler
}

// OnFirstCall returns a handler that runs do only on the first call. Other calls wait for it to finish and succeed.
func OnFirstCall(do func() error) func(context.Context, ReaderCall) error {
	var once sync.Once
	return func(context.Context, ReaderCall) (err error) {
		once.Do(func() { err = do() })
		return err
	}
}

// DamagedDocument is a handler that makes every call fail.
func DamagedDocument(context.Context, ReaderCall) error { return document.ErrDamaged }

// Count returns the number of recorded calls that match.
func (f *FakeReader) Count(match func(ReaderCall) bool) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.Calls {
		if match(c) {
			n++
		}
	}
	return n
}

// record fills in c from the request, records it, and runs the handler.
func (f *FakeReader) record(ctx context.Context, r sandbox.Request, c ReaderCall) (ReaderCall, error) {
	body, err := io.ReadAll(io.NewSectionReader(r.Doc, 0, r.Size))
	if err != nil {
		return c, err
	}
	c.Body, c.Owner, c.Class = string(body), r.Owner, r.Class
	f.mu.Lock()
	f.Calls = append(f.Calls, c)
	handler := f.handler
	f.mu.Unlock()
	if handler == nil {
		return c, nil
	}
	return c, handler(ctx, c)
}

// PageImage returns a page image. Its bytes contain the page number, the width, and the content of the document.
func (f *FakeReader) PageImage(ctx context.Context, r sandbox.Request, page, width int, _ document.ExtractLimits) (document.Image, error) {
	c, err := f.record(ctx, r, ReaderCall{Kind: "image", Page: page, width: width})
	if err != nil {
		return document.Image{}, err
	}
	return document.Image{Width: width, Height: 1, MIME: "image/png", Bytes: fmt.Appendf(nil, "page %d at %d of %s", page, width, c.Body)}, nil
}

// Text emits three pages of text that contain the content of the document; see FakeText.
func (f *FakeReader) Text(ctx context.Context, r sandbox.Request, _ document.ExtractLimits, emit func(int, string) error) error {
	c, err := f.record(ctx, r, ReaderCall{Kind: "text"})
	if err != nil {
		return err
	}
	for page := range 3 {
		if err := emit(page+1, fmt.Sprintf("%d of %s", page+1, c.Body)); err != nil {
			return err
		}
	}
	return nil
}

// FakeText returns the text that FakeReader extracts from a document, in the format of PageTexts.
func FakeText(body []byte) string {
	return fmt.Sprintf("1:1 of %[1]s\n2:2 of %[1]s\n3:3 of %[1]s\n", body)
}

// PageTexts returns the text of a document, with one line "number:text" per page.
func PageTexts(t *testing.T, v *instance.Instance, id uint64) (string, error) {
	t.Helper()
	var all bytes.Buffer
	err := v.Previews.Text(t.Context(), Operator, id, func(page int, text string) error {
		fmt.Fprintf(&all, "%d:%s\n", page, text)
		return nil
	})
	return all.String(), err
}

// WithFakeReader returns a function that changes options so that documents are processed with f.
func WithFakeReader(f *FakeReader) func(*instance.Options) {
	return func(o *instance.Options) {
		o.Reader = f
		o.Settings.PreviewSize = 1 << 20
	}
}

// StartWithFakeReader opens a vault with f and starts its background work.
func StartWithFakeReader(t *testing.T, f *FakeReader) (*instance.Instance, instance.Options) {
	t.Helper()
	v, opts := OpenVerified(t, WithFakeReader(f))
	v.Start(1 << 40)
	return v, opts
}

// WaitProcessed waits until all documents are processed.
func WaitProcessed(t *testing.T, v *instance.Instance) {
	t.Helper()
	Eventually(t, "an empty queue", func() bool { return Status(t, v).Queue == 0 })
}

// ProcessingFailure waits until a document is processed. It returns the failure message, or "" if processing succeeded.
func ProcessingFailure(t *testing.T, v *instance.Instance, id uint64) string {
	t.Helper()
	var file model.File
	Eventually(t, fmt.Sprintf("the end of the processing of file %d", id), func() bool {
		var err error
		if file, err = v.Files.Get(t.Context(), id); err != nil {
			t.Fatalf("get file %d: %v", id, err)
		}
		return !file.Processing
	})
	return file.Failure
}
