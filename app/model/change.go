package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Change is a change to one field. From and To are JSON; null means no value.
type Change struct {
	Field string          `json:"field"` // API name: "county", "custom_fields.search_type"
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
}

var null = json.RawMessage("null")

// changes collects the differences between two versions of a record.
type changes []Change

func (c *changes) add(field string, from, to json.RawMessage) {
	if len(from) == 0 {
		from = null
	}
	if len(to) == 0 {
		to = null
	}
	if !bytes.Equal(from, to) {
		*c = append(*c, Change{field, from, to})
	}
}

func (c *changes) text(field, from, to string) {
	if from != to {
		c.add(field, textJSON(from), textJSON(to))
	}
}

func textJSON(s string) json.RawMessage {
	if s == "" {
		return null
	}
	return encodeJSON(s)
}

// reference adds a change to a field that contains the ID of another record. An ID of 0 means no
// record.
func (c *changes) reference(field string, from, to uint64) {
	if from != to {
		c.add(field, numberJSON(from), numberJSON(to))
	}
}

// TextChange returns the change of a text that isn't a field of a record. "" means none.
func TextChange(field, from, to string) Change { return Change{field, textJSON(from), textJSON(to)} }

// NumberChange returns the change of a number that isn't a field of a record.
func NumberChange(field string, from, to int) Change {
	return Change{field, numberJSON(uint64(max(from, 0))), numberJSON(uint64(max(to, 0)))}
}

func numberJSON(n uint64) json.RawMessage {
	if n == 0 {
		return null
	}
	return encodeJSON(n)
}

func (c *changes) numbers(field string, from, to []uint64) {
	if !slices.Equal(from, to) {
		c.add(field, encodeJSON(from), encodeJSON(to))
	}
}

func (c *changes) property(from, to Property) {
	c.text("address", from.Address, to.Address)
	c.text("city", from.City, to.City)
	c.text("county", from.County, to.County)
	c.text("state", from.State, to.State)
}

// custom adds a change for each custom field that differs, sorted by key.
func (c *changes) custom(from, to CustomValues) {
	all := map[string]bool{}
	for _, values := range []CustomValues{from, to} {
		for key := range values {
			all[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c.add("custom_fields."+key, from[key], to[key])
	}
}

// Changes returns the differences between a and its new version, with API field names.
func (a Abstract) Changes(to Abstract) []Change {
	var c changes
	c.text("status", a.Status, to.Status)
	c.property(a.Property, to.Property)
	c.text("tax_map", a.TaxMap, to.TaxMap)
	c.numbers("files", a.Files, to.Files)
	c.custom(a.Custom, to.Custom)
	return c
}

// Changes returns the differences between o and its new version, with API field names.
func (o Order) Changes(to Order) []Change {
	var c changes
	c.text("order_number", o.Number, to.Number)
	c.text("status", o.Status, to.Status)
	c.text("due_date", o.DueDate, to.DueDate)
	c.property(o.Property, to.Property)
	c.custom(o.Custom, to.Custom)
	return c
}

// Changes returns the differences between f and its new version, with API field names.
func (f File) Changes(to File) []Change {
	var c changes
	c.text("filename", f.Filename, to.Filename)
	c.reference("folder_id", f.FolderID, to.FolderID)
	c.reference("abstract_id", f.AbstractID, to.AbstractID)
	return c
}

// Changes returns the differences between f and its new version, with API field names.
func (f Folder) Changes(to Folder) []Change {
	var c changes
	c.text("name", f.Name, to.Name)
	c.reference("parent_id", f.ParentID, to.ParentID)
	return c
}
