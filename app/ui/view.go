package ui

import (
	"io"
	"net/http"
	"strings"

	"deedkeep/app/model"
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
func (p *pages) watched(w http.ResponseWriter, r *http.Request, file model.File) http.ResponseWriter {
	return p.noted(w, r, p.reader(w, r), fileOpened, file)
}

func (p *pages) noted(w http.ResponseWriter, r *http.Request, actor model.Actor, kind string, file model.File) http.ResponseWriter {
	if r.Method != http.MethodGet {
		return w
	}
	return viewing{w, func() {
		if part := w.Header().Get("Content-Range"); part != "" && !strings.HasPrefix(part, "bytes 0-") {
			p.Events.GoesOn(actor, kind, fileRecord(file.ID))
			return
		}
		p.Events.Note(actor, kind, fileRecord(file.ID), nil)
	}}
}

// opened takes down that a page shows a document; a question about the page shows none.
func (p *pages) opened(r *http.Request, who visitor, id uint64) {
	if r.Method == http.MethodGet {
		p.Events.Note(who.Actor, fileOpened, fileRecord(id), nil)
	}
}

// reads reports whether a page gives something of documents away, which is taken down.
func (to route) reads() bool {
	_, path, _ := strings.Cut(to.pattern, " ")
	return strings.HasPrefix(to.pattern, "GET ") && (strings.HasPrefix(path, "/documents/") || strings.HasSuffix(path, "/zip"))
}

// tooFast refuses somebody who reads faster than anybody can.
func (p *pages) tooFast(w http.ResponseWriter, who visitor) error {
	if !p.Events.Fast(who.Actor) {
		return nil
	}
	w.Header().Set("Retry-After", "60")
	return &formError{http.StatusTooManyRequests, "One moment, please", "You opened very many documents within a minute. Go on in the next."}
}

func (p *pages) reader(w http.ResponseWriter, r *http.Request) model.Actor {
	return model.Actor{Kind: model.ActorLink, Address: p.Address(r), RequestID: requestID(w)}
}
