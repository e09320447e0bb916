package documents

import (
	"io"
	"net/http"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

const fileOpened = "file.opened"

// viewRecorder takes a view down when the status of an answer says that bytes of the
// document go out, and before the first of them: the answer may take an hour, of
// which a crash must not lose the trace.
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

// ReadFrom leaves the copying to the connection, which needs no buffer for it.
func (v viewRecorder) ReadFrom(r io.Reader) (int64, error) { return io.Copy(v.ResponseWriter, r) }

// Unwrap is for http.ResponseController.
func (v viewRecorder) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// recordLinkView is w, by which every view of the document is taken down. A range says in
// its header where it begins; a later one goes on with a view.
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
			p.Events.GoesOn(actor, kind, page.FileRecordName(file.ID))
			return
		}
		p.Events.Note(actor, kind, page.FileRecordName(file.ID), nil)
	}}
}

// recordView takes down that a page shows a document; a question about the page shows none.
func (p *Pages) recordView(r *http.Request, who page.Visitor, id uint64) {
	if r.Method == http.MethodGet {
		p.Events.Note(who.Actor, fileOpened, page.FileRecordName(id), nil)
	}
}

func (p *Pages) linkActor(w http.ResponseWriter, r *http.Request) model.Actor {
	return model.Actor{Kind: model.ActorLink, Address: p.Address(r), RequestID: page.RequestID(w)}
}
