package api

import (
	"encoding/json"
	"strings"

	"deedkeep/app/decode"
	"deedkeep/app/model"
)

// changes are the members of a PATCH, of which only those that were sent count.
type changes map[string]json.RawMessage

// changes reads a PATCH, of which the operation takes the members named.
func (e *server) changes(c *request, taken ...string) (changes, error) {
	return c.object(e.Limits.JSON, taken...)
}

func (m changes) input(name string) model.Optional[model.Input] {
	raw, sent := m[name]
	return model.Optional[model.Input]{Present: sent, Value: input(raw)}
}

func (m changes) number(name string) model.Optional[model.IDInput] {
	raw, sent := m[name]
	return model.Optional[model.IDInput]{Present: sent, Value: number(raw)}
}

// custom is the member custom_fields; null takes all values away.
func (m changes) custom(of *request) model.Optional[model.Custom] {
	raw, sent := m["custom_fields"]
	c := model.Optional[model.Custom]{Present: sent, Value: of.custom(custom(raw))}
	if sent && decode.Kind(raw) == decode.KindNull {
		c.Value.Kind = model.CustomNull
	}
	return c
}

// numbers is a member that lists ids, or records as a GET gives them, by their ids.
func (m changes) numbers(name string) model.Optional[model.IDListInput] {
	raw, sent := m[name]
	list := model.Optional[model.IDListInput]{Present: sent}
	items, err := decode.Array(raw)
	if err != nil {
		return list
	}
	list.Value.IsArray = true
	for _, item := range items {
		if decode.Kind(item) == decode.KindObject {
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

// filename is a member that names a file, made a label as that of an upload is.
func (m changes) filename(name string) model.Optional[model.Input] {
	in := m.input(name)
	if in.Value.Kind == model.InputString && strings.TrimSpace(in.Value.Value) != "" {
		in.Value.Value = decode.Filename(in.Value.Value)
	}
	return in
}

func (m changes) property() model.PropertyPatch {
	return model.PropertyPatch{Address: m.input("address"), City: m.input("city"), County: m.input("county"), State: m.input("state")}
}
