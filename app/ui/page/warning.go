package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

// Warning is a problem that administrators see on the desk and on the pages for administrators until it is fixed. Path
// is the page where they can fix it. One that stops the work of users is on every page.
type Warning struct {
	Text, Path, Link string
	everywhere       bool
}

// warningCache caches the warnings, so that not every page has to read the server's health.
type warningCache struct {
	mu   sync.Mutex
	at   time.Time
	list []Warning
}

// SettingsPath is the address of the settings page, where administrators also restart the server.
const SettingsPath = "/admin/settings"

// SetupPath is the address of the setup, before the name of a step.
const SetupPath = "/admin/setup"

// warningCacheTTL is how long the cached warnings are valid.
const warningCacheTTL = 30 * time.Second

// visibleWarnings returns the warnings to show on the requested page. It returns none on the
// dashboard and omits warnings that link to the requested page. Those pages explain the problems
// themselves. Pages for daily work have only the warnings that stop it.
func (si *Site) visibleWarnings(r *Request) (list []Warning) {
	if !r.MayAdminister() || r.URL.Path == "/" {
		return nil
	}
	all := si.currentWarnings(r.Context())
	if n := len(si.App.Stored.Pending()); n > 0 {
		text := "1 setting needs a restart to apply."
		if n > 1 {
			text = fmt.Sprintf("%d settings need a restart to apply.", n)
		}
		all = append(slices.Clip(all), Warning{Text: text, Path: SettingsPath, Link: "Restart"})
	}
	for _, w := range all {
		if w.Path != r.URL.Path && (w.everywhere || isAdminPage(r.URL.Path)) {
			list = append(list, w)
		}
	}
	return list
}

// isAdminPage reports whether a page is one for administrators.
func isAdminPage(path string) bool { return path == "/admin" || strings.HasPrefix(path, "/admin/") }

func (si *Site) currentWarnings(ctx context.Context) []Warning {
	si.warningCache.mu.Lock()
	defer si.warningCache.mu.Unlock()
	now := si.LocalNow()
	if age := now.Sub(si.warningCache.at); age >= 0 && age < warningCacheTTL {
		return si.warningCache.list
	}
	h, err := si.App.Health(ctx)
	if err != nil {
		si.Log.ErrorContext(ctx, "server status for warnings not read", "error", err)
		return nil // if the warnings can't be read, show the page without them
	}
	si.warningCache.at, si.warningCache.list = now, HealthWarnings(h, now)
	return si.warningCache.list
}

// reset clears the cache.
func (w *warningCache) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = time.Time{}
}

// HealthWarnings returns the warnings about backups, damaged documents, and the disk.
func HealthWarnings(h instance.Health, now time.Time) (list []Warning) {
	if text := BackupWarning(h.Backup, now); text != "" {
		list = append(list, Warning{Text: text, Path: "/admin/backups", Link: "Backups"})
	}
	if text := damageWarning(h.Status); text != "" {
		list = append(list, Warning{Text: text, Path: "/admin/backups", Link: "Backups", everywhere: true})
	}
	if text := DiskWarning(h); text != "" {
		list = append(list, Warning{Text: text, Path: "/admin/settings", Link: "Settings", everywhere: true})
	}
	return list
}

// BackupWarning returns a sentence about a problem with the backups, or "" if there is none.
func BackupWarning(b instance.BackupHealth, now time.Time) string {
	switch {
	case b.Failed != nil:
		return fmt.Sprintf("The backup of %s failed: %s", ClockTime(b.Failed.At.In(now.Location())), b.Failed.Reason)
	case b.Problem != "":
		return b.Problem
	case b.Missing:
		return "No backup exists. If this disk fails, everything on it is lost."
	case b.TooOld:
		return fmt.Sprintf("The last successful backup is %s old.", FormatAge(now.Sub(b.LastGood.At)))
	}
	return ""
}

// damageWarning returns how many stored documents are damaged, or "" if none are.
func damageWarning(s instance.Status) string {
	if s.Damaged == 0 {
		return ""
	}
	return Plural(int(s.Damaged), "stored document is", "stored documents are") + " damaged and can't be opened. Upload the same file again, or restore it from a backup."
}

// DiskWarning returns a sentence about a problem with the disk, or "" if there is none.
func DiskWarning(h instance.Health) string {
	s := h.Status
	switch {
	case s.ReadOnly:
		return "deedkeep is read-only because of a disk error. Create a backup, check the disk, then restart the server."
	case s.Denied != nil && errs.KindOf(s.Denied) != errs.InsufficientStorage:
		return DeniedReason(s.Denied)
	case s.DiskFree <= s.DiskReserve:
		return strings.TrimSpace(fmt.Sprintf("The disk is full: %s free, less than the reserve of %s. Uploads are rejected. %s",
			FormatSize(s.DiskFree), FormatSize(s.DiskReserve), StillWorks(s)))
	case h.LowDisk:
		return strings.TrimSpace(fmt.Sprintf("The disk is nearly full: %s left for new data. %s",
			FormatSize(s.DiskFree-s.DiskReserve), StillWorks(s)))
	}
	return ""
}

// StillWorks says in a sentence what works although the disk is full or nearly full, or returns "".
func StillWorks(s instance.Status) string {
	return s.Room.StillWorks(func(bytes int64) string { return FormatSize(bytes) })
}

// DeniedReason returns a sentence that says why no data can be added.
func DeniedReason(err error) string {
	if domainErr, ok := errors.AsType[*errs.Error](err); ok {
		return domainErr.Message
	}
	return "The server can't add data right now. See the server log."
}

// ResetWarnings clears the cached warnings. The next page reads them again.
func (si *Site) ResetWarnings() { si.warningCache.reset() }
