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

// IDCodec converts between records as the audit log names them, such as "abstract:7", and as API clients name them,
// where abstracts and orders have opaque IDs.
type IDCodec struct{ Abstracts, Orders *secret.IDs }

// NewIDCodec returns the codec of an installation.
func NewIDCodec(keys *secret.Keys) IDCodec {
	return IDCodec{keys.IDs("abstracts"), keys.IDs("orders")}
}

// ForType returns the IDs of a record type, or nil if its IDs aren't opaque.
func (c IDCodec) ForType(recordType string) *secret.IDs {
	switch recordType {
	case "abstract":
		return c.Abstracts
	case "order":
		return c.Orders
	}
	return nil
}

// Encode returns a record of the audit log as API clients name it. Other text is returned unchanged.
func (c IDCodec) Encode(record string) string {
	recordType, number, _ := strings.Cut(record, ":")
	ids := c.ForType(recordType)
	n, err := strconv.ParseUint(number, 10, 64)
	if ids == nil || err != nil {
		return record
	}
	return recordType + ":" + ids.Encode(n)
}

// Decode is the inverse of Encode. An ID that doesn't exist decodes to a name without a number,
// which matches no record.
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

// Event returns the JSON shape of an audit entry.
func (c IDCodec) Event(e model.Event) apitypes.Event {
	out := apitypes.Event{
		Seq: int64(e.Seq), At: apitypes.At(e.At), Kind: e.Kind, Record: OptionalString(c.Encode(e.Record)),
		RequestID: OptionalString(e.Actor.RequestID), Hash: e.Hash, Actor: Actor(e.Actor),
	}
	if len(e.Detail) > 0 {
		out.Detail = make(apitypes.Detail, len(e.Detail))
	}
	for name, value := range e.Detail {
		if c.ForType(name) != nil { // other details may be text that a person wrote
			value = c.Encode(value)
		}
		out.Detail[name] = value
	}
	for _, change := range e.Changes {
		out.Changes = append(out.Changes, apitypes.Change{
			Field: change.Field, From: c.fieldValue(change.Field, change.From), To: c.fieldValue(change.Field, change.To),
		})
	}
	return out
}

// fieldValue returns the value of a changed field. References to abstracts and orders
// become opaque IDs.
func (c IDCodec) fieldValue(field string, raw json.RawMessage) json.RawMessage {
	recordType, isID := strings.CutSuffix(field, "_id")
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if ids := c.ForType(recordType); isID && ids != nil && err == nil {
		return json.RawMessage(`"` + ids.Encode(n) + `"`)
	}
	return unescapeHTML(raw)
}

// unescapeHTML writes <, >, and & unescaped. The audit log stores them as \u00XX.
func unescapeHTML(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u00`)) {
		return raw
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // keeps 1.50 as it is
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
