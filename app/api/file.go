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

type fileHandler struct {
	server  *server
	service interface {
		uploadStager
		Upload(ctx context.Context, actor model.Actor, draft model.UploadDraft, tray *vault.StagedUpload, keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Get(ctx context.Context, id uint64) (model.File, error)
		List(ctx context.Context, q vault.Query) (vault.Page[model.File], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.FilePatch, match vault.Match) (model.File, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Idempotency[model.File]) (model.File, error)
	}
	search *search.SearchService
}

func (h fileHandler) upload(c *request) (response, error) {
	form, err := h.server.readForm(c, h.service, []string{"folder_id"}, false)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	render := func(filed vault.AbstractWithFiles) response { return h.server.uploaded(c, filed) }
	filed, err := h.service.Upload(c.Context(), c.actor, form.upload(), form.staged, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

// uploaded tells what became of the documents: 201 when one was stored, else 200.
func (e *server) uploaded(c *request, filed vault.AbstractWithFiles) response {
	stored, failed := len(filed.Files), len(filed.Failures)
	report := apitypes.Uploaded{Success: stored > 0, Message: "Files uploaded successfully", Files: e.files(c, filed.Files), Errors: failures(filed.Failures)}
	switch {
	case stored == 0:
		report.Message = fmt.Sprintf("No files were uploaded: %d file(s) failed validation", failed)
		return response{status: http.StatusOK, body: report}
	case failed > 0:
		report.Message = fmt.Sprintf("Some files uploaded successfully, but %d file(s) failed validation", failed)
	}
	return response{status: http.StatusCreated, body: report}
}

func (h fileHandler) get(c *request) (response, error) {
	file, err := h.find(c)
	if err != nil {
		return response{}, err
	}
	return h.read(c, file), nil
}

func (h fileHandler) read(c *request, f model.File) response {
	return response{status: http.StatusOK, header: h.server.etags[fileType].header(f.ID, f.Version), body: apitypes.FileBody{Data: h.server.file(c, f)}}
}

var fileListing = listSpec{
	recordType: "files",
	text:       taken,
	sorts:      []sortOption{{"created_at", vault.SortCreated}},
	filters: append([]filter{
		unsearched(byFolder("folder_id")), unsearched(byAbstract("abstract_id")), unsearched(byBoolean("is_processing", vault.ColumnProcessing)),
	}, byCreation()...),
}

func (h fileHandler) list(c *request) (response, error) {
	asked, err := h.server.list(c, fileListing)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, c, asked.Query, listed(c, asked, h.service.List, h.search.Files))
	if err != nil {
		return response{}, err
	}
	return okResponse(pageOf(h.server, c, asked, page, func(f model.File) apitypes.File { return h.server.file(c, f) }))
}

func (h fileHandler) patch(c *request) (response, error) {
	file, err := h.find(c) // before the body is read
	if err != nil {
		return response{}, err
	}
	m, err := h.server.changes(c, "filename", "folder_id")
	if err != nil {
		return response{}, err
	}
	file, err = h.service.Patch(c.Context(), c.actor, file.ID, model.FilePatch{Filename: m.filename("filename"), FolderID: m.number("folder_id")},
		h.server.etags[fileType].match(c.Header, file.ID))
	if err != nil {
		return response{}, err
	}
	return h.read(c, file), nil
}

func (h fileHandler) trash(c *request) (response, error) {
	id, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(c.Context(), c.actor, id, h.server.etags[fileType].match(c.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h fileHandler) restore(c *request) (response, error) {
	id, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.server.readEmpty(c); err != nil {
		return response{}, err
	}
	render := func(f model.File) response { return h.read(c, f) }
	file, err := h.service.Restore(c.Context(), c.actor, id, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(file), nil
}

// download redirects to a signed link, which anybody may follow while it lives.
func (h fileHandler) download(c *request) (response, error) {
	file, err := h.find(c)
	if err != nil {
		return response{}, err
	}
	h.server.downloaded(c, file)
	link := secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: h.server.Now().Add(h.server.LinkTTL)}
	return response{status: http.StatusFound, location: c.origin + h.server.links.Sign(link)}, nil
}

func (h fileHandler) find(c *request) (model.File, error) {
	id, err := c.numberID()
	if err != nil {
		return model.File{}, err
	}
	return h.service.Get(c.Context(), id)
}

func (e *server) files(c *request, files []model.File) []apitypes.File {
	list := make([]apitypes.File, 0, len(files))
	for _, f := range files {
		list = append(list, e.file(c, f))
	}
	return list
}

func (e *server) file(c *request, f model.File) apitypes.File {
	return apitypes.File{
		ID: int64(f.ID), Filename: f.Filename, FileType: f.Extension(), MimeType: f.MIME, PageCount: f.Pages,
		FileSize: f.Size, FileSizeHuman: apitypes.HumanSize(f.Size), FolderID: encode.OptionalID(f.FolderID), IsProcessing: f.Processing,
		DownloadURL: fmt.Sprintf("%s/v1/file-vault/files/%d/download", c.origin, f.ID), CreatedAt: apitypes.At(f.CreatedAt),
	}
}

func failures(refused []model.RejectedFile) []apitypes.FileFailure {
	list := make([]apitypes.FileFailure, 0, len(refused))
	for _, f := range refused {
		list = append(list, apitypes.FileFailure{Filename: f.Filename, Error: f.Reason})
	}
	return list
}
