// Package jobs processes uploaded documents. It extracts their text, reads scanned pages
// (OCR), renders thumbnails and page images, retries failures, and rebuilds missing text. It
// also serves previews, text, searchable PDFs, and searches within a document.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"deedkeep/app/blob"
	"deedkeep/app/blobstore"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

const (
	// ThumbnailWidth is the width of new thumbnails in pixels. Pages show them 36 CSS pixels wide,
	// which is sharp up to four device pixels per CSS pixel.
	ThumbnailWidth = 144
	// MaxThumbnailWidth is the width of the thumbnails that earlier versions stored, which are
	// still served.
	MaxThumbnailWidth = 400
)

// Previews generates, stores, and serves the text, thumbnails, and page images of
// documents.
type Previews struct {
	*txn.DB
	vault    *vault.Vault
	previews *blobstore.Previews
	reader   vault.Reader
	limits   document.ExtractLimits
	deadline time.Duration // time limit for a search within a document, including the wait for the lock

	maxSearchable  int // pages of a searchable PDF
	openSearchable openCounts
	creating       openCounts // documents that are created from pages

	ocr   *OCR      // reads pages without text; nil until NewOCR
	locks keyedLock // one per image being generated and per user searching in a document
}

// NewPreviews returns the previews of a vault. maxSearchable is the maximum number of pages of a
// searchable PDF (0: DefaultSearchablePages), and searchablePerUser is the number of searchable
// PDFs that one actor may have open (0: DefaultSearchablePerUser). deadline is the time limit for a search within a document.
func NewPreviews(v *vault.Vault, limits document.ExtractLimits, maxSearchable, searchablePerUser int, deadline time.Duration) *Previews {
	return &Previews{DB: v.DB, vault: v, previews: v.Previews, reader: v.Reader, limits: limits,
		maxSearchable: cmp.Or(maxSearchable, DefaultSearchablePages), deadline: deadline,
		openSearchable: openCounts{max: cmp.Or(searchablePerUser, DefaultSearchablePerUser), byOwner: map[string]int{},
			full: "You are already downloading searchable PDFs (%d). Try again when a download is complete."},
		creating: openCounts{max: maxCreatedAtOnce, byOwner: map[string]int{},
			full: "You are already creating documents from pages (%d). Try again when one is complete."}}
}

// documentFailures maps permanent errors of a document to the sentences that users see. If
// the sentence is empty, the document type doesn't have such a part, which is not a
// failure.
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

// failureMessage returns the sentence for a part that couldn't be generated. final is false
// for a server error, because it may be temporary.
func failureMessage(label string, err error) (sentence string, final bool) {
	if err == nil {
		return "", true
	}
	for _, f := range documentFailures {
		switch {
		case !errors.Is(err, f.err):
		case f.sentence == "":
			return "", true
		default:
			return fmt.Sprintf("%s: %s.", label, f.sentence), true
		}
	}
	return "", false
}

// generate creates the text, thumbnail, and page sizes of a file unless they are already
// stored. failure says what is wrong with the document, if anything. If there is an error
// instead, a later attempt may succeed.
func (p *Previews) generate(ctx context.Context, file model.File, owner string) (failure string, err error) {
	var failures []string
	for _, part := range []struct {
		label string
		name  string
		make  func(context.Context, model.File, string, sandbox.Class) error
	}{
		{model.FailureNoText, blobstore.TextFile, p.generateText},
		{model.FailureNoPreview, blobstore.ThumbnailFile, p.generateThumbnail},
		{"", blobstore.PageSizesFile, p.generateSizes}, // no message: the thumbnail fails for the same reason
	} {
		if p.isIntact(file.Digest, part.name) {
			continue
		}
		err := part.make(ctx, file, owner, sandbox.Background)
		sentence, final := failureMessage(part.label, err)
		if !final {
			return "", err
		}
		if sentence != "" && part.label != "" {
			p.Log.Info("document can't be processed", "file", file.ID, "error", err)
			failures = append(failures, sentence)
		}
	}
	return strings.Join(failures, " "), nil
}

// isIntact reports whether a part is stored. For text, it also verifies the checksum.
func (p *Previews) isIntact(digest, name string) bool {
	if name != blobstore.TextFile {
		return p.previews.Has(digest, name)
	}
	return p.previews.CheckText(digest) == nil
}

