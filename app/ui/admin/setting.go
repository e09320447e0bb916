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

// settingPage is the template data of the settings page.
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

	Editable   []config.Group
	Pending    []config.Editable // changed, but not in effect
	MayRestart bool
	Ignored    config.Problems // stored values without effect
	Warnings   []string        // settings that are valid but risky
	NotApplied string          // why the last restart didn't apply the stored settings, or ""
}

// settingGroup contains the settings in one section of the settings file.
type settingGroup struct {
	Label    string
	Settings []config.Setting
}

// settingLabels maps sections of the settings file to headings. The key "" is for settings outside
// all sections.
var settingLabels = map[string]string{
	"": "Server", "firm": "Firm", "tls": "HTTPS", "log": "Logging", "limits": "Limits", "rate": "Rate limits", "links": "Download links",
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

func (p *Pages) showSettings(r *page.Request, found *apitypes.Doctor) error {
	h, err := p.App.Health(r.Context())
	if err != nil {
		return err
	}
	view := settingPage{
		Version: p.Version, Home: p.App.Dir, File: p.SettingsFile, Health: h, Problem: page.DiskWarning(h),
		Groups: groupSettings(p.App.Stored.Current().Show()), CanLook: p.Doctor != nil, Search: p.SearchIndexStatus(r.Context()),
		Editable: config.Groups(), Pending: p.App.Stored.Pending(), MayRestart: p.Restart != nil,
		Ignored: p.App.Stored.Current().Ignored(), Warnings: p.App.Stored.Current().Warnings(), NotApplied: p.RestartError,
	}
	if info, err := os.Stat(filepath.Join(p.App.Dir, "vault.db")); err == nil {
		view.Database = info.Size()
	}
	if found != nil {
		view.Examined, view.Findings, view.OK = true, found.Findings, found.OK
	}
	return p.RenderPage(r, http.StatusOK, "settings.html", page.Page{
		Heading: "Settings", Section: "admin", Data: view, Styles: adminStyles,
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
