package api

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// folderHandler serves the routes under /v1/file-vault/folders.
type folderHandler struct {
	server  *server
	service interface {
		List(ctx context.Context) ([]model.Folder, error)
		Create(ctx context.Context, actor model.Actor, draft model.FolderDraft, keep vault.Idempotency[model.Folder]) (model.Folder, error)
		Get(ctx context.Context, id uint64) (model.Folder, error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.FolderPatch, match vault.Match) (model.Folder, error)
		Remove(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
	}
}

func (h folderHandler) list(r *request) (response, error) {
	folders, err := h.service.List(r.Context())
	if err != nil {
		return response{}, err
	}
	list := make([]apitypes.Folder, 0, len(folders))
	for _, f := range folders {
		list = append(list, encode.Folder(f))
	}
	return okResponse(apitypes.Folders{Folders: list})
}

func (h folderHandler) create(r *request) (response, error) {
	sent, err := r.object(h.server.Limits.JSON, "name", "parent_id")
	if err != nil {
		return response{}, err
	}
	render := func(f model.Folder) response {
		return response{status: http.StatusCreated, header: h.server.etags[folderType].header(f.ID, f.Version),
			body: apitypes.FolderCreated{Success: true, Message: "Folder created successfully", Folder: encode.Folder(f)}}
	}
	folder, err := h.service.Create(r.Context(), r.actor,
		model.FolderDraft{Name: input(sent["name"]), ParentID: number(sent["parent_id"])}, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(folder), nil
}

func (h folderHandler) get(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	folder, err := h.service.Get(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	return h.read(folder), nil
}

func (h folderHandler) patch(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before reading the body
	}
	body, err := h.server.readPatch(r, "name", "parent_id")
	if err != nil {
		return response{}, err
	}
	folder, err := h.service.Patch(r.Context(), r.actor, id, model.FolderPatch{Name: body.input("name"), ParentID: body.number("parent_id")},
		h.server.etags[folderType].match(r.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.read(folder), nil
}

func (h folderHandler) remove(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Remove(r.Context(), r.actor, id, h.server.etags[folderType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h folderHandler) read(f model.Folder) response {
	return response{status: http.StatusOK, header: h.server.etags[folderType].header(f.ID, f.Version),
		body: apitypes.FolderBody{Data: encode.Folder(f)}}
}
