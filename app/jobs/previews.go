package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// ThumbnailWidth is the width of thumbnails in pixels.
const ThumbnailWidth = 400

// Previews makes and stores what is derived from documents: texts, thumbnails, and page
// images.
type Previews struct {
	*txn.DB
	vault    *vault.Vault
	previews *blobstore.Previews
	reader   vault.Reader
	limits   document.ExtractLimits
	deadline time.Duration // of a look through a document, waiting included
	locks    keyedLock     // page images that readers wait for
}

// NewPreviews returns the previews of a vault.
func NewPreviews(v *vault.Vault, limits document.ExtractLimits, deadline time.Duration) *Previews {
	return &Previews{DB: v.DB, vault: v, previews: v.Previews, reader: v.Reader, limits: limits, deadline: deadline}
}

// documentFailures are the reader's final words about a document, for people; what there is
// nothing to have of is no failure.
var documentFailures = []struct {
	err      error
	sentence string
}{
	{document.ErrUnsupported, ""},
	{document.ErrTooLarge, "the document is beyond the limits"},
	{document.ErrDamaged, "the document is damaged"},
	{document.ErrNoPage, "the document has no such page"},
	{sandbox.ErrDeadline, model.FailureTooSlow},
	{sandbox.ErrMemory, model.FailureTooMuchMemory},
}

// failureMessage is the sentence for what came of a part; final is false for trouble of
// ours, which may pass.
func failureMessage(what string, err error) (sentence string, final bool) {
	if err == nil {
		return "", true
	}
	for _, f := range documentFailures {
		switch {
		case !errors.Is(err, f.err):
		case f.sentence == "":
			return "", true
		default:
			return fmt.Sprintf("%s: %s.", what, f.sentence), true
		}
	}
	return "", false
}

// generate makes a file's text, thumbnail and sizes, where they are not there yet. failure
// is what is wrong with the document; an error is trouble of ours that may pass.
func (p *Previews) generate(ctx context.Context, file model.File, owner string) (failure string, err error) {
	var failures []string
	for _, part := range []struct {
		what string
		name string
		make func(context.Context, model.File, string, sandbox.Class) error
	}{
		{model.FailureNoText, blobstore.TextFile, p.generateText},
		{model.FailureNoPreview, blobstore.ThumbnailFile, p.generateThumbnail},
		{"", blobstore.PageSizesFile, p.generateSizes}, // without them there is no picture either
	} {
		if p.isIntact(file.Digest, part.name) {
			continue
		}
		err := part.make(ctx, file, owner, sandbox.Background)
		sentence, final := failureMessage(part.what, err)
		if !final {
			return "", err
		}
		if sentence != "" && part.what != "" {
			p.Log.Info("a document cannot be processed", "file", file.ID, "error", err)
			failures = append(failures, sentence)
		}
	}
	return strings.Join(failures, " "), nil
}

// isIntact reports that a part is there, and a text as it was written.
func (p *Previews) isIntact(digest, name string) bool {
	if name != blobstore.TextFile {
		return p.previews.Has(digest, name)
	}
	return p.previews.CheckText(digest) == nil
}

// textPages counts the pages of a file that have text, of what is kept of it; nil where
// that cannot be told.
func (p *Previews) textPages(file model.File, failure string) *int {
	n := 0
	err := p.previews.ReadText(file.Digest, func(_ int, text string) error {
		if strings.TrimSpace(text) != "" {
			n++
		}
		return nil
	})
	file.Failure = failure
	none := errors.Is(err, fs.ErrNotExist) && (p.previews.Has(file.Digest, blobstore.NoTextFile) || file.MissingText())
	if err != nil && !none {
		return nil
	}
	return &n
}

// openRequest opens a file's bytes for the reader; done closes them.
// Someone who looks at a document gets nothing of one that is known to be damaged; for
// the processing, which is tried again, its bytes are as good as the disk gives them.
func (p *Previews) openRequest(ctx context.Context, file model.File, owner string, class sandbox.Class) (r sandbox.Request, done func(), err error) {
	doc, err := p.openBytes(ctx, file, class)
	if err != nil {
		return r, nil, err
	}
	ext, _ := document.Extension(file.Filename) // it was accepted by it
	r = sandbox.Request{Doc: doc, Size: file.Size, MIME: file.MIME, Ext: ext, Owner: owner, Class: class}
	return r, func() { _ = doc.Close() }, nil // only read
}

func (p *Previews) openBytes(ctx context.Context, file model.File, class sandbox.Class) (*os.File, error) {
	if class != sandbox.View {
		return p.vault.OpenBytes(file)
	}
	doc, unverified, err := p.vault.OpenVerified(ctx, file)
	if unverified != nil {
		p.vault.VerifySoon(unverified.Digest())
	}
	return doc, err
}

func (p *Previews) generateText(ctx context.Context, file model.File, owner string, class sandbox.Class) error {
	r, done, err := p.openRequest(ctx, file, owner, class)
	if err != nil {
		return err
	}
	defer done()
	err = p.storePreview(ctx, file.Digest, blobstore.TextFile, func(w io.Writer) error {
		text, err := blobstore.NewTextWriter(w)
		if err != nil {
			return err
		}
		return errors.Join(p.reader.Text(ctx, r, p.limits, text.Page), text.Close())
	})
	if errors.Is(err, document.ErrUnsupported) {
		// Else a text that is missing would be looked for again and again.
		noted := p.storePreview(ctx, file.Digest, blobstore.NoTextFile, func(w io.Writer) error {
			_, err := io.WriteString(w, "none\n")
			return err
		})
		if noted != nil {
			return noted // and not final
		}
	}
	return err
}

