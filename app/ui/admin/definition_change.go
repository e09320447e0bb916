package admin

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// apply makes the change that the form field "do" requests and returns a notice. The vault
// validates the result.
func (b *definitionEditor) apply(form url.Values) (notice string, err error) {
	t := &b.template
	t.Statuses, t.Fields = slices.Clone(t.Statuses), slices.Clone(t.Fields)
	action, status, key := form.Get("do"), form.Get("status"), form.Get("field")
	at := slices.Index(t.Statuses, status)
	field := slices.IndexFunc(t.Fields, func(f model.Field) bool { return f.Key == key })
	switch {
	case action == "name" && b.hasName:
		t.Name = form.Get("name")
		return "Renamed.", nil
	case action == "status-add" && b.hasStatuses:
		t.Statuses = append(t.Statuses, form.Get("name"))
		return fmt.Sprintf("The status %q was added.", form.Get("name")), nil
	case action == "statuses" && b.hasStatuses:
		t.Statuses, err = reordered(t.Statuses, form["order"], func(s string) string { return s })
		return "The statuses stand in the new order.", err
	case action == "fields" && b.hasFields:
		t.Fields, err = reordered(t.Fields, form["order"], func(f model.Field) string { return f.Key })
		return "The fields stand in the new order.", err
	case action == "field-save" && b.hasFields:
		return b.saveField(form)
	case strings.HasPrefix(action, "status-") && b.hasStatuses && at >= 0:
		return b.changeStatus(action, at, form.Get("name"))
	case strings.HasPrefix(action, "field-") && b.hasFields && field >= 0:
		return b.changeField(action, field)
	}
	return "", errDefinitionGone
}

// errDefinitionGone is returned if another user has removed the field or status.
var errDefinitionGone = &errs.Error{Kind: errs.PreconditionFailed, Message: "This is no longer there."}

func (b *definitionEditor) changeStatus(action string, at int, name string) (string, error) {
	list := b.template.Statuses
	was := list[at]
	switch action {
	case "status-rename":
		list[at] = name
		return fmt.Sprintf("The status %q is called %q now.", was, name), nil
	case "status-up":
		swapNeighbors(list, at, -1)
		return fmt.Sprintf("%s was moved up.", was), nil
	case "status-down":
		swapNeighbors(list, at, 1)
		return fmt.Sprintf("%s was moved down.", was), nil
	case "status-remove":
		b.template.Statuses = slices.Delete(list, at, at+1)
		return fmt.Sprintf("The status %q was removed.", was), nil
	}
	return "", errDefinitionGone
}

func (b *definitionEditor) changeField(action string, at int) (string, error) {
	list := b.template.Fields
	label := list[at].Label
	switch action {
	case "field-up":
		swapNeighbors(list, at, -1)
		return label + " was moved up.", nil
	case "field-down":
		swapNeighbors(list, at, 1)
		return label + " was moved down.", nil
	case "field-remove":
		b.template.Fields = slices.Delete(list, at, at+1)
		return fmt.Sprintf("The field %q was removed.", label), nil
	}
	return "", errDefinitionGone
}

// swapNeighbors moves an element up or down by one position. If it is already at the end, nothing
// changes.
func swapNeighbors[T any](list []T, at, by int) {
	if to := at + by; to >= 0 && to < len(list) {
		list[at], list[to] = list[to], list[at]
	}
}

// reordered returns the list in the order of names. It returns an error unless names contains each
// element exactly once.
func reordered[T any](list []T, names []string, nameOf func(T) string) ([]T, error) {
	var out []T
	for _, name := range names {
		at := slices.IndexFunc(list, func(v T) bool { return nameOf(v) == name })
		if at < 0 {
			return nil, errDefinitionGone
		}
		out, list = append(out, list[at]), slices.Delete(list, at, at+1)
	}
	if len(list) > 0 {
		return nil, errDefinitionGone
	}
	return out, nil
}

// saveField adds a field or changes an existing one. The key of an existing field can't be changed.
func (b *definitionEditor) saveField(form url.Values) (string, error) {
	kind := model.FieldType(form.Get("type"))
	made := model.Field{Key: form.Get("was"), Label: strings.TrimSpace(form.Get("label")), Type: kind, Required: form.Get("required") != ""}
	if kind.HasOptions() {
		made.Options = nonBlankLines(form.Get("options"))
	}
	if made.Key == "" {
		if made.Key = strings.TrimSpace(form.Get("key")); made.Key == "" {
			made.Key = b.newKey(made.Label, b.template.Fields)
		}
		b.template.Fields = append(b.template.Fields, made)
		return fmt.Sprintf("The field %q was added.", made.Label), nil
	}
	at := slices.IndexFunc(b.template.Fields, func(f model.Field) bool { return f.Key == made.Key })
	if at < 0 {
		return "", errDefinitionGone
	}
	b.template.Fields[at] = made
	return fmt.Sprintf("The field %q was saved.", made.Label), nil
}

// nonBlankLines returns the lines of text that are not blank, without leading and trailing spaces.
func nonBlankLines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
