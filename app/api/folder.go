package api

import (
	"context"

	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

type folderHandler struct {
	edge  *edge
	verbs interface {
		List(ctx context.Context) ([]title.Folder, error)
		Create(ctx context.Context, actor title.Actor, draft title.FolderDraft, keep vault.Keep[title.Folder]) (title.Folder, error)
	}
}

func (h folderHandler) list(c *call) (answer, error) {
	folders, err := h.verbs.List(c.Context())
	if err != nil {
		return answer{}, err
	}
	list := make([]wire.Folder, 0, len(folders))
	for _, f := range folders {
		list = append(list, folder(f))
	}
	return ok(wire.Folders{Folders: list})
}

func (h folderHandler) create(c *call) (answer, error) {
	sent, err := c.object(h.edge.Limits.JSON)
	if err != nil {
		return answer{}, err
	}
	made, err := h.verbs.Create(c.Context(), c.actor, title.FolderDraft{Name: input(sent["name"]), ParentID: number(sent["parent_id"])}, vault.Keep[title.Folder]{})
	if err != nil {
		return answer{}, err
	}
	return created(wire.FolderCreated{Success: true, Message: "Folder created successfully", Folder: folder(made)})
}

func folder(f title.Folder) wire.Folder {
	return wire.Folder{ID: int64(f.ID), Name: f.Name, ParentID: optionalID(f.ParentID)}
}
