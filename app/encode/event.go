package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// IDCodec converts record names between the form in the audit log, such as "abstract:7", and the form in the API, where
// abstracts and orders have opaque IDs.
type IDCodec struct{ Abstracts, Orders *secret.IDs }

// NewIDCodec returns the codec that uses the given keys.
func NewIDCodec(keys *secret.Keys) IDCodec {
	return IDCodec{keys.IDs("abstracts"), keys.IDs("orders")}
}

// ForType returns the ID converter for a record type, or nil if its IDs aren't opaque.
func (c IDCodec) ForType(recordType string) *secret.IDs {
	switch recordType {
	case "abstract":
		return c.Abstracts
	case "order":
		return c.Orders
	}
	return nil
}

// Encode converts a record name from the audit log to the form in the API. It returns other text unchanged.
func (c IDCodec) Encode(record string) string {
	recordType, id, ok := model.ParseRef(record)
	ids := c.ForType(recordType)
	if ids == nil || !ok {
		return record
	}
	return recordType + ":" + ids.Encode(id)
}

// Decode is the inverse of Encode. An invalid opaque ID decodes to a name without a number, which matches no record.
func (c IDCodec) Decode(record string) string {
	recordType, id, _ := strings.Cut(record, ":")
	ids := c.ForType(recordType)
	if ids == nil {
		return record
	}
	n, ok := ids.Decode(id)
	if !ok {
		return recordType + ":"
	}
	return fmt.Sprintf("%s:%d", recordType, n)
}

// Event returns an audit entry as its API type.
func (c IDCodec) Event(e model.Event) apitypes.Event {
	out := apitypes.Event{
		Seq: int64(e.Seq), At: apitypes.At(e.At), Kind: e.Kind, Record: OptionalString(c.Encode(e.Record)),
		RequestID: OptionalString(e.Actor.RequestID), Hash: e.Hash, Actor: Actor(e.Actor),
	}
	if len(e.Detail) > 0 {
		out.Detail = make(apitypes.Detail, len(e.Detail))
	}
	for name, value := range e.Detail {
		if c.ForType(name) != nil { // other details may contain text entered by users
			value = c.Encode(value)
		}
		out.Detail[name] = value
	}
	for _, change := range e.Changes {
		out.Changes = append(out.Changes, apitypes.Change{
			Field: change.Field, From: c.fieldValue(change.Field, change.From), To: c.fieldValue(change.Field, change.To),
			Row: OptionalString(change.Row), Text: OptionalString(change.Text),
		})
	}
	for record, name := range e.Names {
		if out.Names == nil {
			out.Names = make(apitypes.Detail, len(e.Names))
		}
		out.Names[c.Encode(record)] = name
	}
	return out
}

// fieldValue returns the value of a changed field. It converts references to abstracts and orders to opaque IDs.
func (c IDCodec) fieldValue(field string, raw json.RawMessage) json.RawMessage {
	recordType, isID := strings.CutSuffix(field, "_id")
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if ids := c.ForType(recordType); isID && ids != nil && err == nil {
		return json.RawMessage(`"` + ids.Encode(n) + `"`)
	}
	return unescapeHTML(raw)
}

// unescapeHTML restores <, >, and &, which the audit log stores as \u00XX escapes.
func unescapeHTML(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u00`)) {
		return raw
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // preserves numbers such as 1.50
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
