package control

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
)

// DocumentTypes returns the document types in display order, including the retired ones.
func (c *Client) DocumentTypes(ctx context.Context) ([]apitypes.DocumentType, error) {
	return data[[]apitypes.DocumentType](ctx, c, "GET /control/document-types", nil)
}

func (h handler) documentTypes(r *http.Request) (any, error) {
	types, err := h.App.Instruments.Types(r.Context())
	return dataOf(encode.DocumentTypes(types)), err
}

// ImportDocumentTypes replaces the document types. It reports changes and errors like ImportTemplates, under types.INDEX.
func (c *Client) ImportDocumentTypes(ctx context.Context, types []apitypes.DocumentType, dryRun bool) (apitypes.DefinitionsChanged, error) {
	return call[apitypes.DefinitionsChanged](ctx, c, "POST /control/document-types/import",
		apitypes.DocumentTypesImport{DryRun: dryRun, Types: types})
}

func (h handler) importDocumentTypes(r *http.Request, asked apitypes.DocumentTypesImport) (any, error) {
	var types model.DocumentTypes
	for _, t := range asked.Types {
		types = append(types, model.DocumentType{ID: uint64(max(t.ID, 0)), Name: t.Name, Category: model.Category(t.Category),
			Encumbrance: t.Encumbrance, Retired: t.Retired, GrantorLabel: t.GrantorLabel, GranteeLabel: t.GranteeLabel})
	}
	before, err := h.App.Instruments.Types(r.Context())
	if err != nil {
		return nil, err
	}
	now, err := h.App.Instruments.SetTypes(r.Context(), operator(r), types, asked.DryRun)
	return apitypes.DefinitionsChanged{DryRun: asked.DryRun, Changed: changedTypes(before, now)}, err
}

// changedTypes returns the differences between two lists of document types.
func changedTypes(before, now model.DocumentTypes) (list []apitypes.Definition) {
	var sequence, kept []string
	for _, t := range now {
		old, existed := before.ByID(t.ID)
		d := apitypes.Definition{ID: encode.OptionalID(t.ID), Name: t.Name, Created: !existed}
		add := func(field string, from, to any) {
			if from != to {
				d.Changes = append(d.Changes, apitypes.DefinitionChange{Field: field, From: encoded(from), To: encoded(to)})
			}
		}
		add("name", old.Name, t.Name)
		add("category", old.Category, t.Category)
		add("encumbrance", old.Encumbrance, t.Encumbrance)
		add("retired", old.Retired, t.Retired)
		add("grantor_label", old.GrantorLabel, t.GrantorLabel)
		add("grantee_label", old.GranteeLabel, t.GranteeLabel)
		if len(d.Changes) > 0 {
			list = append(list, d)
		}
		if existed {
			kept = append(kept, t.Name)
		}
	}
	for _, t := range before {
		renamed, _ := now.ByID(t.ID)
		sequence = append(sequence, renamed.Name)
	}
	if !slices.Equal(sequence, kept) {
		change := apitypes.DefinitionChange{Field: "sequence", From: encoded(sequence), To: encoded(kept)}
		list = append(list, apitypes.Definition{Changes: []apitypes.DefinitionChange{change}})
	}
	return list
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}
