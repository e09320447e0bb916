package api

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

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

func (h folderHandler) list(c *request) (response, error) {
	folders, err := h.service.List(c.Context())
	if err != nil {
		return response{}, err
	}
	list := make([]apitypes.Folder, 0, len(folders))
	for _, f := range folders {
		list = append(list, encode.Folder(f))
	}
	return okResponse(apitypes.Folders{Folders: list})
}

func (h folderHandler) create(c *request) (response, error) {
	sent, err := c.object(h.server.Limits.JSON, "name", "parent_id")
	if err != nil {
		return response{}, err
	}
	render := func(f model.Folder) response {
		return response{status: http.StatusCreated, header: h.server.etags[folderType].header(f.ID, f.Version),
			body: apitypes.FolderCreated{Success: true, Message: "Folder created successfully", Folder: encode.Folder(f)}}
	}
	made, err := h.service.Create(c.Context(), c.actor, model.FolderDraft{Name: input(sent["name"]), ParentID: number(sent["parent_id"])}, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(made), nil
}

func (h folderHandler) get(c *request) (response, error) {
	id, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	found, err := h.service.Get(c.Context(), id)
	if err != nil {
		return response{}, err
	}
	return h.read(found), nil
}

func (h folderHandler) patch(c *request) (response, error) {
	id, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(c.Context(), id); err != nil {
		return response{}, err // before the body is read
	}
	m, err := h.server.changes(c, "name", "parent_id")
	if err != nil {
		return response{}, err
	}
	changed, err := h.service.Patch(c.Context(), c.actor, id, model.FolderPatch{Name: m.input("name"), ParentID: m.number("parent_id")},
		h.server.etags[folderType].match(c.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.read(changed), nil
}

func (h folderHandler) remove(c *request) (response, error) {
	id, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Remove(c.Context(), c.actor, id, h.server.etags[folderType].match(c.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h folderHandler) read(f model.Folder) response {
	return response{status: http.StatusOK, header: h.server.etags[folderType].header(f.ID, f.Version), body: apitypes.FolderBody{Data: encode.Folder(f)}}
}
