package settings_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// load returns a Loader of a machine whose environment sets trash.keep, and on which /absent doesn't exist.
func load(stored map[string]string) (config.Config, error) {
	return config.Load(config.Source{
		Env: []string{"DEEDKEEP_TRASH_KEEP=5d"}, Stored: func(string) (map[string]string, error) { return stored, nil },
		Check: func(c config.Config) config.Problems {
			if c.Backup.To == "/absent" {
				return config.Problems{{Key: "backup.to", Reason: "doesn't exist"}}
			}
			return nil
		},
	})
}

func open(t *testing.T, opts instance.Options) *instance.Instance {
	t.Helper()
	opts.Load = load
	return vaulttest.OpenUnchecked(t, opts)
}

// Changes are stored with an audit entry. Those that need a restart are pending until the vault is opened again.
func TestChange(t *testing.T) {
	t.Chdir(t.TempDir())
	opts := vaulttest.Options(t)
	v := open(t, opts)
	change := func(values map[string]string) error {
		return v.Stored.Change(t.Context(), vaulttest.Operator, values, "")
	}
	vaulttest.NoError(t, change(map[string]string{"firm.name": " Kern Title ", "limits.pdf_pages": "70", "limits.file_size": "100 MB"}))
	c := v.Stored.Current()
	if c.Firm.Name != "Kern Title" || c.Limits.PDFPages != 70 || c.SourceOf("limits.file_size") != "" {
		t.Errorf("Current: got %q and %d pages, want Kern Title and 70; the default isn't stored", c.Firm.Name, c.Limits.PDFPages)
	}
	if p := v.Stored.Pending(); len(p) != 1 || p[0].Key != "limits.pdf_pages" {
		t.Errorf("Pending: got %v, want the pages", p)
	}
	events, err := store.Read(t.Context(), v.Store, func(tx *store.Tx) (store.Page[model.Event], error) {
		return tx.ListEvents(store.Query{Descending: true, Limit: 1})
	})
	vaulttest.NoError(t, err)
	if got := strings.Join(events.Items[0].Texts(), "; "); got != "Name: (blank) → Kern Title; Maximum number of pages of a PDF: 500 → 70" {
		t.Errorf("audit entry: got %q", got)
	}
	stored, err := v.Stored.Stored(t.Context())
	if want := map[string]string{"firm.name": "Kern Title", "limits.pdf_pages": "70"}; err != nil || !maps.Equal(stored, want) {
		t.Errorf("Stored: got %v, %v, want %v", stored, err, want)
	}
	vaulttest.Close(t, v)
	if read, err := instance.StoredSettings(opts.Dir); err != nil || !maps.Equal(read, stored) {
		t.Errorf("StoredSettings: got %v, %v, want %v", read, err, stored)
	}
	v = open(t, opts)
	defer vaulttest.Close(t, v)
	if p := v.Stored.Pending(); len(p) != 0 || v.Stored.Current().Limits.PDFPages != 70 {
		t.Errorf("after reopening: %d pages, pending %v, want 70 and none", v.Stored.Current().Limits.PDFPages, p)
	}
	vaulttest.NoError(t, change(map[string]string{"firm.name": "", "limits.pdf_pages": "500"}))
	if stored, err = v.Stored.Stored(t.Context()); err != nil || len(stored) != 0 {
		t.Errorf("Stored after a change to the defaults: got %v, %v, want none", stored, err)
	}
}

// Values that don't work, that are set elsewhere, or that another user changed aren't stored.
func TestRejectedChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	v := open(t, vaulttest.Options(t))
	defer vaulttest.Close(t, v)
	keys := []string{"users.session_idle", "users.session_max"}
	seen := v.Stored.Version(keys)
	want := map[string]string{"users.session_idle": "2h", "users.session_max": "3d"}
	vaulttest.NoError(t, v.Stored.Change(t.Context(), vaulttest.Operator, want, seen, keys...))
	for _, row := range []struct {
		name, seen, want string
		kind             errs.Kind
		values           map[string]string
	}{
		{"another user", seen, "meantime", errs.PreconditionFailed, map[string]string{"users.session_idle": "3h", "users.session_max": "3d"}},
		{"environment", "", "trash.keep is set by DEEDKEEP_TRASH_KEEP. Change it there.", errs.Conflict, map[string]string{"trash.keep": "9d"}},
		{"invalid", "", `users.session_idle: "soon" is not a valid duration`, errs.Internal, map[string]string{"users.session_idle": "soon"}},
		{"combination", "", "users.session_max: must be at least users.session_idle", errs.Internal,
			map[string]string{"users.session_max": "1h"}},
		{"this machine", "", "backup.to: doesn't exist", errs.Internal, map[string]string{"backup.to": "/absent"}},
		{"secret", "", "backup.passphrase: is not a setting of this page", errs.Internal,
			map[string]string{"backup.passphrase": "correct horse"}},
		{"data directory", "", "data: is not a setting of this page", errs.Internal, map[string]string{"data": "/srv"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := v.Stored.Change(t.Context(), vaulttest.Operator, row.values, row.seen, keys...)
			if err == nil || errs.KindOf(err) != row.kind || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Change: got %v, want %q", err, row.want)
			}
			if _, named := errors.AsType[config.Problems](err); named != (row.kind == errs.Internal) {
				t.Errorf("Change: got an error of type %T", err)
			}
		})
	}
	stored, err := v.Stored.Stored(t.Context())
	if err != nil || !maps.Equal(stored, want) {
		t.Errorf("Stored: got %v, %v, want %v", stored, err, want)
	}
	if err := v.Stored.Change(t.Context(), vaulttest.Operator, map[string]string{"trash.keep": "5d", "trash.kept": ""}, ""); err != nil {
		t.Errorf("Change without changes: %v", err)
	}
	err = v.Stored.Change(t.Context(), model.Actor{Kind: model.ActorKey, ID: 1}, map[string]string{"firm.name": "x"}, "")
	if errs.KindOf(err) != errs.Forbidden {
		t.Errorf("Change with an API key: got %v, want Forbidden", err)
	}
}

