// Package pagetext provides the text of document pages: a page's own text, which app/document
// extracted, or the text from OCR if its own text is missing or unusable.
package pagetext

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
)

// Source says where the text of a page comes from.
type Source string

// The sources. They are values of the API.
const (
	SourceText Source = "text" // the document contains it
	SourceOCR  Source = "ocr"
	SourceNone Source = "none" // the page has no text, or none yet
)

// Page is the text of a page.
type Page struct {
	Number     int // counts from 1
	Text       string
	Source     Source
	Confidence int        // 0 to 100; only for SourceOCR
	Words      []ocr.Word // only for SourceOCR
	Rotation   int        // as in ocr.Page; only for SourceOCR
}

// Store provides the text of all documents, keyed by the digest of the document.
type Store struct {
	previews *blobstore.Previews
	ocr      *blobstore.OCRFiles
}

// New returns a Store of the text in two directories.
func New(previews *blobstore.Previews, results *blobstore.OCRFiles) *Store {
	return &Store{previews, results}
}

// shortTextFactor is twice the ratio of letters that OCR must find to replace a short text of the
// document. At 1.5 times as many, OCR replaces the text of a stamp on a scan, but not that of a short
// page.
const shortTextFactor = 3

// choose returns the better text of a page. read is nil if the page wasn't read.
func choose(number int, own string, read *ocr.Page) Page {
	page := Page{Number: number, Text: own, Source: SourceText}
	if strings.TrimSpace(own) == "" {
		page = Page{Number: number, Source: SourceNone}
	}
	if read == nil || len(read.Words) == 0 || document.UsableText(own) {
		return page
	}
	text := read.Text()
	if document.LegibleText(own) && 2*document.Letters(text) < shortTextFactor*document.Letters(own) {
		return page
	}
	return Page{number, text, SourceOCR, read.Confidence(), read.Words, read.Rotation}
}

// Read calls fn for each page that has text, in order, until fn returns an error. It calls fn with
// SourceNone for pages that were read and have no words. If the document's own text is missing,
// the error wraps fs.ErrNotExist, and fn may have been called for pages before the damage. A
// document that can't have its own text is not an error.
func (st *Store) Read(digest string, fn func(Page) error) error { return st.merge(digest, false, fn) }

// ReadAvailable is like Read, but if the document's own text is missing, it calls fn for the other
// pages that were read before it returns the error.
func (st *Store) ReadAvailable(digest string, fn func(Page) error) error {
	return st.merge(digest, true, fn)
}

func (st *Store) merge(digest string, available bool, fn func(Page) error) error {
	m := merger{digest: digest, fn: fn}
	if err := m.open(st.ocr); err != nil {
		return err
	}
	err := st.readOwn(digest, m.own)
	if err == nil || available && m.err == nil && errors.Is(err, fs.ErrNotExist) {
		if restErr := m.rest(); restErr != nil {
			err = restErr
		}
	}
	return errors.Join(err, m.close())
}

// readOwn calls fn for each page that has its own text.
func (st *Store) readOwn(digest string, fn func(page int, text string) error) error {
	err := st.previews.ReadText(digest, fn)
	if errors.Is(err, fs.ErrNotExist) && st.previews.Has(digest, blobstore.NoTextFile) {
		return nil
	}
	return err
}

// merger merges a document's own text with the OCR results.
type merger struct {
	digest string
	fn     func(Page) error
	reader *blobstore.OCRReader // nil if there are no results
	next   int                  // index of the next page in reader.Pages
	last   int                  // last page that was passed to fn
	err    error                // error of fn
}

