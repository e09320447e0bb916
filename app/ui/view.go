package ui

import (
	"fmt"
	"net/http"
	"strings"

	"deedkeep/app/title"
)

const fileOpened = "file.opened"

// plain reports whether the whole document is the only answer there can be.
func plain(r *http.Request) bool {
	for _, name := range []string{"Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	return r.Method == http.MethodGet
}

// opened takes down that the bytes of a document go out.
func (p *pages) opened(w http.ResponseWriter, r *http.Request, file title.File) {
	p.Events.Note(p.reader(w, r), fileOpened, fileRecord(file), nil)
}

// served judges by the headers of an answer whether bytes went out and which: only
// then net/http has set a length, and a range says where it begins.
func (p *pages) served(w http.ResponseWriter, r *http.Request, file title.File) {
	h := w.Header()
	if r.Method != http.MethodGet || h.Get("Content-Length") == "" {
		return
	}
	if part := h.Get("Content-Range"); part != "" && !strings.HasPrefix(part, "bytes 0-") {
		p.Events.GoesOn(p.reader(w, r), fileOpened, fileRecord(file))
		return
	}
	p.opened(w, r, file)
}

func (p *pages) reader(w http.ResponseWriter, r *http.Request) title.Actor {
	return title.Actor{Kind: title.ByLink, Address: p.Address(r), RequestID: requestID(w)}
}

func fileRecord(file title.File) string { return fmt.Sprintf("file:%d", file.ID) }
