package control

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// EnsureFolder returns the folder with a given name and parent (0 means the root) and creates it if it doesn't exist.
// With DryRun it creates nothing, and the folder in the result may be nil.
func (c *Client) EnsureFolder(ctx context.Context, ensure apitypes.FolderEnsure) (apitypes.FolderEnsured, error) {
	var body apitypes.FolderEnsured
	err := c.http.Do(ctx, http.MethodPost, "/control/import/folders", ensure, &body)
	return body, err
}

// ImportFile describes a document on a disk that is to be imported.
type ImportFile struct {
	Folder   int64  // ID of the destination folder; 0 means none
	Filename string // the exact bytes of the filename on disk
	Size     int64
	SHA256   string // in hex; "" if not yet known
	DryRun   bool   // inspect the document and store nothing
}

func (f ImportFile) path() string {
	query := url.Values{"filename": {f.Filename}, "size": {strconv.FormatInt(f.Size, 10)}}
	if f.Folder != 0 {
		query.Set("folder_id", strconv.FormatInt(f.Folder, 10))
	}
	if f.SHA256 != "" {
		query.Set("sha256", f.SHA256)
	}
	if f.DryRun {
		query.Set("dry_run", "1")
	}
	return "/control/import/file?" + query.Encode()
}

// CheckImport reports whether the vault already has a document, or would reject it because of its name or size.
func (c *Client) CheckImport(ctx context.Context, f ImportFile) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.http.Do(ctx, http.MethodGet, f.path(), nil, &body)
	return body, err
}

// ImportFile streams a document from r to the vault, unless the vault already has it. With DryRun it only reports
// whether the vault would reject the document. A *client.Error of status 409 means that the bytes don't match SHA256.
func (c *Client) ImportFile(ctx context.Context, f ImportFile, r io.Reader) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.http.DoRaw(ctx, http.MethodPost, f.path(), io.NopCloser(r), "application/octet-stream", &body)
	return body, err
}
