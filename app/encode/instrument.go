package encode

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/model"
)

// Instrument returns i as its API type. abstract is the opaque ID of its abstract, status is the effective status or "", and
// position is its place in the runsheet.
func Instrument(i model.Instrument, t model.DocumentType, abstract, status string, position int) apitypes.Instrument {
	text := OptionalString
	shape := apitypes.Instrument{
		ID: int64(i.ID), AbstractID: abstract, TypeID: OptionalID(i.TypeID), Type: text(t.Name), InstrumentNumber: text(i.Number),
		BookType: text(i.BookType), Book: text(i.Book), Page: text(i.Page), PageTo: text(i.PageTo), CaseNumber: text(i.CaseNumber),
		Court: text(i.Court), RecordingSystem: text(i.RecordingSystem), CertificateOfTitle: text(i.CertificateOfTitle),
		County: text(i.County), State: text(i.State), Dated: text(i.Dated), Recorded: text(i.Recorded), RecordedTime: text(i.RecordedTime),
		Expires: text(i.Expires), Grantors: i.Grantors, Grantees: i.Grantees, Consideration: text(i.Consideration),
		ConsiderationText: text(i.ConsiderationText), Parcels: i.Parcels, Legal: text(i.Legal), Remarks: text(i.Remarks),
		Status: text(status), Position: int64(position), Exception: text(i.Exception),
		Requirement: text(i.Requirement), Cleared: text(i.Cleared), Prior: i.Prior, CreatedAt: apitypes.At(i.CreatedAt),
		UpdatedAt: apitypes.At(i.UpdatedAt),
	}
	if i.StatusSetBy != nil {
		shape.StatusSetBy = new(Actor(*i.StatusSetBy))
	}
	for _, p := range i.OtherParties {
		shape.OtherParties = append(shape.OtherParties, apitypes.Party{Role: text(p.Role), Name: p.Name})
	}
	for _, r := range i.Relations {
		shape.Relations = append(shape.Relations, apitypes.Relation{Kind: r.Kind, InstrumentID: OptionalID(r.InstrumentID), Text: text(r.Text)})
	}
	for _, d := range i.Documents {
		shape.Documents = append(shape.Documents, apitypes.InstrumentPage{FileID: int64(d.FileID), Pages: text(d.Pages)})
	}
	return shape
}

// DocumentTypes returns document types as their API type.
func DocumentTypes(types model.DocumentTypes) []apitypes.DocumentType {
	list := make([]apitypes.DocumentType, 0, len(types))
	for _, t := range types {
		grantor, grantee := t.Parties()
		list = append(list, apitypes.DocumentType{ID: int64(t.ID), Name: t.Name, Category: string(t.Category), Encumbrance: t.Encumbrance,
			Retired: t.Retired, GrantorLabel: grantor.Label, GranteeLabel: grantee.Label})
	}
	return list
}

// Note returns n as its API type.
func Note(n model.Note) apitypes.Note {
	shape := apitypes.Note{ID: int64(n.ID), Text: n.Text, Page: OptionalID(uint64(max(n.Page, 0))), By: Actor(n.By),
		CreatedAt: apitypes.At(n.CreatedAt), UpdatedAt: apitypes.At(n.UpdatedAt)}
	if n.Area != nil {
		shape.Area = new(apitypes.NoteArea(*n.Area))
	}
	if n.EditedBy != nil {
		shape.EditedBy = new(Actor(*n.EditedBy))
	}
	return shape
}

// NamesRun returns a list of names run as its API type.
func NamesRun(list []model.NameRun) []apitypes.NameRun {
	shapes := make([]apitypes.NameRun, 0, len(list))
	for _, r := range list {
		shapes = append(shapes, apitypes.NameRun{Name: r.Name, From: OptionalString(r.From), To: OptionalString(r.To), Indexes: r.Indexes,
			Result: OptionalString(r.Result), Pending: r.Pending, By: Actor(r.By), At: apitypes.At(r.At)})
	}
	return shapes
}
