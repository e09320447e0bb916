package admin

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/ui/page"
)

// settingPage is the template data of the settings page. The page is read-only because the server
// reads its settings only at startup.
type settingPage struct {
	Version, Home, File string
	instance.Health
	Database int64 // size in bytes
	Problem  string
	Groups   []settingGroup
	Examined bool
	Findings []apitypes.Diagnosis // nil if the diagnostics haven't been run
	OK       bool
	CanLook  bool
	Search   page.SearchIndexStatus

	TimeZone  *page.TimeZoneField // nil if the settings file has a time zone
	FixedZone string              // that of the settings file
}

// settingGroup contains the settings in one section of the settings file.
type settingGroup struct {
	Label    string
	Settings []config.Setting
}

// settingLabels maps sections of the settings file to headings. The key "" is for settings outside
// all sections.
var settingLabels = map[string]string{
	"": "Server", "tls": "HTTPS", "log": "Logging", "limits": "Limits", "rate": "Rate limits", "links": "Download links",
	"users": "Sessions and sign-in", "uploads": "Uploads", "timeouts": "Timeouts", "validation": "Validation", "reader": "Document processing",
	"previews": "Page previews", "ocr": "OCR of scanned pages", "search": "Search", "disk": "Disk",
	"cors": "CORS", "trash": "Trash", "retention": "Retention", "idempotency": "Idempotency",
	"sweep": "Cleanup", "scrub": "Document verification", "backup": "Backups",
}

func groupSettings(all []config.Setting) (list []settingGroup) {
	last := "-"
	for _, s := range all {
		section, _, nested := strings.Cut(s.Key, ".")
		if !nested {
			section = ""
		}
		if section != last {
			list, last = append(list, settingGroup{Label: cmp.Or(settingLabels[section], section)}), section
		}
		group := &list[len(list)-1]
		group.Settings = append(group.Settings, s)
	}
	return list
}

func (p *Pages) settingsPage(r *page.Request) error {
	return p.showSettings(r, nil)
}

// setTimeZone changes the time zone of the office.
func (p *Pages) setTimeZone(r *page.Request) error {
	name := r.PostForm.Get("time_zone")
	if !page.KnownTimeZone(name) {
		return &errs.Error{Kind: errs.Invalid, Message: page.ChooseTimeZone}
	}
	if err := p.App.Stored.Change(r.Context(), r.Actor, map[string]string{"time_zone": name}, ""); err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/admin/settings#time-zone", "Time zone saved.")
}

func (p *Pages) showSettings(r *page.Request, found *apitypes.Doctor) error {
	h, err := p.App.Health(r.Context())
	if err != nil {
		return err
	}
	view := settingPage{
		Version: p.Version, Home: p.App.Dir, File: p.SettingsFile, Health: h, Problem: page.DiskWarning(h),
		Groups: groupSettings(p.Settings), CanLook: p.Doctor != nil, Search: p.SearchIndexStatus(r.Context()),
	}
	if c := p.App.Stored.Current(); c.SourceOf("time_zone") != "" && c.SourceOf("time_zone") != config.StoredSource {
		view.FixedZone = c.TimeZone
	} else {
		view.TimeZone = p.NewTimeZoneField("", "")
	}
	if info, err := os.Stat(filepath.Join(p.App.Dir, "vault.db")); err == nil {
		view.Database = info.Size()
	}
	if found != nil {
		view.Examined, view.Findings, view.OK = true, found.Findings, found.OK
	}
	return p.RenderPage(r, http.StatusOK, "settings.html", page.Page{
		Heading: "Settings", Section: "admin", Data: view, Styles: adminStyles, Scripts: []string{"account.js"},
	})
}

// diagnosticsTimeout is the maximum duration of the diagnostics. They usually take a second.
const diagnosticsTimeout = 30 * time.Second

// runDiagnostics runs the diagnostics and shows the findings. Only one run is allowed at a time.
func (p *Pages) runDiagnostics(r *page.Request) error {
	if p.Doctor == nil {
		return page.NotFound(r)
	}
	if !p.diagnosing.TryLock() {
		return &errs.Error{Kind: errs.Conflict, Message: "A system check is already running. Try again in a few seconds."}
	}
	defer p.diagnosing.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), diagnosticsTimeout)
	defer cancel()
	found, err := p.Doctor(ctx)
	if err != nil {
		return err
	}
	return p.showSettings(r, &found)
}
