package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/blob"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/model/origin"
	"deedkeep/app/pdf"
	"deedkeep/app/sandbox"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// PagesDraft is the input for a new document that consists of pages of documents.
type PagesDraft struct {
	Name       model.Input   // filename, sanitized like that of an upload; the extension may be missing
	AbstractID model.IDInput // at most one of AbstractID and FolderID may be set; none: all documents
	FolderID   model.IDInput
	Parts      []PagesPart
	NotArray   bool // the parts aren't an array
}

// PagesPart is a document and the pages of it that a new document gets.
type PagesPart struct {
	FileID model.IDInput
	Pages  model.Input   // such as "3-7"; missing or blank: all pages
	Rotate model.IDInput // degrees clockwise, beyond how the page is shown
}

// Codes of invalid parts.
const (
	wrongPages   errs.Code = "The {field} field must be a list of pages up to %d, such as 3-7 or 1,3-5."
	wrongRotate  errs.Code = "The {field} field must be 0, 90, 180, or 270."
	withoutPages errs.Code = "The {field} field must be the ID of a PDF, TIFF, or image file."
	tooManyPages errs.Code = "The {field} field must not have more than %d pages."
	notCopied    errs.Code = "The pages of the {field} can't be copied: %s"
)

// maxCreatedAtOnce is how many documents an actor can create from pages at the same time.
const maxCreatedAtOnce = 2

// newPages is a valid PagesDraft.
type newPages struct {
	name     string
	abstract uint64
	parts    []filePages
	origin   []origin.Part
}

// filePages are pages of a document.
type filePages struct {
	file  model.File
	pages []pdf.PageTurn
}

// CreateFromPages creates a PDF of pages of documents and stores it as a new document, like an upload. The
// documents stay as they are. The pages are rotated as they are shown. It returns the result of
// Abstracts.Attach or Files.Upload, in which the new document is the last one. It returns Invalid, listing
// every invalid field, Conflict if the abstract is full, or NotFound if a document is damaged.
func (p *Previews) CreateFromPages(ctx context.Context, actor model.Actor, draft PagesDraft,
	idempotency vault.Idempotency[vault.AbstractWithFiles]) (result vault.AbstractWithFiles, err error) {
	end, err := p.creating.begin(actor.Record())
	if err != nil {
		return result, err
	}
	defer end()
	checked, err := store.Read(ctx, p.Store, func(t *store.Tx) (newPages, error) { return p.checkPages(t, draft) })
	if err != nil {
		return result, err
	}
	out, err := p.newTemporaryFile()
	if err != nil {
		return result, err
	}
	defer out.discard()
	upload, err := p.vault.Files.Stage(ctx)
	if err != nil {
		return result, err
	}
	defer upload.Discard()
	size, err := p.writePages(ctx, actor, checked.parts, out)
	if err != nil {
		return result, err
	}
	upload.Origin = checked.origin
	if err := upload.Add(checked.name, io.NewSectionReader(out, 0, size)); err != nil {
		return result, err
	}
	if rejection, err := p.vault.Files.CheckImport(upload); err != nil || rejection != "" {
		if err == nil {
			err = errs.InvalidField("parts", notCopied, rejection+".")
		}
		return result, err
	}
	if checked.abstract != 0 {
		return p.vault.Abstracts.Attach(ctx, actor, checked.abstract, model.UploadDraft{}, upload, idempotency)
	}
	return p.vault.Files.Upload(ctx, actor, model.UploadDraft{FolderID: draft.FolderID}, upload, idempotency)
}

// writePages writes the PDF to out and returns its size.
func (p *Previews) writePages(ctx context.Context, actor model.Actor, list []filePages, out *temporaryFile) (int64, error) {
	var parts []sandbox.Part
	var open []func() // close the documents
	defer func() {
		for _, done := range open {
			done()
		}
	}()
	opened := map[string]blob.Reader{}
	for _, part := range list {
		doc, found := opened[part.file.Digest]
		if !found {
			var err error
			if doc, err = p.openIntact(ctx, part.file); err != nil {
				return 0, err
			}
			opened[part.file.Digest] = doc
			open = append(open, func() { _ = doc.Close() }) // the document was only read
		}
		parts = append(parts, sandbox.Part{Doc: doc, Size: part.file.Size, MIME: part.file.MIME, Pages: part.pages})
	}
	limits := p.limits
	limits.MaxPages = document.MaxPages
	r := sandbox.Request{Owner: actor.Record(), Class: sandbox.View}
	size, err := p.reader.Assemble(ctx, r, parts, limitedWriter{out, p.vault.Settings.MaxFileSize}, limits)
	switch {
	case errors.Is(err, errFileTooLarge), errors.Is(err, document.ErrTooLarge):
		err = errs.InvalidField("parts", notCopied, "the new document is too large. Choose fewer pages.")
	case errors.Is(err, document.ErrUnsupported):
		err = errs.InvalidField("parts", notCopied, "a document is protected by a password.")
	case sandbox.IsDocumentError(err):
		sentence, _ := failureMessage("Document", err)
		err = errs.InvalidField("parts", notCopied, strings.TrimPrefix(sentence, "Document: "))
	case err != nil:
		err = diskError(err)
	}
	return size, err
}

// openIntact opens a document and verifies all of it first, because damaged pages would be intact in a new document.
func (p *Previews) openIntact(ctx context.Context, file model.File) (blob.Reader, error) {
	if err := p.vault.Files.KnownDamage(file); err != nil {
		return nil, err
	}
	_, content, err := p.vault.Files.Open(ctx, file.ID)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, content)
	if err = errors.Join(err, content.Close()); err != nil {
		return nil, cmp.Or(p.vault.Files.KnownDamage(file), err)
	}
	return p.vault.OpenBytes(ctx, file)
}

