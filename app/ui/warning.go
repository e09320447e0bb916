package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// warning is something that administrators see on every page until it is mended; Path
// is where that is done.
type warning struct{ Text, Path, Link string }

// health keeps what was last read of it, so that pages cost nothing for it.
type health struct {
	mu   sync.Mutex
	at   time.Time
	list []warning
}

// healthFor is how old what is known may be.
const healthFor = 30 * time.Second

// warnings are those for this visitor on this page. The page that an alarm leads to says
// it in its own words, and so does the desk.
func (p *pages) warnings(r *http.Request, who visitor) (list []warning) {
	if !who.MayAdminister() || r.URL.Path == "/" {
		return nil
	}
	for _, w := range p.allWarnings(r.Context()) {
		if w.Path != r.URL.Path {
			list = append(list, w)
		}
	}
	return list
}

func (p *pages) allWarnings(ctx context.Context) []warning {
	p.health.mu.Lock()
	defer p.health.mu.Unlock()
	now := p.now()
	if age := now.Sub(p.health.at); age >= 0 && age < healthFor {
		return p.health.list
	}
	h, err := p.Vault.Health(ctx)
	if err != nil {
		p.Log.ErrorContext(ctx, "health", "error", err)
		return nil // the page that was asked for is worth more
	}
	p.health.at, p.health.list = now, warningsOf(h, now)
	return p.health.list
}

// forget has the next page read its warnings anew.
func (h *health) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
}

func warningsOf(h vault.Health, now time.Time) (list []warning) {
	if text := backupWarning(h.Backup, now); text != "" {
		list = append(list, warning{text, "/admin/backups", "Backups"})
	}
	if text := damageWarning(h.Status); text != "" {
		list = append(list, warning{text, "/admin/backups", "Backups"})
	}
	if text := diskWarning(h); text != "" {
		list = append(list, warning{text, "/admin/settings", "The service"})
	}
	return list
}

// backupWarning says what is wrong with the backups; "" for nothing.
func backupWarning(b vault.BackupHealth, now time.Time) string {
	switch {
	case b.Failed != nil:
		return fmt.Sprintf("The backup of %s was not made: %s", clockTime(b.Failed.At.In(now.Location())), b.Failed.Reason)
	case b.Missing:
		return "There is no backup: what is stored would be lost with this disk."
	case b.TooOld:
		return fmt.Sprintf("The last good backup is %s old.", age(now.Sub(b.Good.At)))
	}
	return ""
}

// damageWarning says how many documents are damaged on the disk; "" for none.
func damageWarning(s vault.Status) string {
	if s.Damaged == 0 {
		return ""
	}
	return plural(int(s.Damaged), "stored document is", "stored documents are") + " damaged and can't be opened. Upload the same file again, or restore it from a backup."
}

func diskWarning(h vault.Health) string {
	s := h.Status
	switch {
	case s.ReadOnly:
		return "Nothing can be changed since the disk failed to keep something. Make a backup, see to the disk, then restart the service."
	case s.Denied != nil && errs.KindOf(s.Denied) != errs.InsufficientStorage:
		return deniedText(s.Denied)
	case s.DiskFree <= s.DiskReserve:
		return fmt.Sprintf("The disk is full: %s are free, which is less than the %s kept in reserve. Uploads are refused.", size(s.DiskFree), size(s.DiskReserve))
	case h.LowDisk:
		return fmt.Sprintf("The disk is nearly full: %s more can be stored.", size(s.DiskFree-s.DiskReserve))
	}
	return ""
}

// deniedText is why nothing can be added, in the words for people where there are any.
func deniedText(err error) string {
	if named, ok := errors.AsType[*errs.Error](err); ok {
		return named.Message
	}
	return "Nothing can be added now. See the server's log."
}

// age gives a span of time as people say it.
func age(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return plural(int(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return plural(int(d/time.Hour), "hour", "hours")
	}
	return plural(int(d/(24*time.Hour)), "day", "days")
}
