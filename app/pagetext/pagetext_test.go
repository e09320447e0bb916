package pagetext_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/pagetext"
)

var (
	digest  = strings.Repeat("cd", 32)
	usable  = strings.Repeat("This indenture witnesseth that the grantor conveys. ", 8)
	garbage = strings.Repeat("\uFFFD\uFFFD\uFFFD ", 100)
)

// fixture is a directory of texts.
type fixture struct {
	*pagetext.Store
	t        *testing.T
	previews *blobstore.Previews
	ocr      *blobstore.OCRFiles
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	dir := t.TempDir()
	previews, err := blobstore.OpenPreviews(filepath.Join(dir, "previews"), 1<<20, time.Now)
	if err != nil {
		t.Fatalf("OpenPreviews: %v", err)
	}
	files := blobstore.NewOCRFiles(filepath.Join(dir, "text"))
	return fixture{pagetext.New(previews, files), t, previews, files}
}

// putOwn stores the document's own text. A nil map means that it can't have any.
func (f fixture) putOwn(pages map[int]string) {
	f.t.Helper()
	name, write := blobstore.NoTextFile, func(w io.Writer) error { _, err := io.WriteString(w, "none\n"); return err }
	if pages != nil {
		name, write = blobstore.TextFile, func(w io.Writer) error {
			text, err := blobstore.NewTextWriter(w)
			if err != nil {
				return err
			}
			for page := 1; page <= 9; page++ {
				err = errors.Join(err, text.Page(page, pages[page]))
			}
			return errors.Join(err, text.Close())
		}
	}
	if err := f.previews.Put(digest, name, write); err != nil {
		f.t.Fatalf("Put: %v", err)
	}
}

// words returns a page with the words of a text.
func words(text string) (page ocr.Page) {
	for _, w := range strings.Fields(text) {
		page.Words = append(page.Words, ocr.Word{Text: w, Confidence: 80, Line: 1, Paragraph: 1})
	}
	return page
}

func (f fixture) putOCR(pages map[int]ocr.Page) {
	f.t.Helper()
	if err := f.Put(digest, pages); err != nil {
		f.t.Fatalf("Put: %v", err)
	}
}

// read returns the pages as "1 text start-of-text".
func read(t *testing.T, read func(string, func(pagetext.Page) error) error) (pages []string, err error) {
	t.Helper()
	err = read(digest, func(p pagetext.Page) error {
		text := strings.Join(strings.Fields(p.Text), " ")
		pages = append(pages, fmt.Sprintf("%d %s %s", p.Number, p.Source, text[:min(len(text), 12)]))
		if (p.Source == pagetext.SourceOCR) != (p.Confidence == 80) {
			t.Errorf("page %d from %s has confidence %d", p.Number, p.Source, p.Confidence)
		}
		return nil
	})
	return pages, err
}

