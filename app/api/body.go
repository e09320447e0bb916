package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
)

const acceptsJSON = "The Content-Type must be application/json."

// mediaType reads the Content-Type; accepted says which types the endpoint takes,
// message names them.
func (c *request) mediaType(message string, accepted func(string) bool) (mediaType, boundary string, err error) {
	values := c.Header.Values("Content-Type")
	if len(values) > 1 {
		return "", "", httpx.Unsupported(message)
	}
	if encoding := c.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return "", "", httpx.Unsupported("The request body must not have a Content-Encoding.")
	}
	mediaType, boundary, charset, malformed := decode.Boundary(c.Header.Get("Content-Type"))
	if mediaType == "" && malformed == nil {
		return "", "", c.mustBeEmpty(message)
	}
	if !accepted(mediaType) {
		return "", "", httpx.Unsupported(message)
	}
	if charset != "" && charset != "utf-8" {
		return "", "", httpx.Unsupported("The charset must be UTF-8.")
	}
	return mediaType, boundary, malformed
}

// mustBeEmpty allows a request without a type to have an empty body only.
func (c *request) mustBeEmpty(message string) error {
	var one [1]byte
	n, err := io.ReadFull(c.Body, one[:])
	if n > 0 {
		return httpx.Unsupported(message)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// readAll reads a body that must fit into memory.
func (c *request) readAll(limit int64) ([]byte, error) {
	if c.ContentLength > limit {
		return nil, httpx.TooLarge(limit)
	}
	most, known := limit, false
	if c.ContentLength >= 0 {
		most, known = c.ContentLength, true
	}
	from := http.MaxBytesReader(c.w, c.Body, limit)
	raw := make([]byte, 0, min(most, httpx.FreeBodyBytes))
	for {
		free := raw[len(raw):cap(raw)]
		switch size := min(2*int64(cap(raw)), most); {
		case len(free) > 0:
		case size == int64(cap(raw)):
			free = make([]byte, 1) // nothing but its end can come
		default:
			if err := c.memory.Cover(c.Context(), size, most, known); err != nil {
				return nil, err
			}
			raw = append(make([]byte, 0, size), raw...)
			continue
		}
		n, err := from.Read(free)
		raw = raw[:min(len(raw)+n, cap(raw))]
		if errors.Is(err, io.EOF) {
			c.memory.Finish()
			return raw, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// object reads a JSON body, of which the operation takes the members named; one that
// is no object counts as empty.
func (c *request) object(limit int64, taken ...string) (map[string]json.RawMessage, error) {
	mediaType, _, err := c.mediaType(acceptsJSON, decode.IsJSON)
	if err != nil || mediaType == "" {
		return nil, err
	}
	raw, err := c.readAll(limit)
	if err != nil {
		return nil, err
	}
	c.content.json(raw)
	if err := c.memory.AcquireDecoded(c.Context(), httpx.DecodedCost(raw)); err != nil {
		return nil, err
	}
	sent, err := decode.Object(raw)
	c.ignored.object(sent, taken)
	return sent, err
}

// readEmpty reads the body of a request that needs none: an object or nothing.
func (e *server) readEmpty(c *request) error {
	_, err := c.object(e.Limits.JSON)
	return err
}

// input is a member of a JSON body as a text.
func input(raw json.RawMessage) model.Input {
	switch decode.Kind(raw) {
	case decode.KindString:
		if s, err := decode.String(raw); err == nil {
			return model.StringInput(s)
		}
	case decode.KindNull:
		return model.Input{}
	}
	if len(raw) == 0 {
		return model.Input{}
	}
	return model.Input{Kind: model.InputNotString}
}

// number is a member of a JSON body as an id.
func number(raw json.RawMessage) model.IDInput {
	n, present, valid := decode.IntegerJSON(raw)
	return model.IDInput{Present: present || !valid, Valid: valid, Value: n}
}

// custom is a member of a JSON body as a map of custom fields.
func custom(raw json.RawMessage) model.Custom {
	raw = bytes.TrimSpace(raw)
	switch string(raw) {
	case "", "null", `""`:
		return model.Custom{}
	}
	switch decode.Kind(raw) {
	case decode.KindString:
		if s, err := decode.String(raw); err == nil && strings.TrimSpace(s) == "" {
			return model.Custom{}
		}
	case decode.KindObject:
		sent, err := decode.Object(raw)
		if err != nil {
			return model.Custom{Kind: model.CustomNotJSON}
		}
		return model.Custom{Values: sent}
	case decode.KindArray:
		if items, err := decode.Array(raw); err == nil && len(items) == 0 {
			return model.Custom{} // the empty map of PHP
		}
	}
	return model.Custom{Kind: model.CustomNotObject}
}

// custom has the keys noted that no definition names.
func (c *request) custom(in model.Custom) model.Custom {
	in.OnUnknownKeys = c.ignored.keys
	return in
}

// fields are the values of a form, by name; the last of a name counts.
type fields map[string]string

func (f fields) input(name string) model.Input {
	value, sent := f[name]
	if !sent {
		return model.Input{}
	}
	return model.StringInput(value)
}

func (f fields) number(name string) model.IDInput {
	n, present, valid := decode.Integer(f[name])
	return model.IDInput{Present: present || !valid, Valid: valid, Value: n}
}

func (f fields) custom(name string) model.Custom {
	value, ok := decode.Text(f[name])
	switch {
	case !ok:
		return model.Custom{Kind: model.CustomInvalidText}
	case value == "":
		return model.Custom{}
	case decode.Valid([]byte(value)) != nil:
		return model.Custom{Kind: model.CustomNotJSON}
	}
	return custom(json.RawMessage(value))
}