// textState returns which pages of a processed file have text and which need OCR, or nil if
// the text can't be read.
func (p *Previews) textState(file model.File, failure string) *pagetext.State {
	file.Processing, file.Failure = false, failure
	state, err := p.vault.Texts.State(file)
	if err != nil {
		return nil // the text was deleted or damaged in the meantime, or the disk can't be read
	}
	return &state
}

// openRequest opens a file for the sandbox. The caller must call done to close it. For
// views, openRequest returns an error if the document is known to be damaged. Background
// processing reads it anyway, because it is retried later.
func (p *Previews) openRequest(ctx context.Context, file model.File, owner string, class sandbox.Class) (r sandbox.Request,
	done func(), err error) {
	doc, err := p.openBytes(ctx, file, class)
	if err != nil {
		return r, nil, err
	}
	ext, _ := document.Extension(file.Filename) // the extension was checked during the upload
	r = sandbox.Request{Doc: doc, Size: file.Size, MIME: file.MIME, Ext: ext, Owner: owner, Class: class}
	return r, func() { _ = doc.Close() }, nil // the document was only read
}

func (p *Previews) openBytes(ctx context.Context, file model.File, class sandbox.Class) (blob.Reader, error) {
	if class != sandbox.View {
		return p.vault.OpenBytes(ctx, file)
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
		// Without this marker, every request for the text would try to extract it again.
		markErr := p.storePreview(ctx, file.Digest, blobstore.NoTextFile, func(w io.Writer) error {
			_, err := io.WriteString(w, "none\n")
			return err
		})
		if markErr != nil {
			return markErr // a server error, so the file is retried
		}
	}
	return err
}

// markTextChanged makes the search index read the rebuilt text of a file. If this fails,
// the text is read when the search index is rebuilt.
func (p *Previews) markTextChanged(ctx context.Context, file model.File) {
	digest, err := blobstore.ParseDigest(file.Digest)
	if err == nil && !file.Processing { // the end of processing marks the file as changed anyway
		err = p.Store.Update(context.WithoutCancel(ctx), nil, func(t *store.Tx) error {
			t.MarkDigestChanged(digest, MaxDuplicatesMarked)
			return nil
		})
	}
	if err != nil && !errs.NotWritable(err) {
		p.Log.Warn("new document text not added to the search queue", "file", file.ID, "error", err)
	}
}

// MaxDuplicatesMarked is the maximum number of documents with the same content that are
// marked as changed in one commit.
const MaxDuplicatesMarked = 1000

func (p *Previews) generateSizes(ctx context.Context, file model.File, owner string, class sandbox.Class) error {
	_, err := p.readSizes(ctx, file, owner, class)
	return err
}

func (p *Previews) generateThumbnail(ctx context.Context, file model.File, owner string, class sandbox.Class) error {
	return p.generateImage(ctx, file, owner, class, blobstore.ThumbnailFile, 1, ThumbnailWidth)
}

func (p *Previews) generateImage(ctx context.Context, file model.File, owner string, class sandbox.Class, name string, page,
	width int) error {
	r, done, err := p.openRequest(ctx, file, owner, class)
	if err != nil {
		return err
	}
	defer done()
	// A user who pages quickly cancels requests. Finish the image anyway for the next one
	// who views the page.
	r.RunToCompletion = class == sandbox.View
	image, err := p.reader.PageImage(ctx, r, page, width, p.limits)
	if err != nil {
		return err
	}
	return p.storePreview(context.WithoutCancel(ctx), file.Digest, name, func(w io.Writer) error {
		_, err := w.Write(image.Bytes)
		return err
	})
}

// storePreview writes a derived file of a document. If the last record with that digest was
// purged in the meantime, it removes the file again, because the sweeper may already have
// run.
func (p *Previews) storePreview(ctx context.Context, digest, name string, write func(io.Writer) error) error {
	if err := p.Store.CheckFile(); err != nil {
		return err // if the data directory is gone, don't create the folder on another disk
	}
	if err := p.previews.Put(digest, name, write); err != nil {
		return err
	}
	d, err := blobstore.ParseDigest(digest)
	if err != nil {
		return err
	}
	used, err := store.Read(ctx, p.Store, func(t *store.Tx) (bool, error) { return t.DigestInUse(d), nil })
	if err != nil || used {
		return err
	}
	return errors.Join(errs.RecordNotFound("document", digest), p.previews.Remove(digest))
}

