package jobs

import (
	"context"
	"errors"
	"io/fs"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
)

// TextStatus says how much of the text of a document is known. The values are those of the API.
type TextStatus string

// The values of TextStatus.
const (
	TextPending  TextStatus = "pending"  // no text is available yet
	TextPartial  TextStatus = "partial"  // some pages have text, and others wait for OCR
	TextComplete TextStatus = "complete" // all pages were read
	TextNone     TextStatus = "none"     // all pages were read, and none has text
)

// TextPart is a part of the text of a document.
type TextPart struct {
	Status TextStatus
	Pages  []pagetext.Page // pages without text have SourceNone
	Offset int             // number of pages before the part
	Next   int             // offset of the next part, or 0 if there is none
	Bytes  int             // length of the text in Pages
}

// PageTexts returns up to limit pages of a document's text, starting after offset pages, and what
// is known about the complete text. It stops before maxBytes are exceeded, but returns at least one
// page. For a document that is shown as images, it includes the pages without text. It returns
// NotFound if the document doesn't exist.
func (p *Previews) PageTexts(ctx context.Context, actor model.Actor, id uint64, offset, limit, maxBytes int) (TextPart, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return TextPart{}, err
	}
	// This must be known before the text is read, so that "complete" and "none" are final.
	waits, err := p.waitsForText(file)
	ownMissing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !ownMissing {
		return TextPart{}, err
	}
	c := textCollector{TextPart: TextPart{Offset: offset}, limit: limit, maxBytes: maxBytes, fill: file.ShownAsImages()}
	if file.Processing {
		err = p.vault.Texts.ReadAvailable(file.Digest, c.add)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // it is being extracted
		}
	} else {
		err = p.readText(ctx, actor, file, c.add)
		if errs.KindOf(err) == errs.NotFound {
			err = nil // this document has no text of its own
		}
	}
	if err != nil {
		return TextPart{}, err
	}
	if c.fill {
		c.fillUpTo(max(file.PageCount(), 1))
	}
	if ownMissing { // readText has extracted it again, if that is possible
		if waits, err = p.waitsForText(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return TextPart{}, err
		}
	}
	c.Status = textStatus(waits, c.found)
	return c.TextPart, nil
}

// waitsForText reports whether more text may be found in a document. It returns the errors of
// pagetext.Store.State.
func (p *Previews) waitsForText(file model.File) (bool, error) {
	if file.Processing {
		return true, nil
	}
	state, err := p.vault.Texts.State(file)
	return len(state.Missing) > 0, err
}

// textStatus returns the status of a document's text. found says whether any page has text.
func textStatus(waits, found bool) TextStatus {
	switch {
	case waits && found:
		return TextPartial
	case waits:
		return TextPending
	case found:
		return TextComplete
	}
	return TextNone
}

// textCollector collects a part of the text of a document.
type textCollector struct {
	TextPart
	limit, maxBytes int
	fill            bool // include pages without text
	last            int  // number of the last page
	count           int  // pages so far, including those that aren't in the part
	found           bool // a page has text
}

// add adds the next page and, if the collector includes them, the pages without text before it.
func (c *textCollector) add(page pagetext.Page) error {
	if page.Source == pagetext.SourceNone {
		return nil
	}
	if c.fill {
		c.fillUpTo(page.Number - 1)
	}
	c.found = true
	c.put(page)
	return nil
}

func (c *textCollector) fillUpTo(number int) {
	for c.last < number {
		c.put(pagetext.Page{Number: c.last + 1, Source: pagetext.SourceNone})
	}
}

func (c *textCollector) put(page pagetext.Page) {
	c.last = page.Number
	c.count++
	if c.count <= c.Offset || c.Next > 0 {
		return
	}
	if n := len(c.Pages); n == c.limit || n > 0 && c.Bytes+len(page.Text) > c.maxBytes {
		c.Next = c.count - 1
		return
	}
	c.Pages = append(c.Pages, page)
	c.Bytes += len(page.Text)
}
