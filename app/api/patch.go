package api

import (
	"encoding/json"
	"strings"

	"deedkeep/app/body"
	"deedkeep/app/title"
)

// changes are the members of a PATCH, of which only those that were sent count.
type changes map[string]json.RawMessage

// changes reads a PATCH, of which the operation takes the members named.
func (e *edge) changes(c *call, taken ...string) (changes, error) {
	return c.object(e.Limits.JSON, taken...)
}

func (m changes) input(name string) title.Sent[title.Input] {
	raw, sent := m[name]
	return title.Sent[title.Input]{Present: sent, Value: input(raw)}
}

func (m changes) number(name string) title.Sent[title.Number] {
	raw, sent := m[name]
	return title.Sent[title.Number]{Present: sent, Value: number(raw)}
}

// custom is the member custom_fields; null takes all values away.
func (m changes) custom(of *call) title.Sent[title.Custom] {
	raw, sent := m["custom_fields"]
	c := title.Sent[title.Custom]{Present: sent, Value: of.custom(custom(raw))}
	if sent && body.Kind(raw) == body.KindNull {
		c.Value.Form = title.CustomNull
	}
	return c
}

// numbers is a member that lists ids, or records as a GET gives them, by their ids.
func (m changes) numbers(name string) title.Sent[title.Numbers] {
	raw, sent := m[name]
	list := title.Sent[title.Numbers]{Present: sent}
	items, err := body.Array(raw)
	if err != nil {
		return list
	}
	list.Value.Array = true
	for _, item := range items {
		if body.Kind(item) == body.KindObject {
			record, err := body.Object(item)
			if err != nil {
				return title.Sent[title.Numbers]{Present: sent}
			}
			item = record["id"]
		}
		list.Value.Items = append(list.Value.Items, number(item))
	}
	return list
}

// filename is a member that names a file, made a label as that of an upload is.
func (m changes) filename(name string) title.Sent[title.Input] {
	in := m.input(name)
	if in.Value.Form == title.String && strings.TrimSpace(in.Value.Value) != "" {
		in.Value.Value = body.Filename(in.Value.Value)
	}
	return in
}

func (m changes) property() title.PropertyPatch {
	return title.PropertyPatch{Address: m.input("address"), City: m.input("city"), County: m.input("county"), State: m.input("state")}
}
