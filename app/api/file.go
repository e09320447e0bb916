package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
	"deedkeep/app/search"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

// fileHandler serves uploads and the routes under /v1/file-vault/files.
type fileHandler struct {
	recordHandler[model.File, model.FilePatch]
	service *vault.Files
	search  *search.Service
}

func newFileHandler(s *server) fileHandler {
	v := s.App.Files
	patchOf := func(_ *request, body patchBody) model.FilePatch {
		return model.FilePatch{Filename: body.filename("filename"), FolderID: body.number("folder_id"),
			AbstractID: body.opaque("abstract_id", s.abstracts)}
	}
	return fileHandler{recordHandler[model.File, model.FilePatch]{
		server: s, etag: s.etags[fileType], find: v.Get, change: v.Patch, remove: v.Trash, undo: v.Restore,
		id:      (*request).numberID,
		fields:  []string{"filename", "folder_id", "abstract_id"},
		patchOf: patchOf,
		render: func(r *request, f model.File) response {
			return response{status: http.StatusOK, header: s.etags[fileType].header(f.ID, f.Version), body: apitypes.FileBody{Data: s.file(r, f)}}
		},
		ids: numberIDs,
		setMany: func(r *request, body patchBody) (func(context.Context, uint64) error, error) {
			p, with := patchOf(r, body), model.JSONInput(body["instruments"])
			change := func(ctx context.Context, id uint64) error {
				_, err := v.Patch(ctx, r.actor, id, p, vault.Match{})
				return err
			}
			switch {
			case with.Kind != model.InputMissing && with.Kind != model.InputBoolean:
				return nil, errs.InvalidField("set.instruments", errs.NotBoolean)
			case with.Value == "true":
				change = func(ctx context.Context, id uint64) error { return v.PatchWithInstruments(ctx, r.actor, id, p) }
			}
			return change, nil
		},
		manyFields: []string{"instruments"},
	}, v, s.App.Search}
}

func (h fileHandler) upload(r *request) (response, error) {
	form, err := h.server.readForm(r, []string{"folder_id"}, false)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	render := func(record vault.AbstractWithFiles) response { return h.server.uploadResponse(r, record) }
	return perform(r, render, func(keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error) {
		return h.service.Upload(r.Context(), r.actor, form.upload(), form.staged, keep)
	})
}

// uploadResponse returns a response that lists the stored files and the failed ones. The
// status is 201 if at least one file was stored, and 200 otherwise.
func (s *server) uploadResponse(r *request, record vault.AbstractWithFiles) response {
	stored, failed := len(record.Files), len(record.Failures)
	report := apitypes.Uploaded{Success: stored > 0, Message: "Files uploaded successfully", Files: s.files(r, record.Files),
		Errors: failures(record.Failures)}
	switch {
	case stored == 0:
		report.Message = fmt.Sprintf("No files were uploaded: %d file(s) failed validation", failed)
		return response{status: http.StatusOK, body: report}
	case failed > 0:
		report.Message = fmt.Sprintf("Some files uploaded successfully, but %d file(s) failed validation", failed)
	}
	return response{status: http.StatusCreated, body: report}
}

var fileListSpec = listSpec{
	recordType: "files",
	search:     searchOptional,
	sorts:      []sortOption{{"created_at", model.SortCreated}},
	filters: append([]filter{
		notWithSearch(byFolder("folder_id")), notWithSearch(byAbstract("abstract_id")),
		notWithSearch(byBoolean("is_processing", model.ColumnProcessing)),
	}, byCreated()...),
}

func (h fileHandler) list(r *request) (response, error) {
	return listPage(h.server, r, fileListSpec, h.service.List, h.search.Files, func(f model.File) apitypes.File { return h.server.file(r, f) })
}

// download redirects to a signed link, which works without an API key until it expires. If the file is known to be
// damaged, download fails instead of the link. It doesn't read the file.
func (h fileHandler) download(r *request) (response, error) {
	_, file, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	if err := h.service.KnownDamage(file); err != nil {
		return response{}, err
	}
	h.server.noteDownload(r, file, nil)
	link := secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: h.server.Now().Add(h.server.LinkTTL)}
	return response{status: http.StatusFound, location: r.origin + h.server.links.Sign(link)}, nil
}

