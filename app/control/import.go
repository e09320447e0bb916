package control

import (
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// importRoutes returns the routes for importing a folder of documents. The request body is the document. The query
// contains its name, folder, size, and SHA-256, because a query value can contain any bytes that a filename on disk
// can.
func (c handler) importRoutes() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"POST /control/import/folders": c.ensureFolder,
		"GET /control/import/file":     c.lookForFile,
		"POST /control/import/file":    c.importFile,
	}
}

func (c handler) ensureFolder(r *http.Request) (any, error) {
	var asked apitypes.FolderEnsure
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	made, fresh, err := c.Vault.Folders.Ensure(r.Context(), operator(r), uint64(max(asked.ParentID, 0)), asked.Missing,
		decode.Filename(asked.Name), asked.DryRun)
	out := apitypes.FolderEnsured{Created: fresh}
	if made.ID != 0 {
		out.Folder = new(encode.Folder(made))
	}
	return out, err
}

// lookForFile reports what is known about a document before it is uploaded. Without a sha256, it only reports whether
// the name or size would be rejected.
func (c handler) lookForFile(r *http.Request) (any, error) {
	place, err := importTarget(r)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	size, err := strconv.ParseInt(query.Get("size"), 10, 64)
	if err != nil {
		return nil, errs.InvalidField("size", "The size field must be an integer.")
	}
	out := apitypes.Imported{Rejected: c.Vault.Files.CheckNameAndSize(place.Filename, size)}
	if digest := query.Get("sha256"); digest != "" && out.Rejected == "" {
		file, found, err := c.Vault.Files.FindImported(r.Context(), place, digest)
		if err != nil {
			return nil, err
		}
		if found {
			out.File, out.Existing = new(int64(file.ID)), true
		}
	}
	return out, nil
}

func (c handler) importFile(r *http.Request) (any, error) {
	place, err := importTarget(r)
	if err != nil {
		return nil, err
	}
	tray, err := c.Vault.Files.Stage(r.Context())
	if err != nil {
		return nil, err
	}
	defer tray.Discard()
	if err := tray.Add(place.Filename, r.Body); err != nil {
		return nil, err
	}
	if r.URL.Query().Get("dry_run") != "" {
		reason, err := c.Vault.Files.CheckImport(tray)
		return apitypes.Imported{Rejected: reason}, err
	}
	done, err := c.Vault.Files.Import(r.Context(), operator(r), place, r.URL.Query().Get("sha256"), tray)
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
