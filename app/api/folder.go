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
	edge  *edge
	verbs interface {
		List(ctx context.Context) ([]model.Folder, error)
		Create(ctx context.Context, actor model.Actor, draft model.FolderDraft, keep vault.Keep[model.Folder]) (model.Folder, error)
		Get(ctx context.Context, id uint64) (model.Folder, error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.FolderPatch, match vault.Match) (model.Folder, error)
		Remove(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
	}
}

func (h folderHandler) list(c *call) (answer, error) {
	folders, err := h.verbs.List(c.Context())
	if err != nil {
		return answer{}, err
	}
	list := make([]apitypes.Folder, 0, len(folders))
	for _, f := range folders {
		list = append(list, encode.Folder(f))
	}
	return ok(apitypes.Folders{Folders: list})
}

func (h folderHandler) create(c *call) (answer, error) {
	sent, err := c.object(h.edge.Limits.JSON, "name", "parent_id")
	if err != nil {
		return answer{}, err
	}
	render := func(f model.Folder) answer {
		return answer{status: http.StatusCreated, header: h.edge.etags[folderNoun].of(f.ID, f.Version),
			body: apitypes.FolderCreated{Success: true, Message: "Folder created successfully", Folder: encode.Folder(f)}}
	}
	made, err := h.verbs.Create(c.Context(), c.actor, model.FolderDraft{Name: input(sent["name"]), ParentID: number(sent["parent_id"])}, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(made), nil
}

func (h folderHandler) get(c *call) (answer, error) {
	id, err := c.number()
	if err != nil {
		return answer{}, err
	}
	found, err := h.verbs.Get(c.Context(), id)
	if err != nil {
		return answer{}, err
	}
	return h.read(found), nil
}

func (h folderHandler) patch(c *call) (answer, error) {
	id, err := c.number()
	if err != nil {
		return answer{}, err
	}
	if _, err := h.verbs.Get(c.Context(), id); err != nil {
		return answer{}, err // before the body is read
	}
	m, err := h.edge.changes(c, "name", "parent_id")
	if err != nil {
		return answer{}, err
	}
	changed, err := h.verbs.Patch(c.Context(), c.actor, id, model.FolderPatch{Name: m.input("name"), ParentID: m.number("parent_id")},
		h.edge.etags[folderNoun].match(c.Header, id))
	if err != nil {
		return answer{}, err
	}
	return h.read(changed), nil
}

func (h folderHandler) remove(c *call) (answer, error) {
	id, err := c.number()
	if err != nil {
		return answer{}, err
	}
	if err := h.verbs.Remove(c.Context(), c.actor, id, h.edge.etags[folderNoun].match(c.Header, id)); err != nil {
		return answer{}, err
	}
	return gone()
}

func (h folderHandler) read(f model.Folder) answer {
	return answer{status: http.StatusOK, header: h.edge.etags[folderNoun].of(f.ID, f.Version), body: apitypes.FolderBody{Data: encode.Folder(f)}}
}