// markTextChanged tells the index of text that is there again. What it does not come to know
// so, it knows when it is made anew.
func (p *Previews) markTextChanged(ctx context.Context, file model.File) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err == nil && !file.Processing { // whose end tells of it
		err = p.Store.Update(context.WithoutCancel(ctx), nil, func(t *store.Tx) error {
			t.MarkDigestChanged(digest, MaxDuplicatesMarked)
			return nil
		})
	}
	if err != nil && !txn.NotWritable(err) {
		p.Log.Warn("the search index does not know of a text", "file", file.ID, "error", err)
	}
}

// twinsTouched bounds how many documents of the same bytes one commit tells of.
const MaxDuplicatesMarked = 1000

func (p *Previews) generateSizes(ctx context.Context, file model.File, owner string, class sandbox.Class) error {
	_, err := p.readSizes(ctx, file, owner, class)
	return err
}

func (p *Previews) generateThumbnail(ctx context.Context, file model.File, owner string, class sandbox.Class) error {
	return p.generateImage(ctx, file, owner, class, blobstore.ThumbnailFile, 1, ThumbnailWidth)
}

func (p *Previews) generateImage(ctx context.Context, file model.File, owner string, class sandbox.Class, name string, page, width int) error {
	r, done, err := p.openRequest(ctx, file, owner, class)
	if err != nil {
		return err
	}
	defer done()
	// Somebody who turns pages fast waits for none of them; the next reader will.
	r.RunToCompletion = class == sandbox.View
	picture, err := p.reader.Picture(ctx, r, page, width, p.limits)
	if err != nil {
		return err
	}
	return p.storePreview(context.WithoutCancel(ctx), file.Digest, name, func(w io.Writer) error {
		_, err := w.Write(picture.Bytes)
		return err
	})
}

// storePreview keeps what was made of a document, unless its last record was purged
// meanwhile: the sweep may have been here already.
func (p *Previews) storePreview(ctx context.Context, digest, name string, write func(io.Writer) error) error {
	if err := p.Store.CheckFile(); err != nil {
		return err // before its folder is created elsewhere
	}
	if err := p.previews.Put(digest, name, write); err != nil {
		return err
	}
	d, err := blobstore.ParseDigest(digest)
	if err != nil {
		return err
	}
	used := false
	err = p.Store.View(ctx, func(t *store.Tx) error {
		used = t.DigestInUse(d)
		return nil
	})
	if err != nil || used {
		return err
	}
	return errors.Join(errs.RecordNotFound("document", digest), p.previews.Remove(digest))
}

// Thumbnail opens a small picture of a file's first page, PNG or JPEG, which the
// caller closes. NotFound when there is no such file, or it has no picture.
func (p *Previews) Thumbnail(ctx context.Context, actor model.Actor, id uint64) (*blobstore.PreviewFile, error) {
	return p.image(ctx, actor, id, blobstore.ThumbnailFile, 1, ThumbnailWidth)
}

// PageImage opens a picture of a page, from 1, PNG or JPEG, at most that many pixels
// wide; it is made on the first need and kept. NotFound when there is no such file
// or page, or it has no picture.
func (p *Previews) PageImage(ctx context.Context, actor model.Actor, id uint64, page, width int) (*blobstore.PreviewFile, error) {
	width = min(max(width, 1), p.maxWidth())
	return p.image(ctx, actor, id, blobstore.PageImageFile(page, width), page, width)
}

func (p *Previews) maxWidth() int {
	if p.limits.MaxWidth > 0 {
		return p.limits.MaxWidth
	}
	return document.DefaultExtractLimits().MaxWidth
}

func (p *Previews) image(ctx context.Context, actor model.Actor, id uint64, name string, page, width int) (*blobstore.PreviewFile, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	picture, err := p.previews.Open(file.Digest, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return picture, err
	}
	err = p.ensureImage(ctx, actor, file, name, page, width)
	switch {
	case sandbox.IsDocumentError(err):
		return nil, &errs.Error{Kind: errs.NotFound, Message: "There is no picture of this page.", Err: err}
	case err != nil:
		return nil, err
	}
	// Opened first: the trimming may take this very one.
	picture, err = p.previews.Open(file.Digest, name)
	if err := p.previews.Evict(ctx); err != nil {
		p.Log.Warn("pictures of pages are not trimmed", "error", err)
	}
	return picture, err
}

// Text calls fn for each page of a file that has text, in order, until fn returns
// an error. It is made again when it is missing or damaged. NotFound when there is
// no such file, or it can have no text.
func (p *Previews) Text(ctx context.Context, actor model.Actor, id uint64, fn func(page int, text string) error) error {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return err
	}
	last := 0
	further := func(page int, text string) error {
		if page <= last {
			return nil // given before the damage
		}
		last = page
		return fn(page, text)
	}
	err = p.previews.ReadText(file.Digest, further)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = p.generateText(ctx, file, actor.Record(), sandbox.View)
	switch {
	case sandbox.IsDocumentError(err):
		return &errs.Error{Kind: errs.NotFound, Message: "There is no text of this document.", Err: err}
	case err != nil:
		return fmt.Errorf("text of file %d: %w", id, err)
	}
	p.markTextChanged(ctx, file)
	return p.previews.ReadText(file.Digest, further)
}
