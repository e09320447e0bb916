package api

import (
	"context"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

type abstractHandler struct {
	edge  *edge
	verbs interface {
		Create(ctx context.Context, actor model.Actor, draft model.AbstractDraft, tray *vault.Tray, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Attach(ctx context.Context, actor model.Actor, id uint64, draft model.UploadDraft, tray *vault.Tray, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Get(ctx context.Context, id uint64) (vault.Filed, error)
		List(ctx context.Context, q vault.Query) (vault.Page[vault.Filed], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.AbstractPatch, match vault.Match) (vault.Filed, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Detach(ctx context.Context, actor model.Actor, id, file uint64, match vault.Match) error
	}
	trays  trays
	search *vault.SearchService
}

// abstractFields are the fields of POST /abstracts (SPEC.md).
var abstractFields = []string{"template_id", "custom_fields", "address", "city", "county", "state", "tax_map"}

// abstractChanges are the fields of PATCH /abstracts/{id}.
var abstractChanges = append([]string{"status", "files"}, abstractFields...)

func (h abstractHandler) create(c *call) (answer, error) {
	form, err := h.edge.readForm(c, h.trays, abstractFields, true)
	if err != nil {
		return answer{}, err
	}
	defer form.tray.Discard()
	f := form.fields
	render := func(filed vault.Filed) answer { return h.edge.abstractCreated(c, filed) }
	filed, err := h.verbs.Create(c.Context(), c.actor, model.AbstractDraft{
		TemplateID: f.number("template_id"),
		Custom:     c.custom(f.custom("custom_fields")),
		PropertyDraft: model.PropertyDraft{
			Address: f.input("address"), City: f.input("city"), County: f.input("county"), State: f.input("state"),
		},
		TaxMap:      f.input("tax_map"),
		NonFilePart: form.notFile,
	}, form.tray, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) attach(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	if _, err := h.verbs.Get(c.Context(), id); err != nil {
		return answer{}, err // before the body is read
	}
	form, err := h.edge.readForm(c, h.trays, nil, false)
	if err != nil {
		return answer{}, err
	}
	defer form.tray.Discard()
	render := func(filed vault.Filed) answer { return h.edge.abstractCreated(c, filed) }
	filed, err := h.verbs.Attach(c.Context(), c.actor, id, form.upload(), form.tray, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) get(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	filed, err := h.verbs.Get(c.Context(), id)
	if err != nil {
		return answer{}, err
	}
	return h.edge.abstractRead(c, filed), nil
}

var abstractListing = listing{
	noun:  "abstracts",
	text:  taken,
	sorts: []sorting{{"created_at", vault.SortCreated}, {"updated_at", vault.SortUpdated}},
	filters: slices.Concat([]filter{
		byText("status", vault.ColumnStatus, model.MaxLineLength), byNumber("template_id", vault.ColumnTemplate),
		byText("county", vault.ColumnCounty, model.MaxLineLength), byText("state", vault.ColumnState, model.MaxLineLength),
	}, byCreation(), byUpdate()),
}

func (h abstractHandler) list(c *call) (answer, error) {
	asked, err := h.edge.list(c, abstractListing)
	if err != nil {
		return answer{}, err
	}
	page, err := readPage(h.edge, c, asked.Query, listed(c, asked, h.verbs.List, h.search.Abstracts))
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(h.edge, c, asked, page, func(f vault.Filed) apitypes.Abstract { return h.edge.abstract(c, f) }))
}

func (h abstractHandler) patch(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	if _, err := h.verbs.Get(c.Context(), id); err != nil {
		return answer{}, err // before the body is read
	}
	m, err := h.edge.changes(c, abstractChanges...)
	if err != nil {
		return answer{}, err
	}
	filed, err := h.verbs.Patch(c.Context(), c.actor, id, model.AbstractPatch{
		TemplateID: m.number("template_id"), Status: m.input("status"), Custom: m.custom(c), PropertyPatch: m.property(),
		TaxMap: m.input("tax_map"), Files: m.numbers("files"),
	}, h.edge.etags[abstractNoun].match(c.Header, id))
	if err != nil {
		return answer{}, err
	}
	return h.edge.abstractRead(c, filed), nil
}

func (h abstractHandler) trash(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	if err := h.verbs.Trash(c.Context(), c.actor, id, h.edge.etags[abstractNoun].match(c.Header, id)); err != nil {
		return answer{}, err
	}
	return gone()
}

func (h abstractHandler) restore(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	if err := h.edge.nothing(c); err != nil {
		return answer{}, err
	}
	render := func(filed vault.Filed) answer { return h.edge.abstractRead(c, filed) }
	filed, err := h.verbs.Restore(c.Context(), c.actor, id, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) detach(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	file, err := c.number()
	if err != nil {
		return answer{}, err
	}
	if err := h.verbs.Detach(c.Context(), c.actor, id, file, h.edge.etags[fileNoun].match(c.Header, file)); err != nil {
		return answer{}, err
	}
	return gone()
}

func (h abstractHandler) id(c *call) (uint64, error) { return c.opaque(h.edge.abstracts) }

func (e *edge) abstractCreated(c *call, filed vault.Filed) answer {
	return answer{status: http.StatusCreated, header: e.etags[abstractNoun].of(filed.Abstract.ID, filed.Abstract.Version),
		body: apitypes.AbstractCreated{Data: e.abstract(c, filed), Errors: failures(filed.Failures)}}
}

func (e *edge) abstractRead(c *call, filed vault.Filed) answer {
	return answer{status: http.StatusOK, header: e.etags[abstractNoun].of(filed.Abstract.ID, filed.Abstract.Version),
		body: apitypes.AbstractBody{Data: e.abstract(c, filed)}}
}

func (e *edge) abstract(c *call, filed vault.Filed) apitypes.Abstract {
	a := filed.Abstract
	return apitypes.Abstract{
		ID: e.abstracts.Encode(a.ID), TemplateID: encode.OptionalID(a.TemplateID), Status: encode.OptionalString(a.Status),
		Address: encode.OptionalString(a.Address), City: encode.OptionalString(a.City), County: encode.OptionalString(a.County), State: encode.OptionalString(a.State),
		TaxMap: encode.OptionalString(a.TaxMap), CustomFields: apitypes.CustomFields(a.Custom), Files: e.files(c, filed.Files),
		CreatedAt: apitypes.At(a.CreatedAt), UpdatedAt: apitypes.At(a.UpdatedAt),
	}
}
