package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/vaulttest"
)

// textPart returns a part of a document's text as "status: 1 source, 2 source; next".
func textPart(part jobs.TextPart) string {
	var pages []string
	for _, p := range part.Pages {
		pages = append(pages, fmt.Sprint(p.Number, " ", p.Source))
	}
	return fmt.Sprintf("%s: %s; %d", part.Status, strings.Join(pages, ", "), part.Next)
}

func TestPageTexts(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	reader.SetHandler(func(_ context.Context, c vaulttest.OCRCall) error {
		if strings.Contains(c.Body, "blank") || c.Page == 2 {
			return document.ErrTooLarge
		}
		return nil
	})
	files := vaulttest.UploadDocs(t, v, scan(3, "a"), scan(2, "blank"), vaulttest.TextDoc("note.txt", "plain words"),
		vaulttest.NewDoc("empty.txt", []byte(" ")))
	expect := func(id uint64, offset, limit, maxBytes int, want string) {
		t.Helper()
		part, err := v.Previews.PageTexts(t.Context(), vaulttest.Operator, id, offset, limit, maxBytes)
		if got := textPart(part); err != nil || got != want {
			t.Errorf("PageTexts(%d, %d, %d, %d) = %q, %v; want %q", id, offset, limit, maxBytes, got, err, want)
		}
	}
	expect(files[0].ID, 0, 9, 1000, "pending: 1 none, 2 none, 3 none; 0") // is being processed
	runProcessing(t, v)
	expect(files[0].ID, 0, 2, 1000, "pending: 1 none, 2 none; 2") // waits for OCR
	expect(files[2].ID, 0, 9, 1000, "complete: 1 text; 0")
	expect(files[3].ID, 0, 9, 1000, "none: ; 0")
	runOCR(t, v, reader, jobs.OCRSettings{}, "one page", func() bool { return len(reader.Calls()) >= 1 })
	runOCR(t, v, reader, jobs.OCRSettings{}, "the end", allRead(t, v))
	expect(files[0].ID, 0, 9, 1000, "complete: 1 ocr, 2 none, 3 ocr; 0")
	expect(files[0].ID, 0, 2, 1000, "complete: 1 ocr, 2 none; 2")
	expect(files[0].ID, 2, 2, 1000, "complete: 3 ocr; 0")
	expect(files[0].ID, 0, 9, 10, "complete: 1 ocr; 1")
	expect(files[0].ID, 7, 9, 1000, "complete: ; 0")
	expect(files[1].ID, 0, 9, 1000, "none: 1 none, 2 none; 0")
	part, err := v.Previews.PageTexts(t.Context(), vaulttest.Operator, files[0].ID, 0, 1, 1000)
	if err != nil || part.Pages[0].Text != vaulttest.FakeOCRText(1) ||
		part.Pages[0].Confidence != 90 || part.Bytes != len(part.Pages[0].Text) {
		t.Errorf("PageTexts = %+v, %v; want the text of page 1 with its confidence", part, err)
	}
	if _, err := v.Previews.PageTexts(t.Context(), vaulttest.Operator, 99, 0, 1, 1000); errs.KindOf(err) != errs.NotFound {
		t.Errorf("PageTexts of an unknown document = %v, want NotFound", err)
	}
}

// While a document is read, the status is partial.
func TestPartialText(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	reader.SetHandler(func(ctx context.Context, c vaulttest.OCRCall) error {
		if c.Page == 2 {
			<-ctx.Done()
		}
		return nil
	})
	file := vaulttest.UploadDocs(t, v, scan(3, "a"))[0]
	v.Start(time.Hour)
	vaulttest.Eventually(t, "the first page", func() bool {
		part, err := v.Previews.PageTexts(t.Context(), vaulttest.Operator, file.ID, 0, 9, 1000)
		vaulttest.NoError(t, err)
		return textPart(part) == "partial: 1 ocr, 2 none, 3 none; 0"
	})
}

// A page that is read while a request is answered never makes the status final without its text.
func TestTextIsCompleteOnceItIsThere(t *testing.T) {
	t.Parallel()
	v, reader := openWithOCR(t, nil)
	for i := range 10 {
		id := vaulttest.UploadDocs(t, v, scan(1, fmt.Sprint(i)))[0].ID
		runProcessing(t, v)
		runOCR(t, v, reader, jobs.OCRSettings{}, "the text", func() bool {
			for range 50 {
				part, err := v.Previews.PageTexts(t.Context(), vaulttest.Operator, id, 0, 9, 1000)
				if got := textPart(part); err != nil || got != "pending: 1 none; 0" && got != "partial: 1 ocr; 0" && got != "complete: 1 ocr; 0" {
					t.Fatalf("PageTexts while the page is read = %q, %v", got, err)
				}
				if part.Status == jobs.TextComplete {
					return true
				}
			}
			return false
		})
	}
}
