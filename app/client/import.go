package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// EnsureFolder returns the folder with a name in a parent folder (0: the top level) and creates it if it is missing.
// With DryRun, a missing folder is nil. Control socket only.
func (c *Client) EnsureFolder(ctx context.Context, asked apitypes.FolderEnsure) (apitypes.FolderEnsured, error) {
	var body apitypes.FolderEnsured
	err := c.call(ctx, http.MethodPost, "/control/import/folders", asked, &body)
	return body, err
}

// Import describes a document to import: its folder in the vault (0: none), its file name as the file system returns
// it, its size, and its SHA-256 in hex ("" if unknown).
type Import struct {
	Folder   int64
	Filename string
	Size     int64
	SHA256   string
	DryRun   bool // inspect the document and store nothing
}

func (d Import) path() string {
	query := url.Values{"filename": {d.Filename}, "size": {strconv.FormatInt(d.Size, 10)}}
	if d.Folder != 0 {
		query.Set("folder_id", strconv.FormatInt(d.Folder, 10))
	}
	if d.SHA256 != "" {
		query.Set("sha256", d.SHA256)
	}
	if d.DryRun {
		query.Set("dry_run", "1")
	}
	return "/control/import/file?" + query.Encode()
}

// CheckImport reports whether a document is already in the vault, or would be rejected for its name or size. Control
// socket only.
func (c *Client) CheckImport(ctx context.Context, d Import) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.call(ctx, http.MethodGet, d.path(), nil, &body)
	return body, err
}

// ImportFile streams a document into the vault, unless it is there already. With DryRun, it only returns whether the
// document would be rejected. An *Error of status 409 means that the content doesn't match SHA256. Control socket only.
func (c *Client) ImportFile(ctx context.Context, d Import, r io.Reader) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.exchange(ctx, http.MethodPost, d.path(), io.NopCloser(r), "application/octet-stream", &body)
	return body, err
}
