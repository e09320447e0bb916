package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// Address gives a function that tells a client's address as the routes of /v1 see
// it, for what stands beside them.
func Address(trustedProxies []netip.Prefix) func(*http.Request) string {
	e := &edge{Options: Options{TrustedProxies: trustedProxies}}
	return func(r *http.Request) string { return text(e.address(r)) }
}

// Origin gives the service's own address as a request has it, without a path.
func Origin(publicURL string, trustedProxies []netip.Prefix) func(*http.Request) (string, error) {
	return (&edge{Options: Options{PublicURL: publicURL, TrustedProxies: trustedProxies}}).origin
}

// downloaded takes down that a key asked for the bytes of a document.
func (e *edge) downloaded(c *call, file model.File) {
	if c.Method == http.MethodGet {
		e.Vault.Events.Note(c.actor, "file.downloaded", fmt.Sprintf("file:%d", file.ID), nil)
	}
}

// opaque makes the ids of callers out of the numbers in the log, and back.
type opaque struct{ abstracts, orders *secret.IDs }

func (e *edge) opaque() opaque { return opaque{e.abstracts, e.orders} }

func newOpaque(r *secret.Keys) opaque { return opaque{r.IDs("abstracts"), r.IDs("orders")} }

func (o opaque) of(noun string) *secret.IDs {
	switch noun {
	case "abstract":
		return o.abstracts
	case "order":
		return o.orders
	}
	return nil
}

// spell is a record of the log, such as "abstract:7", as callers know it. Other text
// stays as it is.
func (o opaque) spell(record string) string {
	noun, number, _ := strings.Cut(record, ":")
	ids := o.of(noun)
	n, err := strconv.ParseUint(number, 10, 64)
	if ids == nil || err != nil {
		return record
	}
	return noun + ":" + ids.Encode(n)
}

// number is a record that a caller names as the log knows it: the way back of spell.
// An id that is none of ours names nothing.
func (o opaque) number(record string) string {
	noun, id, _ := strings.Cut(record, ":")
	ids := o.of(noun)
	if ids == nil {
		return record
	}
	n, ok := ids.Decode(id)
	if !ok {
		return noun + ":"
	}
	return fmt.Sprintf("%s:%d", noun, n)
}

// EventShape gives a function that shows an entry of the log as the routes of /v1 do,
// for what stands beside them.
func EventShape(r *secret.Keys) func(model.Event) apitypes.Event {
	ids := newOpaque(r)
	return func(e model.Event) apitypes.Event { return eventShape(ids, e) }
}

// eventShape is an entry of the log as callers see it, ids and all.
func eventShape(o opaque, e model.Event) apitypes.Event {
	out := apitypes.Event{
		Seq: int64(e.Seq), At: apitypes.At(e.At), Kind: e.Kind, Record: optional(o.spell(e.Record)), RequestID: optional(e.Actor.RequestID), Hash: e.Hash,
		Actor: apitypes.Actor{Kind: e.Actor.Kind, ID: optionalID(e.Actor.ID), Name: optional(e.Actor.Name), Address: optional(e.Actor.Address)},
	}
	if len(e.Detail) > 0 {
		out.Detail = make(apitypes.Detail, len(e.Detail))
	}
	for name, value := range e.Detail {
		if o.of(name) != nil { // else it may be text of people
			value = o.spell(value)
		}
		out.Detail[name] = value
	}
	for _, c := range e.Changes {
		out.Changes = append(out.Changes, apitypes.Change{Field: c.Field, From: o.value(c.Field, c.From), To: o.value(c.Field, c.To)})
	}
	return out
}

// value is that of a changed field; one that names an abstract or an order by its
// number names it by its id.
func (o opaque) value(field string, raw json.RawMessage) json.RawMessage {
	noun, isID := strings.CutSuffix(field, "_id")
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if ids := o.of(noun); isID && ids != nil && err == nil {
		return json.RawMessage(`"` + ids.Encode(n) + `"`)
	}
	return unescaped(raw)
}

// unescaped writes <, > and & as they are, which the log escapes.
func unescaped(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u00`)) {
		return raw
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // 1.50 stays 1.50
	var v any
	if decoder.Decode(&v) != nil {
		return raw
	}
	plain, err := apitypes.Marshal(v)
	if err != nil {
		return raw
	}
	return plain
}
