package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/settings"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

const kanawha = "- county: Kanawha\n  find: 'Kanawha Mark (?P<instrument_number>[0-9]{4})'\n"

func read(rules *extract.Rules, text string) string {
	fields := extract.Read([]extract.Page{extract.PlainText(text)}, rules.For("Kanawha", "WV"),
		model.NewDocumentTypes(), vaulttest.NewClock().Now())
	return fields[extract.InstrumentNumber].Value()
}

// County patterns are stored with the records, take effect immediately, and have audit entries. The file in the data
// directory takes precedence.
func TestSetPatterns(t *testing.T) {
	t.Chdir(t.TempDir())
	opts := vaulttest.Options(t)
	v := open(t, opts)
	const text = "Kanawha Mark 4711\nLeaf 9912\n"
	version := func() string { return v.Stored.Patterns().Version }
	for _, row := range []struct{ patterns, want, logged string }{
		{"\r\n" + strings.ReplaceAll(kanawha, "\n", "\r\n"), "4711", "County patterns: added"},
		{"# none\n", "", "County patterns: changed"},
		{" ", "", "County patterns: removed"},
		{kanawha, "4711", "County patterns: added"},
	} {
		for range 2 { // the second time, nothing changes
			problems, err := v.Stored.SetPatterns(t.Context(), vaulttest.Operator, row.patterns, version())
			if err != nil || len(problems) > 0 {
				t.Fatalf("SetPatterns: %v, %v", problems, err)
			}
		}
		if got := read(v.Stored.ExtractRules(), text); got != row.want {
			t.Errorf("instrument number after %q: got %q, want %q", row.patterns, got, row.want)
		}
		events, err := store.Read(t.Context(), v.Store, func(tx *store.Tx) (store.Page[model.Event], error) {
			return tx.ListEvents(store.Query{Descending: true, Limit: 2})
		})
		vaulttest.NoError(t, err)
		if got := strings.Join(events.Items[0].Texts(), "; "); got != row.logged ||
			events.Items[1].Kind == "settings.changed" && strings.Join(events.Items[1].Texts(), "") == row.logged {
			t.Errorf("audit entry: got %q, want %q once", got, row.logged)
		}
	}
	seen := version()
	for _, row := range []struct{ patterns, want string }{
		{kanawha + "- find: 1\n", "line 3: no group is named after a field"},
		{strings.Repeat("#", 201<<10), "The patterns are longer than 200 KB. Remove some."},
	} {
		problems, err := v.Stored.SetPatterns(t.Context(), vaulttest.Operator, row.patterns, seen)
		if err != nil || len(problems) == 0 || !strings.HasPrefix(problems[0].String(), row.want) || version() != seen {
			t.Errorf("SetPatterns: got %v, %v, want %q, and no change", problems, err, row.want)
		}
	}
	_, err := v.Stored.SetPatterns(t.Context(), vaulttest.Operator, "# mine\n", "0123456789abcdef")
	vaulttest.WantKind(t, "SetPatterns after another user", err, errs.PreconditionFailed)
	_, err = v.Stored.SetPatterns(t.Context(), model.Actor{Kind: model.ActorKey, ID: 1}, "", seen)
	vaulttest.WantKind(t, "SetPatterns with an API key", err, errs.Forbidden)
	vaulttest.Close(t, v)

	file := filepath.Join(opts.Dir, extract.PatternsFileName)
	vaulttest.NoError(t, os.WriteFile(file, []byte("- find: 'Leaf (?P<instrument_number>[0-9]{4})'\n"), 0o600))
	v = vaulttest.Open(t, opts) // which also verifies
	if got := read(v.Stored.ExtractRules(), text); got != "9912" {
		t.Errorf("instrument number with a file: got %q, want 9912", got)
	}
	if p := v.Stored.Patterns(); p.Text != kanawha || p.Version != seen || p.File.Path != file || !strings.Contains(p.File.Text, "Leaf") {
		t.Errorf("Patterns after reopening: got %+v", p)
	}
}

// Patterns are tried without being stored.
func TestTryPatterns(t *testing.T) {
	t.Chdir(t.TempDir())
	v := open(t, vaulttest.Options(t))
	defer vaulttest.Close(t, v)
	sample := settings.Sample{Text: "Kanawha Mark 4711\nDeed Book 12 Page 34\n", County: "Kanawha", Types: model.NewDocumentTypes()}
	found, problems := v.Stored.TryPatterns(kanawha, sample)
	got := map[string]settings.SampleField{}
	for _, f := range found {
		got[f.Name] = f
	}
	if number, book := got["instrument_number"], got["book"]; len(problems) > 0 || number.Value != "4711" || !number.Added ||
		number.Line != "Kanawha Mark 4711" || book.Value != "12" || book.Added {
		t.Errorf("TryPatterns: got %+v, %v, want 4711 of the patterns, and book 12", found, problems)
	}
	if p := v.Stored.Patterns(); p.Text != "" || read(v.Stored.ExtractRules(), sample.Text) != "" {
		t.Errorf("Patterns: got %+v, want none", p)
	}
	if _, problems := v.Stored.TryPatterns("- x\n", sample); len(problems) != 1 || problems[0].Line != 1 {
		t.Errorf("TryPatterns with invalid patterns: got %v, want a problem in line 1", problems)
	}
	sample.Text = strings.Repeat("x", 201<<10)
	if _, problems := v.Stored.TryPatterns(kanawha, sample); len(problems) != 1 {
		t.Errorf("TryPatterns with a long text: got %v, want a problem", problems)
	}
}
