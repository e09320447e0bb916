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
func (d *definitionEditor) apply(form url.Values) (notice string, err error) {
	t := &d.template
	t.Statuses, t.Fields = slices.Clone(t.Statuses), slices.Clone(t.Fields)
	action, status, key := form.Get("do"), form.Get("status"), form.Get("field")
	at := slices.Index(t.Statuses, status)
	field := slices.IndexFunc(t.Fields, func(f model.Field) bool { return f.Key == key })
	switch {
	case action == "name" && d.hasName:
		t.Name = form.Get("name")
		return "Template renamed.", nil
	case action == "status-add" && d.hasStatuses:
		t.Statuses = append(t.Statuses, form.Get("name"))
		return fmt.Sprintf("Status %q added.", form.Get("name")), nil
	case action == "statuses" && d.hasStatuses:
		t.Statuses, err = reordered(t.Statuses, form["order"], func(s string) string { return s })
		return "Statuses reordered.", err
	case action == "fields" && d.hasFields:
		t.Fields, err = reordered(t.Fields, form["order"], func(f model.Field) string { return f.Key })
		return "Fields reordered.", err
	case action == "field-save" && d.hasFields:
		return d.saveField(form)
	case action == "status-rename" && d.hasStatuses && at >= 0:
		t.Statuses[at] = form.Get("name")
		return fmt.Sprintf("Status %q renamed to %q.", status, form.Get("name")), nil
	case strings.HasPrefix(action, "status-") && d.hasStatuses && at >= 0:
		t.Statuses, notice, err = moveOrRemove(t.Statuses, at, "status", status, action)
		return notice, err
	case strings.HasPrefix(action, "field-") && d.hasFields && field >= 0:
		t.Fields, notice, err = moveOrRemove(t.Fields, field, "field", t.Fields[field].Label, action)
		return notice, err
	}
	return "", errDefinitionGone
}

// errDefinitionGone is returned if another user has removed the field or status.
var errDefinitionGone = &errs.Error{Kind: errs.PreconditionFailed, Message: "This item no longer exists."}

// moveOrRemove moves an element up or down by one position or removes it. An element at the end of the
// list stays there. what is the type of the elements in actions and notices.
func moveOrRemove[T any](list []T, at int, what, name, action string) (changed []T, notice string, err error) {
	switch action {
	case what + "-up":
		to := max(at-1, 0)
		list[at], list[to] = list[to], list[at]
		return list, name + " moved up.", nil
	case what + "-down":
		to := min(at+1, len(list)-1)
		list[at], list[to] = list[to], list[at]
		return list, name + " moved down.", nil
	case what + "-remove":
		return slices.Delete(list, at, at+1), fmt.Sprintf("%s %q removed.", strings.ToUpper(what[:1])+what[1:], name), nil
	}
	return list, "", errDefinitionGone
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
func (d *definitionEditor) saveField(form url.Values) (string, error) {
	kind := model.FieldType(form.Get("type"))
	made := model.Field{Key: form.Get("was"), Label: strings.TrimSpace(form.Get("label")), Type: kind, Required: form.Get("required") != ""}
	if kind.HasOptions() {
		made.Options = nonBlankLines(form.Get("options"))
	}
	if made.Key == "" {
		if made.Key = strings.TrimSpace(form.Get("key")); made.Key == "" {
			made.Key = d.newKey(made.Label, d.template.Fields)
		}
		d.template.Fields = append(d.template.Fields, made)
		return fmt.Sprintf("Field %q added.", made.Label), nil
	}
	at := slices.IndexFunc(d.template.Fields, func(f model.Field) bool { return f.Key == made.Key })
	if at < 0 {
		return "", errDefinitionGone
	}
	d.template.Fields[at] = made
	return fmt.Sprintf("Field %q saved.", made.Label), nil
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