// searchable returns a PDF of a file with the words that OCR has read. HEAD only checks that it can
// be created.
func (h fileHandler) searchable(r *request) (response, error) {
	_, file, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	header := map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Content-Disposition": mime.FormatMediaType("attachment", map[string]string{"filename": jobs.SearchableFilename(file)})}
	resp := response{status: http.StatusOK, header: header, media: model.MIMEPDF, stream: func(io.Writer) error { return nil }}
	if r.Method == http.MethodHead {
		return resp, h.server.App.Previews.CanBeSearchable(file)
	}
	created, err := h.server.App.Previews.Searchable(r.Context(), r.actor, file.ID)
	if err != nil {
		return response{}, err
	}
	h.server.noteDownload(r, file, map[string]string{"as": "searchable"})
	header["Content-Length"] = strconv.FormatInt(created.Size, 10)
	resp.stream = func(w io.Writer) error {
		_, err := io.Copy(w, created)
		return errors.Join(err, created.Close())
	}
	return resp, nil
}

// pages returns the routes for documents that consist of pages of others.
func (h fileHandler) pages() []route {
	return []route{
		{"POST", "/file-vault/files/pages", h.createFromPages},
		{"GET", "/file-vault/files/:n/origin", h.origin},
	}
}

// createFromPages creates a document that consists of pages of documents.
func (h fileHandler) createFromPages(r *request) (response, error) {
	sent, err := r.object(h.server.Limits.JSON, "name", "abstract_id", "folder_id", "parts")
	if err != nil {
		return response{}, err
	}
	body := patchBody(sent)
	draft := jobs.PagesDraft{Name: body.filename("name").Value, FolderID: body.number("folder_id").Value,
		AbstractID: body.opaque("abstract_id", h.server.abstracts).Value}
	draft.Parts, err = pagesParts(sent["parts"])
	if errs.KindOf(err) == errs.Invalid {
		return response{}, err
	}
	draft.NotArray = err != nil
	render := func(created vault.AbstractWithFiles) response {
		file := created.Files[len(created.Files)-1]
		return response{status: http.StatusAccepted, header: h.etag.header(file.ID, file.Version),
			body: apitypes.FileBody{Data: h.server.file(r, file)}}
	}
	return perform(r, render, func(keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error) {
		created, err := h.server.App.Previews.CreateFromPages(r.Context(), r.actor, draft, keep)
		if err == nil {
			h.recordCopies(r, created.Files[len(created.Files)-1])
		}
		return created, err
	})
}

// recordCopies records the access to each document whose pages a new document has.
func (h fileHandler) recordCopies(r *request, file model.File) {
	recorded := map[uint64]bool{}
	for _, part := range file.Origin {
		if !recorded[part.FileID] {
			recorded[part.FileID] = true
			h.server.App.Events.RecordAccess(r.actor, "file.downloaded", model.RecordRef("file", part.FileID),
				map[string]string{"as": "pages", "into": model.RecordRef("file", file.ID)})
		}
	}
}

const unknownMember errs.Code = "The {field} field is unknown. A part has file_id, pages, and rotate."

// pagesParts decodes the parts of a new document.
func pagesParts(raw json.RawMessage) (parts []jobs.PagesPart, err error) {
	var items []json.RawMessage
	if kind := jsontext.Value(raw).Kind(); kind != 0 && kind != 'n' {
		err = json.Unmarshal(raw, &items)
	}
	for n, item := range items {
		object, wrong := decode.Object(item)
		for name := range object {
			if !slices.Contains([]string{"file_id", "pages", "rotate"}, name) { // not ignored: without pages, all are copied
				return nil, errs.InvalidField(fmt.Sprintf("parts.%d.%s", n, name), unknownMember)
			}
		}
		part := patchBody(object)
		parts = append(parts, jobs.PagesPart{FileID: part.number("file_id").Value, Pages: part.input("pages").Value,
			Rotate: part.number("rotate").Value})
		err = cmp.Or(err, wrong)
	}
	return parts, err
}

