package documents

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/decode"
	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/tus"
	"deedkeep/app/ui/page"
	"deedkeep/app/upload"
)

// uploadsPath is the address of resumable uploads. They follow tus 1.0.0
// (https://tus.io/protocols/resumable-upload) with the extensions creation, termination, and
// expiration, and they are authenticated by the session cookie.
//
//	POST   /uploads       Upload-Length, Upload-Metadata: filename, to (a page.Place), path
//	                      (folders below that place, separated by slashes), and batch and
//	                      turn of documents that were selected together (base64 each)
//	HEAD   /uploads/ID    offset at which to resume
//	PATCH  /uploads/ID    the bytes from Upload-Offset on
//	DELETE /uploads/ID    cancel
//	GET    /uploads/ID    not part of tus: the status, as uploadStatus
//
// Errors are JSON with a message for users. Without a session, the response is 401 instead of a
// redirect to the sign-in page, because scripts can't follow such a redirect.
const uploadsPath = "/uploads"

// uploadStatus is the status of an upload, sent as JSON.
type uploadStatus struct {
	State     string `json:"state"` // "arriving", "arrived", "filed" or "refused"
	Offset    int64  `json:"offset"`
	Size      int64  `json:"size"`
	Number    uint64 `json:"number,omitempty"` // document ID
	Name      string `json:"name,omitempty"`
	Path      string `json:"path,omitempty"`
	Note      string `json:"note,omitempty"`      // says that an identical document already exists
	NotePath  string `json:"note_path,omitempty"` // address of the identical document
	Rejection string `json:"refusal,omitempty"`
	Advice    string `json:"advice,omitempty"` // what the user can do about the rejection
}

// rejectionAdvice returns what the user can do about a rejected document. It returns "" if the
// reason already says so.
func rejectionAdvice(reason string) string {
	switch reason {
	case document.ReasonPDFPassword:
		return "Open it with its password, print it to a new PDF or save a copy without the password, and upload that."
	case document.ReasonDocumentPassword:
		return "Open it with its password, save a copy without the password, and upload that."
	}
	return ""
}

// tusHandler returns a handler that checks whether the visitor may upload and sends any error as
// JSON.
func (p *Pages) tusHandler(next page.HandlerFunc) page.HandlerFunc {
	return func(r *page.Request) error {
		h := r.W.Header()
		h.Set("Tus-Resumable", tus.Version)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		sent := httpx.NewBody(r.W, r.Request, httpx.Limits{Stall: p.Stall, MinRate: p.MinRate})
		r.Body = sent
		err := p.mayUpload(r)
		if err == nil {
			err = next(r)
		}
		if err == nil {
			return nil
		}
		if !sent.Drain(1<<20, time.Second) {
			h.Set("Connection", "close")
		}
		p.sendUploadError(r, err)
		return nil
	}
}

func (p *Pages) mayUpload(r *page.Request) error {
	switch err := page.CheckAccess(r.Visitor, page.MayWrite); {
	case errors.Is(err, page.ErrSignIn):
		return &errs.Error{Kind: errs.Unauthenticated, Message: "Your session has expired. Sign in again to continue."}
	case errors.Is(err, page.ErrTwoFactorRequired):
		return &errs.Error{Kind: errs.Forbidden, Message: "Set up two-factor authentication first."}
	case err != nil:
		return err
	}
	if r.Method == http.MethodOptions {
		return nil
	}
	return tus.CheckVersion(r.Method, r.Header)
}

// sendUploadError sends an error as JSON.
func (p *Pages) sendUploadError(r *page.Request, err error) {
	status, message := http.StatusInternalServerError, "Something went wrong on the server. Try again."
	var filename *errs.Error
	var form *page.HTTPError
	var protocol *tus.Error
	switch {
	case errors.As(err, &protocol):
		status, message = protocol.Status, protocol.Message
	case errors.As(err, &form):
		status, message = form.Status, form.Text
	case errors.Is(err, upload.ErrUploadBusy):
		status, message = http.StatusLocked, errorMessage(err)
	case errors.Is(err, httpx.ErrTooSlow):
		status, message = http.StatusRequestTimeout, "The upload is too slow. Try again."
	case errors.As(err, &filename) && httpx.StatusByKind[filename.Kind] != 0:
		status, message = httpx.StatusByKind[filename.Kind], filename.Message
	}
	switch {
	case r.Context().Err() != nil, errors.Is(err, httpx.ErrIncomplete):
		p.Log.DebugContext(r.Context(), "client closed the connection", "error", err, "request_id", r.RequestID())
	case status >= http.StatusInternalServerError:
		p.Log.ErrorContext(r.Context(), "upload", "error", err, "status", status, "request_id", r.RequestID())
	}
	switch status {
	case http.StatusServiceUnavailable:
		r.W.Header().Set("Retry-After", "10")
	case http.StatusPreconditionFailed:
		r.W.Header().Set("Tus-Version", tus.Version)
	}
	_ = r.SendJSON(status, map[string]string{"message": message}) // strings can always be encoded
}

// uploadOptions sends the tus versions and extensions that the server supports.
func (p *Pages) uploadOptions(r *page.Request) error {
	tus.SetOptions(r.W.Header(), p.App.Uploads.MaxSize())
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}

