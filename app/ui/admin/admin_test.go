package admin

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

func typeNames(types model.DocumentTypes) (names []string) {
	for _, t := range types {
		names = append(names, t.Name)
	}
	return names
}

// The document types change as the form says. Retired types stay where they are when others move.
func TestApplyTypeChange(t *testing.T) {
	types := model.DocumentTypes{{ID: 1, Name: "Deed"}, {ID: 2, Name: "Patent", Retired: true}, {ID: 3, Name: "Lien"}}
	for _, row := range []struct {
		form  url.Values
		id    uint64
		want  []string
		index int
		kind  errs.Kind // of the error; 0 if there is none
	}{
		{url.Values{"do": {"add"}, "name": {"Plat"}}, 0, []string{"Deed", "Patent", "Lien", "Plat"}, 3, 0},
		{url.Values{"do": {"add"}, "name": {"lien"}}, 0, nil, 3, errs.Invalid},
		{url.Values{"do": {"save"}, "name": {"Tax lien"}}, 3, []string{"Deed", "Patent", "Tax lien"}, 2, 0},
		{url.Values{"do": {"up"}}, 3, []string{"Lien", "Patent", "Deed"}, 0, 0},
		{url.Values{"do": {"up"}}, 1, []string{"Deed", "Patent", "Lien"}, 0, 0},
		{url.Values{"do": {"order"}, "order": {"3", "1"}}, 0, []string{"Lien", "Deed", "Patent"}, 0, 0},
		{url.Values{"do": {"order"}, "order": {"3"}}, 0, nil, 0, errs.PreconditionFailed},
		{url.Values{"do": {"order"}, "order": {"3", "1", "1"}}, 0, nil, 0, errs.PreconditionFailed},
		{url.Values{"do": {"save"}, "name": {"X"}}, 4, nil, 0, errs.PreconditionFailed},
		{url.Values{"do": {"explode"}}, 1, nil, 0, errs.PreconditionFailed},
	} {
		got, index, _, err := applyTypeChange(types, row.id, row.form)
		if row.kind != 0 {
			if errs.KindOf(err) != row.kind {
				t.Errorf("%v of %d: got error %v, want kind %v", row.form, row.id, err, row.kind)
			}
			continue
		}
		if err != nil || !slices.Equal(typeNames(got), row.want) || index != row.index {
			t.Errorf("%v of %d = %q, %d, %v; want %q, %d", row.form, row.id, typeNames(got), index, err, row.want, row.index)
		}
	}
	if got := typeNames(types); !slices.Equal(got, []string{"Deed", "Patent", "Lien"}) {
		t.Errorf("the list itself changed to %q", got)
	}
}

func TestMoveOrRemove(t *testing.T) {
	for _, row := range []struct {
		at     int
		action string
		want   string
	}{
		{0, "field-up", "abc"}, {2, "field-up", "acb"}, {0, "field-down", "bac"}, {2, "field-down", "abc"}, {1, "field-remove", "ac"},
	} {
		got, notice, err := moveOrRemove([]byte("abc"), row.at, "field", "Parcel", row.action)
		if string(got) != row.want || notice == "" || err != nil {
			t.Errorf("%s of %d = %s, %q, %v; want %s", row.action, row.at, got, notice, err, row.want)
		}
	}
	if _, _, err := moveOrRemove([]byte("abc"), 0, "field", "Parcel", "group-up"); errs.KindOf(err) != errs.PreconditionFailed {
		t.Errorf("an unknown action = %v, want PreconditionFailed", err)
	}
}

func TestParseDays(t *testing.T) {
	for value, want := range map[string]time.Duration{"30": 30 * page.Day, "never": 0} {
		if got, err := parseDays(keyLifetimes, value, "life"); got != want || err != nil {
			t.Errorf("parseDays(%s) = %v, %v; want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"", "31", "-1", "30 "} {
		if _, err := parseDays(keyLifetimes, value, "life"); errs.KindOf(err) != errs.Invalid {
			t.Errorf("parseDays(%q) = %v, want Invalid", value, err)
		}
	}
}

// After a change of the address, the page names the one with which the same browser reaches the server.
func TestNextOrigin(t *testing.T) {
	for _, row := range []struct{ listen, public, own, want string }{
		{"0.0.0.0:8480", "", "http://titles.lan:8080", "http://titles.lan:8480"},
		{"[::]:80", "", "http://titles.lan:8080", "http://titles.lan"},
		{"192.168.1.5:8480", "", "http://localhost:8080", "http://192.168.1.5:8480"},
		{"0.0.0.0:8480", "https://deeds.example", "http://localhost:8080", "https://deeds.example"},
	} {
		got := nextOrigin(config.Config{Listen: row.listen, PublicURL: row.public}, row.own)
		if got != row.want {
			t.Errorf("listening on %s (%s), from %s: got %s, want %s", row.listen, row.public, row.own, got, row.want)
		}
	}
}
