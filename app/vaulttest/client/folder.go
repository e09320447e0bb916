package client

import (
	"context"
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
)

// Folders returns all folders. Parents come before children, and siblings are sorted by name.
func (c *Client) Folders(ctx context.Context) ([]apitypes.Folder, error) {
	var body apitypes.Folders
	err := c.Do(ctx, http.MethodGet, "/v1/file-vault/folders", nil, &body)
	return body.Folders, err
}

// CreateFolder creates a folder in parent; nil means the top level.
func (c *Client) CreateFolder(ctx context.Context, name string, parent *int64) (apitypes.Folder, error) {
	draft := struct {
		Name     string `json:"name"`
		ParentID *int64 `json:"parent_id"`
	}{name, parent}
	var body apitypes.FolderCreated
	err := c.Do(ctx, http.MethodPost, "/v1/file-vault/folders", draft, &body)
	return body.Folder, err
}

// Folder returns folder n.
func (c *Client) Folder(ctx context.Context, n int64) (apitypes.Folder, error) {
	var body apitypes.FolderBody
	err := c.Do(ctx, http.MethodGet, folderPath(n), nil, &body)
	return body.Data, err
}

// PatchFolder renames or moves a folder and returns the changed folder.
func (c *Client) PatchFolder(ctx context.Context, n int64, change Patch) (apitypes.Folder, error) {
	var body apitypes.FolderBody
	err := c.Do(ctx, http.MethodPatch, folderPath(n), change, &body)
	return body.Data, err
}

// DeleteFolder permanently deletes an empty folder.
func (c *Client) DeleteFolder(ctx context.Context, n int64) error {
	return c.delete(ctx, folderPath(n))
}

func folderPath(n int64) string { return "/v1/file-vault/folders/" + strconv.FormatInt(n, 10) }
