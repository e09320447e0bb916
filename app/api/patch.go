package api

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"deedkeep/app/decode"
	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// patchBody contains the members of a PATCH body. Only fields that have a member are
// changed.
type patchBody map[string]json.RawMessage

func (body patchBody) input(name string) model.Optional[model.Input] {
	raw, sent := body[name]
	return model.Optional[model.Input]{Present: sent, Value: model.JSONInput(raw)}
}

func (body patchBody) number(name string) model.Optional[model.IDInput] {
	raw, sent := body[name]
	return model.Optional[model.IDInput]{Present: sent, Value: number(raw)}
}

// opaque returns a member that is the opaque ID of an abstract or an order. An ID that no record can
// have becomes one that doesn't exist.
func (body patchBody) opaque(name string, ids *secret.IDs) model.Optional[model.IDInput] {
	raw, sent := body[name]
	in := model.JSONInput(raw)
	id, ok := ids.Decode(in.Value)
	switch {
	case in.Kind == model.InputMissing || in.Kind == model.InputString && in.Value == "":
		return model.Optional[model.IDInput]{Present: sent, Value: model.IDInput{Valid: true}}
	case !ok:
		return model.Optional[model.IDInput]{Present: sent, Value: model.IDInput{Present: true, Valid: true}}
	}
	return model.Optional[model.IDInput]{Present: sent, Value: model.NewIDInput(id)}
}

// custom returns the member custom_fields. The value null removes all custom field values.
func (body patchBody) custom(r *request) model.Optional[model.Custom] {
	raw, sent := body[customFields]
	c := model.Optional[model.Custom]{Present: sent, Value: r.custom(custom(raw))}
	if sent && jsontext.Value(raw).Kind() == 'n' {
		c.Value.Kind = model.CustomNull
	}
	return c
}

// numbers returns a member that is a list of IDs. Items may also be objects with an id,
// which is the form that GET returns.
func (body patchBody) numbers(name string) model.Optional[model.IDListInput] {
	raw, sent := body[name]
	list := model.Optional[model.IDListInput]{Present: sent}
	var items []json.RawMessage
	if jsontext.Value(raw).Kind() != '[' || json.Unmarshal(raw, &items) != nil {
		return list
	}
	list.Value.IsArray = true
	for _, item := range items {
		if jsontext.Value(item).Kind() == '{' {
			record, err := decode.Object(item)
			if err != nil {
				return model.Optional[model.IDListInput]{Present: sent}
			}
			item = record["id"]
		}
		list.Value.Items = append(list.Value.Items, number(item))
	}
	return list
}

// filename returns a member that is a filename. It is sanitized in the same way as the
// filename of an upload.
func (body patchBody) filename(name string) model.Optional[model.Input] {
	in := body.input(name)
	if in.Value.Kind == model.InputString && strings.TrimSpace(in.Value.Value) != "" {
		in.Value.Value = decode.Filename(in.Value.Value)
	}
	return in
}
