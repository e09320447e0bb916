package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// EnsureFolder gives the folder of a name below a parent (0: the root) and makes it
// where there is none; with DryRun it is nil then. Door only.
func (c *Client) EnsureFolder(ctx context.Context, asked apitypes.FolderEnsure) (apitypes.FolderEnsured, error) {
	var body apitypes.FolderEnsured
	err := c.call(ctx, http.MethodPost, "/control/import/folders", asked, &body)
	return body, err
}

// Import is a document of a disk: its folder in the vault (0: none), its name with
// every byte that the disk gave it, its size, and its SHA-256 in hex ("" while it is
// not known).
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

// CheckImport says whether a document is in the vault already, or would be refused
// for its name or its size. Door only.
func (c *Client) CheckImport(ctx context.Context, d Import) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.call(ctx, http.MethodGet, d.path(), nil, &body)
	return body, err
}

// ImportFile uploads a document, which is streamed, unless it is in the vault already;
// with DryRun it returns only whether the document would be rejected.
// An *Error of status 409 says that its bytes are not those of SHA256. Door only.
func (c *Client) ImportFile(ctx context.Context, d Import, r io.Reader) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.exchange(ctx, http.MethodPost, d.path(), io.NopCloser(r), "application/octet-stream", &body)
	return body, err
}
