package client

import (
	"context"
	"net/http"

	"deedkeep/app/wire"
)

// Folders lists all folders, parents before children, then by name.
func (c *Client) Folders(ctx context.Context) ([]wire.Folder, error) {
	var body wire.Folders
	err := c.call(ctx, http.MethodGet, "/v1/file-vault/folders", nil, &body)
	return body.Folders, err
}

// CreateFolder creates a folder inside another, or at the top when parent is nil.
func (c *Client) CreateFolder(ctx context.Context, name string, parent *int64) (wire.Folder, error) {
	draft := struct {
		Name     string `json:"name"`
		ParentID *int64 `json:"parent_id"`
	}{name, parent}
	var body wire.FolderCreated
	err := c.call(ctx, http.MethodPost, "/v1/file-vault/folders", draft, &body)
	return body.Folder, err
}
