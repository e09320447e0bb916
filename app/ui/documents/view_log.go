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

// recordLinkView returns a writer that records the use of a signed link as a view of the document.
// A range request that doesn't start at byte 0 continues the current view.
func (p *Pages) recordLinkView(w http.ResponseWriter, r *http.Request, file model.File) http.ResponseWriter {
	return p.recordResponse(w, r, p.linkActor(w, r), fileOpened, file)
}

func (p *Pages) recordResponse(
	w http.ResponseWriter, r *http.Request, actor model.Actor, kind string, file model.File,
) http.ResponseWriter {
	if r.Method != http.MethodGet {
		return w
	}
	return viewRecorder{w, func() {
		if part := w.Header().Get("Content-Range"); part != "" && !strings.HasPrefix(part, "bytes 0-") {
			p.Events.ContinueView(actor, kind, page.FileRecordName(file.ID))
			return
		}
		p.Events.RecordAccess(actor, kind, page.FileRecordName(file.ID), nil)
	}}
}

// recordView records a view of a document. HEAD requests are not views.
func (p *Pages) recordView(r *http.Request, visitor page.Visitor, id uint64) {
	if r.Method == http.MethodGet {
		p.Events.RecordAccess(visitor.Actor, fileOpened, page.FileRecordName(id), nil)
	}
}

func (p *Pages) linkActor(w http.ResponseWriter, r *http.Request) model.Actor {
	return model.Actor{Kind: model.ActorLink, Address: p.Address(r), RequestID: page.RequestID(w)}
}
