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

// uploadHandler is for documents that resume after a lost connection, by tus 1.0.0:
// the same uploads as those of the pages, each of the key that began it.
type uploadHandler struct {
	server  *server
	service *upload.Uploads
}

// metadataNames are those of Upload-Metadata that mean something.
var metadataNames = []string{"filename", "abstract_id", "folder_id"}

// trashedUpload is the error of an upload whose document was deleted since.
const trashedUpload = "The document was deleted."

// begin takes no bytes: the creation alone.
func (h uploadHandler) begin(c *request) (response, error) {
	if err := speaksTus(c); err != nil {
		return response{}, err
	}
	length, err := tus.ParseLength(c.Header)
	if err != nil {
		return response{}, err
	}
	meta, err := tus.ParseMetadata(c.Header)
	if err != nil {
		return response{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		c.ignored.note(name, metadataNames)
	}
	if length > h.service.MaxSize() {
		return response{}, &httpx.Error{Status: http.StatusRequestEntityTooLarge, Message: h.service.TooLargeReason(), Header: map[string]string{"Tus-Max-Size": strconv.FormatInt(h.service.MaxSize(), 10)}}
	}
	plan, err := h.plan(meta)
	if err != nil {
		return response{}, err
	}
	plan.Size, plan.Metadata = length, strings.Join(c.Header.Values("Upload-Metadata"), ",")
	up, err := h.service.Begin(c.Context(), c.actor, plan)
	if err != nil {
		return response{}, beginError(err, plan)
	}
	a := h.respond(c, http.StatusCreated, up)
	a.header["Location"] = c.origin + "/v1" + uploadsPath + "/" + up.ID
	return a, nil
}

// plan reads what the metadata say.
func (h uploadHandler) plan(meta map[string]string) (plan upload.Plan, err error) {
	sent := fields(meta)
	draft := model.ResumableUploadDraft{Filename: sent.input("filename"), AbstractID: sent.input("abstract_id"), FolderID: sent.number("folder_id")}
	abstract, known := h.server.abstracts.Decode(strings.TrimSpace(meta["abstract_id"]))
	if !known {
		abstract = 0
	}
	folder, refused := draft.Check(abstract)
	return upload.Plan{Filename: decode.Filename(meta["filename"]), Abstract: abstract, Folder: folder}, refused.Err()
}

// beginError has the field with a refusal that names none: what the document would be
// refused for, or its place, which is not there.
func beginError(err error, plan upload.Plan) error {
	named, is := errors.AsType[*errs.Error](err)
	switch {
	case !is || len(named.Fields) > 0:
		return err
	case named.Kind == errs.NotFound && plan.Abstract != 0:
		return errs.InvalidField("abstract_id", model.MsgInvalidChoice("abstract_id"))
	case named.Kind == errs.NotFound:
		return errs.InvalidField("folder_id", model.MsgInvalidChoice("folder_id"))
	case named.Kind == errs.Invalid:
		return errs.InvalidField("file", named.Message)
	}
	return err
}

// show answers GET, and HEAD with where to resume.
func (h uploadHandler) show(c *request) (response, error) {
	id := c.params.ByName("id")
	if c.Method == http.MethodGet {
		up, err := h.service.Get(c.Context(), c.actor, id)
		if err != nil {
			return response{}, err
		}
		return h.respond(c, http.StatusOK, up), nil
	}
	if c.Header.Get("Tus-Resumable") != "" { // HEAD works wherever GET does
		if err := speaksTus(c); err != nil {
			return response{}, err
		}
	}
	up, err := h.service.Offset(c.Context(), c.actor, id)
	if err != nil {
		return response{}, err
	}
	return h.respond(c, http.StatusOK, up), nil
}

// write takes the bytes from an offset on.
func (h uploadHandler) write(c *request) (response, error) {
	if err := speaksTus(c); err != nil {
		return response{}, err
	}
	id := c.params.ByName("id")
	if _, err := h.service.Offset(c.Context(), c.actor, id); err != nil && !errors.Is(err, upload.ErrUploadBusy) {
		return response{}, err // before the body is read
	}
	offset, err := tus.ParseOffset(c.Header)
	if err != nil {
		return response{}, err
	}
	stop := tus.InterruptReads(c.w, h.service.Paused())
	up, err := h.service.Write(c.Context(), c.actor, id, offset, c.Body)
	stop()
	switch {
	case errors.Is(err, blobstore.ErrTooLarge):
		return response{}, &httpx.Error{Status: http.StatusRequestEntityTooLarge, Message: "More bytes arrived than the Upload-Length said."}
	case err != nil:
		return response{}, err
	}
	return response{status: http.StatusNoContent, header: tus.ProgressHeaders(up.Offset, up.ExpiresAt)}, nil
}

func (h uploadHandler) cancel(c *request) (response, error) {
	if err := speaksTus(c); err != nil {
		return response{}, err
	}
	if err := h.service.Cancel(c.Context(), c.actor, c.params.ByName("id")); err != nil {
		return response{}, err
	}
	return noContent()
}

func speaksTus(c *request) error { return tus.CheckVersion(c.Method, c.Header) }

func (h uploadHandler) respond(c *request, status int, up upload.Upload) response {
	data := apitypes.Upload{Offset: up.Offset, Length: up.Size, Error: encode.OptionalString(up.Rejection)}
	switch {
	case up.File == nil:
	case up.File.Digest == "":
		data.Error = encode.OptionalString(trashedUpload)
	default:
		file := h.server.file(c, *up.File)
		data.File = &file
	}
	a := response{status: status, header: tus.ProgressHeaders(up.Offset, up.ExpiresAt), body: apitypes.UploadBody{Data: data}}
	a.header["Upload-Length"] = strconv.FormatInt(up.Size, 10)
	if up.Metadata != "" {
		a.header["Upload-Metadata"] = up.Metadata
	}
	return a
}

// tus puts the version on every response about uploads, refusals too, and on OPTIONS
// what the server supports.
func (e *server) tus(c *gin.Context) {
	if !strings.HasPrefix(c.Request.URL.Path+"/", "/v1"+uploadsPath+"/") {
		return
	}
	if c.Request.Method == http.MethodOptions {
		tus.SetOptions(c.Writer.Header(), e.Vault.Uploads.MaxSize())
	}
	c.Header("Tus-Resumable", tus.Version)
}

// meant is the method of a request: tus lets a client that can send neither PATCH nor
// DELETE send POST in their place.
func meant(r *http.Request, path string) string {
	if r.Method == http.MethodPost && strings.HasPrefix(path, "/v1"+uploadsPath+"/") {
		switch method := r.Header.Get("X-Http-Method-Override"); method {
		case http.MethodPatch, http.MethodDelete:
			return method
		}
	}
	return r.Method
}
