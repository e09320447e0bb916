package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/secret"
)

const msgWantJSON = "The Content-Type must be application/json."

// mediaType parses the Content-Type header and returns a 415 error with message unless
// accepted returns true for its media type. The media type is "" if the request has neither
// a Content-Type nor a body.
func (r *request) mediaType(message string, accepted func(string) bool) (mediaType, boundary string, err error) {
	values := r.Header.Values("Content-Type")
	if len(values) > 1 {
		return "", "", httpx.Unsupported(message)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return "", "", httpx.Unsupported("The request body must not have a Content-Encoding.")
	}
	mediaType, boundary, charset, malformed := decode.Boundary(r.Header.Get("Content-Type"))
	if mediaType == "" && malformed == nil {
		return "", "", r.mustBeEmpty(message)
	}
	if !accepted(mediaType) {
		return "", "", httpx.Unsupported(message)
	}
	if charset != "" && charset != "utf-8" {
		return "", "", httpx.Unsupported("The charset must be UTF-8.")
	}
	return mediaType, boundary, malformed
}

// mustBeEmpty returns a 415 error with message if the body is not empty.
func (r *request) mustBeEmpty(message string) error {
	var probe [1]byte
	n, err := io.ReadFull(r.Body, probe[:])
	if n > 0 {
		return httpx.Unsupported(message)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// readAll reads the body into memory and reserves memory as the body grows. It returns an
// error if the body is larger than limit bytes.
func (r *request) readAll(limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, httpx.TooLarge(limit)
	}
	maxBytes, exact := limit, false
	if r.ContentLength >= 0 {
		maxBytes, exact = r.ContentLength, true
	}
	body := http.MaxBytesReader(r.w, r.Body, limit)
	raw := make([]byte, 0, min(maxBytes, httpx.FreeBodyBytes))
	for {
		free := raw[len(raw):cap(raw)]
		switch size := min(2*int64(cap(raw)), maxBytes); {
		case len(free) > 0:
		case size == int64(cap(raw)):
			free = make([]byte, 1) // the body is complete, so the next read returns EOF
		default:
			if err := r.memory.Cover(r.Context(), size, maxBytes, exact); err != nil {
				return nil, err
			}
			raw = append(make([]byte, 0, size), raw...)
			continue
		}
		n, err := body.Read(free)
		raw = raw[:min(len(raw)+n, cap(raw))]
		if errors.Is(err, io.EOF) {
			r.memory.Finish()
			return raw, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// object decodes a JSON body. It records members that are not in known as ignored. If the
// JSON value is not an object, object returns an empty map.
func (r *request) object(limit int64, known ...string) (map[string]json.RawMessage, error) {
	mediaType, _, err := r.mediaType(msgWantJSON, decode.IsJSON)
	if err != nil || mediaType == "" {
		return nil, err
	}
	raw, err := r.readAll(limit)
	if err != nil {
		return nil, err
	}
	r.digest.json(raw)
	if err := r.memory.AcquireDecoded(r.Context(), httpx.DecodedCost(raw)); err != nil {
		return nil, err
	}
	sent, err := decode.Object(raw)
	r.ignored.addMembers(sent, known)
	return sent, err
}

// inputs converts the known members of a JSON body.
func inputs(sent map[string]json.RawMessage, known ...string) model.Inputs {
	in := model.Inputs{}
	for _, name := range known {
		if raw, ok := sent[name]; ok {
			in[name] = model.JSONInput(raw)
		}
	}
	return in
}

// number converts a member of a JSON body to an ID input.
func number(raw json.RawMessage) model.IDInput {
	n, present, valid := decode.IntegerJSON(raw)
	return model.IDInput{Present: present || !valid, Valid: valid, Value: n}
}

// custom converts a member of a JSON body to custom field values. It treats null and blank
// strings as absent, and so an empty array, because PHP encodes an empty map as [].
func custom(raw json.RawMessage) model.Custom {
	switch jsontext.Value(raw).Kind() {
	case 0, 'n':
		return model.Custom{}
	case '"':
		if s, ok := decode.String(bytes.TrimSpace(raw)); ok && strings.TrimSpace(s) == "" {
			return model.Custom{}
		}
	case '{':
		sent, err := decode.Object(raw)
		if err != nil {
			return model.Custom{Kind: model.CustomNotJSON}
		}
		values := make(model.Inputs, len(sent))
		for key, value := range sent {
			values[key] = model.JSONInput(value)
		}
		return model.Custom{Values: values}
	case '[':
		if len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
			return model.Custom{}
		}
	}
	return model.Custom{Kind: model.CustomNotObject}
}

// custom returns a copy of in that records undefined keys as ignored fields.
func (r *request) custom(in model.Custom) model.Custom {
	in.OnUnknownKeys = r.ignored.setCustomKeys
	return in
}

// customFields is the name of the field with the custom fields.
const customFields = "custom_fields"

// bodyFields are the fields of a request that creates a record, sent as a form or as JSON.
type bodyFields interface {
	inputs(names ...string) model.Inputs
	number(name string) model.IDInput
	custom(name string) model.Custom
}

// jsonFields maps the name of a member of a JSON body to its value.
type jsonFields map[string]json.RawMessage

func (f jsonFields) inputs(names ...string) model.Inputs { return inputs(f, names...) }
func (f jsonFields) number(name string) model.IDInput    { return number(f[name]) }
func (f jsonFields) custom(name string) model.Custom     { return custom(f[name]) }

// formFields maps the name of a form field to its value. If a name is repeated, the last
// value is kept.
type formFields map[string]string

func (f formFields) inputs(names ...string) model.Inputs {
	in := model.Inputs{}
	for _, name := range names {
		if value, sent := f[name]; sent {
			in[name] = model.StringInput(value)
		}
	}
	return in
}

func (f formFields) number(name string) model.IDInput {
	n, present, valid := decode.Integer(f[name])
	return model.IDInput{Present: present || !valid, Valid: valid, Value: n}
}

func (f formFields) custom(name string) model.Custom {
	value := strings.TrimSpace(f[name])
	switch {
	case !decode.ValidText(value):
		return model.Custom{Kind: model.CustomInvalidText}
	case value == "":
		return model.Custom{}
	case decode.Valid([]byte(value)) != nil:
		return model.Custom{Kind: model.CustomNotJSON}
	}
	return custom(json.RawMessage(value))
}

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