// A value that this version doesn't know, such as one of a newer version, has no effect and doesn't prevent changes.
func TestUnknownStoredValues(t *testing.T) {
	t.Chdir(t.TempDir())
	opts := vaulttest.Options(t)
	v := open(t, opts)
	vaulttest.NoError(t, v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		return tx.PutSettings(map[string]string{"mail.server": "smtp.example.com", "time_zone": "Atlantis"})
	}))
	vaulttest.Close(t, v)
	v = open(t, opts)
	defer vaulttest.Close(t, v)
	if ignored := v.Stored.Current().Ignored(); len(ignored) != 2 {
		t.Errorf("Ignored: got %v, want two values", ignored)
	}
	vaulttest.NoError(t, v.Stored.Change(t.Context(), vaulttest.Operator, map[string]string{"firm.name": "Kern"}, ""))
	vaulttest.NoError(t, v.Stored.Change(t.Context(), vaulttest.Operator, map[string]string{"time_zone": "America/Denver"}, ""))
	stored, err := v.Stored.Stored(t.Context())
	want := map[string]string{"mail.server": "smtp.example.com", "firm.name": "Kern", "time_zone": "America/Denver"}
	if err != nil || !maps.Equal(stored, want) {
		t.Errorf("Stored: got %v, %v, want %v", stored, err, want)
	}
}

// Once there are abstracts, retention can only be extended.
func TestRetentionIsOnlyExtended(t *testing.T) {
	t.Chdir(t.TempDir())
	v := open(t, vaulttest.Options(t))
	defer vaulttest.Close(t, v)
	change := func(key, value string) error {
		return v.Stored.Change(t.Context(), vaulttest.Operator, map[string]string{key: value}, "")
	}
	vaulttest.NoError(t, change("retention.keep", "7y"))
	vaulttest.NoError(t, change("retention.keep", "20y"))
	vaulttest.CreateAbstract(t, v)
	for _, row := range []struct{ key, value, problem string }{
		{"retention.keep", "19y", "retention.keep: can't be shortened here"},
		{"retention.keep", "30y", ""},
		{"retention.keep", "20y", "retention.keep: can't be shortened here"}, // 30y is in effect
		{"retention.templates", "1=29y", "retention.templates: can't be shortened here"},
		{"retention.templates", "1=35y, 2=0", "retention.templates: can't be shortened here"},
		{"retention.templates", "1=35y", ""},
		{"retention.templates", "", "retention.templates: can't be shortened here"},
	} {
		err := change(row.key, row.value)
		if row.problem == "" && err != nil || row.problem != "" && (err == nil || !strings.Contains(err.Error(), row.problem)) {
			t.Errorf("%s = %s: got %v, want %q", row.key, row.value, err, row.problem)
		}
	}
}

// If a server can't start with changed settings, it goes back only with those that need a restart. The others were in
// effect: a longer retention must not be lost.
func TestGoBack(t *testing.T) {
	t.Chdir(t.TempDir())
	v := open(t, vaulttest.Options(t))
	defer vaulttest.Close(t, v)
	change := func(values map[string]string) {
		t.Helper()
		vaulttest.NoError(t, v.Stored.Change(t.Context(), vaulttest.Operator, values, ""))
	}
	change(map[string]string{"limits.pdf_pages": "70", "firm.name": "Kern"})
	before, err := v.Stored.Stored(t.Context())
	vaulttest.NoError(t, err)
	change(map[string]string{"retention.keep": "30y", "firm.name": ""})
	if changed, err := v.Stored.GoBack(t.Context(), before, "broken"); changed || err != nil {
		t.Errorf("GoBack without settings that need a restart: got %v, %v, want false", changed, err)
	}
	change(map[string]string{"limits.pdf_pages": "80", "listen": ":1"})
	if changed, err := v.Stored.GoBack(t.Context(), before, "broken"); !changed || err != nil {
		t.Errorf("GoBack: got %v, %v, want true", changed, err)
	}
	stored, err := v.Stored.Stored(t.Context())
	if want := map[string]string{"limits.pdf_pages": "70", "retention.keep": "30y"}; err != nil || !maps.Equal(stored, want) {
		t.Errorf("Stored: got %v, %v, want %v", stored, err, want)
	}
}