// Thumbnail opens the thumbnail of a file's first page, which is a PNG or JPEG, and
// generates it if needed. The caller must close it. Thumbnail returns NotFound if the file
// doesn't exist or doesn't have a thumbnail.
func (p *Previews) Thumbnail(ctx context.Context, actor model.Actor, id uint64) (*blobstore.PreviewFile, error) {
	return p.image(ctx, actor, id, blobstore.ThumbnailFile, 1, ThumbnailWidth)
}

// PageImage opens the image of a page, which is a PNG or JPEG. Page numbers start at 1.
// width is the maximum width in pixels. The image is generated on the first request and
// then cached. PageImage returns NotFound if the file, the page, or its image doesn't
// exist.
func (p *Previews) PageImage(ctx context.Context, actor model.Actor, id uint64, page, width int) (*blobstore.PreviewFile, error) {
	width = min(max(width, 1), p.limits.WithDefaults().MaxWidth)
	return p.image(ctx, actor, id, blobstore.PageImageFile(page, width), page, width)
}

func (p *Previews) image(ctx context.Context, actor model.Actor, id uint64, name string, page, width int) (*blobstore.PreviewFile, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	image, err := p.previews.Open(file.Digest, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return image, err
	}
	err = p.ensureImage(ctx, actor, file, name, page, width)
	switch {
	case sandbox.IsDocumentError(err):
		return nil, &errs.Error{Kind: errs.NotFound, Message: "This page has no preview.", Err: err}
	case err != nil:
		return nil, err
	}
	// Open the image before the eviction, which may remove it.
	image, err = p.previews.Open(file.Digest, name)
	if err := p.previews.Evict(ctx); err != nil {
		p.Log.Warn("old page previews not deleted", "error", err)
	}
	return image, err
}

// Text calls fn for each page of a file that has text, in order, until fn returns an error.
// If the text is missing or damaged, Text regenerates it. It returns NotFound if the file
// doesn't exist or can't have text.
func (p *Previews) Text(ctx context.Context, actor model.Actor, id uint64, fn func(page int, text string) error) error {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return err
	}
	return p.readText(ctx, actor, file, func(page pagetext.Page) error {
		if page.Source == pagetext.SourceNone {
			return nil
		}
		return fn(page.Number, page.Text)
	})
}

// errNoText is the error for a document that can't have text.
func errNoText(cause error) error {
	return &errs.Error{Kind: errs.NotFound, Message: "This document has no text.", Err: cause}
}

// readText calls fn for each page that has text or was read by OCR, in order. It returns the
// errors of Text.
func (p *Previews) readText(ctx context.Context, actor model.Actor, file model.File, fn func(pagetext.Page) error) error {
	p.prefer(actor, file)
	last := 0
	skipSeen := func(page pagetext.Page) error {
		if page.Number <= last {
			return nil // this page was passed to fn before the damage was found
		}
		last = page.Number
		return fn(page)
	}
	err := p.vault.Texts.Read(file.Digest, skipSeen)
	switch {
	case err == nil && last == 0 && p.previews.Has(file.Digest, blobstore.NoTextFile):
		return errNoText(nil)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err = p.generateText(ctx, file, actor.Record(), sandbox.View)
	switch {
	case sandbox.IsDocumentError(err):
		// The document can't have its own text, but OCR may have read some pages.
		if readErr := p.vault.Texts.ReadAvailable(file.Digest, skipSeen); readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			return readErr
		}
		if last == 0 {
			return errNoText(err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("read text of document %d: %w", file.ID, err)
	}
	p.markTextChanged(ctx, file)
	return p.vault.Texts.Read(file.Digest, skipSeen)
}

// prefer makes OCR read a document before the others of its owner because a user opened it. A program
// that asks for the text of its documents again and again doesn't change their order.
func (p *Previews) prefer(actor model.Actor, file model.File) {
	if p.ocr != nil && actor.Kind != model.ActorKey && file.WaitsForOCR() {
		p.ocr.Prefer(file.ID)
	}
}
