package api

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

// fileHandler serves uploads and the routes under /v1/file-vault/files.
type fileHandler struct {
	server  *server
	service interface {
		uploadStager
		Upload(ctx context.Context, actor model.Actor, draft model.UploadDraft, staged *vault.StagedUpload,
			keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Get(ctx context.Context, id uint64) (model.File, error)
		List(ctx context.Context, q vault.Query) (vault.Page[model.File], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.FilePatch, match vault.Match) (model.File, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Idempotency[model.File]) (model.File, error)
	}
	search *search.Service
}

func (h fileHandler) upload(r *request) (response, error) {
	form, err := h.server.readForm(r, h.service, []string{"folder_id"}, false)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	render := func(filed vault.AbstractWithFiles) response { return h.server.uploadResponse(r, filed) }
	filed, err := h.service.Upload(r.Context(), r.actor, form.upload(), form.staged, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

// uploadResponse returns a response that lists the stored files and the failed ones. The
// status is 201 if at least one file was stored, and 200 otherwise.
func (s *server) uploadResponse(r *request, filed vault.AbstractWithFiles) response {
	stored, failed := len(filed.Files), len(filed.Failures)
	report := apitypes.Uploaded{Success: stored > 0, Message: "Files uploaded successfully", Files: s.files(r, filed.Files),
		Errors: failures(filed.Failures)}
	switch {
	case stored == 0:
		report.Message = fmt.Sprintf("No files were uploaded: %d file(s) failed validation", failed)
		return response{status: http.StatusOK, body: report}
	case failed > 0:
		report.Message = fmt.Sprintf("Some files uploaded successfully, but %d file(s) failed validation", failed)
	}
	return response{status: http.StatusCreated, body: report}
}

func (h fileHandler) get(r *request) (response, error) {
	file, err := h.find(r)
	if err != nil {
		return response{}, err
	}
	return h.read(r, file), nil
}

func (h fileHandler) read(r *request, f model.File) response {
	return response{status: http.StatusOK, header: h.server.etags[fileType].header(f.ID, f.Version),
		body: apitypes.FileBody{Data: h.server.file(r, f)}}
}

var fileListSpec = listSpec{
	recordType: "files",
	search:     searchOptional,
	sorts:      []sortOption{{"created_at", vault.SortCreated}},
	filters: append([]filter{
		notWithSearch(byFolder("folder_id")), notWithSearch(byAbstract("abstract_id")),
		notWithSearch(byBoolean("is_processing", vault.ColumnProcessing)),
	}, byCreated()...),
}

func (h fileHandler) list(r *request) (response, error) {
	lq, err := h.server.list(r, fileListSpec)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, r, lq.Query, pageReader(r, lq, h.service.List, h.search.Files))
	if err != nil {
		return response{}, err
	}
	return okResponse(newPage(h.server, r, lq, page, func(f model.File) apitypes.File { return h.server.file(r, f) }))
}

func (h fileHandler) patch(r *request) (response, error) {
	file, err := h.find(r) // respond 404 before reading the body
	if err != nil {
		return response{}, err
	}
	body, err := h.server.readPatch(r, "filename", "folder_id")
	if err != nil {
		return response{}, err
	}
	file, err = h.service.Patch(r.Context(), r.actor, file.ID,
		model.FilePatch{Filename: body.filename("filename"), FolderID: body.number("folder_id")},
		h.server.etags[fileType].match(r.Header, file.ID))
	if err != nil {
		return response{}, err
	}
	return h.read(r, file), nil
}

func (h fileHandler) trash(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(r.Context(), r.actor, id, h.server.etags[fileType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h fileHandler) restore(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.server.readEmpty(r); err != nil {
		return response{}, err
	}
	render := func(f model.File) response { return h.read(r, f) }
	file, err := h.service.Restore(r.Context(), r.actor, id, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(file), nil
}

// download redirects to a signed link. The link works without an API key until it expires.
func (h fileHandler) download(r *request) (response, error) {
	file, err := h.find(r)
	if err != nil {
		return response{}, err
	}
	h.server.noteDownload(r, file)
	link := secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: h.server.Now().Add(h.server.LinkTTL)}
	return response{status: http.StatusFound, location: r.origin + h.server.links.Sign(link)}, nil
}

func (h fileHandler) find(r *request) (model.File, error) {
	id, err := r.numberID()
	if err != nil {
		return model.File{}, err
	}
	return h.service.Get(r.Context(), id)
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
