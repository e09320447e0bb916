package api

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/secret"
	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

type fileHandler struct {
	edge  *edge
	verbs interface {
		trays
		Upload(ctx context.Context, actor title.Actor, draft title.UploadDraft, tray *vault.Tray, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Get(ctx context.Context, id uint64) (title.File, error)
	}
}

func (h fileHandler) upload(c *call) (answer, error) {
	form, err := h.edge.readForm(c, h.verbs, []string{"folder_id"}, false)
	if err != nil {
		return answer{}, err
	}
	defer form.tray.Discard()
	filed, err := h.verbs.Upload(c.Context(), c.actor, form.upload(), form.tray, vault.Keep[vault.Filed]{})
	if err != nil {
		return answer{}, err
	}
	stored, failed := len(filed.Files), len(filed.Failures)
	report := wire.Uploaded{Success: stored > 0, Message: "Files uploaded successfully", Files: h.edge.files(c, filed.Files), Errors: failures(filed.Failures)}
	switch {
	case stored == 0:
		report.Message = fmt.Sprintf("No files were uploaded: %d file(s) failed validation", failed)
		return ok(report)
	case failed > 0:
		report.Message = fmt.Sprintf("Some files uploaded successfully, but %d file(s) failed validation", failed)
	}
	return created(report)
}

func (h fileHandler) get(c *call) (answer, error) {
	file, err := h.find(c)
	if err != nil {
		return answer{}, err
	}
	return ok(wire.FileBody{Data: h.edge.file(c, file)})
}

// download redirects to a signed link, which anybody may follow while it lives.
func (h fileHandler) download(c *call) (answer, error) {
	file, err := h.find(c)
	if err != nil {
		return answer{}, err
	}
	link := secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: h.edge.Now().Add(h.edge.LinkTTL)}
	return answer{status: http.StatusFound, location: c.origin + h.edge.links.Sign(link)}, nil
}

func (h fileHandler) find(c *call) (title.File, error) {
	id, err := c.number("n")
	if err != nil {
		return title.File{}, err
	}
	return h.verbs.Get(c.Context(), id)
}

func (e *edge) files(c *call, files []title.File) []wire.File {
	list := make([]wire.File, 0, len(files))
	for _, f := range files {
		list = append(list, e.file(c, f))
	}
	return list
}

func (e *edge) file(c *call, f title.File) wire.File {
	return wire.File{
		ID: int64(f.ID), Filename: f.Filename, FileType: f.Type(), MimeType: f.MIME, PageCount: f.Pages,
		FileSize: f.Size, FileSizeHuman: wire.HumanSize(f.Size), FolderID: optionalID(f.FolderID), IsProcessing: f.Processing,
		DownloadURL: fmt.Sprintf("%s/v1/file-vault/files/%d/download", c.origin, f.ID), CreatedAt: wire.At(f.CreatedAt),
	}
}

func failures(refused []title.FileFailure) []wire.FileFailure {
	list := make([]wire.FileFailure, 0, len(refused))
	for _, f := range refused {
		list = append(list, wire.FileFailure{Filename: f.Filename, Error: f.Reason})
	}
	return list
}
