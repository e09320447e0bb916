package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// storedValues returns a Source.Stored that returns the values for any data directory.
func storedValues(values map[string]string) func(string) (map[string]string, error) {
	return func(string) (map[string]string, error) { return values, nil }
}

// A stored value overrides the default only.
func TestStoredIsTheLowestLayer(t *testing.T) {
	stored := map[string]string{"listen": ":4", "limits.pdf_pages": "4", "limits.files_per_request": "4",
		"ocr.languages": "eng, spa", "ocr.enabled": "false"}
	config, problems := loadFile(t, "listen: :1\nlimits:\n  pdf_pages: 1\n", Source{
		Stored: storedValues(stored), Env: []string{"DEEDKEEP_LIMITS_PDF_PAGES=2"}})
	if problems != "" {
		t.Fatalf("load: %s", problems)
	}
	if config.Listen != ":1" || config.Limits.PDFPages != 2 || config.Limits.FilesPerRequest != 4 || config.OCR.Enabled ||
		!slices.Equal(config.OCR.Languages, []string{"eng", "spa"}) {
		t.Errorf("config: got %+v %+v %+v, want :1, 2, 4, and no OCR in two languages", config.Listen, config.Limits, config.OCR)
	}
	if got := config.SourceOf("limits.files_per_request"); got != "Settings page" {
		t.Errorf("source: got %q, want Settings page", got)
	}
	if len(config.Ignored()) != 0 {
		t.Errorf("Ignored: got %v, want none", config.Ignored())
	}
}

// A stored value that doesn't work is ignored with a warning that names it. The others apply.
func TestStoredValuesNeverPreventAStart(t *testing.T) {
	for _, row := range []struct {
		name    string
		stored  map[string]string
		file    string
		ignored string // keys and reasons
		applied string // keys
	}{
		{"unknown", map[string]string{"trash.kept": "30d", "trash.keep": "7d"}, "",
			"Settings page: trash.kept: is not a setting of this page", "trash.keep"},
		{"not editable", map[string]string{"data": "/srv", "backup.passphrase": "12345678", "log.level": "debug"}, "",
			"Settings page: backup.passphrase: is not a setting of this page\nSettings page: data: is not a setting of this page\n" +
				"Settings page: log.level: is not a setting of this page", ""},
		{"undecodable", map[string]string{"trash.keep": "soon", "limits.pdf_pages": "5"}, "",
			`Settings page: trash.keep: "soon" is not a valid duration; use a value such as 30s, 5m, 24h, 7d, or 20y`, "limits.pdf_pages"},
		{"out of bounds", map[string]string{"limits.pdf_pages": "0"}, "",
			"Settings page: limits.pdf_pages: must be between 1 and 100000, not 0", ""},
		{"overridden", map[string]string{"limits.pdf_pages": "x"}, "limits: {pdf_pages: 7}",
			`Settings page: limits.pdf_pages: "x" is not a whole number`, ""},
		{"pair", map[string]string{"tls.self_signed": "true", "tls.redirect_listen": ":80"}, "", "", "tls.redirect_listen tls.self_signed"},
		{"half of a pair", map[string]string{"tls.redirect_listen": ":80"}, "",
			"Settings page: tls.redirect_listen: requires TLS; set tls.cert and tls.key, tls.self_signed, or tls.automatic", ""},
		{"with the file", map[string]string{"tls.self_signed": "true"}, "tls: {cert: a.pem, key: b.pem}",
			"Settings page: tls.self_signed: can't be combined with tls.cert; set only one", ""},
		{"for the file", map[string]string{"tls.self_signed": "true"}, "tls: {redirect_listen: ':80'}", "", "tls.self_signed"},
		{"named by a rule of the file", map[string]string{"limits.files_per_request": "999", "limits.pdf_pages": "5"},
			"limits: {parts: 900}",
			"Settings page: limits.files_per_request: doesn't fit the setting limits.parts, which " +
				"must be greater than limits.files_per_request (999), not 900",
			"limits.pdf_pages"},
		{"on this machine", map[string]string{"backup.to": "/absent", "trash.keep": "7d"}, "",
			"Settings page: backup.to: is absent", "trash.keep"},
	} {
		t.Run(row.name, func(t *testing.T) {
			config, problems := loadFile(t, row.file, Source{Stored: storedValues(row.stored), Check: func(c Config) (found Problems) {
				if c.Backup.To == "/absent" {
					found = Problems{{Key: "backup.to", Reason: "is absent"}}
				}
				return found
			}})
			if problems != "" {
				t.Fatalf("load: %s", problems)
			}
			if got := config.Ignored().Error(); got != row.ignored {
				t.Errorf("ignored:\n%s\nwant\n%s", got, row.ignored)
			}
			first, _, _ := strings.Cut(row.ignored, "\n")
			if warnings := config.Warnings(); first != "" && !slices.Contains(warnings, "ignored: "+first) {
				t.Errorf("warnings: got %q, want %q", warnings, first)
			}
			var applied []string
			for key, source := range config.origins {
				if source == storedSource {
					applied = append(applied, key)
				}
			}
			if slices.Sort(applied); strings.Join(applied, " ") != row.applied {
				t.Errorf("applied: got %q, want %q", applied, row.applied)
			}
		})
	}
}

// An error in the file is reported even if a value is stored.
func TestStoredValuesDontHideProblemsOfTheFile(t *testing.T) {
	stored := storedValues(map[string]string{"limits.pdf_pages": "5"})
	_, got := loadFile(t, "tls: {redirect_listen: ':80'}\n", Source{Stored: stored})
	if !strings.HasPrefix(got, "config.yaml:1: tls.redirect_listen: requires TLS") {
		t.Errorf("problems: got %q, want that of the file", got)
	}
	config, problems := loadFile(t, "", Source{Stored: func(string) (map[string]string, error) { return nil, errors.New("unreadable") }})
	if want := "Settings page: can't read the stored settings: unreadable"; problems != "" || config.Ignored().Error() != want {
		t.Errorf("Ignored: got %q with problems %q, want %q", config.Ignored().Error(), problems, want)
	}
}

// Every editable setting exists, and none is a secret or a path of certificates.
func TestEditableSettings(t *testing.T) {
	known := maps.Collect(func(yield func(string, field) bool) {
		for _, f := range fields(new(Config)) {
			if !yield(f.key, f) {
				return
			}
		}
	})
	seen := map[string]bool{}
	for _, key := range editable() {
		f, exists := known[key]
		if !exists || f.isSecret() || seen[key] {
			t.Errorf("%s: exists %t, secret %t, repeated %t", key, exists, f.isSecret(), seen[key])
		}
		seen[key] = true
	}
	for _, key := range []string{"data", "tls.cert", "tls.key", "backup.passphrase_file", "log.level", "reader.cache", "ocr.dir"} {
		if seen[key] {
			t.Errorf("%s can be changed on pages", key)
		}
	}
}
