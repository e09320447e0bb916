package model

import (
	"regexp"
	"slices"
	"testing"
)

func TestNewWorkspace(t *testing.T) {
	w := NewWorkspace()
	var names []string
	for _, template := range w.Templates {
		names = append(names, template.Name)
	}
	want := []string{"Residential Abstract", "Commercial Abstract", "Ownership and Encumbrance Report", "Update / Bring-Down"}
	if !slices.Equal(names, want) {
		t.Errorf("templates = %q, want %q", names, want)
	}
	for i, want := range []int{14, 18, 6, 5} {
		if got := len(w.Templates[i].Fields); got != want {
			t.Errorf("%s has %d fields, want %d", names[i], got, want)
		}
	}
	if got := w.Templates[0].initialStatus() + w.Templates[1].initialStatus() + w.Templates[2].initialStatus() +
		w.Templates[3].initialStatus(); got != "NewNew" {
		t.Errorf("initial statuses = %q, want NewNew", got)
	}
	if len(w.OrderFields) != 10 || !slices.Equal(w.OrderStatuses, []string{"active", "on_hold", "completed", "cancelled"}) ||
		len(w.Folders) != 4 {
		t.Errorf("workspace has %d order fields, statuses %q, and folders %q; want 10 order fields, 4 statuses, and 4 folders",
			len(w.OrderFields), w.OrderStatuses, w.Folders)
	}
	key := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	sets := [][]Field{w.OrderFields, CoreOrderFields()}
	for _, template := range w.Templates {
		sets = append(sets, template.Fields)
	}
	for _, set := range sets {
		seen := map[string]bool{}
		for _, f := range set {
			isChoice := f.Type == Dropdown || f.Type == Multiselect
			if !key.MatchString(f.Key) || seen[f.Key] || f.Label == "" || isChoice != (len(f.Options) > 0) {
				t.Errorf("field %+v, want a unique key, a label, and options for choices alone", f)
			}
			seen[f.Key] = true
		}
	}
}
