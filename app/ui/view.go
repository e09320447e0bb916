package ui

import (
	"io"
	"net/http"
	"strings"

	"deedkeep/app/title"
)

const fileOpened = "file.opened"

// viewing takes a view down when the status of an answer says that bytes of the
// document go out, and before the first of them: the answer may take an hour, of
// which a crash must not lose the trace.
type viewing struct {
	http.ResponseWriter
	begin func()
}

func (v viewing) WriteHeader(status int) {
	if status == http.StatusOK || status == http.StatusPartialContent {
		v.begin()
	}
	v.ResponseWriter.WriteHeader(status)
}

// ReadFrom leaves the copying to the connection, which needs no buffer for it.
func (v viewing) ReadFrom(r io.Reader) (int64, error) { return io.Copy(v.ResponseWriter, r) }

// Unwrap is for http.ResponseController.
func (v viewing) Unwrap() http.ResponseWriter { return v.ResponseWriter }

// watched is w, by which every view of the document is taken down. A range says in
// its header where it begins; a later one goes on with a view.
func (p *pages) watched(w http.ResponseWriter, r *http.Request, file title.File) http.ResponseWriter {
	if r.Method != http.MethodGet {
		return w
	}
	return viewing{w, func() {
		actor, record := p.reader(w, r), fileRecord(file.ID)
		if part := w.Header().Get("Content-Range"); part != "" && !strings.HasPrefix(part, "bytes 0-") {
			p.Events.GoesOn(actor, fileOpened, record)
			return
		}
		p.Events.Note(actor, fileOpened, record, nil)
	}}
}

func (p *pages) reader(w http.ResponseWriter, r *http.Request) title.Actor {
	return title.Actor{Kind: title.ByLink, Address: p.Address(r), RequestID: requestID(w)}
}