// originPart describes pages that a document was created from. Its fields are those of origin.Part.
type originPart struct {
	FileID   int64  `json:"file_id"`
	Filename string `json:"filename"`
	Pages    string `json:"pages"`
	Rotate   int    `json:"rotate"`
}

// origin lists the pages that a document was created from.
func (h fileHandler) origin(r *request) (response, error) {
	_, file, err := h.read(r)
	if err != nil {
		return response{}, err
	}
	var body struct {
		Data apitypes.List[originPart] `json:"data"`
	}
	names := map[uint64]string{}
	for _, part := range file.Origin {
		if _, known := names[part.FileID]; !known {
			now, err := h.service.Get(r.Context(), part.FileID)
			if err != nil && errs.KindOf(err) != errs.NotFound {
				return response{}, err
			}
			names[part.FileID] = cmp.Or(now.Filename, part.Filename) // the file was deleted since
		}
		body.Data = append(body.Data, originPart{int64(part.FileID), names[part.FileID], part.Pages, part.Rotate})
	}
	return okResponse(body)
}

func (s *server) files(r *request, files []model.File) []apitypes.File {
	list := make([]apitypes.File, 0, len(files))
	for _, f := range files {
		list = append(list, s.file(r, f))
	}
	return list
}

func (s *server) file(r *request, f model.File) apitypes.File {
	return apitypes.File{
		ID: int64(f.ID), Filename: f.Filename, FileType: f.Extension(), MimeType: f.MIME, PageCount: f.Pages,
		FileSize: f.Size, FileSizeHuman: apitypes.HumanSize(f.Size), FolderID: encode.OptionalID(f.FolderID), IsProcessing: f.Processing,
		DownloadURL: fmt.Sprintf("%s/v1/file-vault/files/%d/download", r.origin, f.ID), CreatedAt: apitypes.At(f.CreatedAt),
	}
}

func failures(rejected []model.RejectedFile) []apitypes.FileFailure {
	list := make([]apitypes.FileFailure, 0, len(rejected))
	for _, f := range rejected {
		list = append(list, apitypes.FileFailure{Filename: f.Filename, Error: f.Reason})
	}
	return list
}

// text returns a page of the list of a document's pages with their text.
func (h fileHandler) text(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before checking the parameters
	}
	lq, err := h.server.list(r, listSpec{recordType: fmt.Sprintf("text of %d", id), unsupported: []string{"q"}})
	if err != nil {
		return response{}, err
	}
	var status jobs.TextStatus
	page, err := readPage(h.server, r, lq.Query, func(ctx context.Context, q vault.Query) (page vault.Page[pagetext.Page], err error) {
		offset, limit := itemRange(q)
		part, err := h.server.App.Previews.PageTexts(ctx, r.actor, id, offset, limit, q.MaxBytes)
		status = part.Status
		page = vault.Page[pagetext.Page]{Items: part.Pages, Bytes: part.Bytes, Truncated: part.Next > 0 && len(part.Pages) < limit}
		page.Next, page.Prev = positions(part.Offset, part.Next)
		return page, err
	})
	if err != nil {
		return response{}, err
	}
	if len(lq.Position) == 0 {
		h.server.App.Events.RecordAccess(r.actor, "file.opened", model.RecordRef("file", id), nil)
	}
	list := newPage(h.server, r, lq, page, pageText)
	data := apitypes.TextPages{Status: string(status), OCREnabled: h.server.App.Settings.ReadsScans, Pages: list.Data}
	return okResponse(apitypes.FileText{Data: data, Links: list.Links, Meta: list.Meta})
}

func pageText(p pagetext.Page) apitypes.PageText {
	shape := apitypes.PageText{Page: int64(p.Number), Source: string(p.Source), Text: p.Text}
	if p.Source == pagetext.SourceOCR {
		shape.Confidence = new(int64(p.Confidence))
	}
	return shape
}
