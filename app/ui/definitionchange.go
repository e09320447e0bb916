package ui

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// change is what the forms of the editor can do to the definitions, by their field
// `do`; each gives what to say when it is done. None of them decides whether it may be:
// the vault does.
func (b *bench) change(form url.Values) (said string, err error) {
	t := &b.now
	t.Statuses, t.Fields = slices.Clone(t.Statuses), slices.Clone(t.Fields)
	do, status, key := form.Get("do"), form.Get("status"), form.Get("field")
	at := slices.Index(t.Statuses, status)
	field := slices.IndexFunc(t.Fields, func(f model.Field) bool { return f.Key == key })
	switch {
	case do == "name" && b.named:
		t.Name = form.Get("name")
		return "Renamed.", nil
	case do == "status-add" && b.hasStatuses:
		t.Statuses = append(t.Statuses, form.Get("name"))
		return fmt.Sprintf("The status %q was added.", form.Get("name")), nil
	case do == "statuses" && b.hasStatuses:
		t.Statuses, err = reordered(t.Statuses, form["order"], func(s string) string { return s })
		return "The statuses stand in the new order.", err
	case do == "fields" && b.hasFields:
		t.Fields, err = reordered(t.Fields, form["order"], func(f model.Field) string { return f.Key })
		return "The fields stand in the new order.", err
	case do == "field-save" && b.hasFields:
		return b.saveField(form)
	case strings.HasPrefix(do, "status-") && b.hasStatuses && at >= 0:
		return b.changeStatus(do, at, form.Get("name"))
	case strings.HasPrefix(do, "field-") && b.hasFields && field >= 0:
		return b.changeField(do, field)
	}
	return "", errNotThere
}

// errNotThere is the refusal of a change to what somebody else has taken away.
var errNotThere = &errs.Error{Kind: errs.PreconditionFailed, Message: "This is no longer there."}

func (b *bench) changeStatus(do string, at int, name string) (string, error) {
	list := b.now.Statuses
	was := list[at]
	switch do {
	case "status-rename":
		list[at] = name
		return fmt.Sprintf("The status %q is called %q now.", was, name), nil
	case "status-up":
		moved(list, at, -1)
		return fmt.Sprintf("%s was moved up.", was), nil
	case "status-down":
		moved(list, at, 1)
		return fmt.Sprintf("%s was moved down.", was), nil
	case "status-remove":
		b.now.Statuses = slices.Delete(list, at, at+1)
		return fmt.Sprintf("The status %q was removed.", was), nil
	}
	return "", errNotThere
}

func (b *bench) changeField(do string, at int) (string, error) {
	list := b.now.Fields
	label := list[at].Label
	switch do {
	case "field-up":
		moved(list, at, -1)
		return label + " was moved up.", nil
	case "field-down":
		moved(list, at, 1)
		return label + " was moved down.", nil
	case "field-remove":
		b.now.Fields = slices.Delete(list, at, at+1)
		return fmt.Sprintf("The field %q was removed.", label), nil
	}
	return "", errNotThere
}

// moved changes the places of two neighbors; what is at the edge stays there.
func moved[T any](list []T, at, by int) {
	if to := at + by; to >= 0 && to < len(list) {
		list[at], list[to] = list[to], list[at]
	}
}

// reordered gives the list in the order of names; every one must be named once.
func reordered[T any](list []T, names []string, nameOf func(T) string) ([]T, error) {
	var out []T
	for _, name := range names {
		at := slices.IndexFunc(list, func(v T) bool { return nameOf(v) == name })
		if at < 0 {
			return nil, errNotThere
		}
		out, list = append(out, list[at]), slices.Delete(list, at, at+1)
	}
	if len(list) > 0 {
		return nil, errNotThere
	}
	return out, nil
}

// saveField adds a field, or changes one; its key stays what it is for ever.
func (b *bench) saveField(form url.Values) (string, error) {
	kind := model.FieldType(form.Get("type"))
	made := model.Field{Key: form.Get("was"), Label: strings.TrimSpace(form.Get("label")), Type: kind, Required: form.Get("required") != ""}
	if kind.HasOptions() {
		made.Options = lines(form.Get("options"))
	}
	if made.Key == "" {
		if made.Key = strings.TrimSpace(form.Get("key")); made.Key == "" {
			made.Key = b.key(made.Label, b.now.Fields)
		}
		b.now.Fields = append(b.now.Fields, made)
		return fmt.Sprintf("The field %q was added.", made.Label), nil
	}
	at := slices.IndexFunc(b.now.Fields, func(f model.Field) bool { return f.Key == made.Key })
	if at < 0 {
		return "", errNotThere
	}
	b.now.Fields[at] = made
	return fmt.Sprintf("The field %q was saved.", made.Label), nil
}

// lines gives the lines of a text that say something.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