var errFileTooLarge = errors.New("the new document is too large")

// limitedWriter fails if a file becomes larger than max bytes.
type limitedWriter struct {
	io.WriterAt
	max int64
}

// WriteAt implements io.WriterAt.
func (l limitedWriter) WriteAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > l.max {
		return 0, errFileTooLarge
	}
	return l.WriterAt.WriteAt(b, off)
}

// checkPages validates a draft.
func (p *Previews) checkPages(t *store.Tx, d PagesDraft) (checked newPages, err error) {
	var f errs.Fields
	checked.name = model.File{Filename: "new.pdf"}.CompleteFilename(d.Name.Value)
	switch {
	case d.Name.Kind != model.InputMissing && d.Name.Kind != model.InputString:
		f.Add("name", errs.NotString)
	case checked.name == "":
		f.Add("name", errs.Required)
	case len(checked.name) > model.MaxNameLength:
		f.Add("name", errs.TooLong, model.MaxNameLength)
	}
	if checked.abstract, err = p.checkTarget(t, d, &f); err != nil {
		return checked, err
	}
	total, limit := 0, p.vault.Settings.InspectLimits.MaxPDFPages
	switch {
	case d.NotArray:
		f.Add("parts", errs.NotArray)
	case len(d.Parts) == 0:
		f.Add("parts", errs.Required)
	case len(d.Parts) > limit:
		f.Add("parts", errs.TooMany, limit)
		return checked, f.Err()
	}
	for n, part := range d.Parts {
		pages, from, err := checkPart(t, part, fmt.Sprintf("parts.%d.", n), &f, limit)
		if err != nil {
			return checked, err
		}
		total += len(pages.pages)
		checked.parts, checked.origin = append(checked.parts, pages), append(checked.origin, from)
	}
	if total > limit {
		f.Add("parts", tooManyPages, limit)
	}
	return checked, f.Err()
}

// checkTarget validates where a new document belongs, and returns its abstract.
func (p *Previews) checkTarget(t *store.Tx, d PagesDraft, f *errs.Fields) (uint64, error) {
	folder, in := d.FolderID, d.AbstractID
	switch {
	case !folder.Present:
	case !folder.Valid:
		f.Add("folder_id", errs.NotInteger)
	case folder.Value <= 0 || !t.HasFolder(uint64(folder.Value)):
		f.Add("folder_id", errs.InvalidChoice)
	}
	if !in.Present {
		return 0, nil
	}
	if folder.Present {
		f.Add("abstract_id", errs.NotCombinable, "folder_id")
		return 0, nil
	}
	abstract, err := t.Abstract(uint64(max(in.Value, 0)))
	if errs.KindOf(err) == errs.NotFound {
		f.Add("abstract_id", errs.InvalidChoice)
		return 0, nil
	}
	if err == nil && len(abstract.Files) >= p.vault.MaxFilesPerAbstract() {
		err = &errs.Error{Kind: errs.Conflict, Message: document.ReasonAbstractFull + "."}
	}
	return abstract.ID, err
}

// checkPart validates a part. It returns at most one page more than limit.
func checkPart(t *store.Tx, d PagesPart, prefix string, f *errs.Fields, limit int) (part filePages, from origin.Part, err error) {
	switch {
	case !d.FileID.Present:
		f.Add(prefix+"file_id", errs.Required)
		return part, from, nil
	case !d.FileID.Valid:
		f.Add(prefix+"file_id", errs.NotInteger)
		return part, from, nil
	}
	if part.file, err = t.File(uint64(max(d.FileID.Value, 0))); errs.KindOf(err) == errs.NotFound {
		f.Add(prefix+"file_id", errs.InvalidChoice)
		return part, from, nil
	}
	if err != nil {
		return part, from, err
	}
	if !part.file.ShownAsImages() {
		f.Add(prefix+"file_id", withoutPages)
		return part, from, nil
	}
	turns := d.Rotate.Value
	if d.Rotate.Present && (!d.Rotate.Valid || !slices.Contains([]int64{0, 90, 180, 270}, turns)) {
		f.Add(prefix+"rotate", wrongRotate)
	}
	count := max(part.file.PageCount(), 1)
	text := d.Pages.Value
	if strings.TrimSpace(text) == "" {
		text = model.PageRange(1, count)
	}
	list, last, ok := model.ParsePages(text)
	if d.Pages.Kind != model.InputMissing && d.Pages.Kind != model.InputString || !ok || last > count {
		f.Add(prefix+"pages", wrongPages, count)
		return part, from, nil
	}
	shown := part.file.ShownTurns()
	for _, page := range pageNumbers(list, limit+1) {
		part.pages = append(part.pages, pdf.PageTurn{Page: page, Turns: (shown.Of(page) + int(turns)/90) % 4})
	}
	return part, origin.Part{FileID: part.file.ID, Filename: part.file.Filename, Pages: list, Rotate: int(turns)}, nil
}

// pageNumbers returns at most limit pages of a list that ParsePages returned.
func pageNumbers(list string, limit int) (pages []int) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		low, _ := strconv.Atoi(from)
		high := low
		if isRange {
			high, _ = strconv.Atoi(to)
		}
		for page := low; page <= high && len(pages) < limit; page++ {
			pages = append(pages, page)
		}
	}
	return pages
}
