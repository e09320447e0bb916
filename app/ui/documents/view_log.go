package documents

import (
	"io"
	"net/http"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

const fileOpened = "file.opened"

// viewRecorder records a view of a document before the first byte is sent, as soon as the response
// status shows that content follows. This way a crash during a long download doesn't lose the audit
// entry.
type viewRecorder struct {
	http.ResponseWriter
	begin func()
}

func (v viewRecorder) WriteHeader(status int) {
	if status == http.StatusOK || status == http.StatusPartialContent {
		v.begin()
	}
	v.ResponseWriter.WriteHeader(status)
}

// ReadFrom lets net/http copy the content directly to the connection, without a buffer.
func (v viewRecorder) ReadFrom(r io.Reader) (int64, error) { return io.Copy(v.ResponseWriter, r) }

// Unwrap returns the underlying writer for http.ResponseController.
func (v viewRecorder) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// recordSending records that a document is sent. A range request that doesn't start at byte 0
// continues the current view.
func (p *Pages) recordSending(r *page.Request, kind string, file model.File) {
	if part := r.W.Header().Get("Content-Range"); part != "" && !strings.HasPrefix(part, "bytes 0-") {
		p.App.Events.ContinueView(r.Actor, kind, model.RecordRef("file", file.ID))
		return
	}
	p.App.Events.RecordAccess(r.Actor, kind, model.RecordRef("file", file.ID), nil)
}

// recordView records a view of the requested document. HEAD requests are not views.
func (p *Pages) recordView(r *page.Request) {
	if r.Method == http.MethodGet {
		p.App.Events.RecordAccess(r.Actor, fileOpened, model.RecordRef("file", r.PathID), nil)
	}
}