func (m *merger) open(files *blobstore.OCRFiles) (err error) {
	m.reader, err = files.Open(m.digest)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

func (m *merger) close() error {
	if m.reader == nil {
		return nil
	}
	return m.reader.Close()
}

// own passes a page of the document's own text to fn, after the pages before it.
func (m *merger) own(number int, text string) error {
	if err := m.before(number); err != nil {
		return err
	}
	var read *ocr.Page
	if m.reader != nil && m.next < len(m.reader.Pages) && m.reader.Pages[m.next] == number {
		m.next++
		page, err := m.result(number)
		if err == nil {
			read = &page
		}
	}
	return m.emit(choose(number, text, read))
}

// before passes the pages to fn that have only an OCR result and are before a page.
func (m *merger) before(number int) error {
	for m.reader != nil && m.next < len(m.reader.Pages) && m.reader.Pages[m.next] < number {
		page := m.reader.Pages[m.next]
		m.next++
		if page <= m.last {
			continue
		}
		read, err := m.result(page)
		if err != nil {
			continue // a damaged result counts as missing; a verification reports it
		}
		if err := m.emit(choose(page, "", &read)); err != nil {
			return err
		}
	}
	return nil
}

// rest passes all remaining pages to fn.
func (m *merger) rest() error {
	if m.err != nil {
		return m.err
	}
	return m.before(math.MaxInt)
}

func (m *merger) emit(p Page) error {
	m.last = p.Number
	m.err = m.fn(p)
	return m.err
}

func (m *merger) result(page int) (ocr.Page, error) {
	raw, err := m.reader.Result(page)
	if err != nil {
		return ocr.Page{}, err
	}
	return decode(page, raw)
}

func decode(page int, raw []byte) (result ocr.Page, err error) {
	if err := json.Unmarshal(raw, &result); err != nil {
		return ocr.Page{}, fmt.Errorf("OCR result of page %d: %w: %w", page, blobstore.ErrOCRDamaged, err)
	}
	return result, nil
}

// Put stores the results of pages. It returns after they are on the disk.
func (st *Store) Put(digest string, pages map[int]ocr.Page) error {
	list := make([]blobstore.OCRPage, 0, len(pages))
	for number, page := range pages {
		raw, err := json.Marshal(page)
		if err != nil {
			return err
		}
		list = append(list, blobstore.OCRPage{Page: number, Result: raw})
	}
	return st.ocr.Append(digest, list...)
}

// Words returns the OCR result of a page. found is false if the page wasn't read, or if its own text
// is better than the result.
func (st *Store) Words(digest string, number int) (page ocr.Page, found bool, err error) {
	reader, err := st.ocr.Open(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return page, false, nil
	}
	if err != nil {
		return page, false, err
	}
	raw, err := reader.Result(number)
	err = errors.Join(err, reader.Close())
	if err == nil {
		page, err = decode(number, raw)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ocr.Page{}, false, nil
	}
	if err != nil {
		return ocr.Page{}, false, err
	}
	own, err := st.ownPage(digest, number)
	return page, choose(number, own, &page).Source != SourceText, err
}

var errStop = errors.New("stop")

// ownPage returns the document's own text of a page, or "" if there is none.
func (st *Store) ownPage(digest string, number int) (own string, err error) {
	err = st.readOwn(digest, func(page int, text string) error {
		if page == number {
			own = text
		}
		if page >= number {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return own, err
}

// Remove deletes the OCR results of a document.
func (st *Store) Remove(digest string) error { return st.ocr.Remove(digest) }

// State is what is known about the text of a document.
type State struct {
	TextPages int   // pages with text, their own or from OCR
	OCRPages  int   // pages whose own text is missing or unusable
	Missing   []int // those that have not been read, in order
	Turns     model.PageTurns
}

// OCR returns the progress of OCR for the file record.
func (s State) OCR() model.OCR {
	return model.OCR{Pages: s.OCRPages, Read: s.OCRPages - len(s.Missing), Turns: s.Turns}
}

// State returns which pages of a document need OCR and which of them have been read. Pages beyond
// document.MaxPages can't be shown, so they don't need OCR. Processing must have ended. If the
// document's own text is missing and can be extracted again, the error wraps fs.ErrNotExist.
func (st *Store) State(file model.File) (s State, err error) {
	// The results are listed before their text is read, because OCR may add some in between:
	// TextPages may include pages that are still Missing, but it never leaves out one that was read.
	read, err := st.ocr.Pages(file.Digest)
	if err != nil {
		return s, err
	}
	usable := map[int]bool{}
	err = st.readOwn(file.Digest, func(page int, text string) error {
		usable[page] = document.UsableText(text)
		return nil
	})
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && file.MissingText()) {
		return s, err
	}
	err = st.ReadAvailable(file.Digest, func(p Page) error {
		if p.Source != SourceNone {
			s.TextPages++
		}
		if p.Rotation != 0 && p.Number <= document.MaxPages {
			s.Turns = s.Turns.With(p.Number, p.Rotation/90)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if !file.ShownAsImages() {
		return s, nil
	}
	for page := 1; page <= min(max(file.PageCount(), 1), document.MaxPages); page++ {
		if usable[page] {
			continue
		}
		s.OCRPages++
		if !read[page] {
			s.Missing = append(s.Missing, page)
		}
	}
	return s, nil
}
