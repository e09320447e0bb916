package control

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// EnsureFolder returns the folder with a given name and parent (0 means the root) and creates it if it doesn't exist.
// With DryRun it creates nothing, and the folder in the result may be nil.
func (c *Client) EnsureFolder(ctx context.Context, ensure apitypes.FolderEnsure) (apitypes.FolderEnsured, error) {
	return call[apitypes.FolderEnsured](ctx, c, "POST /control/import/folders", ensure)
}

func (h handler) ensureFolder(r *http.Request, asked apitypes.FolderEnsure) (any, error) {
	made, fresh, err := h.App.Folders.Ensure(r.Context(), operator(r), uint64(max(asked.ParentID, 0)), asked.Missing,
		decode.Filename(asked.Name), asked.DryRun)
	out := apitypes.FolderEnsured{Created: fresh}
	if made.ID != 0 {
		out.Folder = new(encode.Folder(made))
	}
	return out, err
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
	return call[apitypes.Imported](ctx, c, "GET "+f.path(), nil)
}

// lookForFile reports what is known about a document before it is uploaded. Without a sha256, it only reports whether
// the name or size would be rejected.
func (h handler) lookForFile(r *http.Request) (any, error) {
	place, err := importTarget(r)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	size, err := strconv.ParseInt(query.Get("size"), 10, 64)
	if err != nil {
		return nil, errs.InvalidField("size", "The size field must be an integer.")
	}
	out := apitypes.Imported{Rejected: h.App.Files.CheckNameAndSize(place.Filename, size)}
	if digest := query.Get("sha256"); digest != "" && out.Rejected == "" {
		file, found, err := h.App.Files.FindImported(r.Context(), place, digest)
		if err != nil {
			return nil, err
		}
		if found {
			out.File, out.Existing = new(int64(file.ID)), true
		}
	}
	return out, nil
}

// ImportFile streams a document from r to the vault, unless the vault already has it. With DryRun it only reports
// whether the vault would reject the document. A *client.Error of status 409 means that the bytes don't match SHA256.
func (c *Client) ImportFile(ctx context.Context, f ImportFile, r io.Reader) (apitypes.Imported, error) {
	var body apitypes.Imported
	err := c.http.DoRaw(ctx, http.MethodPost, f.path(), io.NopCloser(r), "application/octet-stream", &body)
	return body, err
}

// importFile imports a document. The request body is the document. The query contains its name, folder, size, and
// SHA-256, because a query value can contain any bytes that a filename on disk can.
func (h handler) importFile(r *http.Request) (any, error) {
	place, err := importTarget(r)
	if err != nil {
		return nil, err
	}
	staged, err := h.App.Files.Stage(r.Context())
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	if err := staged.Add(place.Filename, r.Body); err != nil {
		return nil, err
	}
	if r.URL.Query().Get("dry_run") != "" {
		reason, err := h.App.Files.CheckImport(staged)
		return apitypes.Imported{Rejected: reason}, err
	}
	done, err := h.App.Files.Import(r.Context(), operator(r), place, r.URL.Query().Get("sha256"), staged)
	if err != nil {
		return nil, err
	}
	out := apitypes.Imported{Existing: done.Existed, Rejected: done.Rejection}
	if done.Rejection == "" {
		out.File = new(int64(done.File.ID))
	}
	return out, nil
}

func importTarget(r *http.Request) (vault.ImportTarget, error) {
	query := r.URL.Query()
	place := vault.ImportTarget{Filename: decode.Filename(query.Get("filename"))}
	if text := query.Get("folder_id"); text != "" {
		id, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return place, errs.RecordNotFound("folder", text)
		}
		place.FolderID = id
	}
	return place, nil
}
