package api

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"deedkeep/app/apitypes"
	"deedkeep/app/blobstore"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/tus"
	"deedkeep/app/upload"
)

const uploadsPath = "/uploads"

// uploadHandler serves resumable uploads under /v1/uploads, using the tus 1.0.0 protocol.
// The web pages use the same upload service. An upload belongs to the API key that created
// it.
type uploadHandler struct {
	server  *server
	service *upload.Uploads
}

// metadataNames are the names in the Upload-Metadata header that the server uses.
var metadataNames = []string{"filename", "abstract_id", "folder_id"}

// msgUploadDeleted is the error of a completed upload whose file was later deleted.
const msgUploadDeleted = "The document was deleted."

// begin creates an upload. The request can't include file content, so the tus extension
// creation-with-upload is not supported.
func (h uploadHandler) begin(r *request) (response, error) {
	if err := checkTus(r); err != nil {
		return response{}, err
	}
	length, err := tus.ParseLength(r.Header)
	if err != nil {
		return response{}, err
	}
	meta, err := tus.ParseMetadata(r.Header)
	if err != nil {
		return response{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		r.ignored.addUnknown(name, metadataNames)
	}
	if length > h.service.MaxSize() {
		return response{}, &httpx.Error{Status: http.StatusRequestEntityTooLarge, Message: h.service.TooLargeReason(),
			Header: map[string]string{"Tus-Max-Size": strconv.FormatInt(h.service.MaxSize(), 10)}}
	}
	plan, err := h.plan(meta)
	if err != nil {
		return response{}, err
	}
	plan.Size, plan.Metadata = length, strings.Join(r.Header.Values("Upload-Metadata"), ",")
	up, err := h.service.Begin(r.Context(), r.actor, plan)
	if err != nil {
		return response{}, beginError(err, plan)
	}
	resp := h.respond(r, http.StatusCreated, up)
	resp.header["Location"] = r.origin + "/v1" + uploadsPath + "/" + up.ID
	return resp, nil
}

// plan validates the metadata of a new upload.
func (h uploadHandler) plan(meta map[string]string) (plan upload.Plan, err error) {
	sent := formFields(meta)
	in := sent.inputs("filename", "abstract_id")
	draft := model.ResumableUploadDraft{Filename: in["filename"], AbstractID: in["abstract_id"],
		FolderID: sent.number("folder_id")}
	abstract, ok := h.server.abstracts.Decode(strings.TrimSpace(meta["abstract_id"]))
	if !ok {
		abstract = 0
	}
	folder, invalid := draft.Check(abstract)
	return upload.Plan{Filename: decode.Filename(meta["filename"]), Abstract: abstract, Folder: folder}, invalid.Err()
}

// beginError adds a field to an error that has none: "file" if the file is invalid, or
// "abstract_id" or "folder_id" if the abstract or folder does not exist.
func beginError(err error, plan upload.Plan) error {
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok || len(domainErr.Fields) > 0:
		return err
	case domainErr.Kind == errs.NotFound && plan.Abstract != 0:
		return errs.InvalidField("abstract_id", errs.InvalidChoice)
	case domainErr.Kind == errs.NotFound:
		return errs.InvalidField("folder_id", errs.InvalidChoice)
	case domainErr.Kind == errs.Invalid:
		return errs.InvalidField("file", "%s", domainErr.Message)
	}
	return err
}

// show returns the upload for a GET request, and the offset to resume at for a HEAD
// request.
func (h uploadHandler) show(r *request) (response, error) {
	id := r.params.ByName("id")
	if r.Method == http.MethodGet {
		up, err := h.service.Get(r.Context(), r.actor, id)
		if err != nil {
			return response{}, err
		}
		return h.respond(r, http.StatusOK, up), nil
	}
	if r.Header.Get("Tus-Resumable") != "" { // HEAD is also accepted without the header, because the API accepts HEAD wherever it accepts GET
		if err := checkTus(r); err != nil {
			return response{}, err
		}
	}
	up, err := h.service.Offset(r.Context(), r.actor, id)
	if err != nil {
		return response{}, err
	}
	return h.respond(r, http.StatusOK, up), nil
}

// write appends the body to the upload at the offset in the request.
func (h uploadHandler) write(r *request) (response, error) {
	if err := checkTus(r); err != nil {
		return response{}, err
	}
	id := r.params.ByName("id")
	if _, err := h.service.Offset(r.Context(), r.actor, id); err != nil && !errors.Is(err, upload.ErrUploadBusy) {
		return response{}, err // respond 404 before reading the body
	}
	offset, err := tus.ParseOffset(r.Header)
	if err != nil {
		return response{}, err
	}
	stop := tus.InterruptReads(r.w, h.service.Paused())
	up, err := h.service.Write(r.Context(), r.actor, id, offset, r.Body)
	stop()
	switch {
	case errors.Is(err, blobstore.ErrTooLarge):
		return response{}, &httpx.Error{Status: http.StatusRequestEntityTooLarge, Message: "The upload has more bytes than its Upload-Length."}
	case err != nil:
		return response{}, err
	}
	return response{status: http.StatusNoContent, header: tus.ProgressHeaders(up.Offset, up.ExpiresAt)}, nil
}

func (h uploadHandler) cancel(r *request) (response, error) {
	if err := checkTus(r); err != nil {
		return response{}, err
	}
	if err := h.service.Cancel(r.Context(), r.actor, r.params.ByName("id")); err != nil {
		return response{}, err
	}
	return noContent()
}

func checkTus(r *request) error { return tus.CheckVersion(r.Method, r.Header) }

// respond returns the response for an upload, including its file or error.
func (h uploadHandler) respond(r *request, status int, up upload.Upload) response {
	data := apitypes.Upload{Offset: up.Offset, Length: up.Size, Error: encode.OptionalString(up.Rejection)}
	switch {
	case up.File == nil:
	case up.File.Digest == "":
		data.Error = encode.OptionalString(msgUploadDeleted)
	default:
		file := h.server.file(r, *up.File)
		data.File = &file
	}
	resp := response{status: status, header: tus.ProgressHeaders(up.Offset, up.ExpiresAt), body: apitypes.UploadBody{Data: data}}
	resp.header["Upload-Length"] = strconv.FormatInt(up.Size, 10)
	if up.Metadata != "" {
		resp.header["Upload-Metadata"] = up.Metadata
	}
	return resp
}

// setTusHeaders adds the protocol version to all responses for uploads, including errors.
// For OPTIONS, it also adds the extensions that the server supports.
func (s *server) setTusHeaders(c *gin.Context) {
	if !strings.HasPrefix(c.Request.URL.Path+"/", "/v1"+uploadsPath+"/") {
		return
	}
	if c.Request.Method == http.MethodOptions {
		tus.SetOptions(c.Writer.Header(), s.App.Uploads.MaxSize())
	}
	c.Header("Tus-Resumable", tus.Version)
}

// effectiveMethod returns the method of a request. For uploads, it honors
// X-HTTP-Method-Override, which tus defines for clients that can't send PATCH or DELETE.
func effectiveMethod(r *http.Request, path string) string {
	if r.Method == http.MethodPost && strings.HasPrefix(path, "/v1"+uploadsPath+"/") {
		switch method := r.Header.Get("X-Http-Method-Override"); method {
		case http.MethodPatch, http.MethodDelete:
			return method
		}
	}
	return r.Method
}
