package api

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vault"
)

type fileHandler struct {
	edge  *edge
	verbs interface {
		trays
		Upload(ctx context.Context, actor model.Actor, draft model.UploadDraft, tray *vault.Tray, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Get(ctx context.Context, id uint64) (model.File, error)
		List(ctx context.Context, q vault.Query) (vault.Page[model.File], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.FilePatch, match vault.Match) (model.File, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Keep[model.File]) (model.File, error)
	}
	search *vault.SearchService
}

func (h fileHandler) upload(c *call) (answer, error) {
	form, err := h.edge.readForm(c, h.verbs, []string{"folder_id"}, false)
	if err != nil {
		return answer{}, err
	}
	defer form.tray.Discard()
	render := func(filed vault.Filed) answer { return h.edge.uploaded(c, filed) }
	filed, err := h.verbs.Upload(c.Context(), c.actor, form.upload(), form.tray, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(filed), nil
}

// uploaded tells what became of the documents: 201 when one was stored, else 200.
func (e *edge) uploaded(c *call, filed vault.Filed) answer {
	stored, failed := len(filed.Files), len(filed.Failures)
	report := apitypes.Uploaded{Success: stored > 0, Message: "Files uploaded successfully", Files: e.files(c, filed.Files), Errors: failures(filed.Failures)}
	switch {
	case stored == 0:
		report.Message = fmt.Sprintf("No files were uploaded: %d file(s) failed validation", failed)
		return answer{status: http.StatusOK, body: report}
	case failed > 0:
		report.Message = fmt.Sprintf("Some files uploaded successfully, but %d file(s) failed validation", failed)
	}
	return answer{status: http.StatusCreated, body: report}
}

func (h fileHandler) get(c *call) (answer, error) {
	file, err := h.find(c)
	if err != nil {
		return answer{}, err
	}
	return h.read(c, file), nil
}

func (h fileHandler) read(c *call, f model.File) answer {
	return answer{status: http.StatusOK, header: h.edge.etags[fileNoun].of(f.ID, f.Version), body: apitypes.FileBody{Data: h.edge.file(c, f)}}
}

var fileListing = listing{
	noun:  "files",
	text:  taken,
	sorts: []sorting{{"created_at", vault.SortCreated}},
	filters: append([]filter{
		unsearched(byFolder("folder_id")), unsearched(byAbstract("abstract_id")), unsearched(byBoolean("is_processing", vault.ColumnProcessing)),
	}, byCreation()...),
}

func (h fileHandler) list(c *call) (answer, error) {
	asked, err := h.edge.list(c, fileListing)
	if err != nil {
		return answer{}, err
	}
	page, err := readPage(h.edge, c, asked.Query, listed(c, asked, h.verbs.List, h.search.Files))
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(h.edge, c, asked, page, func(f model.File) apitypes.File { return h.edge.file(c, f) }))
}

func (h fileHandler) patch(c *call) (answer, error) {
	file, err := h.find(c) // before the body is read
	if err != nil {
		return answer{}, err
	}
	m, err := h.edge.changes(c, "filename", "folder_id")
	if err != nil {
		return answer{}, err
	}
	file, err = h.verbs.Patch(c.Context(), c.actor, file.ID, model.FilePatch{Filename: m.filename("filename"), FolderID: m.number("folder_id")},
		h.edge.etags[fileNoun].match(c.Header, file.ID))
	if err != nil {
		return answer{}, err
	}
	return h.read(c, file), nil
}

func (h fileHandler) trash(c *call) (answer, error) {
	id, err := c.number()
	if err != nil {
		return answer{}, err
	}
	if err := h.verbs.Trash(c.Context(), c.actor, id, h.edge.etags[fileNoun].match(c.Header, id)); err != nil {
		return answer{}, err
	}
	return gone()
}

func (h fileHandler) restore(c *call) (answer, error) {
	id, err := c.number()
	if err != nil {
		return answer{}, err
	}
	if err := h.edge.nothing(c); err != nil {
		return answer{}, err
	}
	render := func(f model.File) answer { return h.read(c, f) }
	file, err := h.verbs.Restore(c.Context(), c.actor, id, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(file), nil
}

// download redirects to a signed link, which anybody may follow while it lives.
func (h fileHandler) download(c *call) (answer, error) {
	file, err := h.find(c)
	if err != nil {
		return answer{}, err
	}
	h.edge.downloaded(c, file)
	link := secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: h.edge.Now().Add(h.edge.LinkTTL)}
	return answer{status: http.StatusFound, location: c.origin + h.edge.links.Sign(link)}, nil
}

func (h fileHandler) find(c *call) (model.File, error) {
	id, err := c.number()
	if err != nil {
		return model.File{}, err
	}
	return h.verbs.Get(c.Context(), id)
}

func (e *edge) files(c *call, files []model.File) []apitypes.File {
	list := make([]apitypes.File, 0, len(files))
	for _, f := range files {
		list = append(list, e.file(c, f))
	}
	return list
}

func (e *edge) file(c *call, f model.File) apitypes.File {
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
