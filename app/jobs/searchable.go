package jobs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/pagetext"
	"deedkeep/app/sandbox"
	"deedkeep/app/secret"
)

// DefaultSearchablePages is the default for the maximum number of pages of a searchable PDF.
const DefaultSearchablePages = 500

// DefaultSearchablePerUser is the default for the maximum number of searchable PDFs that one actor can
// have open.
const DefaultSearchablePerUser = 2

// SearchablePDF is a PDF of a document with the words that OCR has read as invisible text. It is a
// temporary file. The caller must close it.
type SearchablePDF struct {
	io.Reader
	File model.File // the document
	Size int64      // bytes

	temporary *temporaryFile
	end       func() // allows the actor to open another one
}

// SearchableFilename returns the filename of the searchable PDF of a document.
func SearchableFilename(file model.File) string {
	return strings.TrimSuffix(file.Filename, filepath.Ext(file.Filename)) + "-searchable.pdf"
}

// Close removes the file. It must be called once.
func (s *SearchablePDF) Close() error {
	defer s.end()
	return s.temporary.Close()
}

// CanBeSearchable returns nil if a searchable PDF of a document can be created now. It returns
// NotFound for a type that isn't shown as page images, and Conflict if the document has too many
// pages or if its pages haven't all been read.
func (p *Previews) CanBeSearchable(file model.File) error {
	conflict := func(format string, args ...any) error {
		return &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf(format, args...)}
	}
	pages := max(file.PageCount(), 1)
	switch {
	case !file.ShownAsImages():
		return &errs.Error{Kind: errs.NotFound, Message: "This type of document can't be saved as a searchable PDF. Download the document instead."}
	case pages > p.maxSearchable:
		return conflict("The document has %d pages, but a searchable PDF can have at most %d. Download the document instead.", pages, p.maxSearchable)
	case file.Processing:
		return conflict("The document is being processed. Try again in a minute.")
	case !file.WaitsForOCR():
		return nil
	case p.ocr == nil || !p.ocr.Enabled():
		return conflict("OCR is off and hasn't read all pages of the document. Ask your administrator to turn it on.")
	}
	return conflict("OCR hasn't read all pages of the document: %d of %d are left. Try again later.", file.PagesWaitingForOCR(), pages)
}

// Searchable creates a searchable PDF of a document. It returns the errors of CanBeSearchable,
// Conflict if the actor has too many of them open, and NotFound if the document doesn't exist or is
// damaged.
func (p *Previews) Searchable(ctx context.Context, actor model.Actor, id uint64) (*SearchablePDF, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := p.CanBeSearchable(file); err != nil {
		p.prefer(actor, file)
		return nil, err
	}
	end, err := p.openSearchable.begin(actor.Record())
	if err != nil {
		return nil, err
	}
	s, err := p.createSearchable(ctx, actor, file)
	if err != nil {
		end()
		return nil, err
	}
	s.end = end
	return s, nil
}

// openCounts limits how many PDFs each owner has created at the same time. Each one occupies disk space: a searchable
// PDF until the client has received it, however slow that is.
type openCounts struct {
	max     int
	full    string // message at the limit, with the number
	mu      sync.Mutex
	byOwner map[string]int
}

// begin counts another one. The caller must call end once. It returns Conflict at the limit.
func (o *openCounts) begin(owner string) (end func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byOwner[owner] >= o.max {
		return nil, &errs.Error{Kind: errs.Conflict, Message: fmt.Sprintf(o.full, o.max)}
	}
	o.byOwner[owner]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.byOwner[owner]--; o.byOwner[owner] == 0 {
			delete(o.byOwner, owner)
		}
	}, nil
}

func (p *Previews) createSearchable(ctx context.Context, actor model.Actor, file model.File) (*SearchablePDF, error) {
	words, size, err := p.ocrWords(ctx, actor, file)
	if err != nil {
		return nil, err
	}
	defer words.discard()
	out, err := p.newTemporaryFile()
	if err != nil {
		return nil, err
	}
	s, err := p.writeSearchable(ctx, actor, file, io.NewSectionReader(words, 0, size), out)
	if err != nil {
		out.discard()
		return nil, err
	}
	return s, nil
}

