package api

import (
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// folderHandler serves the routes under /v1/file-vault/folders.
type folderHandler struct {
	recordHandler[model.Folder, model.FolderPatch]
	service *vault.Folders
}

func newFolderHandler(s *server) folderHandler {
	v := s.App.Folders
	return folderHandler{recordHandler[model.Folder, model.FolderPatch]{
		server: s, etag: s.etags[folderType], find: v.Get, change: v.Patch, remove: v.Remove,
		id:     (*request).numberID,
		fields: []string{"name", "parent_id"},
		patchOf: func(_ *request, body patchBody) model.FolderPatch {
			return model.FolderPatch{Name: body.input("name"), ParentID: body.number("parent_id")}
		},
		render: func(_ *request, f model.Folder) response {
			return response{status: http.StatusOK, header: s.etags[folderType].header(f.ID, f.Version),
				body: apitypes.FolderBody{Data: encode.Folder(f)}}
		},
	}, v}
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
	return perform(r, render, func(keep vault.Idempotency[model.Folder]) (model.Folder, error) {
		draft := model.FolderDraft{Name: model.JSONInput(sent["name"]), ParentID: number(sent["parent_id"])}
		return h.service.Create(r.Context(), r.actor, draft, keep)
	})
}