func (p *Pages) uploadBegin(r *page.Request) error {
	length, err := tus.ParseLength(r.Header)
	if err != nil {
		return err
	}
	meta, err := tus.ParseMetadata(r.Header)
	if err != nil {
		return err
	}
	plan := upload.Plan{Filename: decode.Filename(meta["filename"]), Size: length}
	to, ok := p.ParsePlace(meta["to"])
	if !ok {
		return placeError(errs.RecordNotFound("place", meta["to"]))
	}
	plan.Abstract, plan.Folder = to.Abstract, to.Folder
	if path := meta["path"]; path != "" {
		plan.Path = strings.Split(path, "/")
	}
	if n, err := strconv.Atoi(meta["turn"]); err == nil && len(meta["batch"]) <= 100 {
		plan.Batch, plan.Position = meta["batch"], n
	}
	up, err := p.App.Uploads.Begin(r.Context(), r.Actor, plan)
	if errs.KindOf(err) == errs.Invalid && length > p.App.Uploads.MaxSize() {
		return page.NewHTTPError(http.StatusRequestEntityTooLarge, "", errorMessage(err))
	}
	if err != nil {
		return placeError(err)
	}
	r.W.Header().Set("Location", uploadsPath+"/"+up.ID)
	setProgressHeaders(r, up)
	r.W.WriteHeader(http.StatusCreated)
	return nil
}

// placeError replaces a NotFound error with one that says that the upload's destination no longer
// exists.
func placeError(err error) error {
	if errs.KindOf(err) == errs.NotFound {
		return page.NewHTTPError(http.StatusUnprocessableEntity, "", "The abstract or folder no longer exists.")
	}
	return err
}

func errorMessage(err error) string {
	if filename, ok := errors.AsType[*errs.Error](err); ok {
		return filename.Message
	}
	return ""
}

func setProgressHeaders(r *page.Request, up upload.Upload) {
	for name, value := range tus.ProgressHeaders(up.Offset, up.ExpiresAt) {
		r.W.Header().Set(name, value)
	}
}

// uploadShow handles HEAD requests, which ask for the offset, and GET requests, which ask for the
// status.
func (p *Pages) uploadShow(r *page.Request) error {
	if r.Method == http.MethodHead {
		up, err := p.App.Uploads.Offset(r.Context(), r.Actor, r.PathValue("id"))
		if err != nil {
			return err
		}
		r.W.Header().Set("Upload-Length", strconv.FormatInt(up.Size, 10))
		setProgressHeaders(r, up)
		return nil
	}
	up, err := p.App.Uploads.Get(r.Context(), r.Actor, r.PathValue("id"))
	if err != nil {
		return err
	}
	answer := uploadStatus{State: "arriving", Offset: up.Offset, Size: up.Size, Rejection: up.Rejection, Advice: rejectionAdvice(up.Rejection)}
	switch {
	case up.Rejection != "":
		answer.State = "refused"
	case up.File != nil:
		if err := p.describeDocument(r, &answer, *up.File); err != nil {
			return err
		}
	case up.Received:
		answer.State = "arrived"
	}
	return r.SendJSON(http.StatusOK, answer)
}

// describeDocument adds the uploaded document to the status. If another document has the same
// content, it adds that document, too.
func (p *Pages) describeDocument(r *page.Request, answer *uploadStatus, file model.File) error {
	answer.State, answer.Number, answer.Name, answer.Path = "filed", file.ID, file.Filename, p.ViewerPath(file)
	if file.Digest == "" {
		return nil // moved to the trash in the meantime
	}
	duplicates, err := p.App.Files.Duplicates(r.Context(), file, 1)
	if err != nil || len(duplicates) == 0 {
		return err
	}
	duplicate := duplicates[0]
	answer.NotePath = p.ViewerPath(duplicate.File)
	filename := "“" + duplicate.File.Filename + "”"
	switch {
	case page.DocumentPlace(duplicate.File) == page.DocumentPlace(file):
		answer.Note = "Duplicate: this document is already here as " + filename + "."
	case duplicate.Location != "":
		answer.Note = fmt.Sprintf("Duplicate: this document is also in %s as %s.", duplicate.Location, filename)
	case duplicate.File.AbstractID != 0:
		answer.Note = "Duplicate: this document is also in another abstract as " + filename + "."
	default:
		answer.Note = "Duplicate: this document is also in the Vault as " + filename + "."
	}
	return nil
}

func (p *Pages) uploadWrite(r *page.Request) error {
	offset, err := tus.ParseOffset(r.Header)
	if err != nil {
		return err
	}
	stop := tus.InterruptReads(r.W, p.App.Uploads.Paused())
	up, err := p.App.Uploads.Write(r.Context(), r.Actor, r.PathValue("id"), offset, r.Body)
	stop()
	if err != nil {
		return err
	}
	setProgressHeaders(r, up)
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}

func (p *Pages) uploadCancel(r *page.Request) error {
	if err := p.App.Uploads.Cancel(r.Context(), r.Actor, r.PathValue("id")); err != nil {
		return err
	}
	r.W.WriteHeader(http.StatusNoContent)
	return nil
}
