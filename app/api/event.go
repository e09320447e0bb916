package api

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/audit"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

const eventsPath = "/events"

// eventHandler serves the audit log at /v1/events.
type eventHandler struct {
	server  *server
	service *audit.Events
}

var eventListSpec = listSpec{
	recordType: "events",
	sorts:      []sortOption{{"created_at", model.SortCreated}},
	afterParam: "after",
	filters: append([]filter{
		byText(model.ColumnActor, model.MaxNameLength), byText(model.ColumnKind, model.MaxNameLength), byRecord("record"),
	}, byCreated()...),
}

func (h eventHandler) list(r *request) (response, error) {
	return listPage(h.server, r, eventListSpec, h.service.List, nil, h.server.ids().Event)
}

const (
	streamPath = eventsPath + "/stream"
	// pingEvery is how often a stream sends a comment if there are no entries, and checks the key.
	pingEvery = 15 * time.Second
)

// stream sends entries of the audit log as they are added. With the header Last-Event-ID, it begins after that entry. It
// ends when the key does.
func (h eventHandler) stream(r *request) (response, error) {
	after, err := lastEventID(r.Header)
	if err != nil || r.Method == http.MethodHead {
		return response{status: http.StatusOK, media: httpx.EventStreamMedia, stream: func(io.Writer) error { return nil }}, err
	}
	f, err := h.service.Follow(r.Context())
	if err != nil {
		return response{}, err
	}
	header := map[string]string{"X-Accel-Buffering": "no"} // nginx would collect the response
	return response{status: http.StatusOK, header: header, media: httpx.EventStreamMedia, stream: func(w io.Writer) error {
		defer f.Stop()
		out := httpx.EventStream{W: w, Flush: flusher(r.w)}
		if err := out.Ping(); err != nil { // sends the header
			return err
		}
		if after != nil {
			err := h.service.Between(r.Context(), *after, f.Since, func(e model.Event) error { return h.send(out, e) })
			if err != nil {
				return err
			}
		}
		return h.follow(r, out, f)
	}}, nil
}

// lastEventID returns the sequence number in the header Last-Event-ID, or nil if there is none.
func lastEventID(h http.Header) (*uint64, error) {
	text := h.Get("Last-Event-ID")
	if text == "" {
		return nil, nil
	}
	seq, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return nil, &httpx.Error{Status: http.StatusBadRequest, Message: "The header Last-Event-ID is not the ID of an event of this stream."}
	}
	return &seq, nil
}

// follow sends entries until the client or the key is gone, or the client is too slow.
func (h eventHandler) follow(r *request, out httpx.EventStream, f *audit.Follower) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return nil
		case e, open := <-f.C:
			if !open || e.Record == r.actor.Record() && !h.server.stillAllowed(r) {
				return nil
			}
			err = h.send(out, *e)
		case <-tick.C:
			if !h.server.stillAllowed(r) {
				return nil
			}
			err = out.Ping()
		}
		if err != nil {
			return err
		}
	}
}

func (h eventHandler) send(out httpx.EventStream, e model.Event) error {
	raw, err := apitypes.Marshal(h.server.ids().Event(e))
	if err != nil {
		return err
	}
	return out.Send(strconv.FormatUint(e.Seq, 10), "", bytes.TrimSpace(raw))
}

// stillAllowed reports whether the key of a request that takes long still has access to its route.
func (s *server) stillAllowed(r *request) bool {
	presented, _ := bearer(r.Header)
	actor, err := s.App.Keys.Authenticate(r.Context(), presented)
	return err == nil && missingAbility(actor.Abilities, r.Method, "/v1"+streamPath) == ""
}

// flusher returns a function that sends what was written to the client. Gin's writer can flush only some writers.
func flusher(w http.ResponseWriter) func() error {
	if gin, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		w = gin.Unwrap()
	}
	return http.NewResponseController(w).Flush
}

// byRecord returns a filter for events about a record. The value has the form type:id,
// which events also use. The record does not have to exist.
func byRecord(name string) filter {
	return filter{name: name, read: func(s *server, text string, q *vault.Query, invalid *errs.Fields) {
		record := s.ids().Decode(text)
		if !encode.RecordPattern.MatchString(record) {
			invalid.Add(name, errs.InvalidChoice)
		}
		addFilter(q, model.ColumnRecord, record)
	}}
}

// noteDownload adds an audit log entry for the download of a file. detail says what was sent, unless
// it is the file itself.
func (s *server) noteDownload(r *request, file model.File, detail map[string]string) {
	if r.Method == http.MethodGet {
		s.App.Events.RecordAccess(r.actor, "file.downloaded", model.RecordRef("file", file.ID), detail)
	}
}

// ids returns the codec for the opaque IDs in events.
func (s *server) ids() encode.IDCodec {
	return encode.IDCodec{Abstracts: s.abstracts, Orders: s.orders}
}
