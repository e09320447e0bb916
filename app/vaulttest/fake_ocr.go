package vaulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/sandbox"
)

// OCRCall is a call of FakeOCR.ReadPage.
type OCRCall struct {
	Body string // content of the document
	Page int
}

// FakeOCR reads pages without looking at them. Every page has the words of FakeOCRText. It records the calls that
// succeeded.
type FakeOCR struct {
	mu      sync.Mutex
	calls   []OCRCall
	handler func(context.Context, OCRCall) error // nil: all calls succeed
}

// FakeOCRText returns the words of a page of every document.
func FakeOCRText(page int) string { return fmt.Sprintf("scanned sheet%d of the Willoughby deed", page) }

// SetHandler sets a function that runs before each call returns. A call fails with the handler's error.
func (f *FakeOCR) SetHandler(handler func(context.Context, OCRCall) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = handler
}

// Calls returns the calls that succeeded, in order.
func (f *FakeOCR) Calls() []OCRCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]OCRCall(nil), f.calls...)
}

// ReadPage implements jobs.PageReader. The words of a page are in one line and equally wide.
func (f *FakeOCR) ReadPage(ctx context.Context, r sandbox.Request, page int, _ document.ExtractLimits) (ocr.Page, error) {
	body := make([]byte, min(r.Size, 100))
	if _, err := r.Doc.ReadAt(body, 0); err != nil && !errors.Is(err, io.EOF) {
		return ocr.Page{}, err
	}
	call := OCRCall{string(body), page}
	f.mu.Lock()
	handler := f.handler
	f.mu.Unlock()
	if handler != nil {
		if err := handler(ctx, call); err != nil {
			return ocr.Page{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return ocr.Page{}, err
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	return FakeOCRPage(page), nil
}

// FakeOCRPage returns the result of FakeOCR for a page.
func FakeOCRPage(page int) (result ocr.Page) {
	for i, text := range strings.Fields(FakeOCRText(page)) {
		box := ocr.Box{Left: 1000 * i, Right: 1000*i + 900, Top: 2000, Bottom: 2200}
		result.Words = append(result.Words, ocr.Word{Text: text, Box: box, Confidence: 90, Line: 1, Paragraph: 1})
	}
	return result
}

// WaitOCR waits until no document waits for processing or OCR.
func WaitOCR(t *testing.T, v *instance.Instance, ids ...uint64) {
	t.Helper()
	WaitProcessed(t, v)
	for _, id := range ids {
		Eventually(t, fmt.Sprintf("the end of OCR of file %d", id), func() bool { return !File(t, v, id).WaitsForOCR() })
	}
}

// ReadPages processes all documents and reads the pages of those with the given IDs, like a running server. The vault
// must not be started.
func ReadPages(t *testing.T, v *instance.Instance, ids ...uint64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { v.Processing.Run(ctx) })
	running.Go(func() { v.OCR.Run(ctx) })
	WaitOCR(t, v, ids...)
}

// File returns the record of a document.
func File(t *testing.T, v *instance.Instance, id uint64) model.File {
	t.Helper()
	file, err := v.Files.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("get file %d: %v", id, err)
	}
	return file
}
