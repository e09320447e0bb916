package api

import (
	"net/http"

	"deedkeep/app/audit"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
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