func (p *Previews) writeSearchable(ctx context.Context, actor model.Actor, file model.File, words *io.SectionReader,
	out *temporaryFile) (*SearchablePDF, error) {
	r, done, err := p.openRequest(ctx, file, actor.Record(), sandbox.View)
	if err != nil {
		return nil, err
	}
	defer done()
	limits := p.limits
	limits.MaxPages = p.maxSearchable
	size, err := p.reader.Searchable(ctx, r, words, words.Size(), out, limits)
	if sandbox.IsDocumentError(err) {
		const label = "A searchable PDF can't be created"
		sentence, _ := failureMessage(label, err)
		return nil, &errs.Error{Kind: errs.NotFound, Message: cmp.Or(sentence, label+" of this document."), Err: err}
	}
	if err != nil {
		return nil, diskError(err)
	}
	return &SearchablePDF{Reader: io.NewSectionReader(out, 0, size), File: file, Size: size, temporary: out}, nil
}

// ocrWords writes the words of the pages that OCR has read to a temporary file, as Pool.Searchable
// needs them, and returns its size.
func (p *Previews) ocrWords(ctx context.Context, actor model.Actor, file model.File) (*temporaryFile, int64, error) {
	words, err := p.newTemporaryFile()
	if err != nil {
		return nil, 0, err
	}
	w := bufio.NewWriter(&appender{words, 0})
	encoder := json.NewEncoder(w)
	err = p.readText(ctx, actor, file, func(page pagetext.Page) error {
		if page.Source != pagetext.SourceOCR {
			return ctx.Err()
		}
		return encoder.Encode(sandbox.NumberedWords{Number: page.Number, Page: ocr.Page{Words: page.Words, Rotation: page.Rotation}})
	})
	if errs.KindOf(err) == errs.NotFound {
		err = nil // the document has no text of its own
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		words.discard()
		return nil, 0, diskError(err)
	}
	size, err := words.Seek(0, io.SeekEnd)
	if err != nil {
		words.discard()
		return nil, 0, err
	}
	return words, size, nil
}

// appender writes to the end of a file.
type appender struct {
	f  *temporaryFile
	at int64
}

func (a *appender) Write(b []byte) (int, error) {
	n, err := a.f.WriteAt(b, a.at)
	a.at += int64(n)
	return n, err
}

// spaceInterval is the number of bytes after which a temporary file checks the free disk space.
const spaceInterval = 8 << 20

// temporaryFile is a file that is removed when it is closed. It leaves the reserve of free disk space
// alone.
type temporaryFile struct {
	*os.File
	previews  *Previews
	release   func()
	checkedAt int64 // position of the last check of the disk space
}

// newTemporaryFile creates a file in the temporary folder.
func (p *Previews) newTemporaryFile() (*temporaryFile, error) {
	if err := p.CheckSpace(); err != nil {
		return nil, err
	}
	token, err := secret.NewToken(p.Rand)
	if err != nil {
		return nil, err
	}
	path, release := p.vault.Blobs.ReserveTmp("searchable-" + token[:12])
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- a random name in the temporary folder
	if err != nil {
		release()
		return nil, diskError(err)
	}
	return &temporaryFile{f, p, release, 0}, nil
}

// WriteAt writes to the file. It returns InsufficientStorage if the disk is nearly full.
func (t *temporaryFile) WriteAt(b []byte, off int64) (int, error) {
	if off-t.checkedAt >= spaceInterval {
		if err := t.previews.CheckSpace(); err != nil {
			return 0, err
		}
		t.checkedAt = off
	}
	return t.File.WriteAt(b, off)
}

// Close closes and removes the file.
func (t *temporaryFile) Close() error {
	defer t.release()
	return errors.Join(t.File.Close(), os.Remove(t.Name()))
}

// diskError returns InsufficientStorage if a file wasn't written because the disk is full.
func diskError(err error) error {
	if durable.IsDiskFull(err) {
		return errs.DiskFull(err)
	}
	return err
}

// discard is Close for a file that nothing needs anymore.
func (t *temporaryFile) discard() {
	if err := t.Close(); err != nil {
		t.previews.Log.Warn("temporary file not removed", "error", err)
	}
}