func TestRead(t *testing.T) {
	long := words(strings.Repeat("scanned words of the deed ", 30))
	for name, row := range map[string]struct {
		own   map[int]string
		ocr   map[int]ocr.Page
		pages string
		state pagetext.State
	}{
		"nothing": {nil, nil, "", pagetext.State{OCRPages: 4, Missing: []int{1, 2, 3, 4}}},
		"own text only": {map[int]string{1: usable, 2: usable, 3: usable, 4: usable}, nil,
			"1 text This indentu|2 text This indentu|3 text This indentu|4 text This indentu",
			pagetext.State{TextPages: 4}},
		"a scan that is partly read": {nil, map[int]ocr.Page{3: long, 1: long}, "1 ocr scanned word|3 ocr scanned word",
			pagetext.State{TextPages: 2, OCRPages: 4, Missing: []int{2, 4}}},
		"mixed": {map[int]string{1: usable, 3: "Page 3"}, map[int]ocr.Page{2: long, 3: long, 4: {}},
			"1 text This indentu|2 ocr scanned word|3 ocr scanned word|4 none ", pagetext.State{TextPages: 3, OCRPages: 3}},
		"usable text wins": {map[int]string{1: usable}, map[int]ocr.Page{1: long}, "1 text This indentu",
			pagetext.State{TextPages: 1, OCRPages: 3, Missing: []int{2, 3, 4}}},
		"illegible text, not read": {map[int]string{1: garbage}, nil, "1 text " + garbage[:12],
			pagetext.State{TextPages: 1, OCRPages: 4, Missing: []int{1, 2, 3, 4}}},
		"illegible text, read": {map[int]string{1: garbage}, map[int]ocr.Page{1: words("two words")}, "1 ocr two words",
			pagetext.State{TextPages: 1, OCRPages: 4, Missing: []int{2, 3, 4}}},
		"a short page": {map[int]string{1: "EXHIBIT A of the deed"}, map[int]ocr.Page{1: words("EXHIBIT A of the dccd .")},
			"1 text EXHIBIT A of",
			pagetext.State{TextPages: 1, OCRPages: 4, Missing: []int{2, 3, 4}}},
		"a stamp on a scan": {map[int]string{1: "Recorded 2019"}, map[int]ocr.Page{1: long}, "1 ocr scanned word",
			pagetext.State{TextPages: 1, OCRPages: 4, Missing: []int{2, 3, 4}}},
		"a page that can't be read": {map[int]string{1: "Recorded 2019"}, map[int]ocr.Page{1: {Failed: true}, 2: {Failed: true}},
			"1 text Recorded 201|2 none ",
			pagetext.State{TextPages: 1, OCRPages: 4, Missing: []int{3, 4}}},
		"results beyond the end": {map[int]string{1: usable}, map[int]ocr.Page{7: long}, "1 text This indentu|7 ocr scanned word",
			pagetext.State{TextPages: 2, OCRPages: 3, Missing: []int{2, 3, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.putOwn(row.own)
			f.putOCR(row.ocr)
			for method, fn := range map[string]func(string, func(pagetext.Page) error) error{"Read": f.Read, "ReadAvailable": f.ReadAvailable} {
				pages, err := read(t, fn)
				if got := strings.Join(pages, "|"); err != nil || got != row.pages {
					t.Errorf("%s = %q, %v; want %q", method, got, err, row.pages)
				}
			}
			four := 4
			state, err := f.State(model.File{Digest: digest, MIME: model.MIMEPDF, Pages: &four})
			if err != nil || fmt.Sprint(state) != fmt.Sprint(row.state) {
				t.Errorf("State = %+v, %v; want %+v", state, err, row.state)
			}
			if got := state.OCR(); got.Pages != row.state.OCRPages || got.Read != row.state.OCRPages-len(row.state.Missing) {
				t.Errorf("OCR = %+v, want %+v", got, row.state)
			}
		})
	}
}

// Without the document's own text, Read reports that it is missing, and ReadAvailable passes on
// what OCR has read.
func TestOwnTextIsMissing(t *testing.T) {
	f := newFixture(t)
	f.putOCR(map[int]ocr.Page{2: words("scanned words")})
	if pages, err := read(t, f.Read); !errors.Is(err, fs.ErrNotExist) || len(pages) > 0 {
		t.Errorf("Read = %q, %v; want fs.ErrNotExist", pages, err)
	}
	if pages, err := read(t, f.ReadAvailable); !errors.Is(err, fs.ErrNotExist) || strings.Join(pages, "|") != "2 ocr scanned word" {
		t.Errorf("ReadAvailable = %q, %v; want page 2 and fs.ErrNotExist", pages, err)
	}
	file := model.File{Digest: digest, MIME: "image/png"}
	if _, err := f.State(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("State = %v, want fs.ErrNotExist", err)
	}
	file.Failure = model.FailureNoText
	if state, err := f.State(file); err != nil || state.OCRPages != 1 || len(state.Missing) != 1 {
		t.Errorf("State of a document without a text layer = %+v, %v; want one missing page", state, err)
	}
}

// A small TIFF may claim to have tens of thousands of pages. Those that can't be shown need no OCR.
func TestStateOfManyPages(t *testing.T) {
	f := newFixture(t)
	f.putOwn(nil)
	pages := 65535
	state, err := f.State(model.File{Digest: digest, MIME: "image/tiff", Pages: &pages})
	if err != nil || state.OCRPages != document.MaxPages || len(state.Missing) != document.MaxPages {
		t.Errorf("State = %d pages, %d missing, %v; want %d", state.OCRPages, len(state.Missing), err, document.MaxPages)
	}
}

// The progress of a document says at which rotation the text of its pages is upright, unless a page has its own text.
func TestStateOfRotatedPages(t *testing.T) {
	f := newFixture(t)
	f.putOwn(map[int]string{4: usable})
	sideways, upsideDown := words("scanned words"), words("scanned words")
	sideways.Rotation, upsideDown.Rotation = 90, 180
	f.putOCR(map[int]ocr.Page{1: words("scanned words"), 2: sideways, 3: upsideDown, 4: sideways, 1<<31 - 1: sideways})
	pages := 4
	state, err := f.State(model.File{Digest: digest, MIME: model.MIMEPDF, Pages: &pages})
	if got := state.OCR().Turns; err != nil || got != "-12" {
		t.Errorf("State = %q, %v, want -12", got, err)
	}
}

func TestErrorOfCallbackEndsReading(t *testing.T) {
	f := newFixture(t)
	f.putOwn(map[int]string{1: usable, 4: usable})
	f.putOCR(map[int]ocr.Page{2: words("scanned words"), 5: words("scanned words")})
	stop := fmt.Errorf("stop: %w", fs.ErrNotExist) // even if it looks like missing text
	for last := 1; last <= 4; last++ {
		calls := 0
		err := f.ReadAvailable(digest, func(pagetext.Page) error {
			if calls++; calls == last {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || calls != last {
			t.Errorf("ReadAvailable = %v after %d calls, want the error of fn after %d", err, calls, last)
		}
	}
}

func TestWords(t *testing.T) {
	f := newFixture(t)
	f.putOwn(map[int]string{1: usable})
	f.putOCR(map[int]ocr.Page{1: words("scanned words"), 2: words("scanned words")})
	for page, want := range map[int]bool{1: false, 2: true, 3: false} {
		got, found, err := f.Words(digest, page)
		if err != nil || found != want || found && len(got.Words) != 2 {
			t.Errorf("Words(%d) = %+v, %t, %v; want %t", page, got, found, err, want)
		}
	}
	if err := f.Remove(digest); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	if _, found, err := f.Words(digest, 2); found || err != nil {
		t.Errorf("Words after Remove = %t, %v; want false", found, err)
	}
}

// OCR adds results while their state is determined. A page that counts as read has its text counted.
func TestStateWhilePagesAreRead(t *testing.T) {
	f := newFixture(t)
	f.putOwn(nil)
	pages := 60
	file := model.File{Digest: digest, MIME: "image/tiff", Pages: &pages}
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() {
		for page := 1; page <= pages; page++ {
			if err := f.Put(digest, map[int]ocr.Page{page: words("scanned words")}); err != nil {
				t.Errorf("Put: %v", err)
				return
			}
		}
	})
	for !t.Failed() {
		state, err := f.State(file)
		if err != nil || state.TextPages < state.OCR().Read {
			t.Fatalf("State = %d pages with text, OCR %+v, %v; want at least as many pages with text as were read", state.TextPages, state.OCR(), err)
		}
		if state.OCR().Read == pages {
			return
		}
	}
}
